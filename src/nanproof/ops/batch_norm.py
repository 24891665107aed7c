"""Batch normalisation: channel by channel, with stored statistics or those of the batch."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from nanproof.domain.box import NAN, NINF, PINF, Array, Box, Shape
from nanproof.domain.moves import reshaped
from nanproof.domain.partition import Cuts, aligned, everywhere, fine
from nanproof.numerics import scalar
from nanproof.numerics.dtypes import DType
from nanproof.ops.call import Call
from nanproof.ops.conditions import Attribute, Requirement
from nanproof.ops.conditions import Operand as Term
from nanproof.ops.flow import FEW, length, product_flags, settled, sum_flags, without_finite
from nanproof.ops.normalization import column_of, scaled
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.standardising import epsilon_of, single, standardise

STORED = Requirement("NP112", Term(4, "var") + Attribute("epsilon", 1e-5) > 0, NAN | PINF | NINF, operand=4)
ROUNDINGS = 16.0
"""Roundings between x and the result, of either way to fold the statistics into a factor and a shift."""


def _batch(call: Call, x: Box, scale: Box, bias: Box, mean: Box, var: Box) -> Box | tuple[Box, ...]:  # noqa: PLR0917
    """(x - mean) / sqrt(var + eps) * scale + bias: for each channel a line, whose slope the statistics give."""
    if call.attr("training_mode", 0):
        return _training(call, (x, scale, bias, mean, var))
    parts = (scale, bias, mean, var)
    known = _known_line(call, x, parts)
    if known is not None:
        return known
    if any(without_finite(b) for b in (x, *parts)) or (x.shape is not None and any(n == 0 for n in x.shape)):
        return Box(x.dtype, x.shape, inf, -inf)
    if any(b.flags or not b.has_finite for b in parts):
        # an infinite variance makes its channel constant, and so on: anything, out of finite operands too
        call.overflowed(-inf, inf, x.dtype, NAN | PINF | NINF, never=False)
        return call.unknown(x.dtype, x.shape)
    cuts, ends, marks = _lined_up(call, x, parts)
    return _line(call, x, (x.shape, cuts), (ends, marks), flat=bool(var.flags & PINF))


def _known_line(call: Call, x: Box, parts: tuple[Box, ...]) -> Box | None:
    """The fast path, with stored statistics: each channel has one line. None for whatever else there is."""
    dtype, shape = x.dtype, x.shape
    if x.flags or shape is None or len(shape) < 2 or 0 in shape or not dtype.is_float:
        return None
    stored: list[Array] = []
    for b in parts:
        if b.known is None or b.flags or b.known.ndim != 1 or (stored and len(b.known) != len(stored[0])):
            return None
        stored.append(b.known)
    accumulator = call.setting.accumulator(dtype)
    eps = epsilon_of(call, accumulator)
    channels = len(stored[0])
    if x.cuts is None and 0 < channels <= FEW and (call.setting.budget == 1 or channels == 1):
        if not x.lo <= x.hi:
            return None
        found = _few_channels((x.lo, x.hi), stored, eps, accumulator)  # type: ignore[arg-type]
        return None if found is None else call.settle(dtype, shape, *found)
    scale, bias, mean, var = (values.astype(np.float64) for values in stored)
    xl, xh = _ends_by_channel(x, channels)
    if xl is None or not var.size or not np.minimum.reduce(var) + eps > 0.0:
        return None
    lo, hi, peak = _channel(np, (xl, xh), (scale, bias, mean, var), eps, accumulator)
    if not float(np.maximum.reduce(peak)) <= accumulator.max:
        return None
    if call.setting.budget == 1 or channels == 1:
        return call.settle(dtype, shape, float(np.minimum.reduce(lo)), float(np.maximum.reduce(hi)))
    rest = len(shape) - 2
    cuts: Cuts = (None, everywhere(channels), *(None,) * rest)
    grid = (1, -1, *(1,) * rest)
    return call.settle(dtype, shape, lo.reshape(grid), hi.reshape(grid), cuts=cuts)


def _few_channels(
    ends: tuple[float, float], stored: list[Array], eps: float, accumulator: DType
) -> tuple[float, float] | None:
    """The hull over some channels, one by one. None where the fast path has no answer."""
    low, high = inf, -inf
    for line in zip(*[values.tolist() for values in stored], strict=True):
        if not line[3] + eps > 0.0:
            return None
        lo, hi, peak = _channel(scalar, ends, line, eps, accumulator)
        if not peak <= accumulator.max:
            return None
        low, high = min(low, lo), max(high, hi)
    return low, high


def _channel(
    xp: Any, x: tuple[Any, Any], line: tuple[Any, ...], eps: float, accumulator: DType
) -> tuple[Any, Any, Any]:
    """Ends of a channel with their slack, and the largest number met on the way; floats, or arrays over channels."""
    xl, xh = x
    scale, bias, mean, var = line
    slope = scale / xp.sqrt(var + eps)
    one, other = slope * (xl - mean), slope * (xh - mean)
    steep = abs(slope)
    sizes = xp.maximum(-xl, xh) + abs(mean)
    whole = steep * sizes + abs(bias)
    slack = whole * (ROUNDINGS * accumulator.unit) + (ROUNDINGS * accumulator.quantum) * (1.0 + sizes + abs(scale))
    peak = xp.maximum(whole, steep) * (1.0 + 8.0 * accumulator.unit) + slack
    return xp.minimum(one, other) + bias - slack, xp.maximum(one, other) + bias + slack, peak


def _ends_by_channel(x: Box, channels: int) -> tuple[Any, Any]:
    """The operand's ends as numbers or by channel; (None, None) where it is cut otherwise or has no finite value."""
    if x.cuts is None:
        return (x.lo, x.hi) if x.lo <= x.hi else (None, None)
    others = any(c is not None for i, c in enumerate(x.cuts) if i != 1)
    if others or x.cuts[1] != everywhere(channels) or not np.all(np.less_equal(x.lo, x.hi)):
        return None, None
    return np.reshape(x.lo, -1), np.reshape(x.hi, -1)


