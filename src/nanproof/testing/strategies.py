"""Hypothesis strategies for numbers, Boxes, and tensors inside them.

    @given(boxed_tensors(FLOAT32, (3, 4)))
    def test_negation(pair):
        box, tensor = pair
        assert not outside(spread(negated(box), tensor.shape), -tensor).any()

Values like the neighbourhood of the given points, zero, the subnormals and the ends of the dtype: see ``values``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
from hypothesis import strategies as st

from nanproof.domain.box import Box
from nanproof.domain.partition import Blocks, Cuts, pack
from nanproof.numerics.dtypes import DType
from nanproof.numerics.rounding import nearest
from nanproof.testing.draws import elements, native_array
from nanproof.testing.values import around, inward

Array = Any
Points = tuple[float, ...]


def numbers(
    dtype: DType, points: Points = (), low: float | None = None, high: float | None = None
) -> st.SearchStrategy[float]:
    """Finite values of a dtype as Python floats, between two limits."""
    least, most = inward(dtype, low, high)
    if least > most:
        raise ValueError(f"no {dtype.name} lies between {low} and {high}")
    near = [x for x in around(dtype, points).tolist() if least <= x <= most] or [least, most]
    if not dtype.is_float:
        anywhere: st.SearchStrategy[float] = st.integers(int(least), int(most)).map(float)
    else:
        anywhere = st.floats(least, most, allow_nan=False).map(lambda x: min(max(nearest(dtype, x), least), most))
    small = st.integers(-8, 8).map(float).filter(lambda x: least <= x <= most)
    return st.one_of(st.sampled_from(near), anywhere, small if least <= 0.0 <= most else anywhere)


@st.composite
def cut_points(draw: st.DrawFn, shape: Sequence[int]) -> Cuts | None:
    """Cuts of a tensor: every axis in one piece, in elements, or anything between."""
    found: list[tuple[int, ...] | None] = []
    for n in shape:
        inner = draw(st.sets(st.integers(1, n - 1), max_size=n - 1)) if n > 1 else set()
        found.append((0, *sorted(inner), n) if inner else None)
    return tuple(found) if any(found) else None


@st.composite
def boxes(draw: st.DrawFn, dtype: DType, shape: Sequence[int], points: Points = (), *, special: bool = True) -> Box:
    """A Box of a given shape, with special values now and then if ``special``."""
    size = tuple(shape)
    if 0 in size:
        return Box(dtype, size, inf, -inf)
    cuts = draw(cut_points(size))
    grid = (1,) * len(size) if cuts is None else tuple(1 if c is None else len(c) - 1 for c in cuts)
    count = int(np.prod(grid))
    value = numbers(dtype, points)
    ends = [sorted(draw(st.tuples(value, value))) for _ in range(count)]
    marks = np.zeros(count, np.uint8)
    if special and dtype.is_float and draw(st.booleans()):
        marks = np.array([draw(st.integers(0, 7)) for _ in range(count)], np.uint8)
    void = (marks != 0) & np.array([draw(st.integers(0, 4)) == 0 for _ in range(count)]) if marks.any() else marks != 0
    lo = np.where(void, inf, [e[0] for e in ends]).reshape(grid)
    hi = np.where(void, -inf, [e[1] for e in ends]).reshape(grid)
    return pack(dtype, size, cuts, Blocks(lo, hi, marks.reshape(grid) if marks.any() else None))


@st.composite
def tensors(draw: st.DrawFn, box: Box, points: Points = (0.0,)) -> Array:
    """A concrete tensor in a Box: mostly ends of blocks."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    chosen = elements(rng, box, np.asarray(points), 3)
    return native_array(box.dtype, chosen[draw(st.integers(0, 2))])


@st.composite
def boxed_tensors(
    draw: st.DrawFn, dtype: DType, shape: Sequence[int], points: Points = (), *, special: bool = True
) -> tuple[Box, Array]:
    """A Box and a tensor in it."""
    box = draw(boxes(dtype, shape, points, special=special))
    return box, draw(tensors(box))


def shapes(most_axes: int = 3, most_size: int = 5) -> st.SearchStrategy[tuple[int, ...]]:
    """Small shapes, scalars included."""
    return st.lists(st.integers(1, most_size), max_size=most_axes).map(tuple)
