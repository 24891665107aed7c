"""Where to go from a sample so that a margin shrinks: jumps along the signs of its gradient, and Adam."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.confirm.margins import FAR
from nanproof.confirm.starts import uniform
from nanproof.confirm.variables import Sample, Variable
from nanproof.numerics.tensors import to_array, to_tensor

if TYPE_CHECKING:
    from nanproof.confirm.problem import Problem

STEPS = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)
"""How far towards the corner that the gradient points at."""
RATES = (0.2, 0.02)
"""Adam's learning rates, in widths of the ranges."""
ADAM_STEPS = 24
DECAYS = (0.9, 0.99)


def slopes(problem: Problem, samples: Sequence[Sample], index: int) -> list[Sample]:
    """The gradient of one target's margin at each sample, for the variables that can move; 0 where it isn't finite."""
    import torch

    leaves = _leaves(problem, samples)
    moving = [leaf for leaf, v in zip(leaves, problem.variables, strict=True) if v.moves]
    margins = problem.gradients().margins(leaves)[:, index]
    counted = margins[torch.isfinite(margins) & (margins < FAR)]
    if not moving or not counted.requires_grad:
        return [{} for _ in samples]
    found = torch.autograd.grad(counted.sum(), moving, allow_unused=True)
    names = [v.name for v in problem.variables if v.moves]
    arrays = [
        np.zeros(leaf.shape) if g is None else np.nan_to_num(to_array(g.double()), posinf=1e300, neginf=-1e300)
        for leaf, g in zip(moving, found, strict=True)
    ]
    return [{name: array[i] for name, array in zip(names, arrays, strict=True)} for i in range(len(samples))]


def _leaves(problem: Problem, samples: Sequence[Sample]) -> list[Any]:
    leaves = []
    for variable in problem.variables:
        leaf = to_tensor(np.stack([sample[variable.name] for sample in samples]), problem.subject.device)
        leaves.append(leaf.double().requires_grad_(True) if variable.moves else leaf)
    return leaves


def jumps(
    problem: Problem, sample: Sample, slope: Sample, margin: float, rng: np.random.Generator | None = None
) -> Iterator[Sample]:
    """Samples towards the corner of the ranges where the linearised margin is least, and where it would be 0.

    With ``rng`` the first sample draws anew what has no gradient, as behind a saturated function.
    """
    moved = {v.name: v for v in problem.variables if v.moves and slope[v.name].any()}
    if not moved:
        return
    wide = {name: sample[name].astype(np.float64) for name in moved}
    ways = {name: _corner(v, slope[name], wide[name]) - wide[name] for name, v in moved.items()}
    with np.errstate(all="ignore"):
        fall = -sum(float(np.sum(slope[name] * ways[name])) for name in moved)
        exact = margin / fall if fall > 0 else np.nan
    steps = (exact, exact * 1.05, *STEPS) if np.isfinite(exact) and 0 < exact < 1 else STEPS
    if rng is not None and any((slope[name] == 0).any() for name in moved):
        drawn = {v.name: np.where(slope[v.name] == 0, uniform(rng, v), wide[v.name]) for v in moved.values()}
        yield {**sample, **{v.name: v.fitted(drawn[v.name]) for v in moved.values()}}
    for step in steps:
        yield {**sample, **{name: v.fitted(wide[name] + step * ways[name]) for name, v in moved.items()}}


def _corner(variable: Variable, slope: Any, here: Any) -> Any:
    return np.where(slope > 0, variable.low, np.where(slope < 0, variable.high, here))


def descended(problem: Problem, samples: Sequence[Sample], index: int, rate: float) -> list[Sample]:
    """The samples after some steps of Adam on one target's margin, in widths of the ranges."""
    current = [dict(sample) for sample in samples]
    moving = [v for v in problem.variables if v.moves]
    means = [{v.name: np.zeros(v.shape) for v in moving} for _ in samples]
    squares = [{v.name: np.zeros(v.shape) for v in moving} for _ in samples]
    for step in range(1, ADAM_STEPS + 1):
        found = slopes(problem, current, index)
        for sample, slope, mean, square in zip(current, found, means, squares, strict=True):
            for v in moving:
                if v.name in slope:
                    sample[v.name] = _adam_step(v, sample[v.name], slope[v.name], (mean, square), rate, step)
    return current


def _adam_step(  # noqa: PLR0917 - the state of one update
    variable: Variable, value: Any, slope: Any, moments: tuple[Sample, Sample], rate: float, step: int
) -> Any:
    largest = float(np.abs(slope).max(initial=0.0))
    if not largest:
        return value
    unit = slope / largest  # the scale of a margin means nothing, and its square may overflow
    mean, square = moments
    name = variable.name
    mean[name] = DECAYS[0] * mean[name] + (1 - DECAYS[0]) * unit
    square[name] = DECAYS[1] * square[name] + (1 - DECAYS[1]) * unit * unit
    way = mean[name] / (1 - DECAYS[0] ** step)
    size = np.sqrt(square[name] / (1 - DECAYS[1] ** step)) + 1e-12
    width = np.minimum(np.subtract(variable.high, variable.low), 1e30)
    return variable.fitted(value.astype(np.float64) - rate * width * way / size)
