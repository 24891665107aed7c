"""Triangles, reversed sequences, places and distinct values: Trilu, ReverseSequence, NonZero, Unique."""

from __future__ import annotations

from typing import Any

import numpy as np

from nanproof.dims import Size, interval, product
from nanproof.domain.box import Box, Shape, of_array
from nanproof.domain.moves import merged_over, reshaped, some
from nanproof.domain.partition import Blocks, blocks_of, pack
from nanproof.numerics.dtypes import INT64
from nanproof.ops.call import Call
from nanproof.ops.operands import FEW, MOST, axis_in, counted, exactly, one
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.shaping import ANY, flat


def _known(*values: int, shape: tuple[int, ...] | None = None) -> Operand:
    found = np.array(values, np.int64).reshape((len(values),) if shape is None else shape)
    return Operand(found.shape, dtype="int64", values=found.tolist(), stored=True)


def _x(*shape: int) -> Operand:
    return Operand(shape)


# -- Trilu ---------------------------------------------------------------------------------------------------


def _run_trilu(xp: Any, x: Any, k: Any = None, *, upper: int = 1, **_: Any) -> Any:
    shift = 0 if k is None else int(k.reshape(-1)[0])
    return xp.triu(x, k=shift) if upper else xp.tril(x, k=shift)


def _trilu(call: Call, x: Box, k: Box | None = None) -> Box:
    """Movement into a field of zeros: a block is kept, zeroed, or (on the diagonal) either."""
    shift = 0 if k is None else one(k)
    upper = bool(call.attr("upper", 1))
    if x.shape is None or len(x.shape) < 2:
        return _or_zero(x)
    if x.known is not None and x.known.size <= 4 * MOST and shift is not None and x.known.dtype != object:
        exact = np.triu(x.known, shift) if upper else np.tril(x.known, shift)
        whole = _or_zero(x) if x.known.size > FEW or x.cuts is not None else of_array(x.dtype, exact)
        whole.known = exact
        return whole
    cuts = x.cuts
    if cuts is None or shift is None or not (cuts[-1] or cuts[-2]):
        return _or_zero(x)
    rows, columns = x.shape[-2:]
    ends = [p if p is not None else (0, n) for p, n in ((cuts[-2], rows), (cuts[-1], columns))]
    if not all(isinstance(n, int) for pair in ends for n in pair):
        return _or_zero(x)
    row, column = (np.asarray(p, np.int64) for p in ends)
    # the least and the largest column - row of each block
    least = column[None, :-1] - (row[1:, None] - 1)
    most = (column[None, 1:] - 1) - row[:-1, None]
    kept, gone = (least >= shift, most < shift) if upper else (most <= shift, least > shift)
    lo, hi, spots = blocks_of(x)
    lo = np.where(gone, 0.0, np.where(kept, lo, np.minimum(lo, 0.0)))
    hi = np.where(gone, 0.0, np.where(kept, hi, np.maximum(hi, 0.0)))
    spots = None if spots is None else np.where(gone, np.uint8(0), spots)
    return pack(x.dtype, x.shape, cuts, Blocks(lo, hi, spots))


def _or_zero(x: Box) -> Box:
    """The elements of x, or 0, at every place."""
    if not x.flags and not x.has_finite:
        return Box(x.dtype, x.shape, x.lo, x.hi, cuts=x.cuts)
    if x.cuts is None:
        return Box(x.dtype, x.shape, min(x.lo, 0.0), max(x.hi, 0.0), x.flags)
    lo, hi, spots = blocks_of(x)
    return pack(x.dtype, x.shape, x.cuts, Blocks(np.minimum(lo, 0.0), np.maximum(hi, 0.0), spots))


TRILU = Op(
    "Trilu",
    run=_run_trilu,
    bound=_trilu,
    exact=True,
    grain=(1,),
    samples=Samples(
        cases=(
            Case((_x(4, 4),)),
            Case((_x(4, 4), _known(1, shape=())), {"upper": 1}),
            Case((_x(2, 3, 5), _known(-1, shape=())), {"upper": 0}),
            Case((_x(5, 3), _known(7, shape=())), {"upper": 0}),
            Case((_x(5, 3), _known(-7, shape=())), {"upper": 0}),
            Case((_x(3, 4), Operand((), "int64", low=-3, high=3))),
        ),
        dtypes=ANY[:5],
    ),
)


# -- ReverseSequence -----------------------------------------------------------------------------------------


