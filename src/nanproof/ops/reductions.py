"""Reductions over axes: sums, means, extremes, products, norms."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from nanproof.domain.box import NAN, NINF, PINF, Box
from nanproof.numerics import scalar
from nanproof.numerics.dtypes import DType
from nanproof.numerics.rounding import nearest, nearest_array
from nanproof.numerics.runtimes import widen
from nanproof.ops.call import Call
from nanproof.ops.classes import most
from nanproof.ops.conditions import Operand, Requirement, X
from nanproof.ops.flow import Sums, computed, partial_flags, repeated, settled, settled_sum, sum_flags
from nanproof.ops.record import Case, Op, Samples
from nanproof.ops.record import Operand as Drawn
from nanproof.ops.reducing import Layout, axes_of, grid_of, layout

Pair = tuple[Any, Any]

TERMS = Operand(0, "the number of reduced elements")
LENGTH = Requirement("NP114", TERMS > 0, NAN | NINF | PINF)
FLOATS = ("float32", "float64", "float16")
NUMERIC = ("float32", "float64", "float16", "int32", "int64")


def same(lo: Any, hi: Any) -> Pair:
    """The terms are the elements."""
    return lo, hi


def sizes(lo: Any, hi: Any) -> Pair:
    """The terms are the absolute values."""
    if type(lo) is float:
        return max(lo, -hi, 0.0), max(-lo, hi)
    return np.maximum(np.maximum(lo, -hi), 0.0), np.maximum(-lo, hi)


def squares(lo: Any, hi: Any) -> Pair:
    """The terms are the squares."""
    low, high = sizes(lo, hi)
    return low * low, high * high


def _flags_of_terms(term: Callable[[Any, Any], Pair], flags: Any) -> Any:
    """Infinities lose their sign where the terms are never negative."""
    if term is same or not np.any(flags):
        return flags
    if isinstance(flags, int):
        return (flags & NAN) | (PINF if flags & (PINF | NINF) else 0)
    return (flags & np.uint8(NAN)) | np.where(flags & np.uint8(PINF | NINF), np.uint8(PINF), np.uint8(0))


def total(plan: Layout, term: Callable[[Any, Any], Pair]) -> tuple[Sums, Any, Any]:
    """The sum over the reduced axes, the special values that flow in, and where there is no finite result."""
    if plan.one:
        if not plan.lo <= plan.hi:
            # without terms the sum is 0
            nothing = plan.least > 0 and plan.most != 0
            return Sums(0.0, 0.0, 0.0, 0.0), sum_flags(_flags_of_terms(term, plan.flags)), nothing
        lo, hi = term(plan.lo, plan.hi)
        flags = sum_flags(_flags_of_terms(term, plan.flags)) if plan.flags else 0
        return repeated(lo, hi, plan.least, plan.most), flags, False
    void = plan.lo > plan.hi
    lo, hi = term(np.where(void, 0.0, plan.lo), np.where(void, 0.0, plan.hi))
    parts = repeated(lo, hi, plan.least, plan.most)
    sums = Sums(
        *((np.where(part == 0.0, 0.0, part * plan.width)).sum(axis=-1).reshape(grid_of(plan)) for part in parts)
    )
    flags = np.bitwise_or.reduce(_flags_of_terms(term, plan.flags), axis=-1).reshape(grid_of(plan))
    empty = (void & (plan.least > 0)).any(axis=-1).reshape(grid_of(plan))
    return sums, sum_flags(flags), empty


def _sum(call: Call, x: Box, axes: Box | None = None) -> Box:
    """No algebraic class fits: partial sums decide overflow, and the terms' rounding adds up."""
    plan = layout(call, x, axes_of(call, x, axes))
    sums, flags, empty = total(plan, same)
    return settled_sum(call, x.dtype, (plan.shape, plan.cuts), sums, plan.longest, flags=flags, empty=empty)


def _sum_of_terms(term: Callable[[Any, Any], Pair]) -> Callable[..., Box]:
    def bound(call: Call, x: Box, axes: Box | None = None) -> Box:
        """As for a sum, of terms that are never negative."""
        plan = layout(call, x, axes_of(call, x, axes))
        sums, flags, empty = total(plan, term)
        place, squared = (plan.shape, plan.cuts), term is squares
        return settled_sum(call, x.dtype, place, sums, plan.longest, flags=flags, empty=empty, products=squared)

    return bound


