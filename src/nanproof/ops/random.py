"""Random numbers: bounded by what the generators can produce, not by what is likely.

A float generator has finitely many states, so even a normal distribution is bounded:

* libstdc++, which ONNX Runtime draws with, uses Marsaglia's polar method: for a
  point (u, v) in the unit circle, |z| <= sqrt(-2 log(u^2 + v^2)). In float32 the
  coordinates are multiples of 2**-24, so |z| <= sqrt(96 log 2) = 8.16; in float64
  multiples of 2**-52, so |z| <= sqrt(208 log 2) = 12.01.
* PyTorch uses Box and Muller's method with uniform numbers of 24 or 53 bits on a CPU
  (small float32 tensors are drawn in float64, too) and 32 or 53 bits on CUDA, plus
  half a step: |z| <= sqrt(-2 log(2**-54)) = 8.66.
* NumPy's ziggurat, the reference's: its tail starts at r = 3.6542 and adds x with
  x^2 < 2 y and y <= 53 log 2, so |z| <= 3.6542 + 8.5717 = 12.23.

A uniform number u in [0, 1) is scaled afterwards, and the rounding of that can give
``high`` itself, or a little more.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from nanproof.dims import bounds
from nanproof.domain.box import INFS, NAN, Box, Shape, nothing
from nanproof.numerics.dtypes import BOOL, FLOAT32, DType, by_onnx, to_numpy
from nanproof.ops.call import Call
from nanproof.ops.record import Case, Op, Operand, Samples

LARGEST_NORMAL = {"torch": 8.7, "ieee": 12.3}
"""|z| by runtime, of a mean of 0 and a scale of 1."""


def largest_normal(runtime: str, dtype: DType) -> float:
    """The largest magnitude of a standard normal number that the runtime can draw."""
    if runtime == "onnxruntime":
        return 8.2 if dtype is FLOAT32 else 12.1
    return LARGEST_NORMAL[runtime]


def _dtype(call: Call, boxes: Any) -> DType:
    """The attribute ``dtype``; without it that of the operand, or float32."""
    code = int(call.attr("dtype", 0) or 0)
    found: DType = by_onnx(code) if code else boxes[0].dtype if boxes else FLOAT32
    return found


def _shape(call: Call, boxes: tuple[Box, ...]) -> Shape:
    if boxes:
        return boxes[0].shape
    return tuple(int(n) for n in np.atleast_1d(call.attr("shape", ())))


def _normal(call: Call, *boxes: Box) -> Box:
    """A constant range: the mean and as many scales as the generator can reach."""
    mean, scale = float(call.attr("mean", 0.0)), float(call.attr("scale", 1.0))
    dtype = _dtype(call, boxes)
    reach = abs(scale) * largest_normal(call.setting.runtime, dtype)
    return _drawn(call, boxes, (mean - reach, mean + reach))


def _uniform(call: Call, *boxes: Box) -> Box:
    """A constant range: from ``low`` to ``high``."""
    low, high = float(call.attr("low", 0.0)), float(call.attr("high", 1.0))
    return _drawn(call, boxes, (min(low, high), max(low, high)))


def _drawn(call: Call, boxes: tuple[Box, ...], ends: tuple[float, float]) -> Box:
    dtype, shape = _dtype(call, boxes), _shape(call, boxes)
    if shape is not None and 0 in shape:
        return nothing(dtype, shape)
    lo, hi = ends
    # a product and a sum, each rounded; the attributes rounded to a narrow dtype
    err = 4.0 * dtype.unit * (abs(lo) + abs(hi)) if lo < hi else 0.0
    return call.settle(dtype, shape, lo, hi, err=err)


def _generator(attrs: Any) -> np.random.Generator:
    return np.random.default_rng(int(attrs.get("seed", 0) or 0))


def _draw_normal(xp: Any, *like: Any, mean: float = 0.0, scale: float = 1.0, **attrs: Any) -> Any:
    size = np.shape(like[0]) if like else tuple(int(n) for n in np.atleast_1d(attrs.get("shape", ())))
    return xp.asarray(_typed(_generator(attrs).normal(mean, abs(scale), size), like, attrs))


def _draw_uniform(xp: Any, *like: Any, low: float = 0.0, high: float = 1.0, **attrs: Any) -> Any:
    size = np.shape(like[0]) if like else tuple(int(n) for n in np.atleast_1d(attrs.get("shape", ())))
    return xp.asarray(_typed(_generator(attrs).uniform(low, high, size), like, attrs))


def _typed(values: Any, like: tuple[Any, ...], attrs: Any) -> Any:
    code = int(attrs.get("dtype", 0) or 0)
    wanted = to_numpy(by_onnx(code)) if code else np.asarray(like[0]).dtype if like else np.dtype(np.float32)
    return np.asarray(values).astype(wanted)


def _bernoulli(call: Call, p: Box) -> Box:
    """0 or 1; surely 0 where the probability is 0."""
    shape, dtype = p.shape, _dtype(call, (p,))
    if not p.flags and not p.has_finite:
        return nothing(dtype, shape)
    return Box(dtype, shape, 0.0, 0.0 if p.hull()[1] <= 0.0 and not p.flags else 1.0)


def _multinomial(call: Call, x: Box) -> Box:
    """The number of a class: from 0 to the length of a row, less 1."""
    dtype = by_onnx(int(call.attr("dtype", 6)))
    count = int(call.attr("sample_size", 1))
    if x.shape is None or len(x.shape) != 2:
        return Box(dtype, None, 0.0, dtype.max)
    rows, classes = x.shape
    most = bounds(classes, call.setting.dims)[1]
    shape = (rows, count)
    if rows == 0 or count == 0:
        return nothing(dtype, shape)
    return Box(dtype, shape, 0.0, dtype.max if most is None else max(0.0, most - 1.0))


def _dropout(call: Call, x: Box, ratio: Box | None = None, training: Box | None = None) -> tuple[Box, Box]:
    """In training, 0 or x / (1 - ratio); otherwise x. The second result says what is kept."""
    mode = (0.0, 0.0) if training is None else training.hull()
    low, high = (0.5, 0.5) if ratio is None else ratio.hull()
    if ratio is not None and ratio.flags:
        low, high = 0.0, 1.0
    may_train, may_rest = mode[1] > 0, mode[0] <= 0
    drops = may_train and high > 0
    empty = not x.flags and not x.has_finite
    mask = nothing(BOOL, x.shape) if empty else Box(BOOL, x.shape, 0.0 if drops else 1.0, 1.0)
    if not drops or empty:
        return x, mask
    least_scale = 1.0 if may_rest else 1.0 / (1.0 - low) if low < 1.0 else inf
    most_scale = 1.0 / (1.0 - high) if high < 1.0 else inf
    void = np.asarray(x.lo) > x.hi
    lo, hi = np.where(void, 0.0, x.lo), np.where(void, 0.0, x.hi)
    with np.errstate(all="ignore"):
        corners = [np.where(end == 0, 0.0, end * scale) for end in (lo, hi) for scale in (least_scale, most_scale)]
        lo, hi = np.minimum.reduce([*corners, np.zeros_like(lo)]), np.maximum.reduce([*corners, np.zeros_like(hi)])
        # the difference, the reciprocal and the product are rounded; the ratio and the scale are float32 numbers in
        # ONNX Runtime, and the error of the ratio counts 1 / (1 - ratio) times
        size = np.maximum(np.abs(lo), np.abs(hi))
        rate = (4.0 + most_scale) * max(x.dtype.unit, FLOAT32.unit)
        err = np.where((size > 0) & np.isfinite(size), rate * size, 0.0)
    flags = np.asarray(x.flags if x.cuts is None else x.block_flags(), np.uint8)
    flags = np.where(flags & INFS != 0, flags | np.uint8(NAN), flags)
    return call.settle(x.dtype, x.shape, lo, hi, err=err, cuts=x.cuts, spots=flags), mask


def _drop(xp: Any, x: Any, ratio: Any = None, training: Any = None, **attrs: Any) -> Any:
    """``seed`` decides what is dropped."""
    rate = 0.5 if ratio is None else float(ratio)
    kept = np.ones(np.shape(x), bool)
    if training is not None and bool(training) and rate > 0:
        kept = _generator(attrs).random(np.shape(x)) >= rate
        return xp.where(xp.asarray(kept), x / (1.0 - rate), xp.zeros_like(x)), kept
    return x, kept


_LIKE = Operand((2, 3))
_FLOATS = ("float32", "float64", "float16")

RANDOM_NORMAL = Op(
    "RandomNormal",
    run=_draw_normal,
    bound=_normal,
    result=_dtype,
    overflow="NP214",
    stops=True,
    samples=Samples(
        cases=(
            Case((), {"shape": np.array([2, 50])}),
            Case((), {"shape": np.array([2, 50]), "mean": 3.0, "scale": 0.5, "dtype": 11}),
        ),
        dtypes=("float32",),
    ),
)

RANDOM_NORMAL_LIKE = Op(
    "RandomNormalLike",
    run=_draw_normal,
    bound=_normal,
    result=_dtype,
    overflow="NP214",
    stops=True,
    samples=Samples(
        cases=(Case((_LIKE,)), Case((_LIKE,), {"mean": -2.0, "scale": 4.0, "dtype": 1})), dtypes=_FLOATS[:2]
    ),
)

RANDOM_UNIFORM = Op(
    "RandomUniform",
    run=_draw_uniform,
    bound=_uniform,
    result=_dtype,
    overflow="NP214",
    stops=True,
    samples=Samples(
        cases=(
            Case((), {"shape": np.array([2, 50])}),
            Case((), {"shape": np.array([2, 50]), "low": -3.0, "high": 7.0}),
        ),
        dtypes=("float32",),
    ),
)

RANDOM_UNIFORM_LIKE = Op(
    "RandomUniformLike",
    run=_draw_uniform,
    bound=_uniform,
    result=_dtype,
    overflow="NP214",
    stops=True,
    samples=Samples(cases=(Case((_LIKE,)), Case((_LIKE,), {"low": -3.0, "high": 7.0, "dtype": 1})), dtypes=_FLOATS[:2]),
)

BERNOULLI = Op(
    "Bernoulli",
    run=lambda xp, p, **attrs: xp.asarray(_typed(_generator(attrs).random(np.shape(p)) < p, (p,), attrs)),
    bound=_bernoulli,
    result=_dtype,
    exact=True,
    samples=Samples(
        (0.0, 0.5, 1.0),
        cases=(Case((Operand((2, 3), low=0.0, high=1.0),)), Case((Operand((2, 3), low=0.0, high=1.0),), {"dtype": 9})),
        dtypes=_FLOATS[:2],
    ),
)


def _classes(xp: Any, x: Any, **attrs: Any) -> Any:
    """Draws by the weights exp(x) of each row."""
    generator, count = _generator(attrs), int(attrs.get("sample_size", 1))
    rows = np.exp(np.asarray(x, np.float64) - np.max(x, axis=1, keepdims=True))
    picked = [generator.choice(len(row), count, p=row / row.sum()) for row in rows]
    return xp.asarray(np.array(picked).astype(to_numpy(by_onnx(int(attrs.get("dtype", 6))))))


MULTINOMIAL = Op(
    "Multinomial",
    run=_classes,
    bound=_multinomial,
    result=lambda call, boxes: by_onnx(int(call.attr("dtype", 6))),
    exact=True,
    samples=Samples(
        cases=(
            Case((Operand((2, 3), low=-5.0, high=5.0),), {"sample_size": 4}),
            Case((Operand((2, 3), low=-5.0, high=5.0),), {"sample_size": 4, "dtype": 7}),
        ),
        dtypes=("float32",),
    ),
)

_RATIO = Operand(values=0.25, stored=True)

DROPOUT = Op(
    "Dropout",
    run=_drop,
    bound=_dropout,
    overflow="NP204",
    infinite="NP213",
    samples=Samples(
        cases=(
            Case((_LIKE,), outputs=2),
            Case((_LIKE, _RATIO), outputs=1),
            Case((_LIKE, _RATIO, Operand(dtype="bool", values=False, stored=True)), outputs=2),
            Case((_LIKE, _RATIO, Operand(dtype="bool", values=True, stored=True)), outputs=2),
            Case((_LIKE, Operand(values=0.0, stored=True), Operand(dtype="bool", values=True, stored=True)), outputs=2),
            Case((_LIKE, Operand(low=0.0, high=0.75), Operand(dtype="bool")), outputs=2),
        ),
        dtypes=_FLOATS,
    ),
)

OPS = (
    RANDOM_NORMAL,
    RANDOM_NORMAL_LIKE,
    RANDOM_UNIFORM,
    RANDOM_UNIFORM_LIKE,
    BERNOULLI,
    MULTINOMIAL,
    DROPOUT,
)
