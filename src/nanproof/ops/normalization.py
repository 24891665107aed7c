"""Normalisation of layers, groups, instances and batches: a standardised number, scaled and shifted."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from nanproof.dims import Size
from nanproof.domain.box import NAN, NINF, PINF, Box, Shape
from nanproof.domain.moves import reshaped
from nanproof.domain.partition import Blocks, aligned, fine
from nanproof.numerics.dtypes import FLOAT32, DType, by_onnx
from nanproof.ops.call import Call
from nanproof.ops.flow import length, partial_flags, settled, without_finite
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.standardising import VARIANCE, Standardised, centred_nowhere, single, standardise

SHORT = 32.0
"""Rows below this length may be folded by ONNX Runtime: x * r - mean * r instead of (x - mean) * r.

Measured: it does so below 8 elements in float32 and below 16 in float64, and in no longer row.
"""


def _stash(call: Call, dtype: DType) -> DType:
    """The dtype that the first stage is computed in; ONNX Runtime keeps to float64."""
    if dtype.bits == 64 and call.setting.runtime == "onnxruntime":
        return dtype
    stash = _statistics(call)
    return stash if stash.bits >= 32 else call.setting.accumulator(dtype)


def _statistics(call: Call) -> DType:
    """The dtype of the statistics that come out."""
    code = int(call.attr("stash_type", 1))
    return by_onnx(code) if code else FLOAT32


def scaled(call: Call, x: Box, found: Standardised, scale: Box | None, bias: Box | None) -> Box:
    """Y = standardised * scale + bias, element by element of what is known of scale and bias.

    Scale and bias broadcast to the result, which has the operand's shape. A row with NaN or Inf is NaN.
    """
    dtype, shape, limit = x.dtype, x.shape, x.dtype.max
    # the standardised number may be rounded to the result's dtype before it is scaled
    low, high = (_outward(end, found.reach, dtype) for end in found.ends)
    parts = [b for b in (scale, bias) if b is not None]
    if any(without_finite(b) for b in parts):
        return Box(dtype, shape, inf, -inf)
    if any(not b.has_finite for b in parts):
        return call.unknown(dtype, shape)
    if found.known and found.reach == inf:
        return call.unknown(dtype, shape)
    cuts, (sl, sh), (bl, bh) = _parameters(call, x, scale, bias)
    flags = (NAN if x.flags else 0) | found.known
    for b in parts:
        flags |= b.flags
    if scale is not None and scale.flags & ~NAN:  # times a standardised number of either sign, or 0
        flags |= NAN | PINF | NINF
    if type(sl) is float and type(bl) is float and not flags:
        return _one_scaled(call, x, found, ((low, high), (sl, sh), (bl, bh)))
    factor = np.maximum(-np.asarray(sl), sh)
    corners = [np.where(np.equal(s, 0.0), 0.0, s * end) for s in (sl, sh) for end in (low, high)]
    below, above = np.minimum.reduce(corners), np.maximum.reduce(corners)
    sizes = np.maximum(-below, above)
    slack = np.where(sizes < inf, (sizes + np.maximum(-np.asarray(bl), bh)) * (8.0 * dtype.unit), 0.0)
    slack = np.where(sizes == 0.0, slack, slack + 4.0 * dtype.quantum)
    low, high = bl + below, bh + above
    born = found.born
    if found.product and not np.max(factor) * found.product <= limit:
        born |= NAN | PINF | NINF  # the two products overflow before their difference is taken
    over, under = bool(np.any(high + slack > limit)), bool(np.any(low - slack < -limit))
    born |= partial_flags(dtype, over, under)
    if cuts is None:
        return settled(call, dtype, (shape, None), (float(low), float(high), float(slack)), flags=flags, born=born)
    grid = tuple(1 if c is None else len(c) - 1 for c in cuts)
    ends = tuple(np.broadcast_to(e, grid) for e in (low, high, slack))
    return settled(call, dtype, (shape, cuts), ends, flags=flags, born=born)  # type: ignore[arg-type]


def _one_scaled(call: Call, x: Box, found: Standardised, ends: tuple[tuple[float, float], ...]) -> Box:
    """``scaled`` where one scale and one bias stand for all, and nothing special is among them: in floats."""
    (low, high), (sl, sh), (bl, bh) = ends
    dtype, limit = x.dtype, x.dtype.max
    corners = [s * end if s else 0.0 for s in (sl, sh) for end in (low, high)]
    below, above = min(corners), max(corners)
    size = max(-below, above)
    slack = (size + max(-bl, bh)) * (8.0 * dtype.unit) if size < inf else 0.0
    slack += 4.0 * dtype.quantum if size else 0.0
    born = found.born
    if found.product and not max(-sl, sh) * found.product <= limit:
        born |= NAN | PINF | NINF  # the two products overflow before their difference is taken
    low, high = bl + below, bh + above
    born |= partial_flags(dtype, high + slack > limit, low - slack < -limit)
    return settled(call, dtype, (x.shape, None), (low, high, slack), born=born)


def _outward(end: float, reach: float, dtype: DType) -> float:
    """An end of a standardised number, within its reach and the dtype, one rounding further out."""
    end = max(min(end, reach), -reach)
    if reach > dtype.max:
        return end
    return end + (2.0 if end > 0 else -2.0) * dtype.unit * abs(end) if end else 0.0


def _parameters(call: Call, x: Box, scale: Box | None, bias: Box | None) -> tuple[Any, Any, tuple[Any, Any]]:
    """Common cuts, and the ends of the scale and of the bias."""
    parts = [b for b in (scale, bias) if b is not None]
    if x.shape is None or call.setting.budget == 1 or any(b.shape is None for b in parts):
        sl, sh = (1.0, 1.0) if scale is None else scale.hull()
        return None, (float(sl), float(sh)), (0.0, 0.0) if bias is None else bias.hull()
    base = Box(x.dtype, x.shape, 0.0, 0.0)
    cuts, blocks = aligned([base, *(fine(b, call.setting.budget) for b in parts)], len(x.shape))
    ends = iter(blocks[1:])
    one, two = (next(ends) if b is not None else None for b in (scale, bias))
    return cuts, _filled(one, 1.0), _filled(two, 0.0)


def _filled(blocks: Blocks | None, default: float) -> tuple[Any, Any]:
    """The ends of an operand; of its blocks without a finite value, 0."""
    if blocks is None:
        return default, default
    void = np.asarray(blocks.lo) > np.asarray(blocks.hi)
    return np.where(void, 0.0, blocks.lo), np.where(void, 0.0, blocks.hi)


def _column(box: Box | None, rank: int) -> Box | None:
    """A vector over channels, as a tensor of the image's rank."""
    if box is None or box.shape is None:
        return box
    return reshaped(box, (*box.shape, *(1,) * (rank - 2)))


