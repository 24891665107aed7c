"""ONNX Runtime on a CPU (measured on 1.31.1): error forms by function.

Its own kernels (MLAS) are polynomial approximations, other functions come from Eigen or the C library. What to know:

- the float32 sigmoid is an absolute approximation: exactly 0 from -18 down, not monotone, up to 1.0000001.
- tanh and softsign exceed 1 by an ulp, and tanh flushes part of the subnormals.
- elu, celu and selu subtract 1 from exp and lose all relative accuracy near 0.
- the float64 sin and cos are good absolutely only: near a multiple of pi no digit is right.
- the float64 gelu (tanh form) uses constants that were rounded to float32.
- Swish, Mish and the like are expanded into their parts, in the tensor's own dtype.
- there are no kernels for bfloat16, and few for float16: the others run between casts, in float32.
"""

from __future__ import annotations

import math
from typing import Final

from nanproof.numerics.runtimes.forms import EXACT, ErrorForm
from nanproof.numerics.runtimes.ieee import BOTH, POSITIVE, UNIT, doubled

_ABOVE_ONE: Final = 1.0 + 2.0**-21

FLOAT32: Final[dict[str, ErrorForm]] = {
    "mod": EXACT,
    "fmod": EXACT,
    "exp": ErrorForm(ulps=0.5, quanta=0.75, image=POSITIVE),
    "log": ErrorForm(ulps=2.25),
    "sin": ErrorForm(ulps=2.0, image=(-_ABOVE_ONE, _ABOVE_ONE)),
    "cos": ErrorForm(ulps=2.0, image=(-_ABOVE_ONE, _ABOVE_ONE)),
    "tan": ErrorForm(ulps=1.0),
    "asin": ErrorForm(ulps=4.5, quanta=1.0),
    "acos": ErrorForm(ulps=4.0, image=POSITIVE),
    "atan": ErrorForm(ulps=3.0, quanta=1.0),
    "sinh": ErrorForm(ulps=1.75, quanta=1.0),
    "cosh": ErrorForm(ulps=1.75, image=(1.0, math.inf)),
    "tanh": ErrorForm(ulps=1.0, absolute=4e-7, image=(-_ABOVE_ONE, _ABOVE_ONE)),
    "asinh": ErrorForm(ulps=1.25),
    "acosh": ErrorForm(ulps=1.5, image=POSITIVE),
    "atanh": ErrorForm(ulps=1.5),
    "erf": ErrorForm(ulps=0.75, quanta=0.5, image=BOTH),
    "pow": ErrorForm(ulps=0.5, quanta=0.5),
    "sigmoid": ErrorForm(absolute=2e-7, image=(0.0, _ABOVE_ONE)),
    "softplus": ErrorForm(ulps=3.5, quanta=1.0, image=POSITIVE),
    # x times an approximate reciprocal of 1 + |x|, which is subnormal for the largest x
    "softsign": ErrorForm(ulps=4.0, image=(-_ABOVE_ONE, _ABOVE_ONE)),
    "silu": ErrorForm(ulps=2.0, absolute=4e-6),
    "elu": ErrorForm(ulps=1.0, absolute=1.8e-7),
    "celu": ErrorForm(ulps=1.0, absolute=1.8e-7),
    "selu": ErrorForm(ulps=1.5, absolute=3e-7),
    "gelu": ErrorForm(ulps=2.0, absolute=1e-6),
    "gelu_tanh": ErrorForm(ulps=2.0, absolute=2.5e-6),
    # tanh keeps no subnormals, times |x| <= 104
    "mish": ErrorForm(ulps=4.0, absolute=1e-6),
    "hardsigmoid": ErrorForm(ulps=0.75, absolute=1.2e-7, image=UNIT),
    "hardswish": ErrorForm(ulps=1.5, quanta=1.0, absolute=4e-7),
    # No operators of ONNX: they reach the runtime as compositions, as the functions that front ends write, or as its own
    # contributed kernels.
    "rsqrt": ErrorForm(ulps=1.0, image=POSITIVE),
    "exp2": ErrorForm(ulps=1.0, quanta=0.75, image=POSITIVE),
    "expm1": ErrorForm(ulps=2.0, absolute=2.5e-7),
    "log1p": ErrorForm(ulps=3.0, absolute=1.2e-7),
    "log2": ErrorForm(ulps=3.5),
    "log10": ErrorForm(ulps=3.5),
    "log_sigmoid": ErrorForm(ulps=3.5, quanta=1.0, image=(-math.inf, 0.0)),
    "cbrt": ErrorForm(ulps=20.0, quanta=1.0),
    "erfinv": ErrorForm(ulps=6.0, quanta=1.0),
    "atan2": ErrorForm(ulps=4.0, quanta=2.0),
}

FLOAT64: Final[dict[str, ErrorForm]] = doubled(FLOAT32) | {
    "exp": ErrorForm(ulps=2.0, quanta=1.0, image=POSITIVE),
    "log": ErrorForm(ulps=2.25),
    "sin": ErrorForm(absolute=1.5e-15, image=(-1.0 - 2.0**-50, 1.0 + 2.0**-50)),
    "cos": ErrorForm(absolute=1.5e-15, image=(-1.0 - 2.0**-50, 1.0 + 2.0**-50)),
    "tanh": ErrorForm(ulps=2.0, absolute=2e-15, image=(-1.0 - 2.0**-50, 1.0 + 2.0**-50)),
    "sigmoid": ErrorForm(absolute=5e-16, image=(0.0, 1.0 + 2.0**-50)),
    "silu": ErrorForm(ulps=3.0, absolute=3e-14),
    "elu": ErrorForm(ulps=2.0, absolute=4.5e-16),
    "celu": ErrorForm(ulps=2.0, absolute=4.5e-16),
    "selu": ErrorForm(ulps=2.5, absolute=8e-16),
    "gelu": ErrorForm(ulps=3.0, absolute=8e-15),
    "gelu_tanh": ErrorForm(ulps=3.0, absolute=2.5e-8),
    "mish": ErrorForm(ulps=5.0, absolute=4e-15),
    "hardsigmoid": ErrorForm(ulps=1.5, absolute=2.5e-16, image=UNIT),
    "hardswish": ErrorForm(ulps=2.5, quanta=1.5, absolute=8e-16),
    "expm1": ErrorForm(ulps=3.0, absolute=5e-16),
    "cbrt": ErrorForm(ulps=150.0, quanta=1.0),
    # a function of ONNX operators, made for single precision
    "erfinv": ErrorForm(relative=0.25, quanta=2.0),
    "log1p": ErrorForm(ulps=3.0, absolute=2.5e-16),
}

# What comes on top of the float32 function, rounded once. In float16, x * sigmoid(x) rounds sigmoid first: half a
# quantum of it, times |x| <= 17 where it isn't 0 yet.
NARROW: Final[dict[str, ErrorForm]] = {
    "silu": ErrorForm(ulps=0.75, quanta=20.0),
    "mish": ErrorForm(ulps=1.5, quanta=20.0),
    "erfinv": ErrorForm(ulps=3.0, quanta=3.0),
    "atan2": ErrorForm(ulps=4.0, quanta=3.0),
}
