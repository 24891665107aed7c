"""What sums, products and contractions make of bounds and of special values.

A sum of floats overflows by its partial sums, not by its final value, and they
can be as low as the sum of all negative terms and as high as the sum of all
positive ones. That, the rounding of the additions, and the flow of NaN and Inf
are the same for every operator that adds up, and are here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf
from typing import Any, NamedTuple

import numpy as np

from nanproof.dims import Size, bounds
from nanproof.domain.box import INFS, NAN, NINF, PINF, Array, Box, Shape
from nanproof.domain.partition import Cuts
from nanproof.numerics.dtypes import DType
from nanproof.numerics.reductions import sum_rate
from nanproof.ops.call import Call, overflow_flags

OWN = 2.0**-50
"""What the analysis's own float64 sums may be off by, a term: four times its rounding."""

EXACT = 2.0**53
"""Integers up to here are float64s."""

FEW = 24
"""Up to so many channels are looked at one by one, which takes less than a call on an array."""


MOST = 2.0**1023 * (2.0 - 2.0**-52)
"""The largest float64."""


class Sums(NamedTuple):
    """Bounds of an exact sum: of its value, and of its partial sums in any order.

    ``below`` adds up the lower ends of the terms that may be negative (so it is
    at most 0), ``above`` the upper ends of those that may be positive. Floats,
    or arrays over blocks.
    """

    lo: Any
    hi: Any
    below: Any
    above: Any


class Computed(NamedTuple):
    """Bounds of a sum as the runtime computes it, and the special values that its overflow gives."""

    lo: Any
    hi: Any
    born: Any


def repeated(lo: Any, hi: Any, least: float, most: float) -> Sums:
    """The sum of between ``least`` and ``most`` terms, each in [lo, hi]."""
    if type(lo) is float and type(hi) is float:
        if lo >= 0.0:
            top = _times(hi, most)
            return Sums(_times(lo, least), top, 0.0, top)
        if hi <= 0.0:
            bottom = _times(lo, most)
            return Sums(bottom, _times(hi, least), bottom, 0.0)
        low, high = _times(lo, most), _times(hi, most)
        return Sums(low, high, low, high)
    down = _times_array(np.minimum(lo, 0.0), most)
    up = _times_array(np.maximum(hi, 0.0), most)
    lows = np.where(lo >= 0.0, _times_array(lo, least), down)
    highs = np.where(hi <= 0.0, _times_array(hi, least), up)
    return Sums(lows, highs, down, up)


def _times(x: float, n: float) -> float:
    return x * n if x and n else 0.0


def _times_array(x: Any, n: float) -> Array:
    return x * n if n < inf else np.where(np.equal(x, 0.0), 0.0, x * n)


def length(call: Call, sizes: Sequence[Size]) -> tuple[float, float]:
    """The least and the largest product of some sizes; inf where there is no largest."""
    least, most = 1.0, 1.0
    for size in sizes:
        if isinstance(size, int):
            least *= size
            most = most * size if size else 0.0
            continue
        low, high = bounds(size, call.setting.dims)
        least *= low
        most = 0.0 if most == 0.0 or high == 0 else most * (inf if high is None else high)
    return least, (0.0 if most != most else most)


def sum_flags(flags: Any) -> Any:
    """What a sum of terms with these special values may be: +Inf and -Inf together make NaN."""
    if isinstance(flags, int):
        return flags | NAN if flags & INFS == INFS else flags
    return flags | np.where((flags & INFS) == INFS, np.uint8(NAN), np.uint8(0))


def product_flags(one: Box, two: Box, *, zeros: bool = False) -> int:
    """What products of the elements of two Boxes may be that isn't finite; ``zeros``: 0 is among the first's."""
    flags = (one.flags | two.flags) & NAN
    for a, b in ((one, two), (two, one)):
        if not a.flags & INFS:
            continue
        lo, hi = b.hull()
        if lo <= 0.0 <= hi or (zeros and b is one):
            flags |= NAN
        positive = hi > 0.0 or bool(b.flags & PINF)
        negative = lo < 0.0 or bool(b.flags & NINF)
        for bit, opposite in ((PINF, NINF), (NINF, PINF)):
            if a.flags & bit:
                flags |= (bit if positive else 0) | (opposite if negative else 0)
    return flags


