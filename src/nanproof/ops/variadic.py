"""Operators over any number of operands: Sum, Mean, Max, Min."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf
from typing import Any

import numpy as np

from nanproof.dims import broadcast
from nanproof.domain.box import INFS, NAN, NINF, PINF, Box, Shape
from nanproof.domain.moves import hull_of
from nanproof.domain.partition import aligned
from nanproof.numerics.dtypes import INT32, INT64
from nanproof.numerics.reductions import sum_error
from nanproof.ops.arithmetic import ADD
from nanproof.ops.call import Call, overflow_flags
from nanproof.ops.classes import increasing_in_all
from nanproof.ops.elementwise import folded
from nanproof.ops.pairs import within
from nanproof.ops.record import Case, Op, Operand, Samples

_X, _ROW, _COLUMN = Operand((2, 3)), Operand((3,)), Operand((2, 1))
_SUMS = tuple(Case(operands) for operands in ((_X,), (_X, _ROW), (_X, _ROW, _COLUMN), (_X, _X, _ROW, Operand())))
NUMERIC = ("float32", "float64", "float16", "int32", "int64")


def _total(call: Call, boxes: tuple[Box, ...], count: float) -> Box:
    """The sum over the count: a reduction in which every term has a Box of its own."""
    dtype, shape = boxes[0].dtype, _common(boxes)
    if any(not b.flags and not b.has_finite for b in boxes):
        return Box(dtype, shape, inf, -inf)
    if shape is None:
        boxes = tuple(Box(b.dtype, (), *b.hull(), b.flags) for b in boxes)
    cuts, blocks = aligned(boxes, 0 if shape is None else len(shape))
    lo, hi, size, below, above = (np.zeros(()) for _ in range(5))
    spots, void = np.zeros((), np.uint8), np.zeros((), bool)
    for block in blocks:
        gone = np.asarray(block.lo) > block.hi
        low, high = np.where(gone, 0.0, block.lo), np.where(gone, 0.0, block.hi)
        lo, hi, void = lo + low, hi + high, void | gone
        size = size + np.maximum(np.abs(low), np.abs(high))
        below, above = below + np.minimum(low, 0.0), above + np.maximum(high, 0.0)
        if block.spots is not None:
            spots = spots | block.spots
    spots = np.where((spots & PINF != 0) & (spots & NINF != 0), spots | np.uint8(NAN), spots)
    # a mean may be a product with the rounded reciprocal of the count
    terms = len(boxes) + (2.0 if count != 1.0 else 0.0)
    # every step may round to the dtype itself: a sum of tensors has no accumulator that stays
    err = sum_error(terms, size, dtype, dtype) if dtype.is_float else 0.0
    marks = np.broadcast_to(spots, np.shape(lo))
    marks = marks | _partial(call, dtype, (below - err, above + err), (lo - err, hi + err), count)
    if dtype.is_float and spots.any():  # an infinity from the way meets one that came in
        marks = np.where((marks & PINF != 0) & (marks & NINF != 0), marks | np.uint8(NAN), marks)
    lo, hi = np.where(void, inf, lo / count), np.where(void, -inf, hi / count)
    result = call.settle(dtype, shape, lo, hi, err=np.where(void, 0.0, err / count), cuts=cuts, spots=marks)
    return result if shape is not None else Box(dtype, None, *result.hull(), result.flags)


def _partial(call: Call, dtype: Any, partial: Any, final: Any, count: float) -> Any:
    """Flags of a sum that overflows on the way though its end result (over the count) does not."""
    if not dtype.is_float:
        return np.uint8(0)
    over, under = partial[1] > dtype.max, partial[0] < dtype.min
    if not (over | under).any():
        return np.uint8(0)
    gives = overflow_flags(dtype, bool(over.any()), bool(under.any()))
    if count != 1.0 or not ((final[1] > dtype.max) | (final[0] < dtype.min)).any():
        call.overflowed(float(np.min(final[0])), float(np.max(final[1])), dtype, gives, never=False)
    plus, minus = overflow_flags(dtype, True, False), overflow_flags(dtype, False, True)
    both = NAN if gives == INFS else 0
    return (over * np.uint8(plus | both)) | (under * np.uint8(minus | both))


def _common(boxes: tuple[Box, ...]) -> Shape:
    shape = boxes[0].shape
    for box in boxes[1:]:
        shape = None if shape is None or box.shape is None else broadcast(shape, box.shape)
    return shape


def _sum(call: Call, *boxes: Box) -> Box:
    """Of two operands an addition; of more, in an order that the runtime chooses."""
    if len(boxes) == 1:
        return boxes[0]
    if len(boxes) == 2:
        return ADD.bound(within(call, _ADDITION), *boxes)  # type: ignore[return-value]
    return _total(call, boxes, 1.0)


_ADDITION = Op("Sum", run=ADD.run, bound=ADD.bound, overflow="NP203", relate=ADD.relate)


def _mean(call: Call, *boxes: Box) -> Box:
    """The sum of all operands over their number."""
    return boxes[0] if len(boxes) == 1 else _total(call, boxes, float(len(boxes)))


def misjudged(call: Call, boxes: Sequence[Box]) -> bool:
    """Whether ONNX Runtime may take the wrong one of two int64.

    Its vectorised maximum of 3666656304 and 35 is 35 (seen in 1.31.1, in Max, Min
    and Clip): only what fits into 32 bits is compared as it should be.
    """
    if boxes[0].dtype is not INT64 or call.setting.runtime != "onnxruntime" or len(boxes) < 2:
        return False
    return any(lo < INT32.min or hi > INT32.max for lo, hi in (b.hull() for b in boxes if b.has_finite))


def _extreme(of: str, ignored: int) -> Any:
    """Pairwise, and with NaN as a value that some kernels drop."""
    pair = Op(of, run=lambda xp, x, y: getattr(xp, of)(x, y), bound=increasing_in_all, exact=True)

    def bound(call: Call, *boxes: Box) -> Box:
        """Rises in every operand; NaN may win or be dropped."""
        flags = 0
        for box in boxes:
            flags |= box.flags
        if misjudged(call, boxes):
            return hull_of(boxes, _common(boxes))
        inner = Call(pair, {}, call.setting)
        droppable = flags & NAN and len(boxes) > 1
        taken = [_with(b, ignored) if droppable and b.flags & NAN else b for b in boxes]
        result = reduce(lambda x, y: increasing_in_all(inner, x, y), taken)
        if droppable and result.flags & ignored and not flags & ignored:
            result = _without(result, ignored)
        if len(boxes) > 2 and result.known is None and all(b.known is not None for b in boxes):
            result.known = folded(call, boxes)
        return result

    return bound


def _with(box: Box, flag: int) -> Box:
    """A NaN that is dropped is like the infinity that never wins."""
    if box.spots is None:
        return Box(box.dtype, box.shape, box.lo, box.hi, box.flags | flag, cuts=box.cuts)
    spots = np.where(box.spots & NAN != 0, box.spots | np.uint8(flag), box.spots)
    return Box(box.dtype, box.shape, box.lo, box.hi, box.flags | flag, cuts=box.cuts, spots=spots)


def _without(box: Box, flag: int) -> Box:
    spots = None if box.spots is None else box.spots & np.uint8(~flag & 0xFF)
    return Box(box.dtype, box.shape, box.lo, box.hi, box.flags & ~flag, cuts=box.cuts, spots=spots)


SUM = Op(
    "Sum",
    run=lambda xp, *xs: reduce(lambda x, y: x + y, xs),
    bound=_sum,
    overflow="NP203",
    samples=Samples((0.0, 1.0, -1.0, 3e38), _SUMS, ("float32", "float64", "float16")),
)

MEAN = Op(
    "Mean",
    run=lambda xp, *xs: reduce(lambda x, y: x + y, xs) / len(xs),
    bound=_mean,
    overflow="NP207",
    samples=Samples((0.0, 1.0, -1.0, 3e38), _SUMS, ("float32", "float64", "float16")),
)

MAX = Op(
    "Max",
    run=lambda xp, *xs: reduce(xp.maximum, xs),
    bound=_extreme("maximum", NINF),
    exact=True,
    samples=Samples(cases=_SUMS, dtypes=NUMERIC),
)

MIN = Op(
    "Min",
    run=lambda xp, *xs: reduce(xp.minimum, xs),
    bound=_extreme("minimum", PINF),
    exact=True,
    samples=Samples(cases=_SUMS, dtypes=NUMERIC),
)

OPS = (SUM, MEAN, MAX, MIN)
