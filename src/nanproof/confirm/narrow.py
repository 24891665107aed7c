"""Targets that are one number to meet exactly, such as a divisor that must be 0: solve for it, then try its neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.confirm.variables import Sample, Variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanproof.confirm.looking import Look
    from nanproof.confirm.problem import Problem

    Try = Callable[[Sample], Look]
    Rng = np.random.Generator

HALVINGS = 160
"""Enough to get from one end of float64 to neighbouring numbers."""
NEIGHBOURS = 40
REACH = 6
"""How many floats away a neighbour may be, in each element."""
GRIDS = (1.0, 0.5, 2.0**-4, 2.0**-8, 0.1, 0.01)
"""Coarse grids: numbers on them cancel exactly."""


def bracket(seen: Sequence[tuple[Sample, Any]]) -> tuple[Sample, Sample, int] | None:
    """Two samples between which an element changes its sign, and which element that is."""
    for number, (one, first) in enumerate(seen):
        for other, second in seen[:number]:
            if first.shape != second.shape:
                continue
            places = np.flatnonzero(np.sign(first) * np.sign(second) < 0)
            if places.size:
                return one, other, int(places[np.argmin(np.abs(first[places]) + np.abs(second[places]))])
    return None


def halved(problem: Problem, index: int, found: tuple[Sample, Sample, int], attempt: Try) -> Sample:
    """Close in on the number between two samples until they are neighbours; return one of the two.

    A straight line says where to look next, and every third time the middle: then no shape of the way between takes long.
    """
    one, other, place = found
    here, there = (float(attempt(end).signed[index][place]) for end in (one, other))
    for turn in range(HALVINGS):
        part = here / (here - there) if turn % 3 and np.isfinite(here - there) else 0.5
        middle = {v.name: _between(v, one[v.name], other[v.name], part) for v in problem.variables}
        if any(_same(problem, middle, end) for end in (one, other)):
            if turn % 3:
                continue
            break
        look = attempt(middle)
        if any(problem.targets[index] is hit.target for hit in look.hits) or index not in look.signed:
            return middle
        value = float(look.signed[index][place])
        if np.sign(value) == np.sign(here):
            one, here = middle, value
        else:
            other, there = middle, value
    return one if abs(here) < abs(there) else other


def _between(variable: Variable, one: Any, other: Any, part: float) -> Any:
    if not variable.moves:
        return one
    return variable.fitted(one.astype(np.float64) * (1 - part) + other.astype(np.float64) * part)


def _same(problem: Problem, one: Sample, other: Sample) -> bool:
    return all(np.array_equal(one[v.name], other[v.name]) for v in problem.variables if v.moves)


def neighbours(rng: Rng, problem: Problem, sample: Sample) -> Iterator[Sample]:
    """The sample on coarse grids, then with some of its elements moved by a few floats each."""
    moving = [v for v in problem.variables if v.moves]
    for grid in GRIDS:
        yield {
            **sample,
            **{v.name: v.fitted(np.round(sample[v.name].astype(np.float64) / grid) * grid) for v in moving},
        }
    for _ in range(NEIGHBOURS):
        share = rng.choice((0.02, 0.2, 1.0))
        moved = {}
        for v in moving:
            value = sample[v.name]
            steps = rng.integers(-REACH, REACH + 1, v.shape) * (rng.random(v.shape) < share)
            moved[v.name] = v.fitted(value.astype(np.float64) + steps * np.abs(np.spacing(value)).astype(np.float64))
        yield {**sample, **moved}
