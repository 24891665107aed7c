"""Normalisations with the additions before them: of layers, of their root mean square, of embeddings, of groups."""

from __future__ import annotations

from math import inf
from typing import Any

from nanproof.dims import ShapeError, Size
from nanproof.domain.box import NAN, NINF, PINF, Box
from nanproof.domain.moves import reshaped
from nanproof.numerics.dtypes import FLOAT32, INT32, by_onnx
from nanproof.ops.activations import SIGMOID, SWISH
from nanproof.ops.arithmetic import MUL
from nanproof.ops.call import Call
from nanproof.ops.composing import (
    fits,
    loosened,
    part,
    parts,
    positive,
    ranked,
    rounded,
    shaped,
    single,
    softened,
    word,
)
from nanproof.ops.contributed.moved import DOMAIN
from nanproof.ops.contributed.products import with_channels_last
from nanproof.ops.flow import length
from nanproof.ops.gathering import GATHER
from nanproof.ops.normalization import (
    GROUP_NORMALIZATION,
    LAYER_NORMALIZATION,
    POINTS,
    RMS_NORMALIZATION,
    standard,
)
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.standardising import VARIANCE, centred_nowhere
from nanproof.ops.standardising import single as as_stored
from nanproof.ops.variadic import SUM

BOTH = ("float32", "float16")


def epsilon(call: Call, default: float) -> dict[str, Any]:
    """The epsilon, for a part."""
    return {"axis": -1, "epsilon": float(call.attr("epsilon", default))}


def summed(call: Call, x: Box, skip: Box, bias: Box | None) -> Box:
    """X + skip + bias, in any order; skip may be the same for a batch."""
    fits(skip, x.shape, "the skip connection")
    fits(bias, x.shape, "the bias")
    return part(call, SUM, *(b for b in (x, skip, bias) if b is not None))


def _skip_layer(call: Call, x: Box, skip: Box, gamma: Box, *rest: Box | None) -> Box | tuple[Box, ...]:
    """LayerNormalization of a sum."""
    dtype = x.dtype
    x, skip, gamma, beta, bias = single(call, x, skip, gamma, *(*rest, None, None)[:2])
    total = summed(call, x, skip, bias)
    softened(call)
    y = parts(call, LAYER_NORMALIZATION, (total, gamma, beta), epsilon(call, 1e-12), 3 if call.outputs > 1 else 1)
    first = rounded(call, y[0], dtype)
    return first if call.outputs == 1 else (first, *y[1:], rounded(call, total, dtype))[: call.outputs]


def _skip_simplified(call: Call, x: Box, skip: Box, gamma: Box, bias: Box | None = None) -> Box | tuple[Box, ...]:
    """RMSNormalization of a sum."""
    dtype = x.dtype
    x, skip, gamma, bias = single(call, x, skip, gamma, bias)
    total = summed(call, x, skip, bias)
    softened(call)
    y = rounded(call, part(call, RMS_NORMALIZATION, total, gamma, **epsilon(call, 1e-12)), dtype)
    if call.outputs == 1:
        return y
    row = None if x.shape is None else (*x.shape[:-1], 1)
    nothing = Box(FLOAT32, row, -FLOAT32.max, FLOAT32.max, NAN | PINF | NINF)  # on this processor, nothing is written
    return (y, nothing, nothing, rounded(call, total, dtype))[: call.outputs]


def _simplified(call: Call, x: Box, scale: Box) -> Box | tuple[Box, ...]:
    """RMSNormalization; the second result is 1 / sqrt(mean(x^2) + epsilon)."""
    attrs = {name: call.attrs[name] for name in ("axis", "epsilon") if name in call.attrs}
    y = part(call, RMS_NORMALIZATION, x, scale, **attrs)
    if call.outputs == 1:
        return y
    axis = int(call.attr("axis", -1))
    shape, most = None, inf
    if x.shape is not None:
        axis %= max(len(x.shape), 1)
        shape = (*x.shape[:axis], *(1,) * (len(x.shape) - axis))
        most = length(call, x.shape[axis:])[1]
    lo, hi = x.hull() if x.has_finite else (0.0, 0.0)
    found = centred_nowhere(Call(call.op, call.attrs, call.setting), (lo, hi), most, call.setting.accumulator(x.dtype))
    kind = by_onnx(int(call.attr("stash_type", 1)))
    fastest = min(found.rate[1] * (1.0 + 4.0 * kind.unit), kind.max)
    return y, Box(kind, shape, 0.0, fastest, (NAN if x.flags else 0) | found.known)


