"""Where a search begins: samples of many kinds, drawn from a seeded generator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.confirm.variables import FLOAT, ONE_HOT, WHOLE, Sample, Variable, ordinary
from nanproof.numerics.dtypes import to_numpy

if TYPE_CHECKING:
    Rng = np.random.Generator
    Array = Any

TILE = 65_521
"""Tensors with more elements repeat a random block of this prime length: as good as random in any shape, and cheap."""
SPECIAL = (0.0, 1.0, -1.0, 0.5, 1e-3, -1e-3, 1e3, -1e3)


def uniform(rng: Rng, variable: Variable) -> Array:
    """Anywhere in the range."""
    return _drawn(rng, variable, rng.random)


def corner(rng: Rng, variable: Variable) -> Array:
    """Each element at one end of the range."""
    return _drawn(rng, variable, lambda n: rng.integers(0, 2, n))


def logarithmic(rng: Rng, variable: Variable) -> Array:
    """Magnitudes of every order down from the wider end, with both signs where the range has them."""
    size = np.maximum(np.abs(variable.low), np.abs(variable.high))
    parts = _tiled(variable.size, lambda n: np.exp(-16.0 * rng.random(n)) * rng.choice((-1.0, 1.0), n))
    return variable.fitted(parts.reshape(variable.shape) * np.minimum(size, 1e30))


def narrow(rng: Rng, variable: Variable) -> Array:
    """Close to an ordinary value: a few percent of the range around it."""
    base = ordinary(variable).astype(np.float64)
    width = np.minimum(np.subtract(variable.high, variable.low), 1e30) * 0.02
    noise = _tiled(variable.size, rng.standard_normal).reshape(variable.shape)
    return variable.fitted(base + noise * width)


def alike(rng: Rng, variable: Variable) -> Array:
    """One number for all elements, anywhere in the range."""
    part = rng.random()
    return variable.fitted(np.full(variable.shape, _between(variable.low, variable.high, part)))


def low(rng: Rng, variable: Variable) -> Array:
    """The low end everywhere."""
    return _filled(variable, variable.low)


def high(rng: Rng, variable: Variable) -> Array:
    """The high end everywhere."""
    return _filled(variable, variable.high)


def usual(rng: Rng, variable: Variable) -> Array:
    """What is stored, or 0."""
    return ordinary(variable)


Style = Callable[["Rng", Variable], "Array"]
MIXES: tuple[tuple[Style, Style], ...] = (
    (uniform, uniform), (corner, corner), (uniform, usual), (usual, uniform), (high, corner), (low, corner),
    (corner, uniform), (uniform, corner), (usual, usual), (high, high), (low, low), (logarithmic, logarithmic),
    (alike, alike), (corner, usual), (logarithmic, usual), (narrow, narrow), (high, low), (low, high), (alike, uniform), (uniform, alike),
)  # fmt: skip
"""How inputs and how weights are drawn, in the order in which a search tries them."""


def starts(rng: Rng, variables: Sequence[Variable], points: Sequence[float]) -> Iterator[Sample]:
    """Samples without end: every mix once, then each special point for all elements, then mixes at random."""
    for index, mix in enumerate(MIXES):
        yield _mixed(rng, variables, mix)
        if index % 4 == 3:
            for point in points[index // 4 :: len(MIXES) // 4]:
                yield {v.name: _filled(v, point) for v in variables}
    while True:
        inputs, weights = rng.integers(0, len(MIXES), 2)
        yield _mixed(rng, variables, (MIXES[inputs][0], MIXES[weights][1]))


def randoms(rng: Rng, variables: Sequence[Variable]) -> Iterator[Sample]:
    """Uniform samples without end: the plain random search, and the starts of a plain gradient search."""
    while True:
        yield {v.name: uniform(rng, v) for v in variables}


def _mixed(rng: Rng, variables: Sequence[Variable], mix: tuple[Style, Style]) -> Sample:
    return {v.name: (mix[v.is_weight] if v.kind == FLOAT else uniform)(rng, v) for v in variables}


def _drawn(rng: Rng, variable: Variable, parts: Callable[[int], Array]) -> Array:
    if variable.kind == WHOLE:
        lo, hi = np.ceil(variable.low), np.floor(variable.high)
        steps = np.floor(_tiled(variable.size, rng.random).reshape(variable.shape) * (hi - lo + 1))
        return np.minimum(lo + steps, hi).astype(to_numpy(variable.dtype))
    part = _tiled(variable.size, parts).reshape(variable.shape)
    if variable.kind == ONE_HOT:
        return variable.fitted(rng.random(variable.shape))
    if variable.dtype.bits == 32 and np.ndim(variable.low) == 0:  # the usual case, without a detour over float64
        lo, hi = np.float32(variable.low), np.float32(variable.high)
        values = part.astype(np.float32) * hi + (1 - part).astype(np.float32) * lo
        return np.asarray(np.clip(values, lo, hi))
    return variable.fitted(_between(variable.low, variable.high, part))


def _between(low: Any, high: Any, part: Any) -> Any:
    return np.multiply(high, part) + np.multiply(low, 1.0 - part)


def _tiled(size: int, draw: Callable[[int], Array]) -> Array:
    return draw(size) if size <= TILE else np.resize(draw(TILE), size)


def _filled(variable: Variable, value: Any) -> Array:
    if variable.kind == ONE_HOT or np.ndim(value):
        return variable.fitted(np.broadcast_to(value, variable.shape))
    one = variable.fitted(np.full((), value)) if np.ndim(variable.low) == 0 else None
    if one is None:
        return variable.fitted(np.full(variable.shape, value))
    return np.full(variable.shape, one[()], to_numpy(variable.dtype))
