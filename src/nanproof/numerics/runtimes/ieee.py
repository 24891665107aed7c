"""The runtime of the textbook: every elementary function correctly rounded.

Composite functions are what a plain composition of correctly rounded steps gives. The small relative term of the
elementary functions is the analysis's own evaluation in float64, not the runtime's.
"""

from __future__ import annotations

import math
from typing import Final

from nanproof.numerics.runtimes.forms import ErrorForm

EXACT: Final = ErrorForm()
OWN: Final = 2.0**-50
ROUNDED: Final = ErrorForm(relative=OWN)
POSITIVE: Final = (0.0, math.inf)
UNIT: Final = (0.0, 1.0)
BOTH: Final = (-1.0, 1.0)

FLOAT32: Final[dict[str, ErrorForm]] = {
    "sqrt": EXACT,
    "reciprocal": EXACT,
    "mod": EXACT,
    "fmod": EXACT,
    "exp": ErrorForm(relative=OWN, image=POSITIVE),
    "exp2": ErrorForm(relative=OWN, image=POSITIVE),
    "expm1": ErrorForm(relative=OWN, image=(-1.0, math.inf)),
    "log": ROUNDED,
    "log2": ROUNDED,
    "log10": ROUNDED,
    "log1p": ROUNDED,
    "sin": ErrorForm(relative=OWN, image=BOTH),
    "cos": ErrorForm(relative=OWN, image=BOTH),
    "tan": ROUNDED,
    "asin": ROUNDED,
    "acos": ErrorForm(relative=OWN, image=POSITIVE),
    "atan": ROUNDED,
    "sinh": ROUNDED,
    "cosh": ErrorForm(relative=OWN, image=(1.0, math.inf)),
    "tanh": ErrorForm(relative=OWN, image=BOTH),
    "asinh": ROUNDED,
    "acosh": ErrorForm(relative=OWN, image=POSITIVE),
    "atanh": ROUNDED,
    "erf": ErrorForm(relative=OWN, image=BOTH),
    "cbrt": ROUNDED,
    "pow": ROUNDED,
    # Compositions. 1 / (1 + exp(-x)): three roundings, and exp(-x) may overflow, which gives 0.
    "rsqrt": ErrorForm(ulps=1.0, image=POSITIVE),
    "sigmoid": ErrorForm(ulps=1.5, flushes=True, image=UNIT),
    "log_sigmoid": ErrorForm(ulps=2.0, quanta=1.0),
    "softplus": ErrorForm(ulps=2.0, quanta=1.0, image=POSITIVE),
    "softsign": ErrorForm(ulps=1.0, image=BOTH),
    "silu": ErrorForm(ulps=2.0, quanta=1.0, flushes=True),
    "elu": ErrorForm(ulps=1.0, absolute=2.0**-23),
    "celu": ErrorForm(ulps=1.0, absolute=2.0**-23),
    "selu": ErrorForm(ulps=1.5, absolute=2.0**-22),
    "gelu": ErrorForm(ulps=2.0, absolute=2.0**-21),
    "gelu_tanh": ErrorForm(ulps=2.0, absolute=2.0**-21),
    "mish": ErrorForm(ulps=3.0, quanta=1.0),
    "hardsigmoid": ErrorForm(ulps=0.5, absolute=2.0**-24, image=UNIT),
    "hardswish": ErrorForm(ulps=1.0, absolute=2.0**-23),
}
FLOAT64: Final[dict[str, ErrorForm]] = FLOAT32
