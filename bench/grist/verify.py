"""Whether the cases are what they say: finite on ordinary inputs, broken by their trigger, and mended by their repair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .case import Case
from .examples import example

SLACK = 1e-6
"""What a value may lie outside of a range for having been rounded to float32."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What running a case showed; None where it has no known trigger."""

    id: str
    finite: bool
    repaired_finite: bool
    largest_change: float
    fails: bool | None = None
    holds: bool | None = None
    outside: tuple[str, ...] = ()
    """Weights and inputs that the trigger sets outside of its ranges."""

    @property
    def right(self) -> bool:
        return (
            self.finite
            and self.repaired_finite
            and self.fails is not False
            and self.holds is not False
            and not self.outside
        )


def seen(case: Case) -> Seen:
    """Run the case as it is and repaired, on ordinary inputs and on those of its trigger."""
    import torch

    module, repaired, batch = case.make(), case.make(repaired=True), example(case)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        plain = results(module, batch)
        torch.manual_seed(0)
        mended = results(repaired, batch)
        change = max(
            (float((a - b).abs().max()) for a, b in zip(plain, mended, strict=True) if a.shape == b.shape), default=0.0
        )
        if case.trigger is None:
            return Seen(case.id, finite(plain), finite(mended), change)
        case.trigger(module, batch)
        repaired.load_state_dict(module.state_dict())
        return Seen(
            case.id,
            finite(plain),
            finite(mended),
            change,
            fails=not finite(results(module, batch, backward=True)),
            holds=finite(results(repaired, batch, backward=True)),
            outside=_outside(case, module, batch),
        )


def results(module: Any, batch: dict[str, Any], *, backward: bool = False) -> list[Any]:
    """The outputs, and with ``backward`` the gradients of the first one by weights and by inputs that are floats."""
    given = [
        value.clone().requires_grad_() if backward and value.is_floating_point() else value for value in batch.values()
    ]
    made = module(*given)
    outputs = list(made) if isinstance(made, tuple) else [made]
    if not backward:
        return [output.detach() for output in outputs]
    module.zero_grad()
    outputs[0].sum().backward()
    leaves = [*module.parameters(), *(value for value in given if value.requires_grad)]
    return [*(output.detach() for output in outputs), *(leaf.grad for leaf in leaves if leaf.grad is not None)]


def finite(tensors: list[Any]) -> bool:
    """Whether no element of any is NaN or Inf."""
    return all(bool(tensor.isfinite().all()) for tensor in tensors)


def _outside(case: Case, module: Any, batch: dict[str, Any]) -> tuple[str, ...]:
    ranges = case.ranges(case.trigger_in)
    values = {**batch, **{name: weight.detach() for name, weight in module.named_parameters()}}
    return tuple(
        name
        for name, (low, high) in ranges.items()
        if float(values[name].min()) < low - SLACK or float(values[name].max()) > high + SLACK
    )
