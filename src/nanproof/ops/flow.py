"""What sums, products and contractions make of bounds and of special values.

A sum of floats overflows by its partial sums, not by its final value, and they
can be as low as the sum of all negative terms and as high as the sum of all
positive ones. That, the rounding of the additions, and the flow of NaN and Inf
are the same for every operator that adds up, and are here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from nanproof.dims import Size, bounds
from nanproof.domain.box import INFS, NAN, NINF, PINF, Array, Box, Shape
from nanproof.domain.partition import Cuts
from nanproof.numerics.dtypes import DType
from nanproof.numerics.reductions import sum_error
from nanproof.numerics.rounding import nearest
from nanproof.ops.call import Call, overflow_flags

OWN = 2.0**-51
"""Twice the rounding of float64: what the analysis's own sums are off by, a term."""


class Sums(NamedTuple):
    """Bounds of a sum: of its value, of its partial sums, and of sum|terms|. Floats, or arrays over blocks."""

    lo: Any
    hi: Any
    below: Any
    above: Any
    size: Any


def repeated(lo: Any, hi: Any, least: float, most: float) -> Sums:
    """The sum of between ``least`` and ``most`` terms, each in [lo, hi]."""
    if type(lo) is float and type(hi) is float:
        if lo >= 0.0:
            top = _times(hi, most)
            return Sums(_times(lo, least), top, 0.0, top, top)
        if hi <= 0.0:
            bottom = _times(lo, most)
            return Sums(bottom, _times(hi, least), bottom, 0.0, -bottom)
        low, high = _times(lo, most), _times(hi, most)
        return Sums(low, high, low, high, max(-low, high))
    down = _times_array(np.minimum(lo, 0.0), most)
    up = _times_array(np.maximum(hi, 0.0), most)
    lows = np.where(lo >= 0.0, _times_array(lo, least), down)
    highs = np.where(hi <= 0.0, _times_array(hi, least), up)
    return Sums(lows, highs, down, up, _times_array(np.maximum(-lo, hi), most))


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


def sum_slack(n: float, size: Any, accumulator: DType) -> Any:
    """How far a computed sum of n terms can be from the exact one: the runtime's error and our own."""
    if not accumulator.is_float:
        return 0.0
    error = sum_error(n, size, accumulator, accumulator)
    own = _times(size, n * OWN) if type(size) is float else _times_array(size, n * OWN)
    return error + own


def settled_sum(
    call: Call,
    dtype: DType,
    place: tuple[Shape, Cuts | None],
    sums: Sums,
    n: float,
    *,
    flags: Any = 0,
    empty: Any = False,
    divisor: float = 1.0,
) -> Box:
    """The Box of a sum of at most ``n`` terms (or of a mean: ``divisor``).

    ``flags`` are the special values that flow in (an int, or an array over the
    blocks); ``empty`` says where no finite sum is possible.
    """
    accumulator = call.setting.accumulator(dtype)
    slack = sum_slack(n, sums.size, accumulator)
    born = 0
    if dtype.is_float:
        # a division, or a product with the rounded reciprocal
        extra = 0.0 if divisor == 1.0 else 2.0 * accumulator.unit * sums.size / divisor + accumulator.quantum
        over, under = overflows(sums, slack, accumulator)
        born = partial_flags(dtype, over, under)
        slack = slack / divisor + extra
    lo, hi = sums.lo / divisor, sums.hi / divisor
    return settled(call, dtype, place, (lo, hi, slack), flags=flags, empty=empty, born=born)


def overflows(sums: Sums, slack: Any, accumulator: DType) -> tuple[bool, bool]:
    """Whether a partial sum can pass the largest and the lowest number of the accumulator."""
    limit = accumulator.max
    above, below = sums.above, sums.below
    if type(above) is float and type(slack) is float:
        # without a negative term no partial sum is negative, however it is rounded
        return above > 0.0 and not above + slack <= limit, below < 0.0 and not below - slack >= -limit
    over, under = (above > 0.0) & ~(above + slack <= limit), (below < 0.0) & ~(below - slack >= -limit)
    return bool(np.any(over)), bool(np.any(under))


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
    born: int = 0,
) -> Box:
    """A Box from (lo, hi, error): ``call.settle`` with a fast path for one block.

    ``born`` are special values that intermediate results may turn into although
    the bounds of the result don't say so; they are reported as the operator's
    overflow.
    """
    shape, cuts = place
    lo, hi, slack = ends
    if born and np.any(flags):  # an infinity that is born may meet one of the other sign that flows in
        flags = sum_flags(flags | born) if isinstance(flags, int) else sum_flags(flags | np.uint8(born))
    if type(lo) is float and type(hi) is float and cuts is None:
        return _settled_floats(call, dtype, shape, (lo, hi, slack), (flags, bool(empty), born))
    lo, hi = np.where(empty, inf, lo), np.where(empty, -inf, hi)
    if born:
        certain = bool(np.any((lo - slack > dtype.max) & ~(lo > hi)) or np.any((hi + slack < dtype.min) & ~(lo > hi)))
        if not certain and not np.all(lo > hi):
            full = np.nan_to_num(np.asarray(lo - slack)), np.nan_to_num(np.asarray(hi + slack))
            call.overflowed(float(full[0].min()), float(full[1].max()), dtype, born, never=False)
        return call.settle(dtype, shape, lo, hi, err=slack, cuts=cuts, spots=flags | np.uint8(born), report=certain)
    return call.settle(dtype, shape, lo, hi, err=slack, cuts=cuts, spots=flags)


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
    lo = -inf if lo != lo else nearest(dtype, lo)
    hi = inf if hi != hi else nearest(dtype, hi)
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