def _lined_up(call: Call, x: Box, parts: tuple[Box, ...]) -> tuple[Cuts | None, list[tuple[Any, Any]], Any]:
    """Ends of the operand and of the parameters at common cuts."""
    marks: Any
    if x.shape is None or any(b.shape is None for b in parts):
        return None, [b.hull() for b in (x, *parts)], _flow(x, parts, x.flags)
    rank = len(x.shape)
    if rank > 1:
        tall = [reshaped(fine(b, call.setting.budget), (*(b.shape or ()), *(1,) * (rank - 2))) for b in parts]
    else:
        tall = list(parts)
    cuts, blocks = aligned([x, *tall], rank)
    ends: list[tuple[Any, Any]] = []
    for block in blocks:
        void = np.asarray(block.lo) > np.asarray(block.hi)
        ends.append((block.lo, block.hi) if not np.any(void) else (
            np.where(void, 0.0, block.lo), np.where(void, 0.0, block.hi)))  # fmt: skip
    marks = 0 if blocks[0].spots is None else blocks[0].spots
    return cuts, ends, _flow(x, parts, marks)


def _flow(x: Box, parts: tuple[Box, ...], marks: Any) -> Any:
    """What special values become: those of the operand keep their sign or not as the slope does."""
    flags = 0
    for b in parts:
        flags |= b.flags
    if flags:
        return sum_flags(x.flags | NAN | PINF | NINF)
    if not x.flags:
        return 0
    slope = product_flags(Box(x.dtype, (), inf, -inf, x.flags), parts[0])
    if np.ndim(marks) == 0:
        return slope
    infinite = (marks & np.uint8(PINF | NINF)) != 0
    return (marks & np.uint8(NAN)) | np.where(infinite, np.uint8(slope), np.uint8(0))


