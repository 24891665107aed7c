"""Measure the installed runtimes against the tables of ``nanproof.numerics.runtimes``.

``test_runtimes_measured.py`` runs it over a slice; the large sweep prints the worst case of every function:

    python -m tests.numerics.runtime_sweep --points 2000000 [--runtime torch] [--dtype float32] [exp tanh ...]

A point x is *held* when the runtime's result lies in ``widen(form, dtype, v, v)`` for the real result v. Two v are
tried: the analysis's own float64 evaluation, and an 80-bit reference that shares no code with it.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from tests.numerics import xla_functions

from nanproof.frontends.jax import functions as bodies_of
from nanproof.numerics import arrays
from nanproof.numerics.dtypes import FLOAT32, FLOAT64, DType, by_name, to_numpy
from nanproof.numerics.rounding import nearest_array
from nanproof.numerics.runtimes import ErrorForm, error_form, flushes, scaled, softmax_form, widen

Operands = tuple[np.ndarray, ...]
xp = arrays.numpy_namespace
L = np.longdouble

SELU_ALPHA, SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875

# ---------------------------------------------------------------------------------------------- the real functions


def _wide_erf(x: np.ndarray, *, complement: bool = False) -> np.ndarray:
    """In 80 bits: the series of positive terms, and Lentz's continued fraction for the tail of erfc."""
    a = np.abs(x)
    near = np.minimum(a, L(3.5))
    term = near.copy()
    total = near.copy()
    for n in range(1, 90):
        term = term * (2 * near * near) / (2 * n + 1)
        total = total + term
    inner = total * np.exp(-near * near) * (2 / np.sqrt(L("3.14159265358979323846264338327950288")))
    far = np.maximum(a, L(2.0))
    tail = np.zeros_like(far)
    for n in range(120, 0, -1):
        tail = (n / L(2)) / (far + tail)
    outer = np.exp(-far * far) / (far + tail) / np.sqrt(L("3.14159265358979323846264338327950288"))
    if complement:
        positive = np.where(a < 2.5, 1 - inner, outer)
        return np.where(x < 0, 2 - positive, positive)
    return np.copysign(np.where(a < 3.5, inner, 1 - outer), x)


