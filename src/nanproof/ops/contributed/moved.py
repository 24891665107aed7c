"""Operators that ONNX Runtime has in a domain of its own and that mean what ONNX's mean, or nearly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nanproof.domain.box import Box
from nanproof.domain.moves import reshaped
from nanproof.numerics.dtypes import BOOL
from nanproof.ops.activations import SWISH
from nanproof.ops.call import Call
from nanproof.ops.composing import part
from nanproof.ops.gathering import GATHER, GATHER_ND
from nanproof.ops.padding import PAD
from nanproof.ops.pairs import within
from nanproof.ops.quantization import DEQUANTIZE, QUANTIZE
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.sampling import GRID_SAMPLE
from nanproof.ops.selecting import TRILU
from nanproof.ops.shaping import UNSQUEEZE

DOMAIN = "com.microsoft"


def contributed(op: Op, *cases: Case, dtypes: tuple[str, ...] = ("float32",), **changes: Any) -> Op:
    """ONNX's record of an operator that ONNX Runtime repeats; its cases, where they don't fit, are given anew."""
    samples = replace(op.samples, cases=cases or op.samples.cases, dtypes=dtypes)
    return replace(op, domain=DOMAIN, samples=samples, **changes)


def _quick_gelu(call: Call, x: Box) -> Box:
    """X * sigmoid(alpha * x): Swish with an alpha of 1.702."""
    inner = within(call, SWISH, alpha=call.attr("alpha", ALPHA))
    return SWISH.bound(inner, x)  # type: ignore[return-value]


ALPHA = 1.7020000219345093
"""The default of QuickGelu, as float32."""

QUICK_GELU = replace(
    SWISH,
    name="QuickGelu",
    domain=DOMAIN,
    run=lambda xp, x, alpha=ALPHA: SWISH.run(xp, x, alpha=alpha),
    bound=_quick_gelu,
    samples=Samples(
        (0.0, 1.0, -0.75, -18.0, -88.0),
        cases=(
            Case((Operand((2, 3)),)),
            Case((Operand((2, 3)),), {"alpha": 1.0}),
            Case((Operand((5,)),), {"alpha": -2.5}),
        ),
        dtypes=("float32", "float16"),
    ),
)


def _expand_dims(call: Call, x: Box, axis: Box) -> Box:
    """Unsqueeze along one axis."""
    return part(call, UNSQUEEZE, x, axis)


def _run_expand_dims(xp: Any, x: Any, axis: Any) -> Any:
    return xp.expand_dims(x, axis=int(axis))


EXPAND_DIMS = Op(
    "ExpandDims",
    run=_run_expand_dims,
    bound=_expand_dims,
    exact=True,
    grain=(1,),
    domain=DOMAIN,
    samples=Samples(
        cases=tuple(
            Case((Operand((2, 3)), Operand((), "int32", values=axis, stored=True))) for axis in (0, 1, 2, -1, -3)
        ),
        dtypes=("float32",),
    ),
)


def _embedding(call: Call, weight: Box, indices: Box, *_: Box | None) -> Box:
    """Rows of a table."""
    return GATHER.bound(within(call, GATHER, axis=0), weight, indices)  # type: ignore[return-value]


TORCH_EMBEDDING = Op(
    "TorchEmbedding",
    run=lambda xp, weight, indices, *_: weight[indices],
    bound=_embedding,
    exact=True,
    domain=DOMAIN,
    samples=Samples(
        cases=(
            Case((Operand((5, 3)), Operand((2, 2), "int64", values=[[0, 4], [1, 1]]))),
            Case((Operand((5, 3)), Operand((2,), "int64", low=0, high=4))),
        ),
        dtypes=("float32",),
    ),
)


def _all_finite(call: Call, *boxes: Box) -> Box:
    """True or false; certain where no operand can be special, or one has nothing else."""
    del call
    if any(not box.has_finite and box.flags for box in boxes):
        return Box(BOOL, (), 0.0, 1.0)
    return Box(BOOL, (), *((0.0, 1.0) if any(box.flags for box in boxes) else (1.0, 1.0)))


IS_ALL_FINITE = Op(
    "IsAllFinite",
    run=lambda xp, *xs, **_: xp.all(xp.stack([xp.all(xp.isfinite(x)) for x in xs])),
    bound=_all_finite,
    exact=True,
    result="bool",
    domain=DOMAIN,
    samples=Samples(cases=(Case((Operand((2, 3)), Operand((4,)))),), dtypes=("float32",)),
)


def _pads(call: Call, x: Box, pads: Box, value: Box | None = None) -> Box:
    """Pad, whose amounts may come as one row of a matrix."""
    flat = pads if pads.shape is None or len(pads.shape) < 2 else _row(pads)
    return PAD.bound(within(call, PAD, **call.attrs), x, flat, value)  # type: ignore[return-value]


_MODES = {"bilinear": "linear", "bicubic": "cubic"}


def _grid_attrs(attrs: Any) -> dict[str, Any]:
    return {**attrs, "mode": _MODES.get(attrs.get("mode", "bilinear"), "nearest")}


def _grid(call: Call, x: Box, grid: Box) -> Box:
    """GridSample, whose modes had other names."""
    return GRID_SAMPLE.bound(within(call, GRID_SAMPLE, **_grid_attrs(call.attrs)), x, grid)  # type: ignore[return-value]


_GRID_CASES = tuple(
    replace(case, attrs={**case.attrs, "mode": {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)})
    for case in GRID_SAMPLE.samples.cases
    for mode in [case.attrs.get("mode", "linear")]
    if len(case.operands[0].shape) == 4
)


def _row(box: Box) -> Box:
    assert box.shape is not None
    return reshaped(box, box.shape[1:])


OPS = (
    QUICK_GELU,
    EXPAND_DIMS,
    TORCH_EMBEDDING,
    IS_ALL_FINITE,
    contributed(GATHER_ND, *(c for c in GATHER_ND.samples.cases if not c.attrs)),
    contributed(TRILU),
    contributed(QUANTIZE, *(c for c in QUANTIZE.samples.cases if not c.attrs or set(c.attrs) == {"axis"})),
    contributed(DEQUANTIZE, *(c for c in DEQUANTIZE.samples.cases if not c.attrs or set(c.attrs) == {"axis"})),
    contributed(PAD, *(c for c in PAD.samples.cases if len(c.operands) < 4), bound=_pads),
    contributed(
        GRID_SAMPLE,
        *_GRID_CASES,
        bound=_grid,
        run=lambda xp, x, grid, **attrs: GRID_SAMPLE.run(xp, x, grid, **_grid_attrs(attrs)),
    ),
)
