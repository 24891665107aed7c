"""Sequences of tensors: made, changed, read, split and joined. Known places and lengths stay exact."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from nanproof.dims import ShapeError, Size, bounds
from nanproof.domain.box import Box, Shape
from nanproof.domain.lattice import join
from nanproof.domain.moves import concatenated, part, reshaped, some
from nanproof.domain.series import MOST_ITEMS, Series, listed, merged, series_of, with_one_of
from nanproof.numerics.dtypes import FLOAT32, INT64, by_onnx
from nanproof.ops.call import Call
from nanproof.ops.operands import MOST, axis_in, of_size, one, sizes
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.shaping import integers
from nanproof.ops.slicing import along


def _known(values: Any) -> Operand:
    shape = (len(values),) if isinstance(values, tuple) else ()
    return Operand(shape, dtype="int64", values=values, stored=True)


_X = Operand((6, 4))
_ANYWHERE = Operand((), dtype="int64", low=0, high=2)


# -- making and changing sequences ---------------------------------------------------------------------------


def _empty(call: Call) -> Box:
    """No tensor at all: only the dtype is known."""
    code = call.attr("dtype")
    return listed(FLOAT32 if code is None else by_onnx(int(code)), (), join)


SEQUENCE_EMPTY = Op(
    "SequenceEmpty", run=lambda xp, **_: [], bound=_empty, exact=True, samples=Samples(cases=(Case(()),))
)


def _construct(call: Call, *boxes: Box) -> Box:
    """The operands, in order."""
    return listed(boxes[0].dtype, boxes, join)


SEQUENCE_CONSTRUCT = Op(
    "SequenceConstruct",
    run=lambda xp, *xs, **_: list(xs),
    bound=_construct,
    exact=True,
    samples=Samples(cases=(Case((_X, _X)), Case((_X,)))),
)


def _place(position: Box | None, default: int) -> int | None:
    """Where to insert or to take; None where it isn't known."""
    return default if position is None else one(position)


def _in_sequence(call: Call, place: int, count: int) -> int:
    """A place counted from the front."""
    if not -count <= place < count:
        raise ShapeError(f"{call.op.name} of place {place} in a sequence of {count}")
    return place % count


def _insert(call: Call, items: Box, tensor: Box, position: Box | None = None) -> Box:
    """One tensor more: at its place where that is known, else anywhere."""
    series = series_of(items)
    rest, common = with_one_of(series, tensor, join)
    most = None if series.most is None else series.most + 1
    span = series.least + 1, most
    if series.items is not None and len(series.items) < MOST_ITEMS:
        place = _place(position, len(series.items))
        if place is not None:
            place = _in_sequence(call, place, len(series.items) + 1) if place >= 0 else _from_end(call, place, series)
            kept = (*series.items[:place], tensor, *series.items[place:])
            return Series(rest, common, span, items=kept)
    return Series(rest, common, span, length=None if series.length is None else series.length + 1)


def _from_end(call: Call, place: int, series: Series) -> int:
    """-1 inserts before the last tensor."""
    assert series.items is not None
    return _in_sequence(call, place, len(series.items)) if series.items else 0


def _run_insert(xp: Any, items: Any, tensor: Any, position: Any = None, **_: Any) -> Any:
    result = list(items)
    result.insert(len(result) if position is None else int(position.reshape((-1,))[0]), tensor)
    return result


SEQUENCE_INSERT = Op(
    "SequenceInsert",
    run=_run_insert,
    bound=_insert,
    exact=True,
    grain=(2,),
    samples=Samples(
        cases=(
            Case((_X, Operand((4,)))),
            Case((_X, Operand((4,)), _known(1))),
            Case((_X, Operand((4,)), _known(-1))),
            Case((_X, Operand((4,)), _ANYWHERE)),
        )
    ),
)