def _mean(call: Call, x: Box, axes: Box | None = None) -> Box:
    """A mean lies between the ends of its terms, but is computed as a sum, which may overflow first."""
    plan = layout(call, x, axes_of(call, x, axes))
    nothing = require_terms(call, plan, NAN)
    if plan.one and plan.most == 0:
        return call.settle(x.dtype, plan.shape, 0.0, 0.0, spots=nothing)
    return mean_of(call, x, plan, nothing)


def mean_of(call: Call, x: Box, plan: Layout, nothing: int = 0) -> Box:
    """The mean over a layout's reduced blocks. ``nothing``: flags where there may be no term."""
    sums, flags, empty = total(plan, same)
    place = plan.shape, plan.cuts
    if nothing:
        flags |= nothing if plan.one else np.uint8(nothing)
    if not x.dtype.is_float:
        low, high = x.hull()
        return call.settle(x.dtype, plan.shape, low, high)
    born = computed(call, x.dtype, sums, max(plan.longest, 1.0)).born
    accumulator = call.setting.accumulator(x.dtype)
    # the sum, and a division or a product with the rounded reciprocal
    rate = (max(plan.longest, 1.0) * 1.001 + 4.0) * accumulator.unit
    floor = 2.0 * accumulator.quantum
    if plan.one:
        low, high = (plan.lo, plan.hi) if plan.lo <= plan.hi else (0.0, 0.0)
        if nothing:  # a runtime may answer 0 for the mean of nothing
            low, high = min(low, 0.0), max(high, 0.0)
        ends = _around(low, -rate, floor), _around(high, rate, floor), 0.0
        return settled(call, x.dtype, place, ends, flags=flags, empty=empty, born=born)
    # each block's share of the mean doesn't depend on the symbolic axes
    share = plan.width / plan.width.sum()
    void = plan.lo > plan.hi
    lo, hi = np.where(void, 0.0, plan.lo), np.where(void, 0.0, plan.hi)
    lows, highs, down, up = (
        (end * share).sum(axis=-1).reshape(grid_of(plan)) for end in (lo, hi, np.abs(lo), np.abs(hi))
    )
    if nothing:
        lows, highs = np.minimum(lows, 0.0), np.maximum(highs, 0.0)
    lows = np.where(down == 0, lows, lows - rate * down - floor)
    highs = np.where(up == 0, highs, highs + rate * up + floor)
    # no mean of numbers that are never negative is negative
    lows = np.where((lo >= 0).all(axis=-1).reshape(lows.shape), np.maximum(lows, 0.0), lows)
    highs = np.where((hi <= 0).all(axis=-1).reshape(highs.shape), np.minimum(highs, 0.0), highs)
    return settled(call, x.dtype, place, (lows, highs, 0.0), flags=flags, empty=empty, born=born)


def _around(end: float, rate: float, floor: float) -> float:
    """An end of a mean with its error outward; 0 is exact, and the sign stays."""
    if end == 0.0:
        return 0.0
    moved = end + rate * abs(end) + (floor if rate > 0 else -floor)
    return max(moved, 0.0) if end > 0.0 else min(moved, 0.0)


def require_terms(call: Call, plan: Layout, gives: int) -> int:
    """Note a reduction that may be over nothing; returns the flags that come out then."""
    if plan.fewest > 0 or (plan.shape is not None and any(n == 0 for n in plan.shape)):
        return 0
    never = plan.longest == 0
    if plan.fewest == 0 and plan.longest != 0 and plan.shape is None:
        return gives
    call.fail(LENGTH, (plan.fewest, plan.longest), never=never)
    return gives


def _extreme(sign: float) -> Callable[..., Box]:
    def bound(call: Call, x: Box, axes: Box | None = None) -> Box:
        """The largest of n elements is above the largest lower end of all blocks that surely have one.

        Some runtimes drop NaN, so a block that may hold NaN promises nothing.
        """
        plan = layout(call, x, axes_of(call, x, axes))
        gives = NINF if sign > 0 else PINF
        nothing = require_terms(call, plan, gives if x.dtype.is_float else 0)
        return extreme_of(call, x, plan, sign, nothing)

    return bound