def _ends(x: Box) -> tuple[float, float]:
    lo, hi = x.hull()
    return (lo, hi) if lo <= hi else (0.0, 0.0)


def _empty(call: Call, x: Box, shape: Shape) -> bool:
    return without_finite(x) or (shape is not None and 0 in shape)


def _layer(call: Call, x: Box, scale: Box | None = None, bias: Box | None = None) -> Box | tuple[Box, ...]:
    """A row is bounded by sqrt(n) whatever it holds: no class knows that the parts belong together."""
    dtype, stash = x.dtype, _statistics(call)
    _, rest, shape = _axes(call, x)
    if _empty(call, x, x.shape):
        outer = None if x.shape is None else shape
        return (
            tuple(Box(d, s, inf, -inf) for d, s in ((dtype, x.shape), (stash, outer), (stash, outer)))[: call.outputs]
            if call.outputs > 1
            else Box(dtype, x.shape, inf, -inf)
        )
    least, most = length(call, rest) if rest is not None else (0.0, inf)
    folded = call.setting.runtime != "onnxruntime" or least < SHORT
    found = standardise(call, _ends(x), most, _stash(call, dtype), folded=folded)
    y = scaled(call, x, found, scale, bias)
    if call.outputs == 1:
        return y
    place: Any = (shape, None)
    born = NAN | PINF | NINF if found.born else 0
    mean = settled(call, stash, place, (*found.mean, 0.0), flags=(x.flags | NAN) if x.flags else 0, born=born)
    fastest = min(found.rate[1], stash.max)
    rate = Box(stash, shape, 0.0, fastest, (NAN if x.flags else 0) | born | found.known)
    return (y, mean, rate)[: call.outputs]


