"""XLA on a CPU, which runs JAX (measured on jaxlib 0.10.2 with AVX-512): error forms by function.

Its functions are polynomials of its own, put together for vectors, and compositions of those. What to know:

- subnormal numbers count as 0, as operands and as results, in float32, float64 and bfloat16; so two different numbers can
  have a difference of 0. float16 is computed in float32, where its subnormals are ordinary numbers.
- erf exceeds 1 by an ulp. tanh is off by four.
- erf_inv loses digits next to 1 and -1, in float64 nearly half of them.
- exp2(x) is exp(x * log(2)), and so loses digits with the size of x, nearly all of them in bfloat16.
- sinh and cosh go through exp(x + log(1/2)).
- float64's log1p, and atanh with it, is off by a hundred ulps around -0.41, and cbrt by hundreds.
- in float16 and bfloat16 the parts of compositions are rounded. A bfloat16 result just under the smallest normal number is
  0, though it would be rounded up to that.

The functions of ``jax.nn`` (softplus, silu, gelu, ...) are here as the compositions that they are there.
"""

from __future__ import annotations

import math
from typing import Final

from nanproof.numerics.dtypes import BFLOAT16, FLOAT32, FLOAT64, DType
from nanproof.numerics.runtimes.forms import EXACT, ErrorForm
from nanproof.numerics.runtimes.ieee import BOTH, POSITIVE, UNIT, doubled

FLUSHED: Final[frozenset[DType]] = frozenset({FLOAT32, FLOAT64, BFLOAT16})
"""Types whose subnormal numbers count as 0."""

_ABOVE_ONE: Final = 1.0 + 2.0**-22
_TINY: Final = 2.0**24
"""Twice the smallest normal float32, in quanta: an operand's half, or a result's, may be flushed on the way."""

FLOAT32_FORMS: Final[dict[str, ErrorForm]] = {
    "mod": EXACT,
    "fmod": EXACT,
    # not one roundings' worth: rsqrt is its own code, and reaches the analysis as 1 / sqrt(x)
    "sqrt": ErrorForm(ulps=1.0, image=POSITIVE),
    "rsqrt": ErrorForm(ulps=1.5, image=POSITIVE),
    "exp": ErrorForm(ulps=6.0, flushes=True, image=POSITIVE),
    "exp2": ErrorForm(ulps=100.0, flushes=True, image=POSITIVE),
    "expm1": ErrorForm(ulps=6.0, quanta=_TINY, image=(-1.0, math.inf)),
    "log": ErrorForm(ulps=1.0),
    "log2": ErrorForm(ulps=3.0),
    "log10": ErrorForm(ulps=3.0),
    "log1p": ErrorForm(ulps=2.5, quanta=_TINY),
    "sin": ErrorForm(ulps=0.5, image=BOTH),
    "cos": ErrorForm(ulps=0.5, image=BOTH),
    "tan": ErrorForm(ulps=2.0),
    "asin": ErrorForm(ulps=2.5, quanta=_TINY),
    "acos": ErrorForm(ulps=2.5, image=POSITIVE),
    "atan": ErrorForm(ulps=1.0, quanta=1.0),
    "sinh": ErrorForm(ulps=32.0, quanta=_TINY),
    "cosh": ErrorForm(ulps=32.0, image=(1.0, math.inf)),
    "tanh": ErrorForm(ulps=5.0, quanta=_TINY, image=BOTH),
    "asinh": ErrorForm(ulps=3.0, quanta=_TINY),
    "acosh": ErrorForm(ulps=4.0, quanta=_TINY, image=POSITIVE),
    "atanh": ErrorForm(ulps=3.5, quanta=_TINY),
    "erf": ErrorForm(ulps=6.0, quanta=_TINY, image=(-_ABOVE_ONE, _ABOVE_ONE)),
    # of a subnormal number it is a small one of either sign
    "cbrt": ErrorForm(ulps=20.0, absolute=2e-15),
    "erfinv": ErrorForm(ulps=60.0, quanta=_TINY),
    "atan2": ErrorForm(ulps=3.0, quanta=_TINY),
    "pow": ErrorForm(ulps=0.5, quanta=0.5),
    "sigmoid": ErrorForm(ulps=4.0, flushes=True, image=UNIT),
    "softplus": ErrorForm(ulps=3.0, quanta=_TINY, image=POSITIVE),
    "log_sigmoid": ErrorForm(ulps=3.0, quanta=_TINY, image=(-math.inf, 0.0)),
    "softsign": ErrorForm(ulps=1.0, quanta=_TINY, image=BOTH),
    "silu": ErrorForm(ulps=4.0, absolute=1.1e-36),
    "elu": ErrorForm(ulps=6.0, quanta=_TINY),
    "celu": ErrorForm(ulps=6.0, quanta=_TINY),
    "selu": ErrorForm(ulps=7.0, quanta=2.0 * _TINY),
    "gelu": ErrorForm(ulps=3.0, absolute=4e-6),
    "gelu_tanh": ErrorForm(ulps=4.0, absolute=4e-6),
    "mish": ErrorForm(ulps=9.0, absolute=1.3e-36),
    "hardsigmoid": ErrorForm(ulps=1.5, absolute=1.2e-7, image=UNIT),
    "hardswish": ErrorForm(ulps=1.5, quanta=_TINY, absolute=4e-7),
}

