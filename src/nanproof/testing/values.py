"""Numbers that find bugs.

Uniform random floats see nothing: the places where a bound is wrong are single numbers and their neighbours. So
values come from pools around the points that the operator's record names, zero, the subnormals, the ends of the
dtype, powers of two, and only then from anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from nanproof.numerics.dtypes import DType
from nanproof.numerics.rounding import at_least, at_most, nearest, nearest_array, next_down, next_up

Array = Any
"""A NumPy array."""

MOODS = ("points", "moderate", "wide", "small", "middle", "positive")
"""What one draw is about: mixing everything all the time makes every sum overflow, and nothing else is seen."""
_CHANCES = (0.3, 0.25, 0.15, 0.05, 0.15, 0.1)


def mood(rng: np.random.Generator) -> str:
    """One of MOODS, the fruitful ones more often."""
    return str(rng.choice(MOODS, p=_CHANCES))


@lru_cache(maxsize=4096)
def around(dtype: DType, points: tuple[float, ...]) -> Array:
    """The points in a dtype with two neighbours on either side, and the dtype's own landmarks."""
    if dtype.is_bool:
        return np.array([0.0, 1.0])
    found: set[float] = set()
    own: tuple[float, ...] = (0.0, 1.0, -1.0)
    if dtype.is_float:
        own = (*own, dtype.quantum, -dtype.quantum, dtype.tiny, -dtype.tiny, 1.0 - dtype.unit)
    for point in (*points, *own):
        x = nearest(dtype, float(point)) if dtype.is_float else float(round(point))
        if not _lowest(dtype) <= x <= dtype.max:
            continue
        found.add(x)
        up = down = x
        for _ in range(2):
            up, down = next_up(dtype, up), next_down(dtype, down)
            found.update(y for y in (up, down) if _lowest(dtype) <= y <= dtype.max)
    return np.array(sorted(found))


def _lowest(dtype: DType) -> float:
    """The lowest value to draw: signed integers keep clear of the one that has no negative (it traps in a division)."""
    return -dtype.max if dtype.kind == "int" else dtype.min


def pool(rng: np.random.Generator, dtype: DType, points: tuple[float, ...], kind: str) -> Array:
    """Float64 values of the dtype to draw from, for a mood."""
    if dtype.is_bool:
        return np.array([0.0, 1.0])
    if dtype.is_integer:
        return _integers(rng, dtype, points, kind)
    near = around(dtype, points)
    if kind == "points":
        return near
    if kind == "moderate":
        fresh = rng.uniform(-8.0, 8.0, 24)
        fitting = near[np.abs(near) <= 8.0]
        return np.concatenate((_fit(dtype, fresh), fitting[rng.permutation(len(fitting))[:8]]))
    if kind == "positive":
        return np.abs(_fit(dtype, np.exp2(rng.uniform(-12.0, 6.0, 24))))
    if kind == "middle":
        return _fit(dtype, rng.choice((-1.0, 1.0), 24) * 10.0 ** rng.uniform(0.0, 4.0, 24))
    if kind == "small":
        steps = rng.integers(-40, 40, 16) * dtype.quantum
        return np.concatenate((_fit(dtype, steps), (0.0, dtype.tiny, -dtype.tiny)))
    least, most = np.log2(dtype.quantum), np.log2(dtype.max)
    powers = np.exp2(rng.uniform(least, most, 24)) * rng.choice((-1.0, 1.0), 24)
    return np.concatenate((_fit(dtype, powers), (dtype.max, dtype.min, next_down(dtype, dtype.max), 0.0)))


def _fit(dtype: DType, values: Array) -> Array:
    return np.clip(nearest_array(dtype, np.asarray(values, np.float64)), dtype.min, dtype.max)


def _integers(rng: np.random.Generator, dtype: DType, points: tuple[float, ...], kind: str) -> Array:
    low, high = _lowest(dtype), dtype.max
    if kind == "wide":
        wide = np.exp2(rng.uniform(0, dtype.bits - 1, 16)).round() * rng.choice((-1.0, 1.0), 16)
        values = np.concatenate((wide, (low, low, high, high, 0.0, 1.0, -2000.0, 2000.0)))
    elif kind == "points":
        values = around(dtype, points)
    else:
        values = rng.integers(-20, 20, 16).astype(float)
    return np.clip(values, low, high)


def inward(dtype: DType, low: float | None, high: float | None) -> tuple[float, float]:
    """The values of the dtype within optional limits."""
    least = _lowest(dtype) if low is None else at_least(dtype, low)
    most = dtype.max if high is None else at_most(dtype, high)
    return max(least, _lowest(dtype)), min(most, dtype.max)


def intervals(
    rng: np.random.Generator, dtype: DType, grid: Sequence[int], values: Array, limits: tuple[float, float]
) -> tuple[Array, Array]:
    """Bounds of a grid of blocks: points, a few neighbours, and all that lies between two values."""
    size = tuple(grid)
    first = np.clip(rng.choice(values, size), *limits)
    second = np.clip(rng.choice(values, size), *limits)
    kind = rng.random(size)
    if dtype.is_float:
        step = np.abs(first) * (2.0 * dtype.unit) + dtype.quantum
        with np.errstate(over="ignore"):
            close = np.clip(_fit(dtype, first + rng.integers(0, 4, size) * step), *limits)
    else:
        close = np.clip(first + rng.integers(0, 3, size), *limits)
    second = np.where(kind < 0.2, first, np.where(kind < 0.4, close, second))
    return np.minimum(first, second), np.maximum(first, second)
