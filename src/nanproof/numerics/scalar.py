"""The array API's function names for single floats.

Bounds of a one-block Box are a pair of Python floats, and a bound written against ``xp`` gets this module as its
namespace. Everything follows IEEE 754 and nothing raises: ``exp(1000)`` is inf, ``log(0)`` is -inf, ``log(-1)`` is
NaN, ``divide(1, 0)`` is inf. Beyond the array API it has the functions of deep learning (``sigmoid``, ``erf``,
``softplus``, ...), the same as ``arrays``, each computed so that its relative error stays within a few units of
float64 wherever the function itself allows it.
"""

from __future__ import annotations

import builtins
import math
from typing import Final, TypeVar

inf: Final = math.inf
nan: Final = math.nan
pi: Final = math.pi
e: Final = math.e
float64: Final = float
bool: Final = builtins.bool

_T = TypeVar("_T")
_SQRT_HALF: Final = math.sqrt(0.5)
_SQRT_PI: Final = math.sqrt(math.pi)
_SQRT_2_OVER_PI: Final = math.sqrt(2.0 / math.pi)

fabs = math.fabs
abs = math.fabs
copysign = math.copysign
isnan = math.isnan
isinf = math.isinf
isfinite = math.isfinite
atan = math.atan
asinh = math.asinh
tanh = math.tanh
erf = math.erf
erfc = math.erfc
atan2 = math.atan2
hypot = math.hypot
nextafter = math.nextafter


# Arithmetic.


def add(x: float, y: float) -> float:
    return x + y


def subtract(x: float, y: float) -> float:
    return x - y


def multiply(x: float, y: float) -> float:
    return x * y


def divide(x: float, y: float) -> float:
    try:
        return x / y
    except ZeroDivisionError:
        return nan if x == 0 or x != x else copysign(inf, x) * copysign(1.0, y)


def reciprocal(x: float) -> float:
    return 1.0 / x if x else copysign(inf, x)


def negative(x: float) -> float:
    return -x


def positive(x: float) -> float:
    return x


def square(x: float) -> float:
    return x * x


def sqrt(x: float) -> float:
    try:
        return math.sqrt(x)
    except ValueError:
        return nan


def rsqrt(x: float) -> float:
    if x > 0:
        return 1.0 / math.sqrt(x)
    return copysign(inf, x) if x == 0 else nan


def cbrt(x: float) -> float:
    """The real cube root; within 2 ulp."""
    if x == 0 or not math.isfinite(x):
        return x
    root = math.copysign(math.pow(math.fabs(x), 1.0 / 3.0), x)
    # One Newton step takes away what the rounding of 1/3 left.
    return root - (root - x / (root * root)) / 3.0


def fmod(x: float, y: float) -> float:
    """The remainder with the sign of the dividend, exact (C's fmod)."""
    try:
        return math.fmod(x, y)
    except ValueError:
        return nan


def remainder(x: float, y: float) -> float:
    """The remainder with the sign of the divisor (Python's %)."""
    try:
        return math.fmod(x, y) if x == 0 else _floor_mod(x, y)
    except (ValueError, ZeroDivisionError):
        return nan


def _floor_mod(x: float, y: float) -> float:
    if math.isinf(y) and math.isfinite(x):
        return x if (x < 0) == (y < 0) else y
    return x % y


def pow(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except OverflowError:
        return -inf if x < 0 and math.fmod(y, 2.0) != 0.0 else inf
    except ValueError:
        if x == 0:
            return copysign(inf, x) if math.fmod(y, 2.0) in {1.0, -1.0} else inf
        return nan


power = pow


# Rounding. The results are floats, and infinities pass.


def floor(x: float) -> float:
    try:
        return float(math.floor(x))
    except (OverflowError, ValueError):
        return x


def ceil(x: float) -> float:
    try:
        return float(math.ceil(x))
    except (OverflowError, ValueError):
        return x


def trunc(x: float) -> float:
    try:
        return float(math.trunc(x))
    except (OverflowError, ValueError):
        return x


def round(x: float) -> float:
    """To the nearest integer, ties to even."""
    try:
        return float(builtins.round(x))
    except (OverflowError, ValueError):
        return x


# Exponentials and logarithms.


def exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return inf


def exp2(x: float) -> float:
    return pow(2.0, x)


def expm1(x: float) -> float:
    try:
        return math.expm1(x)
    except OverflowError:
        return inf


def log(x: float) -> float:
    try:
        return math.log(x)
    except ValueError:
        return -inf if x == 0 else nan


def log2(x: float) -> float:
    try:
        return math.log2(x)
    except ValueError:
        return -inf if x == 0 else nan


def log10(x: float) -> float:
    try:
        return math.log10(x)
    except ValueError:
        return -inf if x == 0 else nan


def log1p(x: float) -> float:
    try:
        return math.log1p(x)
    except ValueError:
        return -inf if x == -1 else nan


def logaddexp(x: float, y: float) -> float:
    if x != x or y != y:
        return nan
    high, low = (x, y) if x >= y else (y, x)
    return high if low == -inf or high == inf else high + math.log1p(math.exp(low - high))


# Trigonometry.


def sin(x: float) -> float:
    try:
        return math.sin(x)
    except ValueError:
        return nan


def cos(x: float) -> float:
    try:
        return math.cos(x)
    except ValueError:
        return nan


def tan(x: float) -> float:
    try:
        return math.tan(x)
    except ValueError:
        return nan


def asin(x: float) -> float:
    try:
        return math.asin(x)
    except ValueError:
        return nan


def acos(x: float) -> float:
    try:
        return math.acos(x)
    except ValueError:
        return nan


def sinh(x: float) -> float:
    try:
        return math.sinh(x)
    except OverflowError:
        return copysign(inf, x)


def cosh(x: float) -> float:
    try:
        return math.cosh(x)
    except OverflowError:
        return inf


def acosh(x: float) -> float:
    try:
        return math.acosh(x)
    except ValueError:
        return nan


def atanh(x: float) -> float:
    try:
        return math.atanh(x)
    except ValueError:
        return copysign(inf, x) if x in {1.0, -1.0} else nan


def erfinv(x: float) -> float:
    """The number whose erf is x: a first guess, and Newton's steps on whichever of erf and erfc has the digits."""
    if x == 0 or not -1.0 < x < 1.0:
        return x if x == 0 else copysign(inf, x) if x in {1.0, -1.0} else nan
    size = fabs(x)
    rest = 1.0 - size  # exact from 0.5 on
    # Winitzki's approximation, good to 0.2 %
    log_rest = math.log1p(-size * size)
    inner = 2.0 / (math.pi * 0.147) + 0.5 * log_rest
    guess = math.sqrt(math.sqrt(inner * inner - log_rest / 0.147) - inner)
    for _ in range(3):
        off = math.erf(guess) - size if size < 0.5 else rest - math.erfc(guess)
        step = off * 0.5 * _SQRT_PI * math.exp(guess * guess)
        guess -= step / (1.0 + guess * step)  # Halley's
    return copysign(guess, x)


# Functions of deep learning.


def sigmoid(x: float) -> float:
    """1 / (1 + exp(-x)), with a small relative error on both sides."""
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    small = math.exp(x)
    return small / (1.0 + small)


def log_sigmoid(x: float) -> float:
    return -softplus(-x)


def softplus(x: float) -> float:
    """log(1 + exp(x))."""
    return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))