def _axes(call: Call, x: Box) -> tuple[int, tuple[Size, ...] | None, Shape]:
    """The first normalised axis, the sizes from there on, and the shape of the statistics."""
    axis = int(call.attr("axis", -1))
    if x.shape is None:
        return axis, None, None
    axis %= max(len(x.shape), 1)
    return axis, x.shape[axis:], (*x.shape[:axis], *(1,) * (len(x.shape) - axis))


def _rms(call: Call, x: Box, scale: Box | None = None) -> Box:
    """As LayerNormalization, without a mean."""
    _, rest, _ = _axes(call, x)
    if _empty(call, x, x.shape):
        return Box(x.dtype, x.shape, inf, -inf)
    most = length(call, rest)[1] if rest is not None else inf
    found = centred_nowhere(call, _ends(x), most, _stash(call, x.dtype))
    if x.flags:  # next to an infinity everything is 0
        found = found._replace(ends=(min(found.ends[0], 0.0), max(found.ends[1], 0.0)))
    return scaled(call, x, found, scale, None)


def _instance(call: Call, x: Box, scale: Box, bias: Box) -> Box:
    """Each channel of each image by itself."""
    if _empty(call, x, x.shape):
        return Box(x.dtype, x.shape, inf, -inf)
    most, rank = _count(call, x, 2)
    accumulator = call.setting.accumulator(x.dtype)
    found = standardise(call, _ends(x), most, accumulator, folded=True)
    return scaled(call, x, found, _column(scale, rank), _column(bias, rank))


def _count(call: Call, x: Box, first: int) -> tuple[float, int]:
    if x.shape is None:
        return inf, 2
    return length(call, x.shape[first:])[1], len(x.shape)


def _group(call: Call, x: Box, scale: Box, bias: Box) -> Box:
    """Some channels of an image at a time.

    Runtimes that follow the operator's own definition compute the variance as E[x^2] - E[x]^2.
    """
    if _empty(call, x, x.shape):
        return Box(x.dtype, x.shape, inf, -inf)
    most, rank = _count(call, x, 1)
    groups = max(int(call.attr("num_groups", 1)), 1)
    one_pass = call.setting.runtime != "torch"
    stash = _statistics(call) if one_pass else _stash(call, x.dtype)
    if stash.bits < 32:
        stash = call.setting.accumulator(x.dtype)
    found = standardise(call, _ends(x), most / groups, stash, one_pass=one_pass, folded=True)
    return scaled(call, x, found, _column(scale, rank), _column(bias, rank))


def _mean_variance(call: Call, x: Box) -> Box:
    """Without an epsilon, a constant row is 0 / 0, and a nearly constant one as large as its variance is wrong."""
    if _empty(call, x, x.shape):
        return Box(x.dtype, x.shape, inf, -inf)
    lo, hi = _ends(x)
    call.fail(VARIANCE, (0.0, (hi - lo) ** 2 if hi - lo < 1e150 else inf), never=lo == hi)
    return call.unknown(x.dtype, x.shape)


# -- concrete meaning -------------------------------------------------------------------------


def standard(xp: Any, x: Any, axes: tuple[int, ...], epsilon: float) -> tuple[Any, Any, Any]:
    """The standardised tensor, its mean and its inverse standard deviation."""
    mean = xp.mean(x, axis=axes, keepdims=True)
    d = x - mean
    rate = 1.0 / xp.sqrt(xp.mean(d * d, axis=axes, keepdims=True) + epsilon)
    return d * rate, mean, rate


def _run_layer(xp: Any, x: Any, scale: Any = None, bias: Any = None, **attrs: Any) -> Any:
    axes = tuple(range(attrs.get("axis", -1) % len(x.shape), len(x.shape)))
    y, mean, rate = standard(xp, x, axes, single(attrs.get("epsilon", 1e-5)))
    y = y if scale is None else y * scale
    return (y if bias is None else y + bias), mean, rate


def _run_rms(xp: Any, x: Any, scale: Any, axis: int = -1, epsilon: float = 1e-5, **_: Any) -> Any:
    axes = tuple(range(axis % len(x.shape), len(x.shape)))
    return x / xp.sqrt(xp.mean(x * x, axis=axes, keepdims=True) + single(epsilon)) * scale


def column_of(xp: Any, vector: Any, like: Any) -> Any:
    """A vector over the channels of an image."""
    return xp.reshape(vector, (1, -1, *(1,) * (len(like.shape) - 2)))


