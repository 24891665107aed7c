"""Every data movement on Boxes against NumPy on tensors in them. (Sequences of movements: test_moves.py.)"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nanproof.dims import symbol
from nanproof.domain import moves
from nanproof.domain.box import Box, of_array
from nanproof.domain.partition import fine
from nanproof.numerics.dtypes import FLOAT32
from nanproof.testing.membership import outside, spread
from nanproof.testing.strategies import boxed_tensors, shapes


def right(box: Box, tensor: Any) -> None:
    assert box.shape == tensor.shape
    assert not outside(spread(box, tensor.shape), tensor).any()
    if box.known is not None:
        np.testing.assert_array_equal(box.known, tensor)


@st.composite
def operands(draw: st.DrawFn, shape: tuple[int, ...] | None = None, least_axes: int = 0) -> tuple[Box, Any]:
    chosen = shape if shape is not None else draw(shapes().filter(lambda s: len(s) >= least_axes))
    box, tensor = draw(boxed_tensors(FLOAT32, chosen))
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return of_array(FLOAT32, tensor), tensor
    return (fine(of_array(FLOAT32, tensor)), tensor) if kind == 1 else (box, tensor)


@given(st.data())
def test_reshaped(data: st.DataObject) -> None:
    factors = data.draw(st.lists(st.sampled_from((1, 2, 3, 4, 5, 9)), max_size=4))
    box, tensor = data.draw(operands(tuple(factors)))
    left = data.draw(st.permutations(factors)) if data.draw(st.booleans()) else list(factors)
    shape: list[int] = []
    for n in left:
        if shape and data.draw(st.booleans()):
            shape[-1] *= n
        else:
            shape.append(n)
    if data.draw(st.booleans()):
        shape.insert(data.draw(st.integers(0, len(shape))), 1)
    right(moves.reshaped(box, tuple(shape)), tensor.reshape(shape))


@given(st.data())
def test_reshaped_many_elements(data: st.DataObject) -> None:
    """More elements than are cut one by one: cuts survive only where whole rows stay together."""
    shape = data.draw(st.sampled_from(((6, 4, 8), (12, 16), (192,), (2, 96), (3, 64), (8, 24))))
    other = data.draw(st.sampled_from(((6, 4, 8), (12, 16), (192,), (2, 96), (24, 8), (4, 6, 8), (3, 2, 32))))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n = shape[0]
    points = sorted({0, n, *(int(p) for p in rng.integers(0, n, 4))})
    grid = (len(points) - 1, *(1,) * (len(shape) - 1))
    ends = np.sort(rng.normal(size=(2, *grid)), axis=0)
    box = Box(FLOAT32, shape, ends[0], ends[1], cuts=(tuple(points), *(None,) * (len(shape) - 1)))
    low, high, _ = spread(box, shape)
    tensor = np.where(rng.random(shape) < 0.5, low, high)
    right(moves.reshaped(box, other), tensor.reshape(other))


@given(st.data())
def test_transposed(data: st.DataObject) -> None:
    box, tensor = data.draw(operands())
    order = tuple(data.draw(st.permutations(range(tensor.ndim))))
    right(moves.transposed(box, order), tensor.transpose(order))


@given(st.data())
def test_part(data: st.DataObject) -> None:
    box, tensor = data.draw(operands(least_axes=1))
    axis = data.draw(st.integers(0, tensor.ndim - 1))
    n = tensor.shape[axis]
    span = slice(
        data.draw(st.none() | st.integers(-n - 1, n + 1)),
        data.draw(st.none() | st.integers(-n - 1, n + 1)),
        data.draw(st.sampled_from((1, 2, 3, -1, -2))),
    ).indices(n)
    right(moves.part(box, axis, span), np.take(tensor, np.array(range(*span), int), axis))


@given(st.data())
def test_taken(data: st.DataObject) -> None:
    box, tensor = data.draw(operands(least_axes=1))
    axis = data.draw(st.integers(0, tensor.ndim - 1))
    index = st.integers(0, tensor.shape[axis] - 1)
    places = np.array(data.draw(index | st.lists(index, max_size=6)), np.int64)
    right(moves.taken(box, axis, places), np.take(tensor, places, axis))


@given(st.data())
def test_concatenated(data: st.DataObject) -> None:
    shape = list(data.draw(shapes().filter(bool)))
    axis = data.draw(st.integers(0, len(shape) - 1))
    found = []
    for _ in range(data.draw(st.integers(1, 4))):
        shape[axis] = data.draw(st.integers(0, 3))
        found.append(data.draw(operands(tuple(shape))))
    whole = moves.concatenated([b for b, _ in found], axis)
    right(whole, np.concatenate([t for _, t in found], axis))


@given(st.data())
def test_concatenated_pieces_come_apart_again(data: st.DataObject) -> None:
    shape = list(data.draw(shapes().filter(bool)))
    axis = data.draw(st.integers(0, len(shape) - 1))
    found, ends = [], [0]
    for _ in range(3):
        shape[axis] = data.draw(st.integers(1, 3))
        found.append(data.draw(operands(tuple(shape))))
        ends.append(ends[-1] + shape[axis])
    whole = moves.concatenated([b for b, _ in found], axis)
    for (box, tensor), start, stop in zip(found, ends[:-1], ends[1:], strict=True):
        back = moves.part(whole, axis, (start, stop, 1))
        right(back, tensor)
        assert back.hull() == box.hull()


@given(st.data())
def test_expanded(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    thin = tuple(data.draw(st.sampled_from((1, n))) for n in shape[data.draw(st.integers(0, len(shape))) :])
    box, tensor = data.draw(operands(thin))
    right(moves.expanded(box, shape), np.broadcast_to(tensor, shape))


@given(st.data())
def test_repeated(data: st.DataObject) -> None:
    box, tensor = data.draw(operands())
    times = tuple(data.draw(st.integers(0, 3)) for _ in tensor.shape)
    right(moves.repeated(box, times), np.tile(tensor, times))


@given(st.data())
def test_cut_and_merged(data: st.DataObject) -> None:
    box, tensor = data.draw(operands(least_axes=1))
    axis = data.draw(st.integers(0, tensor.ndim - 1))
    points = data.draw(st.lists(st.integers(0, 6), max_size=3))
    cut = moves.cut_at(box, axis, points)
    right(cut, tensor)
    right(moves.merged_over(cut, (axis,)), tensor)


@given(st.data())
def test_hull(data: st.DataObject) -> None:
    box, tensor = data.draw(operands())
    right(moves.hull_of([box, box], box.shape), tensor)
    right(moves.rearranged_known(box, np.flip, box.shape), np.flip(tensor))


@given(st.data())
def test_unknown_and_symbolic_sizes(data: st.DataObject) -> None:
    box, tensor = data.draw(operands(least_axes=1))
    vague = Box(box.dtype, (symbol("n"), *tensor.shape[1:]), *box.hull(), box.flags)
    order = tuple(data.draw(st.permutations(range(tensor.ndim))))
    for moved, expected in (
        (moves.transposed(vague, order), tensor.transpose(order)),
        (moves.concatenated([vague, vague], 0), np.concatenate([tensor, tensor])),
        (moves.reshaped(vague, (1, *(vague.shape or ()))), tensor[None]),
        (moves.reshaped(vague, None), tensor),
        (moves.transposed(Box(box.dtype, None, *box.hull(), box.flags), order), tensor.transpose(order)),
    ):
        assert not outside(spread(moved, expected.shape), expected).any()
