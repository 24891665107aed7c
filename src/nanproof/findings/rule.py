"""A rule: what can go wrong, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

FAMILIES = ("domain", "overflow", "gradient", "precision", "shapes", "disagreement")


@dataclass(frozen=True, slots=True)
class Example:
    """A small model in ONNX's text form, and the range of each of its inputs.

    ``back`` names the values of the way back, each with what it is part of the derivative of; ``update`` those of an
    optimiser's step.
    """

    model: str
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=lambda: MappingProxyType({}))
    back: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    update: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, (lo, hi) in self.ranges.items():
            if not lo <= hi:
                raise ValueError(f"the range of {name} must be ordered, got [{lo}, {hi}]")


@dataclass(frozen=True, slots=True)
class Rule:
    """One code. ``nanproof rule CODE`` and the docs page print it; tests check both examples."""

    code: str
    slug: str
    """A short name in lower case with hyphens, such as 'log-domain'."""
    title: str
    """Ends the line 'NP101 ...', so it starts in lower case: 'log of a value that can be 0 or negative'."""
    family: str
    summary: str
    """One sentence: what fails, exactly."""
    why: str
    """How real models come to do this."""
    bad: Example
    good: Example
    advice: str
    """What to change."""

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise ValueError(f"a family is one of {', '.join(FAMILIES)}, got {self.family!r}")
