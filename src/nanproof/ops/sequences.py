"""Lists of tensors, as exporters use them to cut a tensor into parts: SplitToSequence, SequenceAt and their kin."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from nanproof.dims import ShapeError, Size
from nanproof.domain.box import Box
from nanproof.domain.moves import concatenated, hull_of, part, reshaped, some
from nanproof.numerics.dtypes import INT64, DType
from nanproof.ops.call import Call
from nanproof.ops.operands import axis_in, of_size, one, sizes
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.shaping import integers
from nanproof.ops.slicing import along


class Listed(Box):
    """A list of tensors: read as a Box it is the hull of them all, so that whoever doesn't know lists stays sound."""

    __slots__ = ("items",)

    def __init__(self, dtype: DType, items: Sequence[Box]) -> None:
        if items:
            whole = hull_of(items, None)
            super().__init__(dtype, None, whole.lo, whole.hi, whole.flags)
        else:
            super().__init__(dtype, None, inf, -inf)
        self.items = tuple(items)


# -- making lists ---------------------------------------------------------------------------------------------


def _parts(size: Size, split: tuple[Size, ...] | None, *, even: bool) -> list[Size] | None:
    """The sizes of the parts; None where their number isn't known."""
    if not even:
        return None if split is None else list(split)
    each = 1 if split is None else split[0]
    if not isinstance(size, int) or not isinstance(each, int) or each < 1:
        return [size] if size == each else None
    return [min(each, size - i) for i in range(0, size, each)]


def _run_split(xp: Any, x: Any, split: Any = None, *, axis: int = 0, keepdims: int = 1, **_: Any) -> Any:
    axis = axis_in(axis, len(x.shape))
    even = split is None or len(split.shape) == 0
    given = None if split is None else tuple(integers(split.reshape((-1,))))
    found = _parts(int(x.shape[axis]), given, even=even)
    results = []
    start = 0
    for n in found or ():
        item = x[along(axis, slice(start, start + n))]
        results.append(xp.squeeze(item, axis=axis) if split is None and not keepdims else item)
        start += n  # type: ignore[assignment]
    return results


def _split(call: Call, x: Box, split: Box | None = None) -> Box:
    """Data movement: neighbouring parts of one axis, as many as the list has."""
    if x.shape is None:
        return reshaped(x, None)
    axis = axis_in(call.attr("axis", 0), len(x.shape))
    size = x.shape[axis]
    even = split is None or split.shape == ()
    found = None if split is not None and sizes(split) is None else _parts(size, sizes(split), even=even)
    if found is None:
        return Box(x.dtype, None, *x.hull(), x.flags)
    items = []
    place: Size = 0
    for n in found:
        if isinstance(size, int) and isinstance(n, int) and isinstance(place, int):
            item = part(x, axis, (place, place + n, 1))
        else:
            item = some(x, axis, n, (place, place + n, 1))
        if split is None and not call.attr("keepdims", 1) and item.shape is not None:
            item = reshaped(item, (*item.shape[:axis], *item.shape[axis + 1 :]))
        items.append(item)
        place = place + n
    return Listed(x.dtype, items)


def _known(values: Any) -> Operand:
    shape = (len(values),) if isinstance(values, tuple) else ()
    return Operand(shape, dtype="int64", values=values, stored=True)


_X = Operand((6, 4))

SPLIT_TO_SEQUENCE = Op(
    "SplitToSequence",
    run=_run_split,
    bound=_split,
    exact=True,
    grain=(1,),
    samples=Samples(
        cases=(Case((_X, _known(2))), Case((_X, _known((2, 2))), {"axis": 1}), Case((_X,), {"keepdims": 0}))
    ),
)


def _construct(call: Call, *boxes: Box) -> Box:
    """The operands, listed."""
    return Listed(boxes[0].dtype, boxes)


SEQUENCE_CONSTRUCT = Op(
    "SequenceConstruct",
    run=lambda xp, *xs, **_: list(xs),
    bound=_construct,
    exact=True,
    samples=Samples(cases=(Case((_X, _X)),)),
)


# -- reading lists --------------------------------------------------------------------------------------------


def _at(call: Call, items: Box, position: Box) -> Box:
    """One of the list's tensors; which one is mostly known."""
    if not isinstance(items, Listed):
        return Box(items.dtype, None, *items.hull(), items.flags)
    place = one(position)
    if place is not None:
        if not -len(items.items) <= place < len(items.items):
            raise ShapeError(f"SequenceAt of place {place} in a list of {len(items.items)}")
        return items.items[place]
    shapes = {box.shape for box in items.items}
    return hull_of(items.items, shapes.pop() if len(shapes) == 1 else None)


SEQUENCE_AT = Op(
    "SequenceAt",
    run=lambda xp, xs, position, **_: xs[int(position.reshape((-1,))[0])],
    bound=_at,
    exact=True,
    grain=(1,),
    samples=Samples(cases=(Case((_X, _known(1))),)),
)


def _length(call: Call, items: Box) -> Box:
    """Depends on the list only."""
    if isinstance(items, Listed):
        return of_size(call, len(items.items))
    return Box(INT64, (), 0.0, 2.0**63)


SEQUENCE_LENGTH = Op(
    "SequenceLength",
    run=lambda xp, xs, **_: xp.asarray(len(xs), dtype=xp.int64),
    bound=_length,
    exact=True,
    result="int64",
    samples=Samples(cases=(Case((_X,)),)),
)


def _joined(call: Call, items: Box) -> Box:
    """Data movement: one behind the other, or stacked along a new axis."""
    if not isinstance(items, Listed) or any(box.shape is None for box in items.items) or not items.items:
        return Box(items.dtype, None, *items.hull(), items.flags)
    boxes = list(items.items)
    rank = len(boxes[0].shape or ())
    if call.attr("new_axis", 0):
        axis = axis_in(call.attr("axis", 0), rank + 1)
        boxes = [reshaped(b, (*(b.shape or ())[:axis], 1, *(b.shape or ())[axis:])) for b in boxes]
    else:
        axis = axis_in(call.attr("axis", 0), rank)
    return boxes[0] if len(boxes) == 1 else concatenated(boxes, axis)


def _run_joined(xp: Any, xs: Any, *, axis: int = 0, new_axis: int = 0, **_: Any) -> Any:
    return xp.stack(list(xs), axis=axis) if new_axis else xp.concat(list(xs), axis=axis)


CONCAT_FROM_SEQUENCE = Op(
    "ConcatFromSequence",
    run=_run_joined,
    bound=_joined,
    exact=True,
    samples=Samples(cases=(Case((_X,), {"axis": 0}),)),
)

OPS = (SPLIT_TO_SEQUENCE, SEQUENCE_CONSTRUCT, SEQUENCE_AT, SEQUENCE_LENGTH, CONCAT_FROM_SEQUENCE)