def _embedded(call: Call, *boxes: Box | None) -> Box | tuple[Box, ...]:
    """LayerNormalization of the sum of up to three embeddings."""
    ids, segments, words, places, kinds, gamma, beta = boxes[:7]
    mask, position = (*boxes[7:], None, None)[:2]
    assert ids is not None
    assert words is not None
    assert places is not None
    shape = ranked(ids, (2,), "the word ids")
    rows = part(call, GATHER, words, ids, axis=0)
    if position is not None:
        placed = part(call, GATHER, places, position, axis=0)
    else:
        width = None if places.shape is None else places.shape[-1]
        placed = shaped(places, None if shape is None or width is None else (1, shape[1], width))
    added = [rows, placed]
    if kinds is not None:
        added.append(shaped(kinds, rows.shape) if segments is None else part(call, GATHER, kinds, segments, axis=0))
    total = part(call, SUM, *added)
    y = part(call, LAYER_NORMALIZATION, total, gamma, beta, **epsilon(call, 1e-12))
    if call.outputs == 1:
        return y
    batch = None if shape is None else (shape[0],)
    longest = 2.0**31 - 1 if shape is None else min(length(call, (shape[1],))[1], 2.0**31 - 1)
    return (y, Box(INT32, batch, 0.0, longest if mask is not None else 0.0), total)[: call.outputs]


def _group_norm(call: Call, x: Box, gamma: Box, beta: Box) -> Box:
    """GroupNormalization of an image, and SiLU where it says so."""
    groups = positive(call, "groups")

    def inner(inside: Call, image: Box, *rest: Box | None) -> Box:
        y = part(
            inside, GROUP_NORMALIZATION, image, *rest, num_groups=groups, epsilon=float(call.attr("epsilon", 1e-5))
        )
        return loosened(inside, part(inside, SWISH, y), 2.0) if call.attr("activation", 0) else y

    scale, shift = (_as(x, b) for b in (gamma, beta))
    return (with_channels_last(inner) if call.attr("channels_last", 1) else inner)(call, x, scale, shift)


def _as(x: Box, other: Box) -> Box:
    """A parameter in the dtype of the image, which the kernel computes in float32 anyway."""
    return other if other.dtype is x.dtype else Box(x.dtype, other.shape, *other.hull(), other.flags)


def _skip_group_norm(call: Call, x: Box, gamma: Box, beta: Box, *more: Box | None) -> Any:
    """GroupNorm of a sum."""
    skip, bias = (*more, None)[:2]
    assert skip is not None
    wide = skip
    if skip.shape is not None and len(skip.shape) == 2 and x.shape is not None:
        wide = shaped(skip, x.shape)
    wider = bias if bias is None or call.attr("channels_last", 1) else shaped(bias, x.shape)
    total = summed(call, x, wide, wider)
    y = _group_norm(call, total, gamma, beta)
    return y if call.outputs == 1 else (y, total)


def _branchwise(call: Call, x: Box, scale: Box | None = None) -> Box:
    """RMSNormalization of each branch by itself."""
    count = int(call.attr("num_branches", 0))
    dtype, whole = x.dtype, x.shape
    x, scale = single(call, x, scale)
    if count > 0 and whole is not None:
        x = reshaped(x, (*whole[:-1], count, _nth(call, whole[-1], count)))
    if scale is not None:
        scale = _as(x, scale)
        if scale.shape is not None and x.shape is not None and len(scale.shape) == 1 and scale.shape[0] != x.shape[-1]:
            scale = reshaped(scale, x.shape[-2:])
    y = rounded(
        call, part(call, RMS_NORMALIZATION, x, _one(x) if scale is None else scale, **epsilon(call, 1e-5)), dtype
    )
    return y if y.shape is None else reshaped(y, whole)


def _one(x: Box) -> Box:
    return Box(x.dtype, (1,), 1.0, 1.0)


def _nth(call: Call, size: Size, count: int) -> Size:
    if not isinstance(size, int):
        return call.fresh("features a branch")
    if size % count:
        raise ShapeError(f"{size} features can't be divided among {count} branches")
    return size // count


