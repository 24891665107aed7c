"""How large a standardised number can be, as it is computed.

For n numbers and their mean m, ``(x - m)^2`` is at most n times the mean of all
such squares, so ``|x - m| / sqrt(var + eps)`` stays below sqrt(n) whatever the
numbers are. In floats m is off by some delta, but the variance is the mean of
the squares of the *computed* differences d, so d^2 <= n * var still holds up to
the rounding of squares and sum, a factor of 1 - (n + 4) * u: it doesn't matter
that m is wrong. That is so where the variance is computed in two passes. A
variance as E[x^2] - E[x]^2 is off by (n + 6) * u * 2 * max(x^2), and may come
out at or below -eps.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from nanproof.domain.box import NAN, NINF, PINF
from nanproof.numerics.dtypes import FLOAT32, DType
from nanproof.numerics.rounding import nearest
from nanproof.ops.call import Call
from nanproof.ops.conditions import Attribute, Requirement
from nanproof.ops.conditions import Operand as Term

VARIANCE = Requirement("NP112", Term(1, "var") + Attribute("epsilon", 1e-5) > 0, NAN | PINF | NINF)


class Standardised(NamedTuple):
    """The reach of a standardised number, its mean, the largest variance, and what may go wrong.

    ``reach`` inf: no bound. ``born``: special values made on the way. ``product``:
    the largest x * r where the runtime forms it before it takes mean * r off.
    ``known``: what a variance that isn't positive gives; reported already.
    ``ends``: where the standardised number lies within its reach.
    """

    reach: float
    mean: tuple[float, float]
    variance: float
    rate: tuple[float, float]
    born: int
    product: float = 0.0
    known: int = 0
    ends: tuple[float, float] = (-inf, inf)


def epsilon_of(call: Call, accumulator: DType, default: float = 1e-5) -> float:
    """The epsilon as the runtime adds it: attributes are float32."""
    return nearest(accumulator, single(call.attr("epsilon", default)))


def single(attribute: float) -> float:
    """A number as an attribute of a model can hold it."""
    return nearest(FLOAT32, float(attribute))


def standardise(
    call: Call, ends: tuple[float, float], n: float, accumulator: DType, *, one_pass: bool = False, folded: bool = False
) -> Standardised:
    """The reach of ``(x - mean) / sqrt(var + eps)`` over at most ``n`` numbers in an interval.

    ``folded``: computed as ``x * r - mean * r``, which adds the rounding of two large products.
    """
    lo, hi = ends
    unit, eps = accumulator.unit, epsilon_of(call, accumulator)
    size = max(-lo, hi)
    drift = (n + 4.0) * unit
    # how far the computed mean, and so a difference from it, can be off
    delta = drift * size + 2.0 * accumulator.quantum if n > 1 and size else 0.0
    far = ((hi - lo) + delta) * (1.0 + 4.0 * unit) if n > 1 else delta
    born = 0
    if not n * size * (1.0 + drift) <= accumulator.max or not far <= accumulator.max:
        born |= NAN  # the sum or a difference overflows, and Inf / Inf follows
    least = eps
    if one_pass:
        off = (n + 6.0) * unit * 2.0 * size * size
        if not off <= accumulator.max:
            born |= NAN  # Inf - Inf
        least = eps - off
    mean = _mean_end(lo, -drift, accumulator), _mean_end(hi, drift, accumulator)
    variance = min(far * far * (1.0 + drift) if far < 1e150 else inf, accumulator.max)
    if least <= 0.0:
        call.fail(VARIANCE, (least - eps, variance), never=False)
        if one_pass:
            return Standardised(inf, mean, variance, (0.0, inf), 0, known=VARIANCE.gives)
    rate = 0.0, (1.0 / sqrt(least) if least > 0 else inf) * (1.0 + 8.0 * unit)
    reach = _reach(far, n, drift, max(least, 0.0))
    if least < 2.0 * accumulator.tiny:
        reach *= 2.0  # squares that are subnormal lose up to all their digits, but the root halves that
    reach *= 1.0 + 12.0 * unit
    product = size * rate[1] if folded and size else 0.0
    known = VARIANCE.gives if least <= 0.0 else 0
    return Standardised(reach + 8.0 * unit * product, mean, variance, rate, born, product, known)


def _mean_end(end: float, drift: float, accumulator: DType) -> float:
    """An end of a computed mean: its own error outward, its sign kept."""
    if end == 0.0:
        return 0.0
    moved = end + drift * abs(end) + (2.0 if drift > 0 else -2.0) * accumulator.quantum
    return max(moved, 0.0) if end > 0.0 else min(moved, 0.0)


def _reach(far: float, n: float, drift: float, eps: float) -> float:
    """D / sqrt(d^2 / n + eps), which rises with d, at the largest d."""
    if far == 0.0:
        return 0.0
    share = (1.0 - drift) / n if drift < 0.5 else 0.0
    if far > 1e150:
        return 1.0 / sqrt(share) if share else inf
    below = far * far * share + eps
    return far / sqrt(below) if below > 0.0 else inf


def centred_nowhere(call: Call, interval: tuple[float, float], n: float, accumulator: DType) -> Standardised:
    """The same for ``x / sqrt(mean(x^2) + eps)``: no mean is taken off, so the sign stays."""
    lo, hi = interval
    unit, eps = accumulator.unit, epsilon_of(call, accumulator)
    size, least = max(-lo, hi), max(lo, -hi, 0.0)
    known = 0
    if eps <= 0.0:
        call.fail(VARIANCE, (0.0, size * size if size < 1e150 else inf), never=size == 0.0)
        known = VARIANCE.gives
    drift = (n + 4.0) * unit
    reach = _reach(size, n, drift, eps) * (1.0 + 12.0 * unit)
    if eps < 2.0 * accumulator.tiny:
        reach *= 2.0
    top = size * size * (1.0 + drift) + eps if size < 1e150 else inf
    bottom = least * least * max(1.0 - drift, 0.0) + eps if least < 1e150 and eps >= 2.0 * accumulator.tiny else eps
    # the sum of squares overflows before their mean would
    slow = (1.0 - 8.0 * unit) / sqrt(top) if n * top < accumulator.max else 0.0
    fast = (1.0 + 8.0 * unit) / sqrt(bottom) if bottom > 0.0 else inf
    low = lo * fast if lo < 0.0 else lo * slow - accumulator.quantum if lo else 0.0
    high = hi * fast if hi > 0.0 else hi * slow + accumulator.quantum if hi else 0.0
    low, high = (max(low, 0.0) if lo >= 0.0 else low), (min(high, 0.0) if hi <= 0.0 else high)
    ends = max(low, -reach), min(high, reach)
    return Standardised(reach, (0.0, 0.0), min(top, accumulator.max), (0.0, fast), 0, known=known, ends=ends)