def _line(
    call: Call, x: Box, place: tuple[Shape, Cuts | None], what: tuple[list[tuple[Any, Any]], Any], *, flat: bool
) -> Box:
    ends, marks = what
    dtype = x.dtype
    accumulator = call.setting.accumulator(dtype)
    (xl, xh), (sl, sh), (bl, bh), (ml, mh), (vl, vh) = ends
    eps = epsilon_of(call, accumulator)
    least, most = np.asarray(vl + eps), np.asarray(vh + eps)
    born = np.zeros(least.shape, np.uint8)
    broken = least <= 0.0
    if broken.any():
        seen = float(np.min(vl)), float(np.max(vh))
        call.fail(STORED, seen, never=bool((most <= 0.0).any()))
        born = np.where(broken, np.uint8(STORED.gives), born)
    gone = most <= 0.0
    unit, quantum = accumulator.unit, accumulator.quantum
    # the sum var + eps is rounded too: what is left of a negative var is at least a quantum
    rate_low = 1.0 / np.sqrt(np.where(gone, 1.0, most))
    if flat:  # an infinite variance leaves the bias
        rate_low = rate_low * 0.0
    rate_high = 1.0 / np.sqrt(np.where(broken, quantum, least))
    slopes = [s * r for s in (sl, sh) for r in (rate_low, rate_high)]
    al, ah = np.minimum.reduce(slopes), np.maximum.reduce(slopes)
    dl, dh = xl - mh, xh - ml
    corners = [a * d for a in (al, ah) for d in (dl, dh)]
    lo, hi = np.minimum.reduce(corners) + bl, np.maximum.reduce(corners) + bh
    steep = np.maximum(-al, ah)
    sizes = np.maximum(-np.asarray(xl), xh) + np.maximum(-np.asarray(ml), mh)
    whole = steep * sizes + np.maximum(-np.asarray(bl), bh)
    slack = whole * (ROUNDINGS * unit) + ROUNDINGS * quantum * (1.0 + sizes + np.maximum(-np.asarray(sl), sh))
    limit = accumulator.max
    over = ~((whole + slack <= limit) & (steep * (1.0 + 8.0 * unit) <= limit)) | ~(rate_high <= limit)
    lo, hi = np.where(np.isnan(lo), -inf, lo), np.where(np.isnan(hi), inf, hi)
    slack = np.where(np.isfinite(slack), slack, 0.0)
    born = np.where(over, np.uint8(NAN | PINF | NINF), born)
    shape, cuts = place
    if cuts is None:
        flags = int(np.bitwise_or.reduce(np.asarray(marks), axis=None))
        reported = int(np.bitwise_or.reduce(born, axis=None))
        fresh = reported if bool(over.any()) else 0
        ends_one = float(lo), float(hi), float(slack)
        if bool(gone.any()):
            return Box(dtype, shape, inf, -inf, flags | reported)
        return settled(call, dtype, (shape, None), ends_one, flags=flags | (reported & ~fresh), born=fresh)
    grid = tuple(1 if c is None else len(c) - 1 for c in cuts)
    lo, hi, slack, over, gone, born = (np.broadcast_to(e, grid) for e in (lo, hi, slack, over, gone, born))
    flags_all = np.broadcast_to(np.asarray(marks, np.uint8), grid) | np.where(over, np.uint8(0), born)
    new = np.where(over, born, np.uint8(0))
    if not new.any():
        return settled(call, dtype, (shape, cuts), (lo, hi, slack), flags=flags_all, empty=gone)
    return settled(call, dtype, (shape, cuts), (lo, hi, slack), flags=flags_all, empty=gone, born=new)