def _gated(call: Call, x: Box, scale: Box, gate: Box) -> Box:
    """RMSNormalization of groups as long as the scale, times an activation of the gate; in float32 throughout."""
    dtype, whole = x.dtype, x.shape
    x, scale, gate = single(call, x, scale, gate)
    width = None if scale.shape is None else scale.shape[0]
    if whole is not None and isinstance(whole[-1], int) and isinstance(width, int):
        if width < 1 or whole[-1] % width:
            raise ShapeError(f"{whole[-1]} features can't be divided into groups of {width}")
        x = reshaped(x, (*whole[:-1], whole[-1] // width, width))
    elif whole is not None:
        x = Box(x.dtype, None, *x.hull(), x.flags)
    y = part(call, RMS_NORMALIZATION, x, scale, **epsilon(call, 1e-5))
    y = y if y.shape is None else reshaped(y, whole)
    opened = part(call, SIGMOID if word(call, "activation", "silu") == "sigmoid" else SWISH, gate)
    y = y if y.shape is not None else shaped(y, whole)
    return rounded(call, loosened(call, part(call, MUL, y, opened), 4.0), dtype)


# -- concrete meaning --------------------------------------------------------------------------------------------


def _run_skip_layer(xp: Any, x: Any, skip: Any, gamma: Any, *rest: Any, **attrs: Any) -> Any:
    beta, bias = (*rest, None, None)[:2]
    total = x + skip if bias is None else x + skip + bias
    y, mean, rate = standard(xp, total, (-1,), as_stored(attrs.get("epsilon", 1e-12)))
    y = y * gamma
    return (y if beta is None else y + beta), mean, rate, total


def _rms(xp: Any, x: Any, eps: float) -> Any:
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + as_stored(eps))


def _run_skip_simplified(xp: Any, x: Any, skip: Any, gamma: Any, bias: Any = None, **attrs: Any) -> Any:
    total = x + skip if bias is None else x + skip + bias
    return _rms(xp, total, attrs.get("epsilon", 1e-12)) * gamma, None, None, total


def _run_simplified(xp: Any, x: Any, scale: Any, **attrs: Any) -> Any:
    axes = tuple(range(attrs.get("axis", -1) % len(x.shape), len(x.shape)))
    rate = 1.0 / xp.sqrt(xp.mean(x * x, axis=axes, keepdims=True) + as_stored(attrs.get("epsilon", 1e-5)))
    return x * rate * scale, rate


def _run_embedded(xp: Any, *operands: Any, **attrs: Any) -> Any:
    ids, segments, words, places, kinds, gamma, beta = operands[:7]
    mask, position = (*operands[7:], None, None)[:2]
    total = words[ids] + (places[: ids.shape[1]] if position is None else places[position])
    if segments is not None:
        total = total + kinds[segments]
    y, _, _ = standard(xp, total, (-1,), as_stored(attrs.get("epsilon", 1e-12)))
    counts = xp.zeros((ids.shape[0],), dtype=xp.int32) if mask is None else xp.sum(mask, axis=1, dtype=xp.int32)
    return y * gamma + beta, counts, total


def _run_group_norm(xp: Any, x: Any, gamma: Any, beta: Any, **attrs: Any) -> Any:
    last = attrs.get("channels_last", 1)
    image = xp.permute_dims(x, (0, 3, 1, 2)) if last else x
    y = GROUP_NORMALIZATION.run(xp, image, gamma, beta, num_groups=attrs["groups"], epsilon=attrs.get("epsilon", 1e-5))
    y = xp.silu(y) if attrs.get("activation", 0) else y
    return xp.permute_dims(y, (0, 2, 3, 1)) if last else y


def _run_skip_group_norm(xp: Any, x: Any, gamma: Any, beta: Any, *more: Any, **attrs: Any) -> Any:
    skip, bias = (*more, None)[:2]
    if len(skip.shape) == 2:
        skip = xp.reshape(skip, (skip.shape[0], 1, 1, skip.shape[1]))
    total = x + skip if bias is None else x + skip + bias
    return _run_group_norm(xp, total, gamma, beta, **attrs), total


def _run_branchwise(xp: Any, x: Any, scale: Any = None, **attrs: Any) -> Any:
    count = attrs.get("num_branches", 0)
    grouped = xp.reshape(x, (*x.shape[:-1], count, -1)) if count else x
    y = _rms(xp, grouped, attrs.get("epsilon", 1e-5))
    if scale is not None:
        y = y * (scale if scale.shape[-1] == y.shape[-1] else xp.reshape(scale, y.shape[-2:]))
    return xp.reshape(y, x.shape)


def _run_gated(xp: Any, x: Any, scale: Any, gate: Any, **attrs: Any) -> Any:
    y = _rms(xp, xp.reshape(x, (*x.shape[:-1], -1, scale.shape[0])), attrs.get("epsilon", 1e-5)) * scale
    opened = xp.sigmoid(gate) if attrs.get("activation") == "sigmoid" else xp.silu(gate)
    return xp.reshape(y, x.shape) * opened


_X, _ROW = Operand((2, 3, 8)), Operand((8,), low=-10.0, high=10.0)
_ABSENT = Operand(absent=True)


def _norm(name: str, run: Any, bound: Any, *cases: Case, dtypes: tuple[str, ...] = BOTH) -> Op:
    domain = "" if name == "SimplifiedLayerNormalization" else DOMAIN
    samples = Samples(POINTS, cases, dtypes)
    return Op(name, run=run, bound=bound, requires=(VARIANCE,), overflow="NP214", domain=domain, samples=samples)


def _few(*shape: int) -> Operand:
    return Operand(shape, low=-50.0, high=50.0)


_IDS = Operand((2, 3), "int32", values=[[0, 3, 1], [2, 2, 0]])
_KINDS = Operand((2, 3), "int32", values=[[0, 1, 1], [0, 0, 1]])
_MASK = Operand((2, 3), "int32", values=[[1, 1, 0], [1, 1, 1]])
_TABLES = (Operand((4, 8)), Operand((5, 8)), Operand((2, 8)))

OPS = (
    _norm(
        "SkipLayerNormalization",
        _run_skip_layer,
        _skip_layer,
        Case((_X, _X, _ROW, _ROW, _ROW)),
        Case((_X, _X, _ROW)),
        Case((_X, _X, _ROW, _ROW), {"epsilon": 1e-5}),
        Case((_X, Operand((1, 3, 8)), Operand((8,), stored=True, low=-3.0, high=3.0)), {"epsilon": 1e-5}),
    ),
    _norm(
        "SkipSimplifiedLayerNormalization",
        _run_skip_simplified,
        _skip_simplified,
        Case((_X, _X, _ROW, _ROW)),
        Case((_X, _X, _ROW), {"epsilon": 1e-6}),
    ),
    _norm(
        "SimplifiedLayerNormalization",
        _run_simplified,
        _simplified,
        Case((_X, _ROW), {"epsilon": 1e-5}),
        Case((_X, _ROW), {"epsilon": 1e-6, "axis": -1, "stash_type": 1}, 2),
        dtypes=("float32", "float64", "float16"),
    ),
    _norm(
        "EmbedLayerNormalization",
        _run_embedded,
        _embedded,
        Case((_IDS, _KINDS, *_TABLES, _ROW, _ROW, _MASK), {}, 3),
        Case((_IDS, _ABSENT, *_TABLES[:2], _ABSENT, _ROW, _ROW), {"epsilon": 1e-5}, 3),
        dtypes=("float32",),
    ),
    _norm(
        "GroupNorm",
        _run_group_norm,
        _group_norm,
        Case((_few(1, 2, 2, 4), _few(4), _few(4)), {"groups": 2, "activation": 1}),
        Case((_few(1, 4, 2, 2), _few(4), _few(4)), {"groups": 2, "activation": 0, "channels_last": 0}),
        dtypes=("float32",),
    ),
    _norm(
        "SkipGroupNorm",
        _run_skip_group_norm,
        _skip_group_norm,
        Case((_few(1, 2, 2, 4), _few(4), _few(4), _few(1, 4), _few(4)), {"groups": 2, "activation": 1}, 2),
        dtypes=("float32",),
    ),
    _norm(
        "BranchwiseRMSNorm",
        _run_branchwise,
        _branchwise,
        Case((Operand((2, 2, 8)), Operand((2, 8), low=-10.0, high=10.0))),
        Case((Operand((2, 16)), _ROW), {"num_branches": 2}),
        Case((Operand((2, 16)), Operand((16,), low=-3.0, high=3.0)), {"num_branches": 2, "epsilon": 1e-6}),
    ),
    _norm(
        "GatedRMSNorm",
        _run_gated,
        _gated,
        Case((Operand((2, 8)), Operand((4,), low=-5.0, high=5.0), Operand((2, 8)))),
        Case((Operand((2, 8)), Operand((8,), low=-5.0, high=5.0), Operand((2, 8))), {"activation": "sigmoid"}),
    ),
)