def softsign(x: float) -> float:
    """The quotient x / (1 + |x|)."""
    return copysign(1.0, x) if isinf(x) else x / (1.0 + fabs(x))


def silu(x: float) -> float:
    """The product x * sigmoid(x), also called swish."""
    return 0.0 if x == -inf else x * sigmoid(x)


def gelu(x: float) -> float:
    """The product x * Phi(x), with Phi by erfc so that the negative tail keeps its digits."""
    return 0.0 if x == -inf else 0.5 * x * erfc(-x * _SQRT_HALF)


def gelu_tanh(x: float) -> float:
    """The approximation of gelu by tanh: x * sigmoid(2 * sqrt(2/pi) * (x + 0.044715 * x^3))."""
    return 0.0 if x == -inf else x * sigmoid(2.0 * _SQRT_2_OVER_PI * (x + 0.044715 * x * x * x))


def mish(x: float) -> float:
    """The product x * tanh(softplus(x)) = x * n / (n + 2) with n = exp(x) * (exp(x) + 2)."""
    if x > 20.0:
        return x
    if x == -inf:
        return 0.0
    grown = exp(x)
    grown *= grown + 2.0
    return x * (grown / (grown + 2.0))


def relu(x: float) -> float:
    return x if x > 0 or x != x else 0.0


# Comparison and choice. NaN spreads through maximum and minimum, as the array API says.


def maximum(x: float, y: float) -> float:
    return x if x >= y or x != x else y


def minimum(x: float, y: float) -> float:
    return x if x <= y or x != x else y


def clip(x: float, low: float | None = None, high: float | None = None) -> float:
    if low is not None and x < low:
        x = low
    return high if high is not None and x > high else x


def sign(x: float) -> float:
    return 1.0 if x > 0 else -1.0 if x < 0 else x


def signbit(x: float) -> builtins.bool:
    return copysign(1.0, x) < 0


def where(condition: builtins.bool, x: _T, y: _T) -> _T:
    return x if condition else y


def equal(x: float, y: float) -> builtins.bool:
    return x == y


def not_equal(x: float, y: float) -> builtins.bool:
    return x != y


def less(x: float, y: float) -> builtins.bool:
    return x < y


def less_equal(x: float, y: float) -> builtins.bool:
    return x <= y


def greater(x: float, y: float) -> builtins.bool:
    return x > y


def greater_equal(x: float, y: float) -> builtins.bool:
    return x >= y


def logical_and(x: builtins.bool, y: builtins.bool) -> builtins.bool:
    return x and y


def logical_or(x: builtins.bool, y: builtins.bool) -> builtins.bool:
    return x or y


def logical_not(x: builtins.bool) -> builtins.bool:
    return not x


def logical_xor(x: builtins.bool, y: builtins.bool) -> builtins.bool:
    return x is not y


# What a bound may ask of one block as of an array.


def all(x: builtins.bool) -> builtins.bool:
    return x


def any(x: builtins.bool) -> builtins.bool:
    return x


def max(x: float) -> float:
    return x


def min(x: float) -> float:
    return x


def sum(x: float) -> float:
    return x


def asarray(x: float) -> float:
    return float(x)


def zeros_like(x: float) -> float:
    return 0.0


def ones_like(x: float) -> float:
    return 1.0


def full_like(x: float, value: float) -> float:
    return value
