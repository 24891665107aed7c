"""PyTorch on a CPU (2.13.0, AVX-512): error forms by function."""

from __future__ import annotations

from typing import Final

from nanproof.numerics.runtimes import ieee
from nanproof.numerics.runtimes.forms import ErrorForm

_BASE: Final[dict[str, float]] = {
    "exp": 1.0, "exp2": 1.0, "expm1": 2.0, "log": 4.0, "log2": 4.0, "log10": 4.0, "log1p": 2.0, "sin": 3.0, "cos": 3.0, "tan": 5.0,
    "asin": 5.0, "acos": 5.0, "atan": 5.0, "sinh": 2.0, "cosh": 2.0, "tanh": 1.0, "asinh": 2.0, "acosh": 2.0,
    "atanh": 2.0, "erf": 2.0, "cbrt": 2.0, "pow": 5.0, "rsqrt": 2.0, "sigmoid": 3.0, "softplus": 4.0, "silu": 3.0, "mish": 6.0,
    "log_sigmoid": 4.0, "sqrt": 1.0,
}  # fmt: skip

FLOAT32: Final[dict[str, ErrorForm]] = (
    ieee.FLOAT32
    | {name: ErrorForm(ulps=ulps, quanta=2.0, image=ieee.FLOAT32[name].image) for name, ulps in _BASE.items()}
    | {
        "sinh": ErrorForm(ulps=2.0, quanta=2.0, early_overflow=88.7, ceiling=1.65e38),
        "cosh": ErrorForm(ulps=2.0, quanta=2.0, early_overflow=88.7, ceiling=1.65e38, image=(1.0, float("inf"))),
        "sigmoid": ErrorForm(ulps=3.0, quanta=2.0, flushes=True, image=(0.0, 1.0)),
    }
)
FLOAT64: Final[dict[str, ErrorForm]] = FLOAT32
