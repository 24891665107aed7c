"""Smooth activations: sigmoids, and products with them that dip below 0 before they rise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nanproof.domain.box import NINF, PINF, Box, finite
from nanproof.domain.lattice import meet
from nanproof.numerics.dtypes import DType
from nanproof.numerics.rounding import nearest
from nanproof.numerics.runtimes import ErrorForm, error_form
from nanproof.ops.arithmetic import MUL
from nanproof.ops.call import Call
from nanproof.ops.classes import increasing, unimodal
from nanproof.ops.pairs import Formed, differing, identity_above, signed, with_breaks, within
from nanproof.ops.record import Case, Op, Operand, Samples, around

_CASE = (Operand((2, 3)),)
_NAN = float("nan")
IDENTITY = 1e3
"""From here on, the results of softplus, swish and mish are their operands in every dtype."""


def _reaches(call: Call, boxes: Sequence[Box], name: str, ends: tuple[float, float]) -> str | None:
    """Say that rounding lets a result reach an end that the real function only approaches."""
    dtype = boxes[0].dtype
    lo, hi = boxes[0].hull()
    low, high = call.rounded(float(call.scalar(lo)), float(call.scalar(hi)), dtype)
    reached = [f"{end:g}" for end, there in zip(ends, (low <= ends[0], high >= ends[1]), strict=True) if there]
    if not reached or not lo <= hi:
        return None
    return f"{name}(x) reaches {' and '.join(reached)} in {dtype.name} ({call.setting.runtime}) for x in [{lo:.5g}, {hi:.5g}]"


SIGMOID = Op(
    "Sigmoid",
    run=lambda xp, x: xp.sigmoid(x),
    bound=increasing,
    error="sigmoid",
    explain=lambda call, boxes: _reaches(call, boxes, "sigmoid", (0.0, 1.0)),
    samples=around(0.0, -18.0, 18.0, also=(-88.0, -104.0, 17.0, 40.0)),
)

ERF = Op(
    "Erf",
    run=lambda xp, x: xp.erf(x),
    bound=increasing,
    error="erf",
    explain=lambda call, boxes: _reaches(call, boxes, "erf", (-1.0, 1.0)),
    samples=around(0.0, 1.0, -1.0, 4.0, -4.0),
)

SOFTPLUS = Op(
    "Softplus",
    run=lambda xp, x: xp.softplus(x),
    bound=identity_above(increasing, IDENTITY),
    error="softplus",
    samples=around(0.0, 20.0, -20.0, -88.0, -104.0, also=(1e38,)),
)

SOFTSIGN = Op(
    "Softsign",
    run=lambda xp, x: xp.softsign(x),
    # x / (1 + |x|) as it stands is Inf / Inf of an infinity
    bound=differing(increasing, {PINF: (_NAN,), NINF: (_NAN,)}),
    error="softsign",
    samples=around(0.0, 1.0, -1.0, also=(1e8, -1e8)),
)

SILU_TURN = -1.2784645427610738
GELU_TURN, GELU_TANH_TURN = -0.7517915246935645, -0.7524614220710163
MISH_TURN = -1.1924312145154952
LOST = {NINF: (_NAN, 0.0)}
"""-Inf times 0 is NaN where a runtime computes the product as it stands."""


def _swish(call: Call, x: Box) -> Box:
    """Falls to its turning point at -1.278 / alpha, then rises; a negative alpha mirrors it both ways."""
    alpha = float(call.attr("alpha", 1.0))
    if alpha == 1.0:
        return _SILU(call, x)
    images = {PINF: (_NAN, 0.0), NINF: (_NAN, 0.0)}
    if alpha == 0.0:
        return differing(increasing, images)(call, x)
    bound = differing(with_breaks(SILU_TURN / alpha), images)
    composed = Formed(call, lambda _, dtype: _composed_form(call, dtype, abs(alpha)))
    result = (identity_above(bound, IDENTITY / alpha) if alpha > 0 else bound)(composed, x)
    # ONNX Runtime expands the node; but a chain of narrow floats may be computed in float32, without rounding between
    expands = call.setting.runtime == "onnxruntime" and x.dtype.bits >= 32
    return _met(result, _three_steps(call, x, alpha)) if expands else result


def _three_steps(call: Call, x: Box, alpha: float) -> Box:
    """The same three steps over Boxes: tighter where x is narrow."""
    quiet = Call(MUL, {}, call.setting)
    low, high = sorted((alpha, nearest(x.dtype, alpha)))
    inner = SIGMOID.bound(Call(SIGMOID, {}, call.setting), MUL.bound(quiet, x, finite(x.dtype, (), low, high)))
    return MUL.bound(quiet, x, inner)  # type: ignore[return-value]


def _met(result: Box, other: Box) -> Box:
    """The finite bounds that both allow, with the result's special values."""
    if result.shape is None or result.flags or other.flags or not other.has_finite or not result.has_finite:
        return result
    return meet(result, other)


