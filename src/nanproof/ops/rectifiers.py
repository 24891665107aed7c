"""Activations made of straight pieces, and the exponential linear units."""

from __future__ import annotations

import math
from typing import Any

from nanproof.domain.box import NAN, NINF, PINF, Box, finite
from nanproof.numerics.dtypes import FLOAT32, FLOAT64
from nanproof.numerics.rounding import nearest
from nanproof.ops.call import Call
from nanproof.ops.classes import corners, elementwise, increasing, least, most, unimodal
from nanproof.ops.elementwise import Pair
from nanproof.ops.pairs import differing, identity_above, scaled_by, signed, space, with_breaks, within
from nanproof.ops.record import Case, Op, Operand, Samples, around

_CASE = (Operand((2, 3)),)
LEAK, FIFTH = 0.009999999776482582, 0.20000000298023224  # defaults are float32 numbers
IDENTITY = 1e3
"""From here on, the exponential parts of all activations are below half an ulp of x in every dtype."""


def _relu(call: Call, x: Box) -> Box:
    """Never falls, and leaves an operand alone that isn't negative."""
    if not x.flags and x.cuts is None and x.lo >= 0.0 and x.has_finite:
        return x
    return _RELU(call, x)


# some kernels turn NaN into 0
_RELU = differing(increasing, {NAN: (0.0,)})

RELU = Op(
    "Relu",
    run=lambda xp, x: xp.where(x <= 0, xp.zeros_like(x), x),
    bound=_relu,
    exact=True,
    samples=Samples(dtypes=("float32", "float64", "float16", "int32")),
)


def _sloped(xp: Any, x: Any, slope: Any) -> Any:
    return xp.where(x < 0, slope * x, x)


def _slopes(f: Any, x: Pair, slope: Pair) -> Pair:
    """Bilinear below 0 and the identity above: extremes are at corners, of which x = 0 is one."""
    turn = most(x[0], least(x[1], 0.0))
    values = [f(a, s) for a in (*x, turn) for s in slope]
    return least(*values), most(*values)


_SLOPED = elementwise(_slopes)


def _prelu(call: Call, x: Box, slope: Box) -> Box:
    """Two slopes. Some runtimes multiply by the slope everywhere: an infinite one times 0 is NaN there."""
    result = _SLOPED(call, x, slope)
    if not slope.flags:
        return result
    return Box(result.dtype, result.shape, *result.hull(), result.flags | NAN)


PRELU = Op(
    "PRelu",
    run=_sloped,
    bound=_prelu,
    overflow="NP204",
    infinite="NP213",
    samples=Samples(
        cases=(
            Case((Operand((2, 3)), Operand((3,)))),
            Case((Operand((2, 3)), Operand((1,), values=[0.25], stored=True))),
        ),
    ),
)


def _leaky(call: Call, x: Box) -> Box:
    """PRelu with one slope, which runtimes may round to a narrow dtype first."""
    alpha = float(call.attr("alpha", LEAK))
    other = nearest(x.dtype, alpha)
    slope = finite(x.dtype, (), min(alpha, other), max(alpha, other))
    return PRELU.bound(within(call, LEAKY_RELU_OF_TWO), x, slope)  # type: ignore[return-value]


LEAKY_RELU_OF_TWO = Op("LeakyRelu", run=_sloped, bound=PRELU.bound, overflow="NP204", infinite="NP213")

LEAKY_RELU = Op(
    "LeakyRelu",
    run=lambda xp, x, alpha=LEAK: xp.where(x < 0, alpha * x, x),
    bound=_leaky,
    overflow="NP204",
    samples=Samples(cases=(Case(_CASE), Case(_CASE, {"alpha": 2.0}), Case(_CASE, {"alpha": -0.5}))),
)


def _thresholded(call: Call, x: Box) -> Box:
    """The identity above alpha and 0 elsewhere: a jump, so no class fits."""
    alpha = float(call.attr("alpha", 1.0))
    ends = sorted({alpha, nearest(x.dtype, alpha)})

    def rule(f: Any, x: Pair) -> Pair:
        xp = space(*x)
        lowest = xp.where(
            x[0] > ends[-1], x[0], xp.where(x[1] > ends[0], most(least(x[0], 0.0), least(ends[0], 0.0)), 0.0)
        )
        return lowest, xp.where(x[1] > ends[0], xp.where(x[0] > ends[-1], x[1], most(x[1], 0.0)), 0.0)

    return differing(elementwise(rule), {NAN: (0.0,)})(call, x)


THRESHOLDED_RELU = Op(
    "ThresholdedRelu",
    run=lambda xp, x, alpha=1.0: xp.where(x > alpha, x, xp.zeros_like(x)),
    bound=_thresholded,
    exact=True,
    samples=Samples(cases=(Case(_CASE), Case(_CASE, {"alpha": -1.0})), dtypes=("float32",)),
)


def _shrunk(call: Call, x: Box) -> Box:
    """Two lines and a zero between them: jumps at both ends, so no class fits."""
    lambd, bias = float(call.attr("lambd", 0.5)), float(call.attr("bias", 0.0))
    slack = abs(lambd) * 2.0 ** (1 - x.dtype.precision)  # a runtime may round the attributes to the dtype first
    near, far = lambd - slack, lambd + slack
    biases = sorted({bias, nearest(x.dtype, bias)})

    def rule(f: Any, x: Pair) -> Pair:
        xp = space(*x)
        lo, hi = float("inf"), -float("inf")
        left, right = x[0] < -near, x[1] > near
        middle = (x[1] >= -far) & (x[0] <= far)
        lo = xp.where(left, x[0] + biases[0], lo)
        hi = xp.where(left, least(x[1], -near) + biases[-1], hi)
        lo = xp.where(right, least(lo, most(x[0], near) - biases[-1]), lo)
        hi = xp.where(right, most(hi, x[1] - biases[0]), hi)
        return xp.where(middle, least(lo, 0.0), lo), xp.where(middle, most(hi, 0.0), hi)

    result = differing(elementwise(rule), {NAN: (0.0,)})(call, x)
    return _in_float32(call, x, result) if call.setting.runtime == "onnxruntime" and x.dtype is FLOAT64 else result


