"""The runtime of the textbook: every elementary function correctly rounded.

Composite functions are what a plain composition of correctly rounded steps gives. The small relative term of the
elementary functions is the analysis's own evaluation in float64, not the runtime's.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from nanproof.numerics.runtimes.forms import EXACT, ErrorForm

OWN: Final = 2.0**-50
POSITIVE: Final = (0.0, math.inf)
UNIT: Final = (0.0, 1.0)
BOTH: Final = (-1.0, 1.0)
_ROUNDED: Final = ErrorForm(relative=OWN)

FLOAT32: Final[dict[str, ErrorForm]] = {
    "mod": EXACT,
    "fmod": EXACT,
    "exp": ErrorForm(relative=OWN, image=POSITIVE),
    "exp2": ErrorForm(relative=OWN, image=POSITIVE),
    "expm1": ErrorForm(relative=OWN, image=(-1.0, math.inf)),
    "log": _ROUNDED,
    "log2": _ROUNDED,
    "log10": _ROUNDED,
    "log1p": _ROUNDED,
    "sin": ErrorForm(relative=OWN, image=BOTH),
    "cos": ErrorForm(relative=OWN, image=BOTH),
    "tan": _ROUNDED,
    "asin": _ROUNDED,
    "acos": ErrorForm(relative=OWN, image=POSITIVE),
    "atan": _ROUNDED,
    "sinh": _ROUNDED,
    "cosh": ErrorForm(relative=OWN, image=(1.0, math.inf)),
    "tanh": ErrorForm(relative=OWN, image=BOTH),
    "asinh": _ROUNDED,
    "acosh": ErrorForm(relative=OWN, image=POSITIVE),
    "atanh": _ROUNDED,
    "erf": ErrorForm(relative=OWN, image=BOTH),
    "cbrt": _ROUNDED,
    "erfinv": _ROUNDED,
    "atan2": _ROUNDED,
    "pow": _ROUNDED,
    # 1 / sqrt(x): two roundings.
    "rsqrt": ErrorForm(ulps=0.75, image=POSITIVE),
    # 1 / (1 + exp(-x)): three roundings, and below -88.7 exp(-x) overflows, which gives 0.
    "sigmoid": ErrorForm(ulps=1.5, flushes=True, image=UNIT),
    # max(x, 0) + log1p(exp(-|x|))
    "softplus": ErrorForm(ulps=1.5, quanta=1.0, image=POSITIVE),
    "log_sigmoid": ErrorForm(ulps=1.5, quanta=1.0, image=(-math.inf, 0.0)),
    # By way of x / (1 + |x|).
    "softsign": ErrorForm(ulps=0.75, image=BOTH),
    # x / (1 + exp(-x)): 0 below -88.7, where the real value is up to 88.73 * 2**-128 = 2.61e-37 away.
    "silu": ErrorForm(ulps=1.5, absolute=2.8e-37),
    # alpha * expm1(x); celu divides x by alpha first.
    "elu": ErrorForm(ulps=0.75),
    "celu": ErrorForm(ulps=1.5),
    "selu": ErrorForm(ulps=1.5, quanta=1.5),
    # 0.5 * x * (1 + erf(x / sqrt(2))): 1 + erf cancels for negative x.
    "gelu": ErrorForm(ulps=2.0, absolute=1.5e-6),
    "gelu_tanh": ErrorForm(ulps=2.0, absolute=1.5e-6),
    # x * tanh(softplus(x)): half a quantum of softplus, times |x| <= 104.
    "mish": ErrorForm(ulps=2.5, quanta=256.0),
    # The clipped alpha * x + beta.
    "hardsigmoid": ErrorForm(ulps=0.75, absolute=1.2e-7, image=UNIT),
    "hardswish": ErrorForm(ulps=1.0, quanta=1.0, absolute=4e-7),
}

_DOUBLE_ONLY: Final[dict[str, ErrorForm]] = {
    "silu": ErrorForm(ulps=2.5, absolute=4.1e-306),
    "selu": ErrorForm(ulps=2.5, quanta=1.5),
    "gelu": ErrorForm(ulps=3.0, absolute=4e-15),
    "gelu_tanh": ErrorForm(ulps=3.0, absolute=4e-15),
    "mish": ErrorForm(ulps=3.5, quanta=2400.0),
    "hardsigmoid": ErrorForm(ulps=1.5, absolute=2.5e-16, image=UNIT),
    "hardswish": ErrorForm(ulps=2.0, quanta=1.0, absolute=8e-16),
}


def doubled(table: dict[str, ErrorForm]) -> dict[str, ErrorForm]:
    """The forms for float64 of functions that are as good there as in float32, in their own ulps.

    The analysis evaluates in float64 itself: its error, up to an ulp and a half and half a quantum, comes on top.
    """
    own = {
        name: replace(form, ulps=form.ulps + 0.75, quanta=form.quanta + 0.5, relative=0.0)
        for name, form in table.items()
        if form != EXACT
    }
    return table | own


FLOAT64: Final[dict[str, ErrorForm]] = doubled(FLOAT32) | _DOUBLE_ONLY
NARROW: Final[dict[str, ErrorForm]] = {}
# Rounded once to any dtype, not by way of float32.
NATIVE: Final = frozenset(name for name, form in FLOAT32.items() if form.ulps == 0.0)