def _run_reverse(xp: Any, x: Any, lengths: Any, *, batch_axis: int = 1, time_axis: int = 0, **_: Any) -> Any:
    rank, steps, batch = len(x.shape), x.shape[time_axis], x.shape[batch_axis]
    time = xp.reshape(xp.arange(steps), tuple(steps if i == time_axis else 1 for i in range(rank)))
    ends = xp.reshape(lengths, tuple(batch if i == batch_axis else 1 for i in range(rank)))
    places = xp.where(time < ends, ends - 1 - time, time)
    return xp.take_along_axis(x, xp.broadcast_to(places, tuple(x.shape)), axis=time_axis)


def _reverse(call: Call, x: Box, lengths: Box) -> Box:
    """Movement along the time axis, of another length in each batch: the hull over that axis."""
    if x.shape is None:
        return reshaped(x, None)
    time = call.attr("time_axis", 0)
    whole = merged_over(x, (time,))
    return Box(x.dtype, x.shape, whole.lo, whole.hi, whole.flags, cuts=whole.cuts, spots=whole.spots)


REVERSE_SEQUENCE = Op(
    "ReverseSequence",
    run=_run_reverse,
    bound=_reverse,
    exact=True,
    samples=Samples(
        cases=(
            Case((_x(4, 3), Operand((3,), "int64", low=1, high=4))),
            Case((_x(3, 4), Operand((3,), "int64", low=1, high=4)), {"batch_axis": 0, "time_axis": 1}),
        ),
        dtypes=("float32", "int64"),
    ),
)


# -- NonZero, Unique -----------------------------------------------------------------------------------------


def _highest(call: Call, size: Size) -> float:
    """The last index of an axis."""
    high = interval(size, call.setting.dims)[1]
    return 2.0**63 if high is None else float(max(high - 1, 0))


def _non_zero(call: Call, x: Box) -> Box:
    """Places, of which only the values of x tell how many there are."""
    if x.known is not None and x.known.size <= MOST and (exact := exactly(call, (x,))) is not None:
        return of_array(INT64, exact[0])
    if x.shape is None:
        return Box(INT64, (call.fresh("rank"), call.fresh("count")), 0.0, 2.0**63)
    high = max((_highest(call, n) for n in x.shape), default=0.0)
    return Box(INT64, (len(x.shape), call.fresh("count")), 0.0, high)


def _run_non_zero(xp: Any, x: Any, **_: Any) -> Any:
    if len(x.shape) == 0:
        # the operator is older than 0-d tensors and has no row for them
        return xp.zeros((0, int(bool(x != 0))), dtype=xp.int64)
    return xp.stack(xp.nonzero(x), axis=0)


NON_ZERO = Op(
    "NonZero",
    run=_run_non_zero,
    bound=_non_zero,
    exact=True,
    result="int64",
    samples=Samples(cases=(Case((_x(3, 4),)), Case((_x(5),))), dtypes=("float32", "int64", "bool")),
)


def _run_unique(xp: Any, x: Any, *, axis: int | None = None, **attrs: Any) -> Any:
    arrays = np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    values, first, inverse, counts = (np.asarray(a) for a in arrays)
    inverse = inverse.reshape(-1)
    if not attrs.get("sorted", 1):
        order = np.argsort(first)
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        values, first, inverse, counts = np.take(values, order, axis or 0), first[order], back[inverse], counts[order]
    return tuple(xp.asarray(a) for a in (values, first, inverse, counts))


def _unique(call: Call, x: Box) -> tuple[Box, ...]:
    """Selection: some of the values of x; the other results are places and counts."""
    count = call.fresh("count")
    axis = call.attr("axis")
    if x.shape is None:
        long = call.fresh("size")
        values = reshaped(x, (count,) if axis is None else None)
        high = 2.0**63
    else:
        source = flat(x) if axis is None else x
        at = 0 if axis is None else axis_in(axis, len(x.shape))
        values = some(source, at, count)
        size = product(x.shape) if axis is None else x.shape[at]
        long, high = size, _highest(call, size)  # type: ignore[assignment]
    places = Box(INT64, (count,), 0.0, high)
    inverse: Shape = (long,)
    total = counted(inverse)
    most = high + 1 if total is None else float(max(total, 1))
    results = (values, places, Box(INT64, inverse, 0.0, high), Box(INT64, (count,), 1.0, min(most, 2.0**63)))
    return results[: call.outputs]


UNIQUE = Op(
    "Unique",
    run=_run_unique,
    bound=_unique,
    exact=True,
    samples=Samples(
        cases=(
            Case((Operand((6,), low=0, high=3),), outputs=4),
            Case((Operand((3, 4), low=0, high=3),), {"sorted": 0}, outputs=4),
            Case((Operand((3, 4), low=0, high=3),), {"axis": 1}),
        ),
        dtypes=("float32", "int64"),
    ),
)

OPS = (TRILU, REVERSE_SEQUENCE, NON_ZERO, UNIQUE)