def extreme_of(call: Call, x: Box, plan: Layout, sign: float, nothing: int = 0) -> Box:
    """The largest (sign > 0) or smallest element over a layout's reduced blocks."""
    dtype, place = x.dtype, (plan.shape, plan.cuts)
    if plan.one:
        if plan.most == 0 and not dtype.is_float:
            return call.unknown(dtype, plan.shape)
        if nothing and not dtype.is_float:
            return call.unknown(dtype, plan.shape)
        flags = plan.flags & ~NINF if call.alive and sign > 0 else plan.flags
        return Box(dtype, plan.shape, plan.lo, plan.hi, flags | nothing)
    weak = PINF | NAN if sign < 0 else NINF | NAN
    certain = (plan.flags & np.uint8(weak) == 0) & (plan.lo <= plan.hi)
    grid = grid_of(plan)
    if sign > 0:
        low = np.where(certain, plan.lo, -inf).max(axis=-1)
        lo = np.where(certain.any(axis=-1), low, plan.lo.min(axis=-1))
        hi = plan.hi.max(axis=-1)
    else:
        high = np.where(certain, plan.hi, inf).min(axis=-1)
        hi = np.where(certain.any(axis=-1), high, plan.hi.max(axis=-1))
        lo = plan.lo.min(axis=-1)
    # a NaN on the way makes some kernels forget what they had seen before
    forgetful = (plan.flags & np.uint8(NAN) != 0).any(axis=-1) | (plan.least == 0)
    lo, hi = np.where(forgetful, plan.lo.min(axis=-1), lo), np.where(forgetful, plan.hi.max(axis=-1), hi)
    flags = np.bitwise_or.reduce(plan.flags, axis=-1)
    # an infinity that loses against a certain finite element doesn't come out
    losing = np.uint8(NINF if sign > 0 else PINF)
    flags = np.where(certain.any(axis=-1) & ~forgetful, flags & ~losing, flags)
    if call.alive and sign > 0:
        flags &= ~np.uint8(NINF)
    flags = (flags | np.uint8(nothing)).reshape(grid)
    return call.settle(
        dtype, plan.shape, lo.reshape(grid), hi.reshape(grid), cuts=place[1], spots=flags if flags.any() else None
    )


def _rooted(call: Call, x: Box, axes: Box | None = None) -> Box:
    """The root of a sum of squares, which overflows long before the root would."""
    plan = layout(call, x, axes_of(call, x, axes))
    return after_sum(call, x, plan, (squares, "sqrt"))


def after_sum(call: Call, x: Box, plan: Layout, how: tuple[Callable[[Any, Any], Pair], str]) -> Box:
    """A function of the computed sum over a layout: ``sqrt`` or ``log``."""
    term, function = how
    dtype = x.dtype
    sums, flags, empty = total(plan, term)
    one = plan.one and type(sums.lo) is float
    lo, hi, born = computed_sum(call, dtype, sums, plan.longest, products=term is squares)
    empty = (bool(empty) or lo > hi) if one else np.asarray(empty) | (lo > hi)
    gone = born
    if function == "log":
        extra, empty = _log_domain(call, (lo, hi), flags, empty)
        # the logarithm of -Inf is NaN
        born = gone = int(np.bitwise_or.reduce(born, axis=None))
        born = gone = (born & PINF) | (NAN if born & (NAN | NINF) else 0)
        flags |= extra
        smallest = call.setting.accumulator(dtype).quantum
        lo, hi = most(lo, smallest), most(hi, smallest)
    if one:
        low, high = (getattr(scalar, function)(v) if abs(v) < inf else 1.0 for v in (lo, hi))
    else:
        shown = np.where(empty, 1.0, lo), np.where(empty, 1.0, hi)
        low, high = (getattr(call.setting.xp, function)(v) for v in shown)
    low, high = widen(call.form(dtype, function), dtype, low, high)
    if np.any(gone) and np.all(empty):
        call.overflowed(inf, inf, dtype, int(np.bitwise_or.reduce(gone, axis=None)), never=True)
    return settled(call, dtype, (plan.shape, plan.cuts), (low, high, 0.0), flags=flags, empty=empty, born=born)


