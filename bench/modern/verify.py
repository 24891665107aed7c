"""Whether the cases are what they say: the defective form gives NaN or Inf on its trigger, the repaired one doesn't."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from .case import Case
from .jax_forms import finite


@dataclass(frozen=True, slots=True)
class Seen:
    """What running both forms showed; ``fails`` is None where nothing shows in the outputs."""

    id: str
    fails: bool | None
    holds: bool
    ordinary: bool
    """Whether the repaired form is finite on ordinary inputs."""

    @property
    def right(self) -> bool:
        return self.fails is not False and self.holds and self.ordinary


def seen(case: Case) -> Seen:
    """Run both forms, and in the phase of gradients their gradients, too."""
    backward = case.phase == "gradient"
    bad = case.failing()
    is_finite = finite if case.framework == "JAX" else _finite
    return Seen(
        case.id,
        None if case.trigger is None else not is_finite(case.defective(), bad, backward=backward),
        is_finite(case.repaired(), bad, backward=backward),
        is_finite(case.repaired(), case.example(), backward=backward),
    )


def _finite(module: Any, batch: dict[str, Any], *, backward: bool) -> bool:
    import torch

    parameters = dict(module.named_parameters())
    with torch.no_grad():
        for name in [name for name in batch if name in parameters]:
            parameters[name].copy_(batch[name])
    given = {name: value.clone() for name, value in batch.items() if name not in parameters}
    if backward:
        for value in given.values():
            value.requires_grad_(value.is_floating_point())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a deviation of one value
        output = module(*given.values())
    if backward:
        output.sum().backward()
        return all(bool(value.grad.isfinite().all()) for value in given.values() if value.grad is not None)
    return bool(output.isfinite().all())
