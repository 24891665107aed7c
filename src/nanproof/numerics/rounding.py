"""Round a float64 to another dtype, once and right; neighbours; inward rounding.

Casts of libraries often round twice (float64 to float32 to bfloat16) and are then wrong next to midpoints.
Here a number of the wide format is rounded by the *magic add*: with ``q`` the distance of neighbours of the
dtype around ``x`` (a power of two, read off the exponent of ``x``), the float64 addition ``x + 1.5 * 2**52 * q``
must drop all bits below ``q``, to nearest, ties to even, and taking the big number away again is exact.

All functions take and give float64. Integers and bools pass ``nearest`` unchanged: their values are integral
already, and what lies out of range is the caller's business.
"""

from __future__ import annotations

import math
import struct
from math import frexp, ldexp
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from nanproof.numerics.dtypes import FLOAT8_E8M0FNU, FLOAT16, FLOAT32, FLOAT64, DType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_INF: Final = math.inf
_PACK32: Final = struct.Struct("f").pack
_UNPACK32: Final = struct.Struct("f").unpack
_PACK16: Final = struct.Struct("e").pack
_UNPACK16: Final = struct.Struct("e").unpack


def _step(dtype: DType, mantissa_exponent: int) -> float:
    """The distance of neighbours among the numbers to which ``frexp`` gives that exponent."""
    step = ldexp(1.0, mantissa_exponent - dtype.precision)
    return max(dtype.quantum, step)


def nearest(dtype: DType, x: float) -> float:
    """The value of ``dtype`` next to ``x``, ties to even; past the largest by half a step or more: +-inf.

    Types without an infinity give +-inf here too (``dtype.overflows_to`` says what they really do). In
    float8_e8m0fnu, which has no zero and no sign, all that is too small gives its smallest value.
    """
    if dtype is FLOAT32:
        try:
            return _UNPACK32(_PACK32(x))[0]  # type: ignore[no-any-return]
        except OverflowError:
            return math.copysign(_INF, x)
    if dtype is FLOAT64:
        return x
    if dtype is FLOAT16:
        try:
            return _UNPACK16(_PACK16(x))[0]  # type: ignore[no-any-return]
        except OverflowError:
            return math.copysign(_INF, x)
    if dtype.kind != "float":
        return x
    if abs(x) > 2.0 * dtype.max:
        # Also keeps the sum below finite.
        return dtype.min if x < 0 and dtype is FLOAT8_E8M0FNU else math.copysign(_INF, x)
    big = 1.5 * 2.0**52 * _step(dtype, frexp(x)[1])
    rounded = x + big - big
    if -dtype.max <= rounded <= dtype.max:
        if dtype is FLOAT8_E8M0FNU:
            return max(rounded, dtype.min)
        return rounded or math.copysign(0.0, x)
    if rounded != rounded:
        return rounded
    if dtype is FLOAT8_E8M0FNU and x < 0:
        return dtype.min
    return math.copysign(_INF, x)


def nearest_array(dtype: DType, x: Array) -> Array:
    """``nearest`` for every element of a float64 array."""
    if dtype is FLOAT64 or dtype.kind != "float":
        return x
    if dtype is FLOAT32 or dtype is FLOAT16:
        narrow: Any = np.float32 if dtype is FLOAT32 else np.float16
        with np.errstate(all="ignore"):
            return x.astype(narrow).astype(np.float64)
    big = 1.5 * 2.0**52 * _step_array(dtype, x)
    rounded = x + big - big
    signed = dtype is not FLOAT8_E8M0FNU
    rounded = np.copysign(rounded, x) if signed else np.where(x < dtype.min, dtype.min, rounded)
    return np.where(np.abs(rounded) > dtype.max, np.copysign(_INF, x), rounded)


def _step_array(dtype: DType, x: Array) -> Array:
    exponents = np.minimum(np.frexp(x)[1], 900)
    steps: Array = np.maximum(np.ldexp(1.0, exponents - dtype.precision), dtype.quantum)
    return steps


def next_up(dtype: DType, x: float) -> float:
    """The smallest value of ``dtype`` above ``x`` (which need not be one); +inf past the largest; NaN stays NaN."""
    if dtype is FLOAT64:
        return math.nextafter(x, _INF)
    found = at_least(dtype, x)
    if found > x or found != found or found == _INF:
        return found
    if found == -_INF:
        return dtype.min
    if found == 0.0:
        return dtype.quantum
    if dtype.kind != "float":
        # Beyond 2**53 the float64 above is the next value that can be told.
        found = max(x + 1.0, math.nextafter(x, _INF))
    elif dtype is FLOAT8_E8M0FNU:
        found = 2.0 * x
    else:
        mantissa, exponent = frexp(x)
        # Below a power of two in magnitude, the neighbours are half as far away.
        step = _step(dtype, exponent - (mantissa == -0.5 and x < -dtype.tiny))
        found = x + step
    return found if found <= dtype.max else _INF


