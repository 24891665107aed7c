"""Sites that come back in many programs, and the values that set them off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .case import Site, safe

LOG_P = Site("log p", "Log", why="a probability is exactly 0 once its logit is 103.97 below the others")
SOFTMAX = safe("softmax", "Softmax", "the row's maximum is subtracted first, and the divisor is at least 1")
DROPOUT = safe("dropout", "Div", "the probability to keep a unit is never 0")


def spread(
    *, last: str, constants: dict[str, float] | None = None, **inputs: float
) -> Callable[[Any, dict[str, Any]], None]:
    """Set the first column of the last layer to the least and the second to the greatest value; other weights and inputs
    to one value each, so that the two logits lie far apart.

    ``last`` is "name:bound"; ``constants`` are weights by name.
    """
    name, _, bound = last.partition(":")

    def trigger(module: Any, batch: dict[str, Any]) -> None:
        import torch

        with torch.no_grad():
            for weight, value in (constants or {}).items():
                module.get_parameter(weight).fill_(value)
            weights = module.get_parameter(name)
            weights[..., 0], weights[..., 1] = -float(bound), float(bound)
        for key, value in inputs.items():
            batch[key].fill_(value)

    return trigger
