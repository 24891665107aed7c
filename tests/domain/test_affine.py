"""Relations between Boxes: tighter than intervals, and never tighter than float arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanproof.domain import moves
from nanproof.domain.box import Box
from nanproof.numerics.dtypes import FLOAT16, FLOAT32, FLOAT64, DType, to_numpy
from nanproof.ops import lookup
from nanproof.ops.call import Call, Setting
from nanproof.testing.membership import outside, spread
from nanproof.testing.strategies import boxes, numbers, tensors


def op(name: str, *operands: Box, **attrs: Any) -> Box:
    found = lookup("", name)
    assert found is not None
    result = found.bound(Call(found, attrs, Setting()), *operands)
    assert isinstance(result, Box)
    return result


def interval(lo: float, hi: float, dtype: DType = FLOAT32, shape: tuple[int, ...] = (4, 4)) -> Box:
    return Box(dtype, shape, lo, hi)


def point(value: float, dtype: DType = FLOAT32) -> Box:
    return Box(dtype, (), value, value)


STEPS = ("add", "sub", "sub", "neg", "scale", "halve", "shift", "transpose", "flip", "front", "join", "back")


@st.composite
def programs(draw: st.DrawFn) -> list[tuple[str, int, int, float]]:
    step = st.tuples(
        st.sampled_from(STEPS), st.integers(0, 9), st.integers(0, 9), numbers(FLOAT16, (2.0, 0.5, 3.0, 1e-3))
    )
    return draw(st.lists(step, min_size=1, max_size=9))


def _stepped(step: tuple[str, int, int, float], known: list[tuple[Box, Any]], dtype: DType) -> tuple[Box, Any] | None:
    name, i, j, c = step
    (x, a), (y, b) = known[i % len(known)], known[j % len(known)]
    native = to_numpy(dtype)
    constant = np.asarray(c, native)
    if name in {"add", "sub"}:
        if a.shape != b.shape and 1 not in (a.shape[0], b.shape[0]):
            return None
        return op("Add" if name == "add" else "Sub", x, y), a + b if name == "add" else a - b
    if name == "neg":
        return op("Neg", x), -a
    if name == "scale":
        return op("Mul", x, point(float(constant), dtype)), a * constant
    if name == "halve":
        return op("Div", x, point(2.0, dtype)), a / np.asarray(2.0, native)
    if name == "shift":
        return op("Add", point(float(constant), dtype), x), constant + a
    if name == "transpose":
        return (moves.transposed(x, (1, 0)), a.T) if a.shape[0] == a.shape[1] else None
    if name == "flip":
        n = a.shape[0]
        return moves.part(x, 0, (n - 1, -1, -1)), a[::-1]
    if name == "front":
        return moves.part(x, 0, (0, 1, 1)), a[:1]
    if name == "join":
        return moves.concatenated([moves.part(x, 0, (0, 1, 1)), moves.part(y, 0, (0, 1, 1))], 0), np.concatenate(
            [a[:1], b[:1]]
        )
    return moves.reshaped(moves.reshaped(x, (a.size,)), a.shape), a


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT16, FLOAT64], ids=str)
@given(data=st.data())
def test_float_arithmetic_stays_inside(dtype: DType, data: st.DataObject) -> None:
    """Random programs of linear steps and movements, in the tensor's own dtype."""
    known: list[tuple[Box, Any]] = []
    for _ in range(2):
        box = data.draw(boxes(dtype, (3, 3), (1.0, 1e3), special=False))
        known.append((box, data.draw(tensors(box))))
    for step in data.draw(programs()):
        with np.errstate(all="ignore"):
            made = _stepped(step, known, dtype)
        if made is None:
            continue
        box, tensor = made
        assert tensor.dtype == to_numpy(dtype)
        wrong = outside(spread(box, tensor.shape), tensor)
        assert not wrong.any(), f"{step}: {tensor[wrong].tolist()} isn't in {box!r}"
        known.append(made)


def test_a_tensor_minus_itself_is_zero() -> None:
    x = interval(-3.0, 5.0)
    assert op("Sub", x, x).hull() == (0.0, 0.0)


def test_a_tensor_minus_its_transpose_is_not() -> None:
    x = interval(-3.0, 5.0)
    assert op("Sub", x, moves.transposed(x, (1, 0))).hull() == (-8.0, 8.0)
    assert op("Sub", x, moves.part(x, 0, (3, -1, -1))).hull() == (-8.0, 8.0)


def test_the_same_movement_on_both_sides_cancels() -> None:
    x = interval(-3.0, 5.0)
    one, other = moves.transposed(x, (1, 0)), moves.transposed(x, (1, 0))
    assert op("Sub", one, other).hull() == (0.0, 0.0)


@pytest.mark.parametrize("slices", [((0, 2), (2, 4)), ((0, 2), (1, 3))])
def test_different_slices_do_not_cancel(slices: tuple[tuple[int, int], tuple[int, int]]) -> None:
    x = interval(-3.0, 5.0)
    one, other = (moves.part(x, 0, (*s, 1)) for s in slices)
    assert op("Sub", one, other).hull() == (-8.0, 8.0)


def test_broadcasting_cancels_only_along_its_own_axis() -> None:
    x = interval(-3.0, 5.0, shape=(4,))
    row, column = moves.reshaped(x, (1, 4)), moves.reshaped(x, (4, 1))
    assert op("Sub", row, column).hull() == (-8.0, 8.0)
    assert op("Sub", row, x).hull() == (0.0, 0.0)


def _width(reach: float, offset: tuple[float, float], dtype: DType = FLOAT32) -> Box:
    """(c + o) - (c - o), which is 2o in the reals."""
    c, o = interval(-reach, reach, dtype), interval(*offset, dtype)
    return op("Sub", op("Add", c, o), op("Sub", c, o))


def test_a_rectangle_of_moderate_centre_has_a_width() -> None:
    lo, hi = _width(10.0, (0.5, 1.0)).hull()
    assert lo > 0.99
    assert hi < 2.01


def test_a_rectangle_far_out_may_have_none() -> None:
    lo, _ = _width(1e9, (0.5, 1.0)).hull()
    assert lo <= 0.0
    c, o = np.float32(1e9), np.float32(0.5)
    assert (c + o) - (c - o) == 0  # it isn't: float32 says so too


def test_half_precision_loses_it_earlier() -> None:
    assert _width(10.0, (0.5, 1.0), FLOAT16).hull()[0] > 0.9
    assert _width(2000.0, (0.25, 0.5), FLOAT16).hull()[0] <= 0.0


def test_pieces_of_a_concatenation_keep_their_relations() -> None:
    c, o = interval(-1.0, 1.0, shape=(2,)), interval(1.0, 2.0, shape=(2,))
    corners = moves.concatenated([op("Sub", c, o), op("Add", c, o)], 0)
    near, far = moves.part(corners, 0, (0, 2, 1)), moves.part(corners, 0, (2, 4, 1))
    lo, hi = op("Sub", far, near).hull()
    assert 1.99 < lo <= 2.0
    assert 4.0 <= hi < 4.01
    mixed = moves.part(corners, 0, (1, 3, 1))
    assert op("Sub", far, mixed).hull()[0] <= 0.0
