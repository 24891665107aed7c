"""PyTorch on a CPU (measured on 2.13.0 with AVX-512): error forms by function.

Its elementary functions come from a vector library with 1-ulp variants. What to know:

- sqrt and rsqrt of float32 are not correctly rounded in vector code.
- sinh and cosh overflow from half the dtype's largest number on, gelu too, hardswish from a sixth of it on.
- sigmoid is 0 below -88.7 (its exp(-x) overflows), where the real value is subnormal; silu follows it.
- the vector code of fmod and remainder gives NaN where the quotient overflows, for any finite operands.
- softplus and log-sigmoid switch to x itself above 20, which shows in float64.
"""

from __future__ import annotations

import math
from typing import Final

from nanproof.numerics.runtimes.forms import EXACT, ErrorForm
from nanproof.numerics.runtimes.ieee import BOTH, POSITIVE, UNIT, doubled

_HALF: Final = 2.0**127 * (1 - 2.0**-20)
_HALF64: Final = 2.0**1023 * (1 - 2.0**-40)

FLOAT32: Final[dict[str, ErrorForm]] = {
    "sqrt": ErrorForm(ulps=0.5, image=POSITIVE),
    "rsqrt": ErrorForm(ulps=1.0, image=POSITIVE),
    "reciprocal": EXACT,
    "mod": ErrorForm(quotient_nan=True),
    "fmod": ErrorForm(quotient_nan=True),
    "exp": ErrorForm(ulps=0.5, quanta=0.5, image=POSITIVE),
    "exp2": ErrorForm(ulps=0.75, quanta=0.5, image=POSITIVE),
    "expm1": ErrorForm(ulps=0.75, image=(-1.0, math.inf)),
    "log": ErrorForm(ulps=0.5),
    "log2": ErrorForm(ulps=0.5),
    "log10": ErrorForm(ulps=0.5),
    "log1p": ErrorForm(ulps=0.75, quanta=1.0),
    "sin": ErrorForm(ulps=0.5, image=BOTH),
    "cos": ErrorForm(ulps=0.5, image=BOTH),
    "tan": ErrorForm(ulps=0.75),
    "asin": ErrorForm(ulps=0.75),
    "acos": ErrorForm(ulps=0.75, image=POSITIVE),
    "atan": ErrorForm(ulps=0.75),
    "sinh": ErrorForm(ulps=1.75, quanta=1.0, ceiling=_HALF, early_overflow=88.7),
    "cosh": ErrorForm(ulps=1.75, ceiling=_HALF, early_overflow=88.7, image=(1.0, math.inf)),
    "tanh": ErrorForm(ulps=0.5, image=BOTH),
    "asinh": ErrorForm(ulps=1.25),
    "acosh": ErrorForm(ulps=1.5, image=POSITIVE),
    "atanh": ErrorForm(ulps=1.5),
    "erf": ErrorForm(ulps=0.5, quanta=0.5, image=BOTH),
    "cbrt": ErrorForm(ulps=2.0, quanta=1.0),
    "erfinv": ErrorForm(ulps=4.0, quanta=1.0),
    "atan2": ErrorForm(ulps=1.5, quanta=1.0),
    "pow": ErrorForm(ulps=0.75, quanta=0.75),
    "sigmoid": ErrorForm(ulps=2.0, quanta=1.0, flushes=True, image=UNIT),
    "log_sigmoid": ErrorForm(ulps=1.5, quanta=2.0, image=(-math.inf, 0.0)),
    "softplus": ErrorForm(ulps=1.5, quanta=2.0, relative=2.0**-30, image=POSITIVE),
    "softsign": ErrorForm(ulps=0.75, image=BOTH),
    "silu": ErrorForm(ulps=2.0, absolute=2.8e-37),
    "elu": ErrorForm(ulps=1.0),
    "celu": ErrorForm(ulps=2.0, quanta=1.0),
    "selu": ErrorForm(ulps=2.0, quanta=1.5),
    "gelu": ErrorForm(ulps=2.0, absolute=2e-6, ceiling=_HALF, early_overflow=1.7e38),
    "gelu_tanh": ErrorForm(ulps=2.0, absolute=1.5e-6),
    "mish": ErrorForm(ulps=2.5, quanta=256.0),
    "hardsigmoid": ErrorForm(ulps=1.5, absolute=1.2e-7, image=UNIT),
    "hardswish": ErrorForm(ulps=1.5, quanta=1.0, ceiling=5.6e37, early_overflow=5.6e37),
}

FLOAT64: Final[dict[str, ErrorForm]] = doubled(FLOAT32) | {
    "mod": ErrorForm(quotient_nan=True),
    "fmod": ErrorForm(quotient_nan=True),
    "sinh": ErrorForm(ulps=2.5, quanta=1.5, ceiling=_HALF64, early_overflow=709.78),
    "cosh": ErrorForm(ulps=2.5, ceiling=_HALF64, early_overflow=709.78, image=(1.0, math.inf)),
    # The attributes of an ONNX file are float32, PyTorch's own constants are not.
    "selu": ErrorForm(ulps=2.5, quanta=2.0, relative=1e-7),
    "hardsigmoid": ErrorForm(ulps=2.5, absolute=2e-8, image=UNIT),
    # log1p(exp(-20)) / 20 is left out above 20.
    "softplus": ErrorForm(ulps=2.5, quanta=2.5, relative=1.1e-10, image=POSITIVE),
    "silu": ErrorForm(ulps=3.0, absolute=4.1e-306),
    "gelu": ErrorForm(ulps=3.0, absolute=4e-15, ceiling=_HALF64, early_overflow=8.9e307),
    "gelu_tanh": ErrorForm(ulps=3.0, absolute=4e-15),
    "mish": ErrorForm(ulps=3.5, quanta=2400.0),
    "hardswish": ErrorForm(ulps=2.5, quanta=1.5, absolute=8e-16, ceiling=2.9e307, early_overflow=2.9e307),
}

# What comes on top of the float32 function, rounded once: scalar code rounds the parts of rsqrt and softsign to the
# narrow dtype, and erf is an absolute approximation there (0 for bfloat16 operands below 1e-7).
NARROW: Final[dict[str, ErrorForm]] = {
    "rsqrt": ErrorForm(ulps=0.75),
    "softsign": ErrorForm(ulps=0.75),
    "erf": ErrorForm(absolute=5e-7),
}
