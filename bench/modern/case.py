"""What a case says of itself: two modules, what its inputs lie in, what makes the first fail, and what should be said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Phase = Literal["forward", "gradient"]


@dataclass(frozen=True, slots=True)
class Input:
    """One input: its shape, what it lies in, its type."""

    name: str
    shape: tuple[int, ...]
    span: tuple[float, float]
    dtype: str = "float32"
    ordinary: tuple[float, float] | None = None
    """Where ordinary values lie, if not all over the span."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One defect."""

    id: str
    title: str
    source: str
    """Where it was reported."""
    framework: str
    """Where it occurred."""
    defective: Callable[[], Any]
    repaired: Callable[[], Any]
    repair: str
    inputs: tuple[Input, ...]
    codes: tuple[str, ...]
    """Codes, or beginnings of codes, of which one is right."""
    trigger: Mapping[str, Any] | None = None
    """Values (of one element, or of all) of inputs that make the defective form give NaN or Inf; others are ordinary."""
    phase: Phase = "forward"
    """An optimiser's update is a forward graph of its own."""
    masked: bool = False
    """Whether the outputs stay finite though an infinity arises on the way: a note is right, too."""
    dynamic: tuple[str, ...] = ()
    dims: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)
    notes: str = ""

    def ranges(self) -> dict[str, tuple[float, float]]:
        """What every input lies in."""
        return {item.name: item.span for item in self.inputs}

    def example(self, seed: int = 0) -> dict[str, Any]:
        """Ordinary inputs, uniform in their ranges, the same for the same seed."""
        import torch

        dice = torch.Generator().manual_seed(seed)
        return {item.name: _drawn(item, dice) for item in self.inputs}

    def failing(self) -> dict[str, Any]:
        """The inputs that make the defective form fail."""
        import torch

        batch = self.example()
        for name, value in (self.trigger or {}).items():
            old = batch[name]
            shape = old.shape if not isinstance(value, (list, tuple)) else None
            made = torch.as_tensor(value).to(old.dtype)
            batch[name] = made.expand(shape).clone() if shape is not None else made
        return batch


def _drawn(item: Input, dice: Any) -> Any:
    import torch

    low, high = item.ordinary or item.span
    dtype = getattr(torch, item.dtype)
    if dtype is torch.bool:
        return torch.rand(item.shape, generator=dice) < 0.7
    if not dtype.is_floating_point:
        return torch.randint(max(int(low), -1000), min(int(high), 1000) + 1, item.shape, generator=dice, dtype=dtype)
    return (torch.rand(item.shape, generator=dice) * (high - low) + low).to(dtype).clip(low, high)