def _erase(call: Call, items: Box, position: Box | None = None) -> Box:
    """One tensor less: the one at a known place, else any."""
    series = series_of(items)
    if series.most == 0:
        raise ShapeError("SequenceErase of an empty sequence")
    if series.items is not None:
        place = _place(position, len(series.items) - 1)
        if place is not None:
            place = _in_sequence(call, place, len(series.items))
            return listed(series.dtype, (*series.items[:place], *series.items[place + 1 :]), join)
    most = None if series.most is None else series.most - 1
    length = None if series.length is None else series.length - 1
    return Series(series.rest, series.sizes, (max(series.least - 1, 0), most), length=length)


def _run_erase(xp: Any, items: Any, position: Any = None, **_: Any) -> Any:
    result = list(items)
    del result[-1 if position is None else int(position.reshape((-1,))[0])]
    return result


SEQUENCE_ERASE = Op(
    "SequenceErase",
    run=_run_erase,
    bound=_erase,
    exact=True,
    grain=(1,),
    samples=Samples(cases=(Case((_X,)), Case((_X, _known(1))), Case((_X, _known(-2))), Case((_X, _ANYWHERE)))),
)


# -- reading sequences ---------------------------------------------------------------------------------------


def _at(call: Call, items: Box, position: Box) -> Box:
    """The tensor at a known place, else any that the position may mean."""
    series = series_of(items)
    place = one(position)
    if series.items is None:
        return series.any(call.fresh)
    count = len(series.items)
    if place is not None:
        return series.items[_in_sequence(call, place, count)]
    low, high = position.hull()
    meant = [item for i, item in enumerate(series.items) if low <= i <= high or low <= i - count <= high]
    rest, common = merged(series.dtype, meant, join)
    return Series(rest, common, (0, None)).any(call.fresh)


SEQUENCE_AT = Op(
    "SequenceAt",
    run=lambda xp, xs, position, **_: xs[int(position.reshape((-1,))[0])],
    bound=_at,
    exact=True,
    grain=(1,),
    samples=Samples(cases=(Case((_X, _known(1))), Case((_X, _known(-1))), Case((_X, _ANYWHERE)))),
)


def _length(call: Call, items: Box) -> Box:
    """Depends on the sequence only, not on what the tensors hold."""
    series = series_of(items)
    if series.length is not None:
        return of_size(call, series.length)
    return Box(INT64, (), float(series.least), 2.0**63 if series.most is None else float(series.most))


SEQUENCE_LENGTH = Op(
    "SequenceLength",
    run=lambda xp, xs, **_: xp.asarray(len(xs), dtype=xp.int64),
    bound=_length,
    exact=True,
    result="int64",
    samples=Samples(cases=(Case((_X,)),)),
)


# -- to and from one tensor ----------------------------------------------------------------------------------


def _parts(size: Size, split: tuple[Size, ...] | None, *, even: bool) -> list[Size] | None:
    """The sizes of the parts; None where their number isn't known."""
    if not even:
        return None if split is None else list(split)
    each = 1 if split is None else split[0]
    if not isinstance(size, int) or not isinstance(each, int) or each < 1 or size > MOST_ITEMS * each:
        return [size] if size == each else None
    if size > each * MOST:
        return None
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
    """Data movement: neighbouring parts of one axis."""
    if x.shape is None:
        return Series(reshaped(x, None), None, (0, None))
    axis = axis_in(call.attr("axis", 0), len(x.shape))
    size = x.shape[axis]
    flat = split is None and not call.attr("keepdims", 1)
    even = split is None or split.shape == ()
    given = sizes(split)
    found = None if split is not None and given is None else _parts(size, given, even=even)
    if found is None or len(found) > MOST_ITEMS:
        return _unsplit(call, x, axis, split)
    items = []
    place: Size = 0
    for n in found:
        if isinstance(size, int) and isinstance(n, int) and isinstance(place, int):
            item = part(x, axis, (place, place + n, 1))
        else:
            item = some(x, axis, n, (place, place + n, 1))
        items.append(_without(item, axis) if flat else item)
        place = place + n
    return listed(x.dtype, items, join)


