"""Matrix products and convolutions with what ONNX Runtime fuses into them: transposes, factors, sums, activations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nanproof.domain.box import Box
from nanproof.domain.moves import transposed
from nanproof.numerics.rounding import nearest
from nanproof.ops.arithmetic import ADD, MUL
from nanproof.ops.call import Call
from nanproof.ops.composing import fits, loosened, magnitude, part, ranked, shaped, word
from nanproof.ops.contributed.activations import activated, gelu, parameters, run_activated, with_bias
from nanproof.ops.contributed.moved import DOMAIN
from nanproof.ops.convolution import CONV, CONV_TRANSPOSE
from nanproof.ops.gemm import GEMM
from nanproof.ops.matmul import MATMUL
from nanproof.ops.operands import ints
from nanproof.ops.record import Case, Op, Operand, Samples

POINTS = (0.0, 1.0, -1.0, 1e19, -1e19, 1e-30)
FLOATS = ("float32", "float64", "float16")

# -- matrix products ---------------------------------------------------------------------------------------------


def _order(rank: int, *, swap: bool, batch: bool) -> tuple[int, ...]:
    """The axes of an operand as the product sees them: with ``batch``, the rows come before the batch in memory."""
    order = list(range(rank))
    if batch and rank > 2:
        order = [*order[1:-1], 0, rank - 1]
    if swap and rank > 1:
        order[-1], order[-2] = order[-2], order[-1]
    return tuple(order)


def _turned(call: Call, box: Box, side: str) -> Box:
    if box.shape is None:
        return box
    swap, batch = bool(call.attr(f"trans{side}", 0)), bool(call.attr(f"transBatch{side}", 0))
    return transposed(box, _order(len(box.shape), swap=swap, batch=batch))


def _fused_matmul(call: Call, a: Box, b: Box) -> Box:
    """Alpha * A @ B, of operands whose axes may be turned."""
    total = part(call, MATMUL, _turned(call, a, "A"), _turned(call, b, "B"))
    alpha = float(call.attr("alpha", 1.0))
    if alpha == 1.0:
        return total
    rounded = nearest(total.dtype, alpha)
    scaled = part(call, MUL, total, Box(total.dtype, (), min(alpha, rounded), max(alpha, rounded)))
    room = abs(alpha) * _reach(a, b)
    return loosened(call, scaled, 4.0, min(room, total.dtype.max))


def _reach(a: Box, b: Box) -> float:
    """The largest sum of magnitudes in a product."""
    size = a.shape[-1] if a.shape else None
    other = max((n for n in a.shape or () if isinstance(n, int)), default=1)
    count = max(other, size if isinstance(size, int) else 1)
    return magnitude(a) * magnitude(b) * count


def _run_fused_matmul(xp: Any, a: Any, b: Any, **attrs: Any) -> Any:
    def turned(x: Any, side: str) -> Any:
        swap, batch = bool(attrs.get(f"trans{side}", 0)), bool(attrs.get(f"transBatch{side}", 0))
        return xp.permute_dims(x, _order(len(x.shape), swap=swap, batch=batch))

    return attrs.get("alpha", 1.0) * xp.matmul(turned(a, "A"), turned(b, "B"))


def _matmul_activation(call: Call, a: Box, b: Box) -> Box:
    """FusedMatMul, then an activation."""
    name = word(call, "activation", "Relu")
    return activated(call, _fused_matmul(call, a, b), name, _given(call))


def _given(call: Call) -> dict[str, float]:
    found = {name: call.attr(f"activation_{name}") for name in ("alpha", "beta", "gamma")}
    return {name: float(value) for name, value in found.items() if value is not None}


def _run_matmul_activation(xp: Any, a: Any, b: Any, **attrs: Any) -> Any:
    given = {k.removeprefix("activation_"): v for k, v in attrs.items() if k.startswith("activation_")}
    return run_activated(xp, _run_fused_matmul(xp, a, b, **attrs), attrs["activation"], given)


def _fused_gemm(call: Call, a: Box, b: Box, c: Box | None = None) -> Box:
    """Gemm, then an activation."""
    total = part(call, GEMM, a, b, c, **call.attrs)
    name = word(call, "activation", "")
    return activated(call, total, name, _given(call)) if name else total


def _run_fused_gemm(xp: Any, a: Any, b: Any, c: Any = None, **attrs: Any) -> Any:
    total = GEMM.run(xp, a, b, c, **attrs)
    given = {k.removeprefix("activation_"): v for k, v in attrs.items() if k.startswith("activation_")}
    return run_activated(xp, total, attrs["activation"], given) if attrs.get("activation") else total


def _gemm_gelu(call: Call, x: Box, w: Box, bias: Box | None = None) -> Box:
    """Gelu by tanh of x @ w + bias."""
    return loosened(call, gelu(call, with_bias(call, part(call, MATMUL, x, w), bias), tanh=True), 2.0)


def _few(*shape: int) -> Operand:
    """An operand whose products are far from the limits: no runtime on this processor has the operator."""
    return Operand(shape, low=-100.0, high=100.0)


_A, _B = Operand((2, 3, 4)), Operand((2, 4, 5))
_TURNED = (Operand((2, 4, 3)), Operand((2, 5, 4)))
_MATMULS = (
    Case((_A, _B), {"alpha": 0.125}),
    Case((Operand((3, 4)), Operand((4, 5), stored=True))),
    Case(_TURNED, {"transA": 1, "transB": 1, "alpha": -3.0}),
    Case((Operand((3, 4)), Operand((5, 4), stored=True)), {"transB": 1, "alpha": 0.3}),
)

FUSED_MATMUL = Op(
    "FusedMatMul",
    run=_run_fused_matmul,
    bound=_fused_matmul,
    overflow="NP206",
    infinite="NP213",
    domain=DOMAIN,
    samples=Samples(
        POINTS,
        (
            *_MATMULS,
            Case((Operand((3, 2, 4)), _B), {"transBatchA": 1}),
            Case((_A, Operand((4, 2, 5))), {"transBatchB": 1}),
        ),
        ("float32", "float64"),
    ),
)

TRANSPOSE_MATMUL = Op(
    "TransposeMatMul",
    run=_run_fused_matmul,
    bound=_fused_matmul,
    overflow="NP206",
    infinite="NP213",
    domain=DOMAIN,
    samples=Samples(POINTS, _MATMULS, ("float32",)),
)

FUSED_MATMUL_ACTIVATION = Op(
    "FusedMatMulActivation",
    run=_run_matmul_activation,
    bound=_matmul_activation,
    overflow="NP206",
    infinite="NP213",
    domain=DOMAIN,
    samples=Samples((0.0, 1.0), (Case((_few(3, 4), _few(4, 5)), {"activation": "Relu", "alpha": 0.5}),), ("float32",)),
)


def _gemm_case(**attrs: Any) -> Case:
    return Case((Operand((3, 4)), Operand((4, 5)), Operand((5,))), attrs)


FUSED_GEMM = Op(
    "FusedGemm",
    run=_run_fused_gemm,
    bound=_fused_gemm,
    overflow="NP206",
    infinite="NP213",
    domain=DOMAIN,
    samples=Samples(
        POINTS,
        (
            _gemm_case(activation="Relu"),
            _gemm_case(activation="LeakyRelu", activation_alpha=0.2, alpha=0.5),
            _gemm_case(activation="Sigmoid"),
            _gemm_case(activation="Tanh", beta=2.0),
            Case((Operand((3, 4)), Operand((4, 5), stored=True)), {"activation": "Relu"}),
        ),
        ("float32",),
    ),
)

GEMM_FAST_GELU = Op(
    "GemmFastGelu",
    run=lambda xp, x, w, bias=None: xp.gelu_tanh(xp.matmul(x, w) + (0.0 if bias is None else bias)),
    bound=_gemm_gelu,
    overflow="NP206",
    infinite="NP213",
    domain=DOMAIN,
    samples=Samples((0.0, 1.0, -1.0), (Case((Operand((3, 4)), Operand((4, 5)), Operand((5,)))),), ("float32",)),
)

# -- convolutions ------------------------------------------------------------------------------------------------

_CONV = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")


def _conv_attrs(call: Call) -> dict[str, Any]:
    return {name: call.attrs[name] for name in _CONV if name in call.attrs}


def _fused_conv(call: Call, x: Box, w: Box, b: Box | None = None, z: Box | None = None) -> Box:
    """Conv, plus a tensor of the result's shape, then an activation."""
    total = part(call, CONV, x, w, b, **_conv_attrs(call))
    if z is not None:
        fits(z, total.shape, "the sum")
        size = magnitude(total) + magnitude(z)
        total = loosened(call, part(call, ADD, total, z), 2.0, min(size, total.dtype.max))
    name = word(call, "activation", "")
    values = tuple(float(v) for v in call.attr("activation_params", ()))
    return activated(call, total, name, parameters(name, values)) if name else total


