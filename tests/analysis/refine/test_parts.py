"""Parts of an interval leave no value of the dtype out, and come to an end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanproof.analysis.refine.parts import Place, cut_to, divided, ends_at
from nanproof.domain.box import NAN, Box
from nanproof.numerics.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT32, DType
from nanproof.numerics.rounding import nearest, next_up

FLOATS = (FLOAT16, BFLOAT16, FLOAT32, FLOAT64)


@given(st.sampled_from(FLOATS), st.floats(-1e5, 1e5), st.floats(-1e5, 1e5), st.lists(st.floats(-10, 10), max_size=2))
def test_parts_of_floats_are_neighbours(dtype: DType, a: float, b: float, points: list[float]) -> None:
    lo, hi = sorted(min(max(nearest(dtype, x), dtype.min), dtype.max) for x in (a, b))
    parts = divided(dtype, (lo, hi), at=tuple(points))
    if lo == hi:
        assert not parts
        return
    (first, last), (start, end) = parts
    assert (first, end) == (lo, hi)
    assert start == next_up(dtype, last)
    assert nearest(dtype, last) == last


@given(st.integers(-1000, 1000), st.integers(0, 1000))
def test_parts_of_integers_are_neighbours(lo: int, width: int) -> None:
    parts = divided(INT32, (float(lo), float(lo + width)))
    if not width:
        assert not parts
        return
    (first, last), (start, end) = parts
    assert (first, end) == (lo, lo + width)
    assert start == last + 1


def test_a_truth_value_has_two_parts() -> None:
    assert divided(BOOL, (0.0, 1.0)) == ((0.0, 0.0), (1.0, 1.0))


@given(st.floats(-1e4, 1e4), st.floats(0, 1e4))
def test_parts_that_may_go_unrounded_share_their_end(lo: float, width: float) -> None:
    parts = divided(FLOAT16, (lo, lo + width), shared=True)
    if parts:
        (first, last), (start, end) = parts
        assert (first, end) == (lo, lo + width)
        assert last == start


@given(st.sampled_from(FLOATS), st.floats(-3e4, 3e4), st.floats(0, 3e4), st.booleans())
def test_cutting_ends(dtype: DType, lo: float, width: float, upper: bool) -> None:
    ends = nearest(dtype, lo), nearest(dtype, lo + width)
    for _ in range(3000):
        parts = divided(dtype, ends)
        if not parts:
            break
        ends = parts[upper]
    assert ends[0] == ends[1]


def test_a_point_where_something_changes_is_cut_out() -> None:
    assert divided(FLOAT32, (-1.0, 1.0), at=(0.5,))[0] == (-1.0, 0.5)
    assert divided(FLOAT32, (-1.0, 0.5), at=(0.5,))[1] == (0.5, 0.5)


def test_a_cut_box_keeps_what_is_not_finite() -> None:
    box = Box(FLOAT32, (2, 3), -1.0, 1.0, NAN)
    assert cut_to(box, Place(0), (0.5, 2.0)).hull() == (0.5, 1.0)
    assert cut_to(box, Place(0), (0.5, 2.0)).flags == NAN
    assert cut_to(box, Place(0), (2.0, 3.0)).hull() == (np.inf, -np.inf)


@pytest.mark.parametrize("element", [0, 3, 5])
def test_one_element_is_cut_by_itself(element: int) -> None:
    box = Box(FLOAT32, (2, 3), -1.0, 1.0)
    cut = cut_to(box, Place(0, element), (0.5, 2.0))
    assert ends_at(cut, Place(0, element)) == (0.5, 1.0)
    assert all(ends_at(cut, Place(0, i)) == (-1.0, 1.0) for i in range(6) if i != element)
