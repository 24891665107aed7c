"""Join, meet, widening and containment, against tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nanproof.domain.box import NAN, PINF, Box, nothing
from nanproof.domain.lattice import contains, join, meet, widen
from nanproof.numerics.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32
from nanproof.testing.membership import outside, spread
from nanproof.testing.strategies import boxed_tensors, boxes, shapes, tensors

DTYPES = st.sampled_from([FLOAT32, FLOAT16, FLOAT64, BFLOAT16, INT32])


def inside(box: Box, tensor: Any) -> bool:
    return not bool(outside(spread(box, tensor.shape), tensor).any())


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Box, Any, Box]:
    dtype, shape = draw(DTYPES), draw(shapes())
    box, tensor = draw(boxed_tensors(dtype, shape))
    return box, tensor, draw(boxes(dtype, shape))


@given(pairs())
def test_drawn_tensors_lie_in_their_box(drawn: tuple[Box, Any, Box]) -> None:
    box, tensor, _ = drawn
    assert inside(box, tensor)


@given(pairs())
def test_join_holds_both(drawn: tuple[Box, Any, Box]) -> None:
    one, tensor, other = drawn
    for joined in (join(one, other), join(other, one)):
        assert inside(joined, tensor)
        assert contains(joined, one)
        assert contains(joined, other)


@given(pairs())
def test_join_is_no_larger_than_both(drawn: tuple[Box, Any, Box]) -> None:
    one, _, other = drawn
    joined = join(one, other)
    (a, b), (c, d), (e, f) = joined.hull(), one.hull(), other.hull()
    assert a >= min(c, e)
    assert b <= max(d, f)
    assert joined.flags == one.flags | other.flags


@given(pairs())
def test_join_with_itself_and_with_nothing(drawn: tuple[Box, Any, Box]) -> None:
    box, _, _ = drawn
    for joined in (join(box, box), join(box, nothing(box.dtype, box.shape)), join(nothing(box.dtype, box.shape), box)):
        assert contains(joined, box)
        assert contains(box, joined)


@given(pairs())
def test_meet_holds_what_both_hold(drawn: tuple[Box, Any, Box]) -> None:
    one, tensor, other = drawn
    met = meet(one, other)
    assert contains(one, met)
    if inside(other, tensor):
        assert inside(met, tensor)


@given(pairs())
def test_meet_and_join_absorb(drawn: tuple[Box, Any, Box]) -> None:
    one, _, other = drawn
    again = meet(one, join(one, other))
    assert contains(again, one)
    assert contains(one, again)


@given(st.data())
def test_contains_is_right_about_tensors(data: st.DataObject) -> None:
    one, tensor, other = data.draw(pairs())
    assert contains(one, one)
    if contains(other, one):
        assert inside(other, tensor)
    larger = join(one, other)
    assert inside(larger, data.draw(tensors(one)))


def test_contains_tells_blocks_apart() -> None:
    coarse = Box(FLOAT32, (2,), 0.0, 2.0)
    cut = Box(FLOAT32, (2,), np.array([0.0, 1.0]), np.array([1.0, 2.0]), cuts=((0, 1, 2),))
    assert contains(coarse, cut)
    assert not contains(cut, coarse)


def test_contains_looks_at_the_places_of_special_values() -> None:
    lo, hi = np.array([0.0, 0.0]), np.array([1.0, 1.0])
    first = Box(FLOAT32, (2,), lo, hi, NAN, cuts=((0, 1, 2),), spots=np.array([NAN, 0], np.uint8))
    second = Box(FLOAT32, (2,), lo, hi, NAN, cuts=((0, 1, 2),), spots=np.array([0, NAN], np.uint8))
    anywhere = Box(FLOAT32, (2,), 0.0, 1.0, NAN | PINF)
    assert not contains(first, second)
    assert contains(anywhere, first)
    assert not contains(first, Box(FLOAT32, (2,), 0.0, 1.0, PINF))


@given(pairs())
def test_widening_holds_both(drawn: tuple[Box, Any, Box]) -> None:
    one, tensor, other = drawn
    wider = widen(one, other)
    assert contains(wider, one)
    assert contains(wider, other)
    assert inside(wider, tensor)


@given(st.data())
def test_widening_ends(data: st.DataObject) -> None:
    """Whatever comes, a chain of widenings stands still after a few steps: a bound has a few stops on its way, flags are three."""
    dtype, shape = data.draw(DTYPES), data.draw(shapes(2, 3))
    few = [data.draw(boxes(dtype, shape)) for _ in range(5)]
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    box, changes = few[0], 0
    for _ in range(60):
        lo, hi = few[int(rng.integers(0, 5))].hull()
        reach = float(rng.random()) * dtype.max if dtype.is_float else 5.0
        grown = Box(dtype, shape, max(dtype.min, min(lo, -reach)), min(dtype.max, max(hi, reach / 2)))
        new = widen(box, grown if rng.random() < 0.5 else few[int(rng.integers(0, 5))])
        changes += not contains(box, new)
        box = new
    blocks = int(np.prod(shape, dtype=int))
    assert changes <= 2 * 20 * max(1, blocks) + 3


def test_widening_a_loop_that_grows_ends() -> None:
    box = Box(FLOAT32, (), 0.0, 1.0)
    for _ in range(20):
        lo, hi = box.hull()
        grown = Box(FLOAT32, (), lo, min(hi * 1.5 + 1.0, FLOAT32.max))
        if contains(box, grown):
            break
        box = widen(box, grown)
    else:
        raise AssertionError("still growing")
    assert box.hull() == (0.0, FLOAT32.max)