def _in_float32(call: Call, x: Box, result: Box) -> Box:
    """ONNX Runtime computes the float64 Shrink in float32: what is beyond its limits becomes an infinity."""
    low, high = x.hull()
    flags = (PINF if high > FLOAT32.max else 0) | (NINF if low < FLOAT32.min else 0)
    if flags:
        call.overflowed(low, high, FLOAT32, flags, never=low > FLOAT32.max or high < FLOAT32.min)
    lo, hi = result.hull()
    size = max(abs(low), abs(high), abs(lo), abs(hi), abs(float(call.attr("bias", 0.0))))
    if not low <= high:
        return result
    err = 2.0 * FLOAT32.unit * size + FLOAT32.quantum
    return Box(x.dtype, x.shape, max(lo - err, x.dtype.min), min(hi + err, x.dtype.max), result.flags | flags)


def _shrink(xp: Any, x: Any, lambd: float = 0.5, bias: float = 0.0) -> Any:
    return xp.where(x < -lambd, x + bias, xp.where(x > lambd, x - bias, xp.zeros_like(x)))


SHRINK = Op(
    "Shrink",
    run=_shrink,
    bound=_shrunk,
    overflow="NP203",
    samples=Samples(
        (0.0, 0.5, -0.5, 1.5, -1.5),
        cases=(Case(_CASE), Case(_CASE, {"lambd": 1.5, "bias": 1.5}), Case(_CASE, {"lambd": 1.0, "bias": -3.0})),
    ),
)

HARD_SIGMOID = Op(
    "HardSigmoid",
    run=lambda xp, x, alpha=FIFTH, beta=0.5: xp.clip(alpha * x + beta, 0.0, 1.0),
    bound=differing(corners, {NAN: (0.0, 1.0)}),
    error="hardsigmoid",
    samples=Samples(
        (0.0, 2.5, -2.5, 3.0, -3.0),
        cases=(Case(_CASE), Case(_CASE, {"alpha": 0.1666666716337204}), Case(_CASE, {"alpha": -0.5, "beta": 0.625})),
    ),
)


def _hard_swish(call: Call, x: Box) -> Box:
    """0 up to -3, down to -0.375 at -1.5, then up; the identity from 3 on.

    PyTorch multiplies by 6 before it divides by 6: its table has a ceiling, and large x isn't given back exactly.
    """
    return (_PRODUCT if call.form(x.dtype).ceiling < math.inf else _HARD_SWISH)(call, x)


_PRODUCT = signed(differing(unimodal(-1.5), {NINF: (float("nan"), 0.0)}))
_HARD_SWISH = identity_above(_PRODUCT, IDENTITY)

HARD_SWISH = Op(
    "HardSwish",
    run=lambda xp, x: x * xp.clip(x / 6.0 + 0.5, 0.0, 1.0),
    bound=_hard_swish,
    overflow="NP214",
    error="hardswish",
    samples=around(-3.0, -1.5, 0.0, 3.0),
)


def _alpha(call: Call) -> float:
    return float(call.attr("alpha", 1.0))


def _elu(xp: Any, x: Any, alpha: float = 1.0) -> Any:
    return xp.where(x > 0, x, alpha * xp.expm1(xp.where(x > 0, xp.zeros_like(x), x)))


ELU = Op(
    "Elu",
    run=_elu,
    bound=scaled_by(identity_above(with_breaks(0.0), IDENTITY), _alpha),
    error="elu",
    samples=Samples(cases=(Case(_CASE), Case(_CASE, {"alpha": 2.0}), Case(_CASE, {"alpha": -1.0}))),
)


def _celu(xp: Any, x: Any, alpha: float = 1.0) -> Any:
    """max(0, x) + min(0, alpha * expm1(x / alpha)), where one of the two is 0."""
    below = x if alpha > 0 else -x
    negative = alpha * xp.expm1(xp.where(below > 0, xp.zeros_like(x), x) / alpha)
    return xp.where(x > 0, x, negative)


CELU = Op(
    "Celu",
    run=_celu,
    bound=scaled_by(identity_above(increasing, IDENTITY), _alpha),
    error="celu",
    overflow="NP214",
    samples=Samples(cases=(Case(_CASE), Case(_CASE, {"alpha": 2.0})), dtypes=("float32",)),
)

SELU_ALPHA, SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875


def _selu(xp: Any, x: Any, alpha: float = SELU_ALPHA, gamma: float = SELU_GAMMA) -> Any:
    return gamma * xp.where(x > 0, x, alpha * xp.expm1(xp.where(x > 0, xp.zeros_like(x), x)))


def _alpha_gamma(call: Call) -> float:
    return float(call.attr("alpha", SELU_ALPHA)) * float(call.attr("gamma", SELU_GAMMA))


SELU = Op(
    "Selu",
    run=_selu,
    bound=scaled_by(with_breaks(0.0), _alpha_gamma),
    error="selu",
    overflow="NP214",
    samples=Samples((0.0, 1.0, -1.0, 3e38), cases=(Case(_CASE), Case(_CASE, {"alpha": 3.0, "gamma": 0.5}))),
)

OPS = (RELU, PRELU, LEAKY_RELU, THRESHOLDED_RELU, SHRINK, HARD_SIGMOID, HARD_SWISH, ELU, CELU, SELU)