def next_down(dtype: DType, x: float) -> float:
    """The largest value of ``dtype`` below ``x``; -inf past the lowest; NaN stays NaN."""
    if dtype.min == -dtype.max:
        return -next_up(dtype, -x)
    found = at_most(dtype, x)
    if found < x or found != found or found == -_INF:
        return found
    found = 0.5 * x if dtype is FLOAT8_E8M0FNU else min(x - 1.0, math.nextafter(x, -_INF))
    return found if found >= dtype.min else -_INF


def at_least(dtype: DType, x: float) -> float:
    """The smallest value of ``dtype`` that is ``>= x``; +inf where there is none."""
    if dtype is FLOAT64 or x != x:
        return x
    if x <= dtype.min:
        return dtype.min if x > -_INF or dtype.overflows_to != "inf" else x
    if x > dtype.max:
        return _INF
    if dtype.kind != "float":
        return float(math.ceil(x))
    found = nearest(dtype, x)
    if found >= x:
        return found
    if dtype is FLOAT8_E8M0FNU:
        return 2.0 * found
    if found == 0.0:
        return dtype.quantum
    mantissa, exponent = frexp(found)
    return found + _step(dtype, exponent - (mantissa == -0.5 and found < -dtype.tiny))


def at_most(dtype: DType, x: float) -> float:
    """The largest value of ``dtype`` that is ``<= x``; -inf where there is none."""
    if dtype.min == -dtype.max:
        return -at_least(dtype, -x)
    if x != x:
        return x
    if x >= dtype.max:
        return dtype.max
    if x < dtype.min:
        return -_INF
    if dtype.kind != "float":
        return float(math.floor(x))
    found = nearest(dtype, x)
    return found if found <= x else 0.5 * found


@np.errstate(all="ignore")
def next_up_array(dtype: DType, x: Array) -> Array:
    """``next_up`` for every element."""
    if dtype is FLOAT64:
        return np.nextafter(x, _INF)
    found = at_least_array(dtype, x)
    above: Array
    if dtype.kind != "float":
        above = np.maximum(x + 1.0, np.nextafter(x, _INF))
    elif dtype is FLOAT8_E8M0FNU:
        above = 2.0 * x
    else:
        above = x + _step_up(dtype, x)
    above = np.where(above <= dtype.max, above, _INF)
    above = np.where(x == -_INF, dtype.min, above)
    return np.where(found == x, above, found)


@np.errstate(all="ignore")
def next_down_array(dtype: DType, x: Array) -> Array:
    """``next_down`` for every element."""
    if dtype.min == -dtype.max:
        return -next_up_array(dtype, -x)
    found = at_most_array(dtype, x)
    below = 0.5 * x if dtype is FLOAT8_E8M0FNU else np.minimum(x - 1.0, np.nextafter(x, -_INF))
    below = np.where(below >= dtype.min, below, -_INF)
    return np.where(found == x, below, found)


@np.errstate(all="ignore")
def at_least_array(dtype: DType, x: Array) -> Array:
    """``at_least`` for every element."""
    if dtype is FLOAT64:
        return x
    if dtype.kind != "float":
        found = np.ceil(x)
    else:
        found = nearest_array(dtype, x)
        step = found if dtype is FLOAT8_E8M0FNU else _step_up(dtype, found)
        found = np.where(found < x, found + step, found)
    found = np.where(x > dtype.max, _INF, found)
    low = (x <= dtype.min) & (x > -_INF) if dtype.overflows_to == "inf" else x <= dtype.min
    return np.where(low, dtype.min, found)


@np.errstate(all="ignore")
def at_most_array(dtype: DType, x: Array) -> Array:
    """``at_most`` for every element."""
    if dtype.min == -dtype.max:
        return -at_least_array(dtype, -x)
    if dtype.kind != "float":
        found = np.floor(x)
    else:
        found = nearest_array(dtype, x)
        found = np.where(found > x, 0.5 * found, found)
    found = np.where(x >= dtype.max, dtype.max, found)
    return np.where(x < dtype.min, -_INF, found)


def _step_up(dtype: DType, x: Array) -> Array:
    """The distance to the neighbour above, of values of the dtype."""
    mantissa, exponents = np.frexp(x)
    # frexp gives zero the exponent 0.
    exponents = np.where(x == 0.0, -1100, np.minimum(exponents, 900) - ((mantissa == -0.5) & (x < -dtype.tiny)))
    steps: Array = np.maximum(np.ldexp(1.0, exponents - dtype.precision), dtype.quantum)
    return steps