_TINY64: Final = 2.0**53
FLOAT64_FORMS: Final[dict[str, ErrorForm]] = doubled(FLOAT32_FORMS) | {
    "exp2": ErrorForm(ulps=1000.0, flushes=True, image=POSITIVE),
    "expm1": ErrorForm(ulps=6.0, quanta=_TINY64, image=(-1.0, math.inf)),
    "log1p": ErrorForm(ulps=200.0, quanta=_TINY64),
    "asin": ErrorForm(ulps=3.0, quanta=_TINY64),
    "sinh": ErrorForm(ulps=800.0, quanta=_TINY64),
    "cosh": ErrorForm(ulps=800.0, image=(1.0, math.inf)),
    "tanh": ErrorForm(ulps=9.0, quanta=_TINY64, image=BOTH),
    "asinh": ErrorForm(ulps=4.0, quanta=_TINY64),
    "acosh": ErrorForm(ulps=5.0, quanta=_TINY64, image=POSITIVE),
    "atanh": ErrorForm(ulps=200.0, quanta=_TINY64),
    "erf": ErrorForm(ulps=2.0, quanta=_TINY64, image=BOTH),
    "erfinv": ErrorForm(ulps=1e6, quanta=_TINY64),
    "atan2": ErrorForm(ulps=3.0, quanta=_TINY64),
    "cbrt": ErrorForm(ulps=500.0, absolute=1e-105),
    "softplus": ErrorForm(ulps=200.0, quanta=_TINY64, image=POSITIVE),
    "log_sigmoid": ErrorForm(ulps=200.0, quanta=_TINY64, image=(-math.inf, 0.0)),
    "softsign": ErrorForm(ulps=2.0, quanta=_TINY64, image=BOTH),
    "silu": ErrorForm(ulps=5.0, absolute=4.1e-305),
    "elu": ErrorForm(ulps=7.0, quanta=_TINY64),
    "celu": ErrorForm(ulps=7.0, quanta=_TINY64),
    "selu": ErrorForm(ulps=8.0, quanta=2.0 * _TINY64, relative=1e-7),
    "gelu": ErrorForm(ulps=4.0, absolute=1e-14),
    "gelu_tanh": ErrorForm(ulps=5.0, absolute=1e-14),
    "mish": ErrorForm(ulps=210.0, absolute=4.1e-305),
    "hardsigmoid": ErrorForm(ulps=2.5, absolute=2e-8, image=UNIT),
    "hardswish": ErrorForm(ulps=2.5, quanta=_TINY64, absolute=8e-16),
}

# What comes on top of the float32 function, rounded once, where parts are rounded on their way. In float16, exp overflows
# at 11.09, where sigmoid is 1.5e-5: 256 quanta.
_PARTS: Final = ErrorForm(ulps=3.0, quanta=3.0)
NARROW: Final[dict[str, ErrorForm]] = dict.fromkeys(
    (
        "expm1", "log1p", "log2", "log10", "rsqrt", "tan", "asin", "acos", "asinh", "acosh", "atanh", "cbrt", "softplus",
        "log_sigmoid", "softsign", "elu", "celu", "selu", "hardswish",
    ),
    _PARTS,
) | {
    "exp2": ErrorForm(relative=0.75, quanta=2.0),
    "sigmoid": ErrorForm(ulps=2.0, quanta=260.0),
    "silu": ErrorForm(ulps=3.0, quanta=3000.0),
    "mish": ErrorForm(ulps=8.0, quanta=40.0),
    "gelu": ErrorForm(ulps=3.0, absolute=0.02),
    "gelu_tanh": ErrorForm(ulps=3.0, absolute=0.02),
}  # fmt: skip
