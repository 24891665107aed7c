"""What each runtime does to a number: error bounds of its functions, as data, and how to apply them.

A statement such as "no NaN" is a statement about a runtime, because runtimes differ exactly where defects live:
ONNX Runtime's float32 sigmoid is exactly 0 from -18 down, its tanh exceeds 1, PyTorch's sinh overflows early. One
module a runtime has its table; ``tests/numerics/test_runtimes_measured.py`` measures the installed runtimes and
fails where a table promises too much.

float16, bfloat16 and the 8-bit kinds are computed in float32 and rounded once, by all the runtimes here.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

from nanproof.numerics.dtypes import FLOAT32, FLOAT64, DType
from nanproof.numerics.runtimes import ieee, onnxruntime_cpu, torch_cpu, xla_cpu
from nanproof.numerics.runtimes.forms import EXACT, ErrorForm, added, scaled, through_float32, widen

__all__ = [
    "FUNCTIONS",
    "RUNTIMES",
    "ErrorForm",
    "accumulator",
    "error_form",
    "flushes",
    "scaled",
    "softmax_form",
    "widen",
]

RUNTIMES: Final = ("torch", "onnxruntime", "xla", "ieee")
EXACT_FUNCTIONS: Final = frozenset({
    "add", "sub", "mul", "div", "neg", "abs", "sqrt", "reciprocal", "square", "floor", "ceil", "round", "trunc", "sign",
    "relu", "leakyrelu", "prelu", "thresholdedrelu", "shrink", "min", "max", "clip",
})  # fmt: skip
FUNCTIONS: Final = tuple(sorted({*ieee.FLOAT32, *EXACT_FUNCTIONS, "softmax", "log_softmax"}))
_ALIASES: Final = {"swish": "silu", "logsigmoid": "log_sigmoid"}

_Table = dict[str, ErrorForm]
# float32, float64, and what is special in the narrower dtypes
_TABLES: Final[dict[str, tuple[_Table, _Table, _Table]]] = {
    "torch": (torch_cpu.FLOAT32, torch_cpu.FLOAT64, torch_cpu.NARROW),
    "onnxruntime": (onnxruntime_cpu.FLOAT32, onnxruntime_cpu.FLOAT64, onnxruntime_cpu.NARROW),
    "xla": (xla_cpu.FLOAT32_FORMS, xla_cpu.FLOAT64_FORMS, xla_cpu.NARROW),
    "ieee": (ieee.FLOAT32, ieee.FLOAT64, ieee.NARROW),
}


@cache
def error_form(runtime: str, function: str, dtype: DType) -> ErrorForm:
    """The error form of a function (by its lower-case ONNX name) in a runtime and a dtype.

    Integers are exact. ``softmax`` and ``log_softmax`` depend on the length of a row too (``softmax_form``); here
    they stand for rows of up to 65,536 elements.
    KeyError for a function or runtime that has no entry.
    """
    if runtime not in _TABLES:
        raise KeyError(f"no runtime is called {runtime!r}; known: {', '.join(RUNTIMES)}")
    if dtype.kind == "float" and function in {"softmax", "log_softmax", "logsoftmax"}:
        return softmax_form(runtime, dtype, 65536.0, log=function != "softmax")
    single, double, narrow = _TABLES[runtime]
    function = _ALIASES.get(function, function)
    form = (double if dtype is FLOAT64 else single).get(function)
    if form is None and (function in EXACT_FUNCTIONS or (function in FUNCTIONS and dtype.kind != "float")):
        form = EXACT
    if form is None:
        raise KeyError(f"no error form for function {function!r} in runtime {runtime!r}")
    if dtype.kind != "float":
        return EXACT
    if dtype is FLOAT64 or dtype is FLOAT32:
        return form
    if form == EXACT or (runtime == "ieee" and function in ieee.NATIVE):
        # Of + - * / and sqrt, rounding to float32 first changes nothing: it has 2p + 2 bits (Figueroa 1995).
        return form
    wide = through_float32(form, dtype)
    # The 8-bit kinds are for storage: what there is of arithmetic on them runs in float32.
    special = narrow.get(function) if dtype.bits == 16 else None
    return wide if special is None else added(wide, special)


def softmax_form(runtime: str, dtype: DType, n: float, *, log: bool = False) -> ErrorForm:
    """The error form of one row of ``softmax`` (``log_softmax``) over ``n`` elements.

    ``exp(x - max)``: the difference is off by u * min(spread, 104), which exp turns into a relative error (past 104
    everything is 0 in float32; past 746 in float64); the sum of n positive terms is off by n * u relatively.
    Subnormal shares are kept, but ONNX Runtime has kernels for older processors whose exp doesn't reach so low.
    """
    spread = 746.0 if dtype is FLOAT64 else 104.0
    wide = FLOAT64 if dtype is FLOAT64 else FLOAT32
    rate = (spread + n + 8.0) * wide.unit
    if log:
        form = ErrorForm(ulps=2.0, absolute=min((n + 8.0) * wide.unit, 1e6), image=(-math.inf, 0.0))
    else:
        form = ErrorForm(
            relative=min(rate, 1e6),
            quanta=4.0,
            flushes=runtime in {"onnxruntime", "xla"},
            image=(0.0, 1.0 + 4.0 * wide.unit),
        )
    if dtype is wide:
        return form
    form = through_float32(form, dtype)
    if runtime not in {"torch", "xla"} or dtype.bits != 16:
        return form
    if runtime == "xla":
        # each step is rounded: the difference by a unit of itself, which exp turns into a relative error
        return added(
            form,
            ErrorForm(ulps=4.0, absolute=4.0 * dtype.unit)
            if log
            else ErrorForm(ulps=4.0, quanta=4.0, relative=spread * dtype.unit),
        )
    # In between, PyTorch rounds to the narrow dtype: the difference and the logarithm of the sum, or, along an axis
    # that is not the last, exp(x - max).
    return added(form, ErrorForm(ulps=1.5, absolute=4.0 * dtype.unit) if log else ErrorForm(ulps=1.0, quanta=1.0))


def flushes(runtime: str, dtype: DType) -> bool:
    """Whether a runtime takes the subnormal numbers of a dtype for 0, as operands and as results."""
    return runtime == "xla" and dtype in xla_cpu.FLUSHED


def accumulator(runtime: str, dtype: DType) -> DType:
    """The dtype in which sums of this dtype are accumulated: float32 for everything narrower."""
    del runtime
    return FLOAT32 if dtype.kind == "float" and dtype.bits < 32 else dtype