def _unsplit(call: Call, x: Box, axis: int, split: Box | None) -> Series:
    """Parts whose number isn't known, or is large: any of them."""
    assert x.shape is not None
    size = x.shape[axis]
    each = 1 if split is None else one(split) if split.shape == () else None
    rest = some(x, axis, 1 if each is None else each)
    length: Size | None = None
    if each is not None and each >= 1:
        length = (size + (each - 1)) // each
    elif split is not None and split.shape is not None and len(split.shape) == 1:
        length = split.shape[0]
    span = (0, None) if length is None else bounds(length, call.setting.dims)
    if split is None:
        rest = rest if call.attr("keepdims", 1) else _without(rest, axis)
        return Series(rest, rest.shape, span, length=length)
    assert rest.shape is not None
    whole = each is not None and isinstance(size, int) and size % each == 0
    common = tuple(n if i != axis or whole else None for i, n in enumerate(rest.shape))
    return Series(rest if whole else Box(x.dtype, None, *x.hull(), x.flags), common, span, length=length)


def _without(box: Box, axis: int) -> Box:
    """A tensor without an axis of size 1."""
    assert box.shape is not None
    return reshaped(box, (*box.shape[:axis], *box.shape[axis + 1 :]))


SPLIT_TO_SEQUENCE = Op(
    "SplitToSequence",
    run=_run_split,
    bound=_split,
    exact=True,
    grain=(1,),
    samples=Samples(
        cases=(
            Case((_X, _known(2))),
            Case((_X, _known(3))),
            Case((_X, _known((2, 2))), {"axis": 1}),
            Case((_X,), {"keepdims": 0}),
            Case((_X,), {"axis": -1}),
            Case((_X, Operand((), dtype="int64", low=1, high=3))),
        )
    ),
)


def _joined(call: Call, items: Box) -> Box:
    """Data movement: one behind the other, or stacked along a new axis."""
    series = series_of(items)
    new = bool(call.attr("new_axis", 0))
    if series.items is None or any(box.shape is None for box in series.items) or not series.items:
        return _joined_any(call, series, new=new)
    boxes = list(series.items)
    rank = len(boxes[0].shape or ())
    axis = axis_in(call.attr("axis", 0), rank + new)
    if new:
        boxes = [reshaped(b, (*(b.shape or ())[:axis], 1, *(b.shape or ())[axis:])) for b in boxes]
    return boxes[0] if len(boxes) == 1 else concatenated(boxes, axis)


def _joined_any(call: Call, series: Series, *, new: bool) -> Box:
    """A sequence of unknown length: the size of the joined axis follows from it where all its tensors are alike."""
    ends = series.hull() if series.most != 0 else (inf, -inf)
    if series.sizes is None:
        return Box(series.dtype, None, *ends, series.flags)
    axis = axis_in(call.attr("axis", 0), len(series.sizes) + new)
    # only tensors of one size can be joined: what isn't known of it isn't known of any
    found: list[Size | None] = list(series.sizes)
    length = series.length
    if new:
        found.insert(axis, length)
    else:
        size = found[axis]
        found[axis] = None if size is None or length is None else size * length
    shape: Shape = tuple(call.fresh(f"size{i}") if n is None else n for i, n in enumerate(found))
    return Box(series.dtype, shape, *ends, series.flags)


def _run_joined(xp: Any, xs: Sequence[Any], *, axis: int = 0, new_axis: int = 0, **_: Any) -> Any:
    return xp.stack(list(xs), axis=axis) if new_axis else xp.concat(list(xs), axis=axis)


CONCAT_FROM_SEQUENCE = Op(
    "ConcatFromSequence",
    run=_run_joined,
    bound=_joined,
    exact=True,
    samples=Samples(cases=(Case((_X,), {"axis": 0}), Case((_X,), {"axis": 1, "new_axis": 1}))),
)

OPS = (
    SEQUENCE_EMPTY,
    SEQUENCE_CONSTRUCT,
    SEQUENCE_INSERT,
    SEQUENCE_ERASE,
    SEQUENCE_AT,
    SEQUENCE_LENGTH,
    SPLIT_TO_SEQUENCE,
    CONCAT_FROM_SEQUENCE,
)