def _training(call: Call, operands: tuple[Box, ...]) -> Box | tuple[Box, ...]:
    """With the statistics of the batch the result is bounded by sqrt(n), as for an instance."""
    x, scale, bias, mean, var = operands
    dtype = x.dtype
    if any(without_finite(b) for b in operands) or (x.shape is not None and any(n == 0 for n in x.shape)):
        boxes = [Box(d, s, inf, -inf) for d, s in ((dtype, x.shape), (mean.dtype, mean.shape), (var.dtype, var.shape))]
        return tuple(boxes[: call.outputs]) if call.outputs > 1 else boxes[0]
    rank = 2 if x.shape is None else len(x.shape)
    most = inf if x.shape is None else length(call, (*x.shape[:1], *x.shape[2:]))[1]
    lo, hi = x.hull()
    accumulator = call.setting.accumulator(dtype)
    found = standardise(call, (lo, hi) if lo <= hi else (0.0, 0.0), most, accumulator, folded=True)
    tall = [b if b.shape is None else reshaped(b, (*b.shape, *(1,) * (rank - 2))) for b in (scale, bias)]
    y = scaled(call, x, found, *tall)
    if call.outputs == 1:
        return y
    share = float(call.attr("momentum", 0.9))
    anything = NAN | PINF | NINF
    seen, lost = (anything if x.flags else 0), (anything if found.born else 0)
    shifted = _blended(call, mean, (found.mean, share), (seen, lost))
    over = found.variance >= accumulator.max
    spread = _blended(call, var, ((0.0, found.variance), share), (seen, anything if over else lost))
    return (y, shifted, spread)[: call.outputs]


def _blended(call: Call, old: Box, new: tuple[tuple[float, float], float], marks: tuple[int, int]) -> Box:
    """Old * momentum + new * (1 - momentum)."""
    (lo, hi), share = new
    dtype: DType = old.dtype
    a, b = old.hull()
    if not a <= b:
        return call.unknown(dtype, old.shape)
    rest = 1.0 - share
    parts = sorted((a * share, b * share)), sorted((lo * rest, hi * rest))
    low, high = parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]
    size = max(-a, b) * abs(share) + max(-lo, hi) * abs(rest)
    # the momentum is a float32 and its complement is rounded, and so are the products and the sum
    slack = size * 16.0 * max(dtype.unit, 2.0**-24) + 4.0 * dtype.quantum
    if not size < inf:
        low, high, slack = -inf, inf, 0.0
    return settled(
        call, dtype, (old.shape, None), (low, high, slack), flags=sum_flags(old.flags | marks[0]), born=marks[1]
    )


def _run(xp: Any, x: Any, scale: Any, bias: Any, mean: Any, var: Any, **attrs: Any) -> Any:  # noqa: PLR0917
    epsilon = single(attrs.get("epsilon", 1e-5))
    if not attrs.get("training_mode", 0):
        slope = scale / xp.sqrt(var + epsilon)
        return (x - column_of(xp, mean, x)) * column_of(xp, slope, x) + column_of(xp, bias, x)
    axes = (0, *range(2, len(x.shape)))
    now = xp.mean(x, axis=axes, keepdims=True)
    spread = xp.mean((x - now) ** 2, axis=axes, keepdims=True)
    y = (x - now) / xp.sqrt(spread + epsilon) * column_of(xp, scale, x) + column_of(xp, bias, x)
    share = attrs.get("momentum", 0.9)
    flat = [xp.reshape(s, (-1,)) for s in (now, spread)]
    return y, mean * share + flat[0] * (1 - share), var * share + flat[1] * (1 - share)


def _case(shape: tuple[int, ...], *, stored: bool = False, outputs: int = 1, **attrs: Any) -> Case:
    n = shape[1]
    free = Operand((n,), low=-10.0, high=10.0, stored=stored)
    var = Operand((n,), low=0.0, high=100.0, stored=stored)
    return Case((Operand(shape), free, free, free, var), attrs, outputs)


BATCH_NORMALIZATION = Op(
    "BatchNormalization",
    run=_run,
    bound=_batch,
    requires=(STORED,),
    overflow="NP214",
    samples=Samples(
        (0.0, 1.0, -1.0, 1e4, 1e-4, 1e-20, 1e19, 3e38),
        (
            _case((2, 3, 4)),
            _case((1, 2, 3, 3), stored=True),
            _case((3, 2)),
            _case((2, 3, 2), stored=True, epsilon=1e-3),
            _case((4, 2, 3), training_mode=1, outputs=3),
            _case((4, 2, 3), training_mode=1, outputs=3, momentum=0.5, epsilon=1e-2),
        ),
        ("float32", "float64", "float16"),
    ),
)

OPS = (BATCH_NORMALIZATION,)
