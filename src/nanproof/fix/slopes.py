"""Gradients of an original model and of a changed one, at the same points."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nanproof.fix.apart import difference, finite
from nanproof.fix.exact import TorchModel
from nanproof.fix.limits import APART, NEAR
from nanproof.fix.points import ORDINARY

SECONDS = 3.0
"""How long gradients are looked at, at most."""
Point = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Slopes:
    """What was seen of gradients: of the sum of all outputs, by every initial value that has a range."""

    count: int
    """At how many points."""
    finite: int
    """At how many of them the changed model's are finite."""
    flowing: int
    """At how many of those where the original fails (forward or backward) the changed model's aren't all 0."""
    broken: int
    """At how many points the original fails."""
    ulps: float | None = None
    """The largest difference on ordinary points."""
    relative: float = 0.0
    """The same as a share; where the changed one is closer to float64 than the original, its distance to that."""
    failing: Point | None = None
    """A point at which only the changed model's gradient isn't finite."""
    where: str = ""

    @property
    def flows(self) -> bool:
        """Whether training can leave the places where the original fails."""
        return self.broken == 0 or self.flowing > 0


def compared(old: TorchModel, new: TorchModel, exact: TorchModel | None, drawn: Iterable[tuple[str, Point]]) -> Slopes:
    """Look at gradients of both models until the time is over."""
    count = fine = flowing = broken = 0
    ulps: float | None = None
    relative = 0.0
    start = time.monotonic()
    for kind, point in drawn:
        one, other = old.gradients(point), new.gradients(point)
        if other is None:
            continue
        count += 1
        good, was_good = _all_finite(other), one is not None and _all_finite(one)
        fine += good
        if was_good and not good:
            name = next(name for name, value in other.items() if not finite(value))
            return Slopes(count, fine, flowing, broken, ulps, relative, point, name)
        if not was_good:
            broken += 1
            flowing += good and any(bool(np.any(value != 0)) for value in other.values())
        elif kind == ORDINARY and one is not None:
            apart = _apart(one, other)
            if apart is not None:
                ulps = max(ulps or 0.0, apart[0])
                relative = max(relative, _judged(exact, point, (one, other), apart))
        if time.monotonic() - start > SECONDS:
            break
    return Slopes(count, fine, flowing, broken, ulps, relative)


def _all_finite(found: Mapping[str, Any]) -> bool:
    return all(finite(value) for value in found.values())


def _apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[float, float] | None:
    return difference((one[name], other[name]) for name in one if name in other)


def _judged(
    exact: TorchModel | None,
    point: Point,
    both: tuple[Mapping[str, Any], Mapping[str, Any]],
    apart: tuple[float, float],
) -> float:
    """The difference as a share, or the distance to float64 of a changed gradient that is closer to it."""
    if exact is None or (apart[0] <= NEAR and apart[1] <= APART):
        return apart[1]
    truth = exact.gradients(point)
    if truth is None:
        return apart[1]
    before, after = (_apart(found, truth) for found in both)
    return min(after[1], apart[1]) if before is not None and after is not None and after[1] <= before[1] else apart[1]