def computed(call: Call, dtype: DType, sums: Sums, n: float, *, products: bool = False) -> Computed:
    """The sum of at most ``n`` terms with the runtime's rounding.

    Additions and products that round to nearest are monotone, so for any order
    of summation the lowest result is that of the lowest terms: each end has the
    error of its own terms, not of the largest. A sum of terms that are never
    negative is never negative. ``products``: the terms are rounded by themselves,
    and may be lost where they are subnormal.
    """
    if not dtype.is_float:
        return _computed_integers(sums, n)
    accumulator = call.setting.accumulator(dtype)
    lo, hi, below, above = sums
    charge = _charge(n, accumulator, products)
    if type(lo) is float and type(hi) is float:
        return _computed_floats(dtype, accumulator.max, sums, charge)
    # where float64 itself overflows, the sum is at least its largest number
    lo, hi = np.minimum(lo, MOST), np.maximum(hi, -MOST)
    # sum|terms| at either end; terms on both sides of 0 are in below and above
    lo, hi = lo - _slack(charge, lo - 2.0 * below), hi + _slack(charge, 2.0 * above - hi)
    # a partial sum is lowest with the negative terms alone; NaN is Inf - Inf in the analysis's own
    # arithmetic: nothing is known then
    limit = accumulator.max
    top, bottom = above + _slack(charge, above), below - _slack(charge, -below)
    lo = np.where(np.equal(below, 0.0), np.maximum(lo, 0.0), np.where(np.isnan(lo), -inf, lo))
    hi = np.where(np.equal(above, 0.0), np.minimum(hi, 0.0), np.where(np.isnan(hi), inf, hi))
    overs = np.not_equal(above, 0.0) & ~(top <= limit)
    unders = np.not_equal(below, 0.0) & ~(bottom >= -limit)
    if not (overs.any() or unders.any()):
        return Computed(lo, hi, 0)
    table = np.array([partial_flags(dtype, bool(i & 1), bool(i & 2)) for i in range(4)], np.uint8)
    return Computed(lo, hi, table[overs + 2 * unders])


def _computed_floats(dtype: DType, limit: float, sums: Sums, charge: Charge) -> Computed:
    """The same for one block, whose ends are mostly the partial sums themselves."""
    lo, hi, below, above = sums
    rate, fixed, least = charge
    size = -below
    down = size * rate + fixed if size else least
    size = above
    up = size * rate + fixed if size else least
    bottom, top = below - down, above + up
    if lo == below:
        lo = bottom
    else:
        lo = min(lo, MOST)
        size = lo - 2.0 * below
        lo -= size * rate + fixed if size else least
    if hi == above:
        hi = top
    else:
        hi = max(hi, -MOST)
        size = 2.0 * above - hi
        hi += size * rate + fixed if size else least
    over, under = above != 0.0 and not top <= limit, below != 0.0 and not bottom >= -limit
    lo = (max(lo, 0.0) if below == 0.0 else lo) if lo == lo else -inf
    hi = (min(hi, 0.0) if above == 0.0 else hi) if hi == hi else inf
    return Computed(lo, hi, partial_flags(dtype, over, under))


class Charge(NamedTuple):
    """The runtime's error of a sum, and our own: ``rate * size + fixed`` for terms of that size, ``least`` for none."""

    rate: float
    fixed: float
    least: float


@lru_cache(maxsize=256)
def _charge(n: float, accumulator: DType, products: bool) -> Charge:
    """One term is no sum, and additions of subnormals are exact."""
    if products:
        lost = (n + 1.0) * accumulator.quantum
        rate, fixed = sum_rate(n + 1.0, accumulator)
        return Charge(rate + (n + 1.0) * OWN, fixed + lost, lost)
    if n <= 1.0:
        return Charge(0.0, 0.0, 0.0)
    return Charge((n - 1.0) * (OWN + accumulator.unit * (1.0 + 2.0**-40)), 0.0, 0.0)


