"""Taking tensors apart and putting them together along an axis: Slice, Split, Concat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nanproof.dims import Dim, ShapeError, Size, least, most, slice_length
from nanproof.domain.box import Box
from nanproof.domain.moves import concatenated, hull_of, part, reshaped, some
from nanproof.ops.call import Call
from nanproof.ops.operands import FEW, axes_in, axis_in, counted, ints, length_of, polished, sizes
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.shaping import ANY, integers


def _known(*values: int) -> Operand:
    return Operand((len(values),), dtype="int64", values=values, stored=True)


def _x(*shape: int) -> Operand:
    return Operand(shape)


# -- Slice --------------------------------------------------------------------------------------------


_TO_THE_END = 2**31 - 1
"""How exporters write "to the end": the largest int32, or more."""


def clamped(size: int, start: int, end: int, step: int) -> tuple[int, int, int]:
    """A slice in positions from the front, as ONNX clamps them (an end of -1: before the first element)."""
    if step == 0:
        raise ShapeError("the step of a slice has to be other than 0")
    start = start + size if start < 0 else start
    end = end + size if end < 0 else end
    if step > 0:
        start, end = min(max(start, 0), size), min(max(end, 0), size)
        return start, max(start, end), step
    start, end = min(max(start, 0), size - 1), min(max(end, -1), size - 1)
    return (start, min(start, end), step) if size else (0, 0, 1)


def _cut(xp: Any, x: Any, axis: int, span: tuple[int, int, int]) -> Any:
    """Slicing without negative strides, which some array libraries lack."""
    places = range(*span)
    if span[2] > 0 or not places:
        return x[along(axis, slice(places.start, max(places.start, places.stop), abs(span[2])))]
    return xp.flip(x[along(axis, slice(places[-1], places[0] + 1, -span[2]))], axis=axis)


def along(axis: int, item: Any) -> tuple[Any, ...]:
    """The index that picks something along one axis and everything along those before it."""
    return (*(slice(None),) * axis, item)


def _run_slice(xp: Any, x: Any, starts: Any, ends: Any, *more: Any, **_: Any) -> Any:
    axes, steps = (*more, None, None)[:2]
    first, last = integers(starts), integers(ends)
    chosen = range(len(first)) if axes is None else axes_in(integers(axes), len(x.shape))
    strides = [1] * len(first) if steps is None else integers(steps)
    for axis, start, end, step in zip(chosen, first, last, strides, strict=True):
        x = _cut(xp, x, axis, clamped(x.shape[axis], start, end, step))
    return x


def _slice(call: Call, x: Box, starts: Box, ends: Box, *more: Box | None) -> Box:
    """Data movement, axis by axis; where a start or end isn't known, any part of the axis."""
    axes, steps = (*more, None, None)[:2]
    if x.shape is None:
        return reshaped(x, None)
    rank = len(x.shape)
    count = next((n for n in map(length_of, (starts, ends)) if n is not None), None)
    chosen = ints(axes) if axes is not None else None if count is None else tuple(range(count))
    strides = ints(steps) if steps is not None else (1,) * len(chosen or ())
    if chosen is None or strides is None:
        return Box(x.dtype, tuple(call.fresh(f"size{i}") for i in range(rank)), *x.hull(), x.flags)
    unknown = (None,) * len(chosen)
    ahead = starts.hull()[0] >= 0 and ends.hull()[0] >= 0
    first: Sequence[Size | None] = sizes(starts) or unknown
    last: Sequence[Size | None] = sizes(ends) or unknown
    for axis, start, end, step in zip(axes_in(chosen, rank), first, last, strides, strict=True):
        assert x.shape is not None
        size = x.shape[axis]
        if type(size) is int and type(start) is int and type(end) is int:
            span = clamped(size, start, end, step)
            if span != (0, size, 1):
                x = part(x, axis, span)
        else:
            x = _symbolic_slice(call, x, axis, (start, end, step), ahead)
    return polished(call, x)


def _symbolic_slice(call: Call, x: Box, axis: int, span: tuple[Size | None, Size | None, int], ahead: bool) -> Box:
    """A slice of unknown length: its elements are some of the axis. ``ahead``: nothing is counted from the back."""
    assert x.shape is not None
    start, end, step = span
    if start is None or end is None or (step < 0 and not (type(start) is int and start >= -1)):
        # NumPy and ONNX differ on a start before the first element, going backwards
        return some(x, axis, call.fresh(f"size{axis}"))
    if ahead and step == 1:
        last = x.shape[axis] if isinstance(end, int) and end >= _TO_THE_END else least(end, x.shape[axis])
        size = last if start == 0 else most(last - start, 0)
    else:
        size = slice_length(x.shape[axis], start, end, step)
    if size == x.shape[axis] and step == 1:
        return x
    return some(x, axis, size, (start, end, step))


SLICE = Op(
    "Slice",
    run=_run_slice,
    bound=_slice,
    exact=True,
    grain=(1, 2, 3, 4),
    samples=Samples(
        cases=(
            Case((_x(5, 4), _known(1), _known(3))),
            Case((_x(5, 4), _known(1, 0), _known(-1, 3), _known(1, 0))),
            Case((_x(5, 6), _known(-1), _known(-(2**63)), _known(0), _known(-1))),
            Case((_x(5, 6), _known(4, 5), _known(0, -100), _known(0, 1), _known(-2, -3))),
            Case((_x(5, 6), _known(0, 1), _known(2**63 - 1, 1000), _known(-1, -2), _known(2, 3))),
            Case((_x(5), _known(3), _known(1))),
            Case((_x(5), _known(-100), _known(-200), _known(0), _known(-1))),
            Case((_x(0, 2), _known(0), _known(5))),
        ),
        dtypes=ANY,
    ),
)