def _wide_sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _wide_softplus(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _floor_mod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    rest = np.fmod(x, y)
    return np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


def _elu(exp_m1: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: np.where(x > 0, x, exp_m1(np.minimum(x, 0)))


def _wide_erfinv(x: np.ndarray) -> np.ndarray:
    """Newton's steps in 80 bits, on whichever of erf and erfc has the digits."""
    guess = xp.erfinv(x.astype(np.float64)).astype(x.dtype)
    size, root = np.abs(x), np.abs(guess)
    for _ in range(2):
        off = np.where(size < 0.5, _wide_erf(root) - size, (1 - size) - _wide_erf(root, complement=True))
        root = root - off * np.sqrt(L("3.14159265358979323846264338327950288")) / 2 * np.exp(root * root)
    return np.copysign(root, x)


REAL: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "expm1": np.expm1, "exp2": np.exp2, "log": np.log, "log1p": np.log1p, "log2": np.log2,
    "log10": np.log10, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "pow": np.power, "fmod": np.fmod, "mod": _floor_mod,
    "erf": _wide_erf, "sigmoid": _wide_sigmoid, "softplus": _wide_softplus,
    "log_sigmoid": lambda x: -_wide_softplus(-x), "softsign": lambda x: x / (1 + np.abs(x)),
    "silu": lambda x: np.where(np.isinf(x), np.maximum(x, 0), x * _wide_sigmoid(x)),
    "mish": lambda x: x * np.tanh(_wide_softplus(x)),
    "gelu": lambda x: x * _wide_erf(-x * np.sqrt(x.dtype.type(0.5)), complement=True) / 2,
    "gelu_tanh": lambda x: x * _wide_sigmoid(
        2 * np.sqrt(2 / L("3.14159265358979323846264338327950288")) * (x + L("0.044715") * x * x * x)
    ),
    "elu": _elu(np.expm1), "celu": _elu(np.expm1),
    "selu": lambda x: SELU_GAMMA * np.where(x > 0, x, SELU_ALPHA * np.expm1(np.minimum(x, 0))),
    "cbrt": np.cbrt, "erfinv": _wide_erfinv, "atan2": np.arctan2,
    "hardsigmoid": lambda x: np.clip(L(0.2) * x + L(0.5), 0, 1),
    "hardswish": lambda x: x * np.clip(x / 6 + L(0.5), 0, 1),
}  # fmt: skip

# The same as the analysis evaluates them, in float64, where that is other code than NumPy's own.
OWN: dict[str, Callable[..., Any]] = REAL | {
    name: getattr(xp, name)
    for name in ("erf", "erfinv", "sigmoid", "softplus", "log_sigmoid", "softsign", "silu", "mish", "gelu", "gelu_tanh", "rsqrt")
} | {
    "hardsigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "hardswish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
}  # fmt: skip

# ------------------------------------------------------------------------------------------------------- operands

# Where a function bends, saturates, flushes or overflows, in some dtype.
AROUND = (
    0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0, 5.5, -5.5, 6.0, -6.0, 8.0, 9.0, -9.0, 10.0, 11.0,
    -11.0, 13.5, -13.5, 17.0, -17.0, 18.0, -18.0, 20.0, -20.0, 36.0, -37.0, 40.0, 44.0, -44.0, 64.0, 87.0, -87.33,
    88.7, -88.7, 89.4, -89.4, -103.97, 104.0, -104.0, 709.0, -708.4, 709.78, -709.78, 710.47, -710.47, -745.13, 1e4, 1e5,
    math.pi / 2, math.pi, -math.pi, 3 * math.pi / 2, 100.0, -100.0,
)  # fmt: skip

DOMAIN: dict[str, tuple[float, float]] = {
    "log": (0.0, math.inf), "log2": (0.0, math.inf), "log10": (0.0, math.inf), "sqrt": (0.0, math.inf),
    "rsqrt": (0.0, math.inf), "log1p": (-1.0, math.inf), "asin": (-1.0, 1.0), "acos": (-1.0, 1.0),
    "acosh": (1.0, math.inf), "atanh": (-1.0, 1.0), "erfinv": (-1.0, 1.0),
}  # fmt: skip
PAIRS = {"pow", "mod", "fmod", "atan2"}
# PyTorch's and ONNX Runtime's argument reductions are good up to here (a bound with larger operands is [-1, 1]).
OPEN_ENDS = {"log", "log2", "log10", "log1p", "atanh", "rsqrt", "erfinv"}


def one_operand(function: str, dtype: DType, n: int, seed: int) -> np.ndarray:
    """Values of the dtype, as float64: all magnitudes, ordinary ones, and dense ones around what is special."""
    rng = np.random.default_rng([seed, len(function)])
    lo, hi = DOMAIN.get(function, (-math.inf, math.inf))
    sign = rng.choice([-1.0, 1.0], n)
    low, high = math.log2(dtype.quantum), math.log2(dtype.max)
    exponents = np.concatenate([rng.uniform(low, high, n // 4), rng.uniform(-30, 12, n - n // 4)])
    spread = sign * np.exp2(exponents)
    ordinary = np.concatenate([rng.normal(0, s, n // 8) for s in (0.3, 1, 4, 20, 60, 300)])
    centre = rng.choice(AROUND, n)
    close = centre + sign * np.exp2(rng.uniform(-dtype.precision - 2, 1.0, n)) * np.maximum(np.abs(centre), 1e-3)
    ends = [dtype.max, dtype.min, dtype.tiny, -dtype.tiny, dtype.quantum, -dtype.quantum, 0.0, *AROUND]
    steps = [np.asarray(ends)]
    for _ in range(40):
        steps.append(nearest_array(dtype, np.asarray(steps[-1]) * (1 + 2.5 * dtype.unit) + 2 * dtype.quantum))
    x = nearest_array(dtype, np.concatenate([spread, ordinary, close, *steps]))
    if (lo, hi) == (-1.0, 1.0):
        x = np.concatenate([x, nearest_array(dtype, np.concatenate([rng.uniform(-1, 1, n), 1 / x[x != 0]]))])
    x = x[np.isfinite(x)]
    inside = (x > lo) & (x < hi) if function in OPEN_ENDS else (x >= lo) & (x <= hi)
    if function == "reciprocal":
        inside &= x != 0
    x = x[inside]
    return rng.permutation(x)[:n] if x.size > n else x


def two_operands(function: str, dtype: DType, n: int, seed: int) -> Operands:
    x, y = (one_operand("two", dtype, n, seed + k) for k in range(2))
    size = min(x.size, y.size)
    x, y = x[:size], y[:size]
    rng = np.random.default_rng(seed)
    if function == "pow":
        # Half with real exponents over positive bases near and far from 1, a quarter with small integer exponents.
        third = size // 3
        y[:third] = np.round(rng.normal(0, 4, third))
        x[third:] = np.abs(x[third:])
        x[2 * third :] = nearest_array(dtype, np.exp2(rng.normal(0, 1, size - 2 * third)))
        y[: third // 2] = rng.choice([2.0, 3.0, 0.5, -0.5, -1.0, -2.0, 1.0, 0.0, 4.0, 1.5], third // 2)
        keep = (x > 0) | ((x < 0) & (y == np.round(y)))
        return x[keep], y[keep]
    # the angle jumps where x, the first operand of atan2, is 0
    keep = np.abs(x) >= dtype.tiny if function == "atan2" else y != 0
    return x[keep], y[keep]


@np.errstate(all="ignore")
def operands(function: str, dtype: DType, n: int, seed: int = 0) -> Operands:
    if function in PAIRS:
        return two_operands(function, dtype, n, seed)
    return (one_operand(function, dtype, n, seed),)


# ------------------------------------------------------------------------------------------------------- runtimes


@cache
def torch_functions() -> dict[str, Callable[..., Any]]:
    import torch
    from torch.nn import functional as f

    direct = "exp expm1 exp2 log log1p log2 log10 sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh"
    names = f"{direct} asinh acosh atanh erf erfinv sigmoid pow fmod atan2".split()
    return {name: getattr(torch, name) for name in names} | {
        "mod": torch.remainder,
        "softplus": lambda x: f.softplus(x, threshold=20.0),
        "log_sigmoid": f.logsigmoid,
        "softsign": f.softsign,
        "silu": f.silu,
        "mish": f.mish,
        "gelu": f.gelu,
        "gelu_tanh": lambda x: f.gelu(x, approximate="tanh"),
        "elu": f.elu,
        "celu": f.celu,
        "selu": f.selu,
        "hardswish": f.hardswish,
        "softmax": lambda x: torch.softmax(x, -1),
        "log_softmax": lambda x: torch.log_softmax(x, -1),
    }


def run_torch(function: str, dtype: DType, inputs: Operands) -> Iterator[np.ndarray]:
    """Contiguous (vectorised), strided (scalar code), and short pieces (the vector code's tail)."""
    import torch

    apply = torch_functions()[function]
    kind = getattr(torch, dtype.name)
    tensors = [torch.from_numpy(np.ascontiguousarray(x)).to(kind) for x in inputs]
    yield apply(*tensors).to(torch.float64).numpy()
    if inputs[0].ndim > 1:
        # An axis that is not the last takes other code.
        along = torch.softmax if function == "softmax" else torch.log_softmax
        yield along(tensors[0].T.contiguous(), 0).T.to(torch.float64).numpy()
        return
    strided = [torch.stack([t, t], 1)[:, 0] for t in tensors]
    yield apply(*strided).to(torch.float64).numpy()
    pieces = [apply(*(t[i : i + size] for t in tensors)) for i, size in _pieces(inputs[0].size)]
    yield torch.cat(pieces).to(torch.float64).numpy()


def _pieces(n: int) -> list[tuple[int, int]]:
    """Short runs of every length from 1 to 37, over the first points."""
    found, start = [], 0
    for k in range(150):
        size = 1 + k % 37
        if start + size > n:
            break
        found.append((start, size))
        start += size
    return found


ONNX_OPS: dict[str, tuple[str, dict[str, Any]]] = {
    "exp": ("Exp", {}), "log": ("Log", {}), "sqrt": ("Sqrt", {}), "reciprocal": ("Reciprocal", {}),
    "sin": ("Sin", {}), "cos": ("Cos", {}), "tan": ("Tan", {}), "asin": ("Asin", {}), "acos": ("Acos", {}),
    "atan": ("Atan", {}), "sinh": ("Sinh", {}), "cosh": ("Cosh", {}), "tanh": ("Tanh", {}),
    "asinh": ("Asinh", {}), "acosh": ("Acosh", {}), "atanh": ("Atanh", {}), "erf": ("Erf", {}),
    "sigmoid": ("Sigmoid", {}), "softplus": ("Softplus", {}), "softsign": ("Softsign", {}),
    "silu": ("Swish", {}), "mish": ("Mish", {}), "gelu": ("Gelu", {}), "gelu_tanh": ("Gelu", {"approximate": "tanh"}),
    "elu": ("Elu", {}), "celu": ("Celu", {}), "selu": ("Selu", {}), "hardsigmoid": ("HardSigmoid", {}),
    "hardswish": ("HardSwish", {}), "pow": ("Pow", {}), "fmod": ("Mod", {"fmod": 1}),
    "log1p": ("Log1p", {}), "expm1": ("Expm1", {}), "exp2": ("Exp2", {}), "cbrt": ("Cbrt", {}), "erfinv": ("ErfInv", {}),
    "atan2": ("Atan2", {}),
    "softmax": ("Softmax", {"axis": -1}), "log_softmax": ("LogSoftmax", {"axis": -1}),
}  # fmt: skip


def build_session(node: Any, dtype: DType) -> Any:
    import onnxruntime
    from onnx import helper

    values = [helper.make_tensor_value_info(name, dtype.onnx, None) for name in [*node.input, *node.output]]
    graph = helper.make_graph([node], "one", values[:-1], values[-1:])
    bodies = [bodies_of.function(node.op_type)] if node.op_type in bodies_of.BODIES else []
    opsets = [helper.make_opsetid("", 26 if bodies else 24), *[helper.make_opsetid("nanproof", 1) for _ in bodies]]
    model = helper.make_model(graph, opset_imports=opsets, functions=bodies, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 2
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


@cache
def session(function: str, dtype: DType) -> Any | None:
    """A one-node ONNX Runtime session; None where the runtime has no kernel for the dtype."""
    from onnx import helper

    op, attributes = ONNX_OPS[function]
    names = ["x", "y"] if function in PAIRS else ["x"]
    try:
        return build_session(
            helper.make_node(op, names, ["z"], domain="nanproof" if op in bodies_of.BODIES else None, **attributes),
            dtype,
        )
    except Exception as error:
        kinds = ("NotImplemented", "InvalidGraph", "Fail", "InvalidArgument")
        if type(error).__name__ in kinds:
            return None
        raise


def run_onnxruntime(function: str, dtype: DType, inputs: Operands) -> Iterator[np.ndarray]:
    found = session(function, dtype)
    if found is None:
        return
    names = ("x", "y")
    narrow = [x.astype(to_numpy(dtype)) for x in inputs]
    yield found.run(None, dict(zip(names, narrow, strict=False)))[0].astype(np.float64)
    if inputs[0].ndim > 1:
        return
    pieces = [
        found.run(None, {k: x[i : i + size] for k, x in zip(names, narrow, strict=False)})[0]
        for i, size in _pieces(inputs[0].size)
    ]
    yield np.concatenate(pieces).astype(np.float64)


def run_arithmetic(runtime: str, name: str, dtype: DType, inputs: Operands) -> Iterator[np.ndarray]:
    """Add, Sub, Mul or Div, by each code path of the runtime; nothing where it has no kernel for the dtype."""
    if runtime == "torch":
        import torch

        kind = getattr(torch, dtype.name)
        a, b = (torch.from_numpy(x).to(kind) for x in inputs)
        apply = getattr(torch, name.lower())
        for s, t in ((a, b), (torch.stack([a, a], 1)[:, 0], torch.stack([b, b], 1)[:, 0]), (a[:13], b[:13])):
            yield apply(s, t).to(torch.float64).numpy()
    elif runtime == "xla":
        yield from xla_functions.arithmetic(name, dtype, inputs)
    elif dtype.name != "bfloat16":
        from onnx import helper

        ready = build_session(helper.make_node(name, ["x", "y"], ["z"]), dtype)
        for n in (None, 13, 1):
            feed = {k: x[:n].astype(to_numpy(dtype)) for k, x in zip("xy", inputs, strict=True)}
            yield ready.run(None, feed)[0].astype(np.float64)


RUN = {"torch": run_torch, "onnxruntime": run_onnxruntime, "xla": xla_functions.run}


def covers(runtime: str, function: str, dtype: DType) -> bool:
    if runtime == "torch":
        return function in torch_functions()
    if runtime == "xla":
        return function in xla_functions.functions()
    return function in ONNX_OPS and session(function, dtype) is not None


# ------------------------------------------------------------------------------------------------------ judgement


def quotient_overflows(runtime: str, form: ErrorForm, dtype: DType, inputs: Operands) -> np.ndarray:
    """Where the form allows NaN."""
    if flushes(runtime, dtype) and len(inputs) > 1:
        return np.abs(inputs[1]) < dtype.tiny  # a divisor that counts as 0
    if not form.quotient_nan:
        return np.zeros(inputs[0].shape, bool)
    return np.abs(inputs[0].astype(L) / inputs[1].astype(L)) > dtype.max


@dataclass(frozen=True)
class Outcome:
    """What one sweep saw: how many results fell outside, the first of them, and the worst errors."""

    points: int
    outside: int
    example: str
    worst_ulps: float
    where: float
    below_tiny_quanta: float
    absolute: float
    flushed: int
    image: tuple[float, float]
    early: float
    slack_used: float


def as_taken(runtime: str, dtype: DType, x: np.ndarray) -> np.ndarray:
    """What a runtime that has no subnormal numbers takes them for."""
    if not flushes(runtime, dtype):
        return x
    return np.where(np.abs(x) < dtype.tiny, np.copysign(x.dtype.type(0), x), x)


def results_of(
    runtime: str, function: str, dtype: DType, inputs: Operands, meaning: dict[str, Callable[..., Any]]
) -> tuple[np.ndarray, np.ndarray]:
    """The interval of every result: with operands as they are and flushed, and with the result as it is and flushed."""
    form = error_form(runtime, function, dtype)
    real = np.asarray(meaning[function](*inputs)).astype(np.float64)
    lo, hi = widen(form, dtype, real, real)
    if not flushes(runtime, dtype):
        return lo, hi
    other = np.asarray(meaning[function](*(as_taken(runtime, dtype, x) for x in inputs))).astype(np.float64)
    low, high = widen(form, dtype, other, other)
    lo, hi = np.fmin(lo, low), np.fmax(hi, high)
    # up to the smallest normal number, which bfloat16 results are rounded to after they were flushed
    return np.where((lo > 0) & (lo <= dtype.tiny), 0.0, lo), np.where((hi < 0) & (hi >= -dtype.tiny), 0.0, hi)


@np.errstate(all="ignore")
def sweep(runtime: str, function: str, dtype: DType, n: int, seed: int = 0) -> Outcome:
    """Run one function over about n points and compare with its form."""
    inputs = operands(function, dtype, n, seed)
    form = error_form(runtime, function, dtype)
    wide = np.asarray(REAL[function](*(x.astype(L) for x in inputs)))
    bounds = [results_of(runtime, function, dtype, inputs, OWN)]
    if dtype is not FLOAT64 or form.ulps or form.absolute:
        # 80 bits rounded to 53 and then again are no judge of correct rounding.
        bounds.append(results_of(runtime, function, dtype, tuple(x.astype(L) for x in inputs), REAL))
    real = wide.astype(np.float64)
    skipped = quotient_overflows(runtime, form, dtype, inputs)
    outside, example, total = 0, "", 0
    worst, where, quanta, absolute, flushed, early, used = 0.0, math.nan, 0.0, 0.0, 0, math.inf, 0.0
    least, most = math.inf, -math.inf
    for path, full in enumerate(RUN[runtime](function, dtype, inputs)):
        m = full.size
        total += m
        full = as_taken(runtime, dtype, full)
        for k, (lo, hi) in enumerate(bounds):
            bad = ~((lo[:m] <= full) & (full <= hi[:m])) & ~(skipped[:m] & np.isnan(full))
            if bad.any():
                outside += int(bad.sum())
                i = int(np.flatnonzero(bad)[0])
                at = tuple(float(x[i]) for x in inputs)
                source = ("own", "80-bit")[k]
                example = (
                    example or f"path {path}: {function}{at} = {full[i]!r}, {source} allows {lo[i]!r} .. {hi[i]!r}"
                )
        v = wide[:m]
        error = np.abs(full.astype(L) - v)
        finite = np.isfinite(full) & (np.abs(v) <= dtype.max)
        normal = finite & (np.abs(v) >= dtype.tiny)
        ulp = np.exp2(np.floor(np.log2(np.abs(v.astype(np.float64))))) * 2 * dtype.unit
        in_ulps = np.where(normal, error / ulp, 0.0)
        if in_ulps.max() > worst:
            worst, where = float(in_ulps.max()), float(inputs[0][int(in_ulps.argmax())])
        small = finite & ~normal
        quanta = max(quanta, float((error[small] / dtype.quantum).max(initial=0.0)))
        absolute = max(absolute, float(error[finite & (np.abs(v) <= 2)].max(initial=0.0)))
        flushed += int((small & (full == 0) & (np.abs(v) > dtype.quantum)).sum())
        blown = np.isinf(full) & (np.abs(v) <= dtype.max * (1 - dtype.unit))
        early = min(early, float(np.abs(real[:m][blown]).min(initial=math.inf)))
        least, most = min(least, float(full[finite].min())), max(most, float(full[finite].max()))
        # how much of e is used by results that correct rounding would not explain
        rate = form.ulps * 2 * dtype.unit + form.relative
        allowed = rate * np.abs(v) + form.quanta * dtype.quantum + form.absolute
        half = 0.5 * np.maximum(ulp, dtype.quantum)
        over = np.where(finite & (allowed > 0), (error - half) / allowed, 0.0)
        used = max(used, float(over.max()))
    return Outcome(total, outside, example, worst, where, quanta, absolute, flushed, (least, most), early, used)


# Rows of softmax: ordinary, spread out, huge, constant, with -inf in them (a mask).
@np.errstate(all="ignore")
def sweep_alpha(runtime: str, function: str, alpha: float, n: int) -> tuple[int, str]:
    """Elu or celu in float32 with another alpha, against the scaled form."""
    x = one_operand(function, FLOAT32, n, 3)
    wide = x.astype(L)
    inner = wide / L(alpha) if function == "celu" else wide
    real = np.where(wide > 0, wide, L(alpha) * np.expm1(np.minimum(inner, 0))).astype(np.float64)
    if runtime == "torch":
        import torch
        from torch.nn import functional

        applied = getattr(functional, function)
        full = applied(torch.from_numpy(x.astype(np.float32)), alpha=alpha).numpy().astype(np.float64)
    else:
        from onnx import helper

        node = helper.make_node(ONNX_OPS[function][0], ["x"], ["z"], alpha=alpha)
        full = build_session(node, FLOAT32).run(None, {"x": x.astype(np.float32)})[0].astype(np.float64)
    lo, hi = widen(scaled(error_form(runtime, function, FLOAT32), alpha), FLOAT32, real, real)
    bad = ~((lo <= full) & (full <= hi))
    i = int(bad.argmax())
    return int(bad.sum()), f"{function}({x[i]!r}) = {full[i]!r}, allowed {lo[i]!r} .. {hi[i]!r}" if bad.any() else ""


@np.errstate(all="ignore")
def sweep_softmax(runtime: str, dtype: DType, length: int, *, log: bool, seed: int = 0) -> tuple[int, float, str]:
    """How many results of (log_)softmax rows fall outside, the share of the slack used, and an example."""
    rng = np.random.default_rng([seed, length])
    scale = np.exp2(rng.uniform(-6, min(12.0, math.log2(dtype.max) - 3), (300, 1)))
    x = rng.normal(0, 1, (300, length)) * scale
    x[::7] += rng.choice([-1.0, 1.0]) * 2.0 ** rng.integers(4, 14)
    x[::11] = np.round(x[::11])
    x[5::13, ::3] = -math.inf
    x[5::13, 0] = 1.0
    x[3::29] = x[3::29, :1]
    x = nearest_array(dtype, np.clip(x, dtype.min, dtype.max) if dtype.max < 1e30 else x)
    x[5::13, 1::3] = -math.inf
    wide = x.astype(L)
    shifted = wide - wide.max(-1, keepdims=True)
    grown = np.exp(shifted)
    total = grown.sum(-1, keepdims=True)
    v = (shifted - np.log(total)) if log else grown / total
    real = v.astype(np.float64)
    form = softmax_form(runtime, dtype, float(length), log=log)
    lo, hi = widen(form, dtype, real, real)
    lo = np.where((lo > 0) & (lo <= dtype.tiny) & flushes(runtime, dtype), 0.0, lo)
    outside, used, example = 0, 0.0, ""
    for full in RUN[runtime]("log_softmax" if log else "softmax", dtype, (x,)):
        bad = ~((lo <= full) & (full <= hi))
        outside += int(bad.sum())
        if bad.any() and not example:
            i = tuple(np.argwhere(bad)[0])
            example = f"row with max {x[i[0]].max()!r}: result {full[i]!r}, allowed {lo[i]!r} .. {hi[i]!r}"
        allowed = (
            (form.ulps * 2 * dtype.unit + form.relative) * np.abs(real) + form.quanta * dtype.quantum + form.absolute
        )
        error = np.where(np.isfinite(real), np.abs(full - real), 0.0)
        half = np.maximum(np.abs(real) * dtype.unit, dtype.quantum / 2)
        used = max(used, float(np.where(np.isfinite(real), (error - half) / allowed, 0.0).max()))
    return outside, used, example


def main() -> None:
    """Print one line a function: what was measured, and how much of the table's slack it used."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("functions", nargs="*")
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runtime", action="append")
    parser.add_argument("--dtype", action="append")
    chosen = parser.parse_args()
    for runtime in chosen.runtime or RUN:
        for name in chosen.dtype or ["float32", "float64", "float16", "bfloat16"]:
            dtype = by_name(name)
            for function in chosen.functions or REAL:
                if not covers(runtime, function, dtype):
                    continue
                o = sweep(runtime, function, dtype, chosen.points, chosen.seed)
                print(  # noqa: T201
                    f"{runtime:11} {name:8} {function:12} outside {o.outside:7} used {o.slack_used:8.3g} "
                    f"ulps {o.worst_ulps:9.3g} at {o.where:<12.6g} quanta {o.below_tiny_quanta:9.3g} "
                    f"abs {o.absolute:8.2g} flushed {o.flushed:6} early {o.early:8.3g} "
                    f"image {o.image[0]!r} .. {o.image[1]!r} {o.example}",
                    flush=True,
                )
            for length in (1, 2, 3, 7, 16, 37, 256, 1000, 10000):
                for log in (False, True):
                    if covers(runtime, "softmax", dtype):
                        o2 = sweep_softmax(runtime, dtype, length, log=log)
                        print(runtime, name, "log_softmax" if log else "softmax", length, *o2, flush=True)  # noqa: T201


if __name__ == "__main__":
    assert FLOAT32.bits < FLOAT64.bits
    main()