def _slack(charge: Charge, size: Any) -> Any:
    """The error for terms of these sizes."""
    if charge.rate == 0.0:
        return 0.0
    return np.where(np.equal(size, 0.0), charge.least, size * charge.rate + charge.fixed)


def _computed_integers(sums: Sums, n: float) -> Computed:
    """Integers are exact, but the analysis's float64 sums of large ones aren't."""
    lo, hi, below, above = sums
    if np.all(np.abs(below) <= EXACT) and np.all(np.abs(above) <= EXACT):
        return Computed(lo, hi, 0)
    slack = (n + 1.0) * OWN * (above - below)
    return Computed(lo - slack, hi + slack, 0)


def settled_sum(
    call: Call,
    dtype: DType,
    place: tuple[Shape, Cuts | None],
    sums: Sums,
    n: float,
    *,
    flags: Any = 0,
    empty: Any = False,
    products: bool = False,
) -> Box:
    """The Box of a sum of at most ``n`` terms (``products``: see ``computed``).

    ``flags`` are the special values that flow in (an int, or an array over the
    blocks); ``empty`` says where no finite sum is possible.
    """
    if type(sums.lo) is not float and np.ndim(sums.lo) and asks_for_hull(call, dtype, n):
        sums, place = hull_of(sums), (place[0], None)
        flags, empty = int(np.bitwise_or.reduce(flags, axis=None)), bool(np.all(empty))
    lo, hi, born = computed(call, dtype, sums, n, products=products)
    return settled(call, dtype, place, (lo, hi, 0.0), flags=flags, empty=empty, born=born)


def asks_for_hull(call: Call, dtype: DType, n: float) -> bool:
    """Whether one block is all that is wanted, and ``hull_of`` may give it."""
    return call.setting.budget == 1 and n * call.setting.accumulator(dtype).unit <= 0.25


def hull_of(sums: Sums) -> Sums:
    """One sum for all blocks.

    The error of a lower end, rate * (lo - 2 * below), is then taken from numbers
    that are each the lowest of all blocks: with a rate below 1 the end itself,
    lo - error = lo * (1 - rate) + 2 * rate * below, is the lowest too.
    """
    lo, hi, below, above = sums
    low, high = np.minimum.reduce(lo, axis=None), np.maximum.reduce(hi, axis=None)
    bottom, top = np.minimum.reduce(below, axis=None), np.maximum.reduce(above, axis=None)
    return Sums(float(low), float(high), float(bottom), float(top))


def weighed_hull(sums: Array, lo: float, hi: float) -> Sums:
    """``hull_of(weighed(*sums, lo, hi))`` in as few steps as there are."""
    if sums.shape[1] <= FEW:
        positive, negative = sums.tolist()
        pairs = list(zip(positive, negative, strict=True))
        lows, highs = [lo * p - hi * n for p, n in pairs], [hi * p - lo * n for p, n in pairs]
        low, high = min(lows), max(highs)
        if lo > 0.0:
            return Sums(low, high, -hi * max(negative), hi * max(positive))
        if hi < 0.0:
            return Sums(low, high, lo * max(positive), -lo * max(negative))
        return Sums(low, high, low, high)
    positive, negative = sums
    if lo > 0.0 or hi < 0.0:
        return hull_of(weighed(positive, negative, lo, hi))
    low = float(np.minimum.reduce(lo * positive - hi * negative))
    high = float(np.maximum.reduce(hi * positive - lo * negative))
    return Sums(low, high, low, high)