def _log_domain(call: Call, ends: Pair, flags: Any, empty: Any) -> tuple[Any, Any]:
    """What the logarithm of a sum gives where the sum isn't positive, and where nothing else is left."""
    lo, hi = ends
    one = type(lo) is float
    broken = lo <= 0.0 and not empty if one else (lo <= 0.0) & ~empty
    extra = 0 if one else np.zeros(np.shape(lo), np.uint8)
    if np.any(broken):
        never = bool(hi <= 0.0) if one else bool(np.any((hi <= 0.0) & broken))
        call.fail(LOG_SUM, (float(np.min(lo)), float(np.max(hi))), never=never)
        extra = LOG_SUM.gives if one else np.where(broken, np.uint8(LOG_SUM.gives), extra)
    if one:  # the logarithm of -Inf is NaN
        return extra | (NAN if flags & NINF else 0), empty or hi <= 0.0
    return extra | np.where(np.bitwise_and(flags, NINF) != 0, np.uint8(NAN), np.uint8(0)), empty | (hi <= 0.0)


def computed_sum(call: Call, dtype: DType, sums: Sums, count: float, *, products: bool) -> tuple[Any, Any, int]:
    """The ends of a sum as the runtime computes it, and what its overflow gives. Reports nothing.

    (inf, -inf) where it surely overflows.
    """
    accumulator = call.setting.accumulator(dtype)
    between = accumulator if call.setting.runtime == "onnxruntime" else dtype
    lo, hi, born = computed(call, dtype, sums, count, products=products)
    if type(lo) is float and type(hi) is float:
        lo, hi = nearest(between, lo), nearest(between, hi)
        born |= partial_flags(dtype, hi > between.max, lo < between.min)
        if lo > between.max or hi < between.min:
            return inf, -inf, born
        return max(lo, between.min), min(hi, between.max), born
    lo, hi = nearest_array(between, lo), nearest_array(between, hi)
    born = born | partial_flags(dtype, bool(np.any(hi > between.max)), bool(np.any(lo < between.min)))
    gone = (lo > between.max) | (hi < between.min)
    lo, hi = np.maximum(lo, between.min), np.minimum(hi, between.max)
    return np.where(gone, inf, lo), np.where(gone, -inf, hi), born


def _log_sum(call: Call, x: Box, axes: Box | None = None) -> Box:
    """The logarithm of a sum that may be 0 or below."""
    plan = layout(call, x, axes_of(call, x, axes))
    return after_sum(call, x, plan, (same, "log"))


_TAKES_FINITE = frozenset({"torch", "onnxruntime"})
"""Runtimes that take the largest element out only where it is finite: elsewhere Inf - Inf is NaN."""


