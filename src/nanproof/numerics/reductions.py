"""How far a sum can be off.

A sum of n products, each rounded, in any order of additions that round to nearest in an accumulator of unit roundoff
u, differs from the exact sum by at most ``n * u * sum|terms|`` (Jeannerod and Rump 2013: no 1 / (1 - nu) is needed,
for any n). A plain sum is better by one term, a fused multiply-add no worse. Additions of subnormal numbers are
exact; a product that underflows is off by half a quantum more, and the sum of n of them by no more than n quanta.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, overload

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nanproof.numerics.dtypes import DType

# The analysis adds up its own bounds in float64, term by term too.
_OWN_UNIT: Final = 2.0**-53
_MARGIN: Final = 1.0 + 2.0**-40


def sum_rate(n: float, accumulator: DType) -> tuple[float, float]:
    """(rate, floor) of the error in the accumulator: rate * magnitude + floor, for terms that aren't all 0."""
    n = max(n, 1.0)
    return n * (accumulator.unit + _OWN_UNIT) * _MARGIN, n * accumulator.quantum


@overload
def sum_error(n: float, magnitude: float, accumulator: DType, out: DType) -> float: ...
@overload
def sum_error(n: float, magnitude: NDArray[np.float64], accumulator: DType, out: DType) -> NDArray[np.float64]: ...
def sum_error(
    n: float, magnitude: float | NDArray[np.float64], accumulator: DType, out: DType
) -> float | NDArray[np.float64]:
    """An absolute bound of the error of a sum of ``n`` terms with ``sum|terms| <= magnitude``.

    The terms are values, or products of two values, of the type ``out``; every order of summation is covered,
    blocked, pairwise and fused ones included:

        inner = n * (u + 2**-53) * magnitude + n * quantum        in the accumulator
        error = inner + out.unit * (magnitude + inner) + out.quantum / 2     where out is narrower

    The second term of u is the analysis's own summation in float64. The bound is on a sum that doesn't overflow on
    the way: that is decided by the partial sums, which lie in [sum of the negative terms, sum of the positive terms],
    each widened by this error. Integers are exact (they wrap instead): 0. An unknown length (``n = inf``) or an
    infinite magnitude gives inf; a magnitude of 0 gives 0.
    """
    if accumulator.kind != "float":
        return np.zeros_like(magnitude) if isinstance(magnitude, np.ndarray) else 0.0
    rate, floor = sum_rate(n, accumulator)
    if out is not accumulator:
        rate += out.unit * (1.0 + rate) * _MARGIN
        floor += floor * out.unit + 0.5 * out.quantum
    if isinstance(magnitude, np.ndarray):
        if rate == math.inf:
            return np.where(magnitude == 0.0, 0.0, math.inf)
        return np.where(magnitude == 0.0, 0.0, rate * magnitude + floor)
    return rate * magnitude + floor if magnitude else 0.0