def _run_instance(xp: Any, x: Any, scale: Any, bias: Any, epsilon: float = 1e-5) -> Any:
    y, _, _ = standard(xp, x, tuple(range(2, len(x.shape))), single(epsilon))
    return y * column_of(xp, scale, x) + column_of(xp, bias, x)


def _run_group(xp: Any, x: Any, scale: Any, bias: Any, **attrs: Any) -> Any:
    grouped = xp.reshape(x, (x.shape[0], attrs["num_groups"], -1))
    y, _, _ = standard(xp, grouped, (2,), single(attrs.get("epsilon", 1e-5)))
    return xp.reshape(y, x.shape) * column_of(xp, scale, x) + column_of(xp, bias, x)


def _run_mean_variance(xp: Any, x: Any, axes: Sequence[int] = (0, 2, 3)) -> Any:
    return standard(xp, x, tuple(axes), 0.0)[0]


POINTS = (0.0, 1.0, -1.0, 1e4, 1e-4, 1e-20, 1e10, 1e19, 3e38)
FLOATS = ("float32", "float64", "float16")


def _case(*operands: Operand, outputs: int = 1, **attrs: Any) -> Case:
    return Case(operands, attrs, outputs)


def _vector(n: int, *, stored: bool = False) -> Operand:
    return Operand((n,), low=-10.0, high=10.0, stored=stored)


LAYER_NORMALIZATION = Op(
    "LayerNormalization",
    run=_run_layer,
    bound=_layer,
    requires=(VARIANCE,),
    overflow="NP214",
    samples=Samples(
        POINTS,
        (
            _case(Operand((3, 4)), _vector(4), _vector(4)),
            _case(Operand((2, 3, 4)), _vector(4, stored=True), _vector(4, stored=True)),
            _case(Operand((3, 4)), _vector(4)),
            _case(Operand((2, 3, 4)), Operand((3, 4), low=-3.0, high=3.0), axis=1),
            _case(Operand((2, 16)), _vector(16), _vector(16), outputs=3, epsilon=1e-12),
        ),
        FLOATS,
    ),
)

RMS_NORMALIZATION = Op(
    "RMSNormalization",
    run=_run_rms,
    bound=_rms,
    requires=(VARIANCE,),
    overflow="NP214",
    samples=Samples(
        POINTS,
        (
            _case(Operand((3, 4)), _vector(4)),
            _case(Operand((2, 3, 4)), _vector(4, stored=True), epsilon=1e-6),
            _case(Operand((2, 3, 4)), Operand((3, 4), low=-3.0, high=3.0), axis=1),
        ),
        FLOATS,
    ),
)

INSTANCE_NORMALIZATION = Op(
    "InstanceNormalization",
    run=_run_instance,
    bound=_instance,
    requires=(VARIANCE,),
    overflow="NP214",
    samples=Samples(
        POINTS,
        (
            _case(Operand((2, 3, 4)), _vector(3), _vector(3)),
            _case(Operand((1, 2, 3, 4)), _vector(2, stored=True), _vector(2, stored=True)),
        ),
        ("float32", "float16"),
    ),
)

GROUP_NORMALIZATION = Op(
    "GroupNormalization",
    run=_run_group,
    bound=_group,
    requires=(VARIANCE,),
    overflow="NP214",
    samples=Samples(
        POINTS,
        (
            _case(Operand((2, 4, 3)), _vector(4), _vector(4), num_groups=2),
            _case(Operand((1, 4, 2, 2)), _vector(4, stored=True), _vector(4, stored=True), num_groups=1),
        ),
        FLOATS,
    ),
)

MEAN_VARIANCE_NORMALIZATION = Op(
    "MeanVarianceNormalization",
    run=_run_mean_variance,
    bound=_mean_variance,
    requires=(VARIANCE,),
    overflow="NP214",
    samples=Samples(POINTS, (_case(Operand((2, 3, 2, 2))), _case(Operand((2, 3, 4)), axes=(0, 2))), ("float32",)),
)

OPS = (
    LAYER_NORMALIZATION, RMS_NORMALIZATION, INSTANCE_NORMALIZATION, GROUP_NORMALIZATION,
    MEAN_VARIANCE_NORMALIZATION,
)  # fmt: skip