def _log_sum_exp(call: Call, x: Box, axes: Box | None = None) -> Box:
    """Between the largest element and that plus log(n): the runtimes take the largest out first."""
    plan = layout(call, x, axes_of(call, x, axes))
    dtype = x.dtype
    accumulator = call.setting.accumulator(dtype)
    if plan.one:
        lo, hi, flags = plan.lo, plan.hi, plan.flags
        weak = bool(flags & (NINF | NAN)) or plan.least == 0
        void = not lo <= hi
        low = lo + float(np.log(max(plan.least, 1.0))) if not weak and not void else lo
        high = hi + float(np.log(max(plan.most, 1.0))) if not void else hi
    else:
        grid = grid_of(plan)
        certain = (plan.flags & np.uint8(NINF | NAN) == 0) & (plan.lo <= plan.hi) & (plan.least > 0)
        shift = np.log(plan.width)
        steady = np.where(certain, plan.lo + shift + np.log(max(plan.least, 1.0)), -inf)
        some = certain.any(axis=-1)
        low = np.where(some, np.logaddexp.reduce(steady, axis=-1), plan.lo.min(axis=-1)).reshape(grid)
        rising = np.where(plan.lo <= plan.hi, plan.hi + shift + np.log(max(plan.most, 1.0)), -inf)
        high = np.logaddexp.reduce(rising, axis=-1).reshape(grid)
        flags = np.bitwise_or.reduce(plan.flags, axis=-1).reshape(grid)
        # a NaN on the way makes some kernels forget what they had seen before
        some &= ~(plan.flags & np.uint8(NAN) != 0).any(axis=-1)
        weak = ~some.reshape(grid)
        void = ~((plan.lo <= plan.hi).any(axis=-1)).reshape(grid)
        low, high = np.where(void, inf, low), np.where(void, -inf, high)
    born = 0
    if (np.any(weak) or np.any(void)) and not call.alive:
        seen = (float(np.min(low)), float(np.max(high)))
        incoming = bool(x.flags & NINF)
        if incoming or plan.least == 0:
            call.fail(ROW, seen if seen[0] <= seen[1] else (-inf, -inf), never=bool(np.all(void)) and incoming)
            born = NINF
    if call.setting.runtime not in _TAKES_FINITE:
        born |= NAN if x.flags & (PINF if call.alive else PINF | NINF) else 0
    flags = flags | born
    if call.alive:
        flags &= ~NINF if isinstance(flags, int) else ~np.uint8(NINF)
    if not plan.one and not isinstance(flags, int):
        flags = np.where(weak, flags, flags & ~np.uint8(NINF))
    n = max(plan.longest, 1.0)
    logarithm = float(np.log(n)) if n < inf else inf
    whole = x.hull()
    spread = min(whole[1] - whole[0], 104.0 if accumulator.bits == 32 else 746.0) if x.has_finite else 0.0
    # the differences to the largest, their exponentials and the sum; then the logarithm and two roundings
    fixed = min((spread + n + 8.0) * accumulator.unit, 1e6) if n > 1 else 0.0
    fixed += 8.0 * accumulator.unit * logarithm + 4.0 * accumulator.quantum
    rate = 4.0 * accumulator.unit
    if plan.one:
        if void:
            return Box(dtype, plan.shape, inf, -inf, int(flags))
        ends = low - fixed - rate * abs(low), high + fixed + rate * abs(high), 0.0
        return settled(call, dtype, (plan.shape, None), ends, flags=flags)
    low, high = np.where(void, 0.0, low), np.where(void, 0.0, high)
    lows, highs = low - fixed - rate * np.abs(low), high + fixed + rate * np.abs(high)
    return settled(call, dtype, (plan.shape, plan.cuts), (lows, highs, 0.0), flags=flags, empty=void)


LOG_SUM = Requirement("NP115", Operand(0, "the sum") > 0, NAN | NINF)
ROW = Requirement("NP116", Operand(0, "the largest element") > -inf, NINF)


# -- concrete meaning -------------------------------------------------------------------------


def reduced(name: str) -> Callable[..., Any]:
    """A reduction of the namespace, with ONNX's axes."""

    def run(xp: Any, x: Any, axes: Any = None, keepdims: int = 1, noop_with_empty_axes: int = 0, **_: Any) -> Any:
        where = _axis(x, axes, noop_with_empty_axes)
        return getattr(xp, name)(x, axis=where, keepdims=bool(keepdims))

    return run


def _axis(x: Any, axes: Any, noop: int) -> tuple[int, ...]:
    rank = len(getattr(x, "shape", ()))
    given = () if axes is None else tuple(int(a) % max(rank, 1) for a in np.atleast_1d(np.asarray(axes)))
    return given if given or noop else tuple(range(rank))


def _of(reduce: Callable[..., Any], before: Callable[..., Any], after: Callable[..., Any]) -> Callable[..., Any]:
    def run(xp: Any, x: Any, *rest: Any, **attrs: Any) -> Any:
        return after(xp, reduce(xp, before(xp, x), *rest, **attrs))

    return run


def _id(xp: Any, x: Any) -> Any:
    return x


_SUM, _MAX = reduced("sum"), reduced("max")