def _composed_form(call: Call, dtype: DType, alpha: float) -> ErrorForm:
    """How x * sigmoid(alpha * x) errs where the runtime computes the three steps one by one.

    The rounding of t = alpha * x changes sigmoid(t) by |t| * unit relatively, while
    |t| < -log(quantum / 2); beyond, sigmoid is 0, or within half a quantum of it.
    So the absolute error of sigmoid counts |x| = |t| / alpha times.
    """
    inner = error_form(call.setting.runtime, "sigmoid", dtype)
    reach = -math.log(dtype.quantum / 2.0) if dtype.quantum > 5e-324 else 746.0
    return ErrorForm(
        relative=(reach + 2.0 + 2.0 * inner.ulps) * dtype.unit * (1 + 2.0**-10) + inner.relative,
        absolute=(inner.absolute + (dtype.tiny if inner.flushes else 0.0)) * reach / alpha,
        quanta=(inner.quanta + 1.0) * reach / alpha + 1.0,
    )


def _scaled_silu(xp: Any, x: Any, alpha: float = 1.0) -> Any:
    return xp.silu(x) if alpha == 1.0 else x * xp.sigmoid(alpha * x)


_SILU = signed(identity_above(differing(unimodal(SILU_TURN), LOST), IDENTITY))

SWISH = Op(
    "Swish",
    run=_scaled_silu,
    bound=_swish,
    overflow="NP214",
    error="silu",
    samples=Samples(
        (0.0, 1.0, SILU_TURN, -18.0, -88.0),
        cases=(Case(_CASE), Case(_CASE, {"alpha": 1.75}), Case(_CASE, {"alpha": -1.0})),
    ),
)

MISH = Op(
    "Mish",
    run=lambda xp, x: xp.mish(x),
    bound=identity_above(differing(unimodal(MISH_TURN), LOST), IDENTITY),
    error="mish",
    samples=around(0.0, 1.0, MISH_TURN, -20.0, -88.0),
)


def _gelu(call: Call, x: Box) -> Box:
    """Falls to its turning point, which depends on the form, then rises."""
    if call.attr("approximate", "none") == "tanh":
        return _GELU_BY_TANH(within(call, GELU_BY_TANH), x)
    return _GELU_BY_ERF(call, x)


# PyTorch's gelu of +Inf is NaN
_GELU_BY_ERF = signed(differing(unimodal(GELU_TURN), {**LOST, PINF: (_NAN,)}))
_GELU_BY_TANH = differing(unimodal(GELU_TANH_TURN), {**LOST, PINF: (_NAN,)})

GELU_BY_TANH = Op("Gelu", run=lambda xp, x: xp.gelu_tanh(x), bound=_GELU_BY_TANH, overflow="NP214", error="gelu_tanh")

GELU = Op(
    "Gelu",
    run=lambda xp, x, approximate="none": xp.gelu_tanh(x) if approximate == "tanh" else xp.gelu(x),
    bound=_gelu,
    overflow="NP214",
    error="gelu",
    samples=Samples((0.0, 1.0, GELU_TURN, -4.0, -6.0, 5.0), cases=(Case(_CASE), Case(_CASE, {"approximate": "tanh"}))),
)

OPS = (SIGMOID, ERF, SOFTPLUS, SOFTSIGN, SWISH, MISH, GELU)