def weighed(positive: Array, negative: Array, lo: float, hi: float) -> Sums:
    """Sums of w times x in [lo, hi], from the sums of the positive and the negative part of w."""
    up, down, low, high = max(hi, 0.0), max(-lo, 0.0), max(lo, 0.0), max(-hi, 0.0)
    below, above = -(down * positive + up * negative), up * positive + down * negative
    if low == 0.0 == high:
        return Sums(below, above, below, above)
    return Sums(below + (low * positive + high * negative), above - (high * positive + low * negative), below, above)


def partial_flags(dtype: DType, over: bool, under: bool) -> int:
    """What becomes of a sum whose partial sums overflow: those to both sides cancel to NaN."""
    if not (over or under):
        return 0
    flags = overflow_flags(dtype, over, under)
    return flags | NAN if over and under else flags


def settled(
    call: Call,
    dtype: DType,
    place: tuple[Shape, Cuts | None],
    ends: tuple[Any, Any, Any],
    *,
    flags: Any = 0,
    empty: Any = False,
    born: Any = 0,
) -> Box:
    """A Box from (lo, hi, error): ``call.settle`` with a fast path for one block.

    ``born`` are special values that intermediate results may turn into although
    the bounds of the result don't say so; they are reported as the operator's
    overflow.
    """
    shape, cuts = place
    lo, hi, slack = ends
    if _some(born) and _some(flags):  # an infinity that is born may meet one of the other sign that flows in
        flags = sum_flags(np.bitwise_or(flags, born)) if np.ndim(flags) or np.ndim(born) else sum_flags(flags | born)
    if type(lo) is float and type(hi) is float and cuts is None:
        return _settled_floats(call, dtype, shape, (lo, hi, slack), (flags, bool(empty), born))
    lo, hi = np.where(empty, inf, lo), np.where(empty, -inf, hi)
    if _some(born):
        gone = lo > hi
        certain = bool(np.any(((lo - slack > dtype.max) | (hi + slack < dtype.min)) & ~gone))
        if not certain and not gone.all():
            where = ~gone & np.not_equal(np.broadcast_to(born, lo.shape), 0)
            chosen = where if where.any() else ~gone
            shown = [np.nan_to_num(np.broadcast_to(e, lo.shape)[chosen]) for e in (lo - slack, hi + slack)]
            gives = int(np.bitwise_or.reduce(born, axis=None))
            call.overflowed(float(shown[0].min()), float(shown[1].max()), dtype, gives, never=False)
        spots = np.bitwise_or(np.asarray(flags, np.uint8), np.asarray(born, np.uint8))
        return call.settle(dtype, shape, lo, hi, err=slack, cuts=cuts, spots=spots, report=certain)
    return call.settle(dtype, shape, lo, hi, err=slack, cuts=cuts, spots=flags)


def _some(flags: Any) -> bool:
    """Whether any flag is set, in one number or in an array of them."""
    return flags != 0 if type(flags) is int else bool(np.any(flags))


def _settled_floats(
    call: Call, dtype: DType, shape: Shape, ends: tuple[float, float, float], marks: tuple[int, bool, int]
) -> Box:
    lo, hi, slack = ends
    flags, empty, born = marks
    flags = int(flags)
    if empty or lo > hi:
        return Box(dtype, shape, inf, -inf, flags | born)
    if not dtype.is_float:
        return call.settle(dtype, shape, lo, hi, err=slack, spots=flags)
    lo, hi = lo - slack, hi + slack
    lo, hi = call.nearest(-inf if lo != lo else float(lo), inf if hi != hi else float(hi), dtype)
    if born or hi > dtype.max or lo < dtype.min:
        never = lo > dtype.max or hi < dtype.min
        gives = born | overflow_flags(dtype, hi > dtype.max, lo < dtype.min)
        call.overflowed(lo, hi, dtype, gives, never=never)
        flags |= gives
        lo, hi = (inf, -inf) if never else (max(lo, dtype.min), min(hi, dtype.max))
    return Box(dtype, shape, lo, hi, flags)


def without_finite(box: Box) -> bool:
    """Whether no element of the Box can be finite and none special: an empty tensor, or a branch never taken."""
    return not box.flags and not box.has_finite
