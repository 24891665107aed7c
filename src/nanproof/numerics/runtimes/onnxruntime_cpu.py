"""ONNX Runtime on a CPU (1.31.1): error forms by function."""

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
        "sqrt": ieee.EXACT,
        "tanh": ErrorForm(ulps=1.0, absolute=4e-7, image=(-1.0000005, 1.0000005)),
        "sigmoid": ErrorForm(absolute=2e-7, image=(0.0, 1.0000002)),
    }
)
FLOAT64: Final[dict[str, ErrorForm]] = FLOAT32