def _run_fused_conv(xp: Any, x: Any, w: Any, b: Any = None, z: Any = None, **attrs: Any) -> Any:
    y = CONV.run(xp, x, w, b, **{k: v for k, v in attrs.items() if k in _CONV})
    y = y if z is None else y + z
    name = attrs.get("activation", "")
    return run_activated(xp, y, name, parameters(name, attrs.get("activation_params", ()))) if name else y


def _last(rank: int) -> tuple[int, ...]:
    """Channels from the second place to the last."""
    return (0, *range(2, rank), 1)


def _second(rank: int) -> tuple[int, ...]:
    """Channels from the last place to the second."""
    return (0, rank - 1, *range(1, rank - 1))


def with_channels_last(bound: Callable[..., Box]) -> Callable[..., Box]:
    """The bound of an operator over images whose channels come last, and weights as ONNX has them or channels last too."""

    def outer(call: Call, x: Box, *rest: Box | None) -> Box:
        shape = ranked(x, (3, 4, 5), "the image")
        if shape is None:
            found = bound(call, x, *rest)
            return Box(found.dtype, None, *found.hull(), found.flags)
        inner = [transposed(x, _second(len(shape)))]
        if len(rest) > 2 and rest[2] is not None and rest[2].shape is not None:
            rest = (*rest[:2], transposed(rest[2], _second(len(shape))))
        found = bound(call, *inner, *rest)
        return transposed(found, _last(len(shape))) if found.shape is not None else found

    outer.__doc__ = bound.__doc__
    return outer


