"""How far a sum can be off.

A sum of n terms, computed in any order by additions that round to nearest in an accumulator of unit roundoff u,
differs from the exact sum of the same terms by at most ``(n - 1) * u * sum|terms|`` (Rump 2012: no 1/(1 - nu)
is needed, for any n). Additions of subnormals are exact, so no absolute term is needed either. Where the terms
are products that are rounded by themselves (a dot product without fused multiply-add), each adds half an ulp
more, ``u * |term|``, and half a quantum where it is subnormal.

``n * u * sum|terms| + n * quantum / 2`` covers both, and the last rounding to the dtype of the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nanproof.numerics.dtypes import DType


@overload
def sum_error(n: float, magnitude: float, accumulator: DType, out: DType) -> float: ...
@overload
def sum_error(n: float, magnitude: NDArray[np.float64], accumulator: DType, out: DType) -> NDArray[np.float64]: ...
def sum_error(
    n: float, magnitude: float | NDArray[np.float64], accumulator: DType, out: DType
) -> float | NDArray[np.float64]:
    """An absolute bound of the error of a sum of ``n`` terms with ``sum|terms| <= magnitude``.

    The terms may be sums' operands or products of two factors of the result's dtype; the bound holds for every
    order of summation, blocked and fused ones included. For integers the error is 0 (they wrap or saturate
    instead, which is an overflow). The bound is on a sum that doesn't overflow on the way: that is decided by the
    partial sums, which lie in [sum of the negative terms, sum of the positive terms], widened by this error.

    ``out`` rounds once more: ``out.unit * magnitude`` and half a quantum. An infinite magnitude gives inf;
    ``n`` may be inf for an unknown length: the error is inf then unless the magnitude is 0.
    """
    if accumulator.kind != "float":
        return 0.0 * magnitude
    # The factor covers the roundings of the bound's own evaluation and of float64 sums in the analysis itself.
    rate = (n * accumulator.unit + (out.unit if out is not accumulator else 0.0)) * _OWN
    floor = (n * accumulator.quantum + out.quantum) * 0.5
    if rate == float("inf"):
        return _times_infinity(magnitude)
    return rate * magnitude + floor


_OWN = 1.0 + 2.0**-40


def _times_infinity(magnitude: float | NDArray[np.float64]) -> float | NDArray[np.float64]:
    if isinstance(magnitude, (int, float)):
        return 0.0 if magnitude == 0 else float("inf")
    import numpy as np

    return np.where(magnitude == 0, 0.0, np.inf)