# -- Split ----------------------------------------------------------------------------------------------


def _equal_parts(size: Size, count: int) -> list[Size]:
    """Equal parts of an axis; the last one has what is left."""
    each = -(-size // count) if isinstance(size, int) else (size + (count - 1)) // count
    if isinstance(size, int) and isinstance(each, int):
        return [max(0, min(each, size - i * each)) for i in range(count)]
    if each * count == size:
        return [each] * count
    return [each] * (count - 1) + [size - each * (count - 1)]


def _run_split(xp: Any, x: Any, split: Any = None, *, axis: int = 0, num_outputs: int = 0, **_: Any) -> Any:
    axis = axis_in(axis, len(x.shape))
    parts = _equal_parts(int(x.shape[axis]), num_outputs) if split is None else integers(split)
    results = []
    start = 0
    for n in parts:
        results.append(x[along(axis, slice(start, start + n))])
        start = start + n  # type: ignore[assignment]
    return tuple(results)


def _split(call: Call, x: Box, split: Box | None = None) -> tuple[Box, ...]:
    """Data movement: neighbouring parts of one axis."""
    count = call.attr("num_outputs") or call.outputs
    if split is None and count != call.outputs:
        raise ShapeError(f"Split into {count} parts, and the node has {call.outputs} outputs")
    if x.shape is None:
        return (reshaped(x, None),) * count
    axis = axis_in(call.attr("axis", 0), len(x.shape))
    size = x.shape[axis]
    found = _equal_parts(size, count) if split is None else sizes(split)
    if found is None:
        found = [call.fresh(f"size{i}") for i in range(count)]
    if type(size) is int and all(type(n) is int for n in found):
        if sum(found, 0) != size:
            raise ShapeError(f"Split of {size} elements into {sum(found, 0)}")
        results = []
        start = 0
        for n in found:
            results.append(polished(call, part(x, axis, (start, start + n, 1))))  # type: ignore[arg-type]
            start += n  # type: ignore[assignment]
        return tuple(results)
    place: Size = 0
    answers = []
    for n in found:
        answers.append(some(x, axis, n, (place, place + n, 1)))
        place = place + n
    return tuple(answers)


SPLIT = Op(
    "Split",
    run=_run_split,
    bound=_split,
    exact=True,
    grain=(1,),
    samples=Samples(
        cases=(
            Case((_x(6, 2),), {"num_outputs": 3}, outputs=3),
            Case((_x(2, 7),), {"num_outputs": 3, "axis": -1}, outputs=3),
            Case((_x(2, 7), _known(1, 4, 2)), {"axis": 1}, outputs=3),
            Case((_x(3), _known(3, 0)), outputs=2),
        ),
        dtypes=("float32", "float64", "float16", "int64"),
    ),
)


# -- Concat ---------------------------------------------------------------------------------------------


def _concat(call: Call, *boxes: Box) -> Box:
    """Data movement: one operand behind the other."""
    shape = boxes[0].shape
    if len(boxes) == 1:
        return boxes[0]
    if shape is None:
        return hull_of(boxes, None)
    axis = axis_in(call.attr("axis", 0), len(shape))
    if boxes[0].dtype.is_integer:
        boxes = _named(call, boxes)
        if all(b.known is not None for b in boxes):
            known = np.concatenate([b.known for b in boxes if b.known is not None], axis)
            if known.size <= FEW:
                return polished(call, _of_known(boxes, known))
    return concatenated(boxes, axis)


def _of_known(boxes: Sequence[Box], known: Any) -> Box:
    filled = [b for b in boxes if b.known is not None and b.known.size] or list(boxes)
    whole = hull_of(filled, known.shape)
    whole.known = known
    return whole


def _named(call: Call, boxes: tuple[Box, ...]) -> tuple[Box, ...]:
    """A shape put together of known and unknown sizes: the unknown ones get names."""
    if all(b.known is not None for b in boxes) or not any(b.known is not None for b in boxes):
        return boxes
    result = []
    for place, box in enumerate(boxes):
        count = counted(box.shape) if box.known is None else None
        if count is not None and count <= 8 and box.shape is not None and len(box.shape) == 1 and box.hull()[0] >= 0:
            names: list[Dim | None] = [call.fresh(f"size{place}_{i}") for i in range(count)]
            box = Box(box.dtype, box.shape, *box.hull(), known=np.array([*names, None], object)[:-1])
        result.append(box)
    return tuple(result)


CONCAT = Op(
    "Concat",
    run=lambda xp, *xs, axis=0, **_: xp.concat(xs, axis=axis),
    bound=_concat,
    exact=True,
    samples=Samples(
        cases=(
            Case((_x(2, 3), _x(4, 3)), {"axis": 0}),
            Case((_x(2, 3), _x(2, 1), _x(2, 2)), {"axis": -1}),
            Case((_x(2), _x(0), _x(3)), {"axis": 0}),
            Case((_x(2, 2),), {"axis": 1}),
            Case((_x(1, 2, 3), _x(1, 2, 3)), {"axis": 1}),
        ),
        dtypes=ANY,
    ),
)

OPS = (SLICE, SPLIT, CONCAT)