def _channels_last(xp: Any, x: Any, *rest: Any, run: Callable[..., Any] = _run_fused_conv, **attrs: Any) -> Any:
    rank = len(x.shape)
    if len(rest) > 2 and rest[2] is not None:
        rest = (*rest[:2], xp.permute_dims(rest[2], _second(rank)))
    y = run(xp, xp.permute_dims(x, _second(rank)), *rest, **attrs)
    return xp.permute_dims(y, _last(rank))


def _dynamic_pads(call: Call, x: Box, w: Box, pads: Box | None = None, b: Box | None = None) -> Box:
    """ConvTranspose, whose pads come as an operand."""
    known = () if pads is None else ints(pads)
    if known is not None:
        more = {"pads": known} if known else {}
        return part(call, CONV_TRANSPOSE, x, w, b, **{**call.attrs, **more})
    found = part(call, CONV_TRANSPOSE, x, w, b, **call.attrs)
    return shaped(found, None)


def _run_dynamic_pads(xp: Any, x: Any, w: Any, pads: Any = None, b: Any = None, **attrs: Any) -> Any:
    more = {} if pads is None else {"pads": tuple(int(p) for p in pads)}
    return CONV_TRANSPOSE.run(xp, x, w, b, **attrs, **more)


_IMAGE, _KERNEL, _BIAS = Operand((1, 2, 4, 4)), Operand((3, 2, 2, 2)), Operand((3,))
_STORED = Operand((3, 2, 2, 2), stored=True)


def _convs(image: Operand, kernel: Operand, more: Sequence[Operand]) -> tuple[Case, ...]:
    return (
        Case((image, kernel, _few(3)), {"activation": "Relu"}),
        Case(
            (image, _KERNEL if kernel.stored else kernel, _few(3)),
            {"activation": "Clip", "activation_params": (0.0, 6.0), "strides": (2, 2)},
        ),
        Case((image, kernel, _few(3), *more), {"activation": "Relu"}),
        Case((image, kernel), {"activation": "LeakyRelu", "activation_params": (0.1,), "pads": (1, 1, 1, 1)}),
        Case((image, kernel), {"activation": "HardSigmoid", "activation_params": (0.2, 0.5)}),
    )


FUSED_CONV = Op(
    "FusedConv",
    run=_run_fused_conv,
    bound=_fused_conv,
    overflow="NP206",
    infinite="NP213",
    domain=DOMAIN,
    samples=Samples(POINTS, _convs(_IMAGE, _STORED, (Operand((1, 3, 3, 3)),)), ("float32",)),
)

NHWC_FUSED_CONV = Op(
    "NhwcFusedConv",
    run=_channels_last,
    bound=with_channels_last(_fused_conv),
    overflow="NP206",
    infinite="NP213",
    domain=DOMAIN,
    samples=Samples((0.0, 1.0), _convs(_few(1, 4, 4, 2), _few(3, 2, 2, 2), (_few(1, 3, 3, 3),)), ("float32",)),
)

NHWC_CONV = Op(
    "NhwcConv",
    run=_channels_last,
    bound=with_channels_last(_fused_conv),
    overflow="NP206",
    infinite="NP213",
    domain=DOMAIN,
    samples=Samples(
        (0.0, 1.0), (Case((_few(1, 4, 4, 2), _few(3, 2, 2, 2), _few(3)), {"pads": (1, 1, 1, 1)}),), ("float32",)
    ),
)

CONV_TRANSPOSE_WITH_DYNAMIC_PADS = Op(
    "ConvTransposeWithDynamicPads",
    run=_run_dynamic_pads,
    bound=_dynamic_pads,
    overflow="NP206",
    infinite="NP213",
    grain=(2,),
    domain=DOMAIN,
    samples=Samples(
        POINTS,
        (
            Case(
                (Operand((1, 2, 3, 3)), Operand((2, 2, 2, 2)), Operand((4,), "int64", values=(1, 0, 0, 1), stored=True))
            ),
            Case(
                (
                    Operand((1, 2, 3, 3)),
                    Operand((2, 2, 2, 2), stored=True),
                    Operand((4,), "int64", values=(0, 0, 0, 0), stored=True),
                    Operand((2,)),
                ),
                {"strides": (2, 2)},
            ),
        ),
        ("float32",),
    ),
)

OPS = (
    FUSED_MATMUL,
    TRANSPOSE_MATMUL,
    FUSED_MATMUL_ACTIVATION,
    FUSED_GEMM,
    GEMM_FAST_GELU,
    FUSED_CONV,
    NHWC_FUSED_CONV,
    NHWC_CONV,
    CONV_TRANSPOSE_WITH_DYNAMIC_PADS,
)
