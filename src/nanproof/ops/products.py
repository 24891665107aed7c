"""Products over axes, and sums and products that run along an axis."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from nanproof.domain.box import ALL, NAN, NINF, PINF, Box
from nanproof.domain.partition import blocks_of, widths
from nanproof.numerics.dtypes import DType
from nanproof.ops.call import Call
from nanproof.ops.flow import Sums, computed, length, repeated, settled, sum_flags
from nanproof.ops.operands import axis_in
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.reducing import axes_of, layout
from nanproof.ops.reductions import CASES as REDUCING
from nanproof.ops.reductions import LARGE, NUMERIC, reduced

Pair = tuple[float, float]


def power(lo: float, hi: float, n: float) -> Pair:
    """The product of n independent numbers in [lo, hi]."""
    if n == 0:
        return 1.0, 1.0
    if lo >= 0.0:
        return _pow(lo, n), _pow(hi, n)
    if n == inf:
        reach = max(-lo, hi)
        return (-1.0, 1.0) if reach <= 1.0 else (-inf, inf)
    if hi <= 0.0:
        ends = _pow(-hi, n), _pow(-lo, n)
        return ends if n % 2 == 0 else (-ends[1], -ends[0])
    a, b = -lo, hi
    reach = max(a, b)
    # one factor of the shorter side mends the sign where the parity is wrong
    mended = _pow(reach, n - 1) * min(a, b)
    if b >= a:
        return -mended, _pow(b, n)
    return (-mended, _pow(a, n)) if n % 2 == 0 else (-_pow(a, n), mended)


def _pow(x: float, n: float) -> float:
    try:
        return float(x**n)
    except OverflowError:
        return inf


def multiplied(call: Call, dtype: DType, ends: Pair, counts: Pair) -> tuple[float, float, float, int]:
    """Bounds, error and overflow of a product of between counts[0] and counts[1] factors in [lo, hi]."""
    lo, hi = ends
    least, most = counts
    tries = [power(lo, hi, n) for n in {least, min(least + 1, most), max(most - 1, least), most}]
    if most > 1 and least <= 1:
        tries.append((lo, hi))
    low, high = min(t[0] for t in tries), max(t[1] for t in tries)
    if not dtype.is_float:
        return low, high, 0.0, 0
    accumulator = call.setting.accumulator(dtype)
    reach = max(-lo, hi, 1.0)
    partial = _pow(reach, most)
    drift = 2.0 * most * accumulator.unit
    if drift > 0.5:
        drift = inf
    error = _product(drift, max(-low, high)) + _product(most * accumulator.quantum, partial)
    born = 0
    if not partial * (1.0 + min(drift, 1.0)) <= accumulator.max:
        shrinks = min(abs(lo), abs(hi)) < 1.0 or lo <= 0.0 <= hi
        born = (PINF if hi > 0 or most > 1 else 0) | (NINF if lo < 0 else 0) | (NAN if shrinks else 0)
    return low, high, error, born


def _product(a: float, b: float) -> float:
    return a * b if a and b else 0.0


def _prod(call: Call, x: Box, axes: Box | None = None) -> Box:
    """No class fits: the sign is a matter of parity, and partial products overflow or vanish on the way."""
    plan = layout(call, x, axes_of(call, x, axes))
    lo, hi = x.hull()
    flags = x.flags
    least = plan.fewest
    if not lo <= hi:
        if least > 0 and plan.longest > 0:
            return Box(x.dtype, plan.shape, inf, -inf, ALL if flags & ~NAN else flags)
        lo = hi = 1.0
    low, high, error, born = multiplied(call, x.dtype, (lo, hi), (least, plan.longest))
    if flags & (PINF | NINF):
        flags = ALL
    return settled(call, x.dtype, (plan.shape, None), (low, high, error), flags=flags, born=born)


def _along(call: Call, x: Box, axis: Box | None) -> int | None:
    """The axis of a running operation."""
    if x.shape is None or axis is None or axis.known is None:
        return None
    return axis_in(int(np.asarray(axis.known).reshape(-1)[0]), len(x.shape))


def _cum_sum(call: Call, x: Box, axis: Box) -> Box:
    """Every prefix is a sum of its own; block by block along the axis."""
    exclusive = bool(call.attr("exclusive", 0))
    place = _along(call, x, axis)
    lo, hi = x.hull()
    if x.shape is None or place is None or x.cuts is None or x.cuts[place] is None:
        if not x.flags and not lo <= hi:
            return Box(x.dtype, x.shape, inf, -inf)
        sizes = () if x.shape is None else x.shape if place is None else (x.shape[place],)
        most = inf if x.shape is None else max(length(call, sizes)[1], 1.0)
        if x.cuts is not None and place is not None and x.shape is not None:
            return _running(call, x, place, exclusive)
        return _one_block(call, x, most, exclusive)
    return _running(call, x, place, exclusive)


def _one_block(call: Call, x: Box, most: float, exclusive: bool) -> Box:
    lo, hi = x.hull()
    empty = not lo <= hi
    if empty:
        lo = hi = 0.0
    sums = repeated(lo, hi, 0.0 if exclusive else 1.0, most)
    low, high = (sums.below, sums.hi) if lo < 0 else (0.0 if exclusive else lo, sums.hi)
    if hi < 0:
        high = 0.0 if exclusive else hi
    lo, hi, born = low, high, 0
    if most > 1:
        lo, hi, born = computed(call, x.dtype, sums._replace(lo=low, hi=high), most)
    place = x.shape, None
    return settled(
        call, x.dtype, place, (lo, hi, 0.0), flags=sum_flags(x.flags), born=born, empty=empty and not exclusive
    )


def _running(call: Call, x: Box, place: int, exclusive: bool) -> Box:
    assert x.shape is not None
    assert x.cuts is not None
    blocks = blocks_of(x)
    counts = widths(x.cuts[place], x.shape[place])
    if counts is None:
        return _one_block(
            call, Box(x.dtype, x.shape, *x.hull(), x.flags), length(call, (x.shape[place],))[1], exclusive
        )
    reverse = bool(call.attr("reverse", 0))

    def front(a: Any) -> Any:
        moved = np.moveaxis(np.asarray(a), place, -1)
        return moved[..., ::-1] if reverse else moved

    width = counts[::-1] if reverse else counts
    lo, hi = front(blocks.lo), front(blocks.hi)
    flags = np.zeros(lo.shape, np.uint8) if blocks.spots is None else front(blocks.spots)
    void = lo > hi
    low, high = np.where(void, 0.0, lo), np.where(void, 0.0, hi)

    def before(a: Any) -> Any:
        return np.concatenate((np.zeros((*a.shape[:-1], 1)), np.cumsum(a, axis=-1)[..., :-1]), axis=-1)

    first = 0.0 if exclusive else 1.0
    last = np.maximum(width - (1.0 if exclusive else 0.0), 0.0)
    los = before(low * width) + np.where(low < 0, low * last, low * first)
    his = before(high * width) + np.where(high > 0, high * last, high * first)
    sums = Sums(los, his, np.cumsum(np.minimum(low, 0) * width, -1), np.cumsum(np.maximum(high, 0) * width, -1))
    marks = sum_flags(np.bitwise_or.accumulate(flags, axis=-1))
    if exclusive:
        # nothing of a block reaches its own first place, but may reach its others
        empty = np.concatenate(
            (np.zeros((*void.shape[:-1], 1), bool), np.logical_or.accumulate(void, -1)[..., :-1]), -1
        )
    else:
        empty = np.logical_or.accumulate(void, axis=-1)
    result = computed(call, x.dtype, sums, float(counts.sum()))

    def back(a: Any) -> Any:
        flipped = a[..., ::-1] if reverse else a
        return np.moveaxis(flipped, -1, place)

    ends = back(result.lo), back(result.hi), 0.0
    born = back(result.born) if np.ndim(result.born) else result.born
    where = x.shape, x.cuts
    return settled(call, x.dtype, where, ends, flags=back(marks), empty=back(empty), born=born)


def _cum_prod(call: Call, x: Box, axis: Box) -> Box:
    """Every prefix is a product of its own; bounded as one block."""
    exclusive = bool(call.attr("exclusive", 0))
    place = _along(call, x, axis)
    lo, hi = x.hull()
    if not lo <= hi:
        if not x.flags:
            return Box(x.dtype, x.shape, inf, -inf)
        lo = hi = 1.0
    sizes = () if x.shape is None else x.shape if place is None else (x.shape[place],)
    most = inf if x.shape is None else max(length(call, sizes)[1], 1.0)
    counts = (0.0, most - 1) if exclusive else (1.0, most)
    ends = [multiplied(call, x.dtype, (lo, hi), counts)]
    low, high, error, born = ends[0]
    # prefixes in between: monotone in their length unless signs or sizes mix
    if lo < 0:
        reach = max(-low, high, -lo, hi, 1.0 if exclusive else 0.0)
        low, high = -reach, reach
    if exclusive:
        low, high = min(low, 1.0), max(high, 1.0)
    flags = ALL if x.flags & (PINF | NINF) else x.flags
    return settled(call, x.dtype, (x.shape, None), (low, high, error), flags=flags, born=born)


def _run_cum_sum(xp: Any, x: Any, axis: Any, exclusive: int = 0, reverse: int = 0) -> Any:
    return _scanned(xp, (x, axis), (exclusive, reverse), 0.0)


def _run_cum_prod(xp: Any, x: Any, axis: Any, exclusive: int = 0, reverse: int = 0) -> Any:
    return _scanned(xp, (x, axis), (exclusive, reverse), 1.0)


def _scanned(xp: Any, operands: tuple[Any, Any], attrs: tuple[int, int], start: float) -> Any:
    x, axis = operands
    exclusive, reverse = attrs
    place = int(np.asarray(axis).reshape(-1)[0]) % max(len(x.shape), 1)
    if reverse:
        x = xp.flip(x, axis=place)
    scan = xp.cumsum if start == 0.0 else xp.cumprod
    y = scan(x, axis=place)
    if x.dtype != y.dtype:
        y = xp.asarray(y, dtype=x.dtype)
    if exclusive:
        head = (slice(None),) * place
        first, rest = (*head, slice(0, 1)), (*head, slice(0, -1))
        y = xp.concat([xp.asarray(xp.zeros_like(x[first]) + start, dtype=x.dtype), y[rest]], axis=place)
    return xp.flip(y, axis=place) if reverse else y


def _axis(value: int) -> Operand:
    return Operand((), "int64", values=value, stored=True)


CASES = (
    Case((Operand((4,)), _axis(0))),
    Case((Operand((3, 5)), _axis(-1)), {"exclusive": 1}),
    Case((Operand((3, 5)), _axis(0)), {"reverse": 1}),
    Case((Operand((2, 3, 4)), _axis(1)), {"exclusive": 1, "reverse": 1}),
    Case((Operand((70,)), _axis(0))),
)

REDUCE_PROD = Op(
    "ReduceProd",
    run=reduced("prod"),
    bound=_prod,
    overflow="NP208",
    grain=(1,),
    samples=Samples((0.0, 1.0, -1.0, 2.0, 0.5, 1e19), REDUCING, NUMERIC),
)

CUM_SUM = Op(
    "CumSum",
    run=_run_cum_sum,
    bound=_cum_sum,
    overflow="NP207",
    grain=(1,),
    samples=Samples(LARGE, CASES, ("float32", "float64", "int32", "int64")),
)

CUM_PROD = Op(
    "CumProd",
    run=_run_cum_prod,
    bound=_cum_prod,
    overflow="NP208",
    grain=(1,),
    samples=Samples((0.0, 1.0, -1.0, 2.0, 0.5, 1e19), CASES, ("float32", "float64")),
)

OPS = (REDUCE_PROD, CUM_SUM, CUM_PROD)
