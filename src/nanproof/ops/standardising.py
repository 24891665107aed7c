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
    """

    reach: float
    mean: tuple[float, float]
    variance: float
    rate: tuple[float, float]
    born: int
    product: float = 0.0
    known: int = 0


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
    mean = lo - delta, hi + delta
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


def _reach(far: float, n: float, drift: float, eps: float) -> float:
    """D / sqrt(d^2 / n + eps), which rises with d, at the largest d."""
    if far == 0.0:
        return 0.0
    share = (1.0 - drift) / n if drift < 0.5 else 0.0
    if far > 1e150:
        return 1.0 / sqrt(share) if share else inf
    below = far * far * share + eps
    return far / sqrt(below) if below > 0.0 else inf


def centred_nowhere(call: Call, size: float, n: float, accumulator: DType) -> Standardised:
    """The same for ``x / sqrt(mean(x^2) + eps)``: no mean is taken off."""
    unit, eps = accumulator.unit, epsilon_of(call, accumulator)
    known = 0
    if eps <= 0.0:
        call.fail(VARIANCE, (0.0, size * size if size < 1e150 else inf), never=size == 0.0)
        known = VARIANCE.gives
    reach = _reach(size, n, (n + 4.0) * unit, eps) * (1.0 + 12.0 * unit)
    if eps < 2.0 * accumulator.tiny:
        reach *= 2.0
    rate = 0.0, (1.0 / sqrt(eps) if eps > 0 else inf) * (1.0 + 8.0 * unit)
    return Standardised(reach, (0.0, 0.0), size * size if size < 1e150 else inf, rate, 0, known=known)