def _run_log_sum_exp(xp: Any, x: Any, *rest: Any, **attrs: Any) -> Any:
    kept = {**attrs, "keepdims": 1}
    high = _MAX(xp, x, *rest, **kept)
    high = xp.where(xp.isfinite(high), high, xp.zeros_like(high))
    flat = xp.log(_SUM(xp, xp.exp(x - high), *rest, **attrs))
    where = _axis(x, rest[0] if rest else attrs.get("axes"), attrs.get("noop_with_empty_axes", 0))
    return flat + (high if attrs.get("keepdims", 1) or not where else xp.reshape(high, flat.shape))


def _axes(*axes: int) -> Drawn:
    return Drawn((len(axes),), "int64", values=axes)


CASES = (
    Case((Drawn((3, 4)),), {"keepdims": 0}),
    Case((Drawn((2, 3, 4)), _axes(-1))),
    Case((Drawn((2, 3, 4)), _axes(0, 2)), {"keepdims": 0}),
    Case((Drawn((3, 4)), _axes(1)), {"noop_with_empty_axes": 1}),
    Case((Drawn((3, 4)),), {"noop_with_empty_axes": 1}),
    Case((Drawn((64,)), _axes(0))),
    Case((Drawn((5, 1)), _axes(1))),
    Case((Drawn(()),)),
)
LARGE = (0.0, 1.0, -1.0, 1e19, -1e19, 3e38, -3e38, 60000.0, 1e-30, 1e-45)


def _samples(dtypes: tuple[str, ...] = FLOATS) -> Samples:
    return Samples(LARGE, CASES, dtypes)


REDUCE_SUM = Op(
    "ReduceSum",
    run=_SUM,
    bound=_sum,
    overflow="NP207",
    grain=(1,),
    samples=_samples(NUMERIC),
)

REDUCE_MEAN = Op(
    "ReduceMean",
    run=reduced("mean"),
    bound=_mean,
    requires=(LENGTH,),
    overflow="NP207",
    grain=(1,),
    samples=_samples(),
)

REDUCE_MAX = Op(
    "ReduceMax",
    run=_MAX,
    bound=_extreme(1.0),
    requires=(Requirement("NP114", TERMS > 0, NINF),),
    exact=True,
    grain=(1,),
    samples=_samples(NUMERIC),
)

REDUCE_MIN = Op(
    "ReduceMin",
    run=reduced("min"),
    bound=_extreme(-1.0),
    requires=(Requirement("NP114", TERMS > 0, PINF),),
    exact=True,
    grain=(1,),
    samples=_samples(NUMERIC),
)

REDUCE_L1 = Op(
    "ReduceL1",
    run=_of(_SUM, lambda xp, x: xp.abs(x), _id),
    bound=_sum_of_terms(sizes),
    overflow="NP207",
    grain=(1,),
    samples=_samples(),
)

REDUCE_L2 = Op(
    "ReduceL2",
    run=_of(_SUM, lambda xp, x: x * x, lambda xp, x: xp.sqrt(x)),
    bound=_rooted,
    smooth=(X.isnt(0.0),),
    overflow="NP207",
    grain=(1,),
    samples=_samples(),
)

REDUCE_SUM_SQUARE = Op(
    "ReduceSumSquare",
    run=_of(_SUM, lambda xp, x: x * x, _id),
    bound=_sum_of_terms(squares),
    overflow="NP207",
    grain=(1,),
    samples=_samples(),
)

REDUCE_LOG_SUM = Op(
    "ReduceLogSum",
    run=_of(_SUM, _id, lambda xp, x: xp.log(x)),
    bound=_log_sum,
    requires=(LOG_SUM,),
    overflow="NP207",
    grain=(1,),
    samples=_samples(),
)

REDUCE_LOG_SUM_EXP = Op(
    "ReduceLogSumExp",
    run=_run_log_sum_exp,
    bound=_log_sum_exp,
    requires=(ROW,),
    overflow="NP207",
    grain=(1,),
    samples=_samples(),
)

OPS = (
    REDUCE_SUM, REDUCE_MEAN, REDUCE_MAX, REDUCE_MIN, REDUCE_L1, REDUCE_L2, REDUCE_SUM_SQUARE, REDUCE_LOG_SUM,
    REDUCE_LOG_SUM_EXP,
)  # fmt: skip
