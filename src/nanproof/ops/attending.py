"""What every attention operator does: scores, a mask, their softmax, and a mean of the values weighted by it.

An interval product of weights and values would be as wide as the number of
keys; but the weights of a row add up to 1, so a result lies between the values,
up to the rounding of the weights and of their sum.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from nanproof.dims import ShapeError, Size
from nanproof.domain.box import NAN, NINF, PINF, Box
from nanproof.domain.lattice import join, meet
from nanproof.domain.moves import hull_of, reshaped, transposed
from nanproof.numerics.rounding import nearest
from nanproof.numerics.runtimes import softmax_form
from nanproof.ops.arithmetic import ADD, DIV, MUL
from nanproof.ops.call import Call
from nanproof.ops.composing import loosened, magnitude, part, quiet, shaped, softened, special
from nanproof.ops.flow import length, partial_flags, settled, without_finite
from nanproof.ops.matmul import MATMUL
from nanproof.ops.pairs import within
from nanproof.ops.softmax import ROW, SOFTMAX
from nanproof.ops.trigonometric import TANH


class Mask(NamedTuple):
    """What is added to the scores, and what is taken out of the softmax.

    ``added`` is an additive mask. ``hides``: elements may be masked out, with -Inf or the
    lowest number. ``bare``: a row may lose all its elements, and is all 0 then.
    """

    added: Box | None = None
    hides: bool = False
    bare: bool = False


class Attended(NamedTuple):
    """All stages: the scores, capped, with the mask; the weights; and the result."""

    scores: Box
    capped: Box
    masked: Box
    weights: Box
    result: Box


class Manner(NamedTuple):
    """How a kernel goes about it.

    ``scale`` is the factor of the scores, ``shared`` says that the definition divides it among both operands, ``cap``
    is a soft limit. ``late``: the values may be added up with weights that are divided by their sum afterwards.
    """

    scale: float
    shared: bool = False
    cap: float = 0.0
    late: bool = False


def attend(call: Call, operands: tuple[Box, Box, Box], mask: Mask, how: Manner) -> Attended:
    """Attention over (batch, heads, length, features); keys and values may have fewer heads."""
    q, k, v = operands
    scores = _scores(call, q, k, how)
    softened(call)
    capped = _capped(call, scores, how.cap)
    masked = capped if mask.added is None else _with_mask(call, capped, mask.added)
    weights = _weights(call, capped, masked, mask)
    if mask.hides:
        lowest = min(masked.dtype.min, masked.hull()[0])
        masked = Box(masked.dtype, masked.shape, lowest, max(masked.hull()[1], lowest), masked.flags | NINF)
    return Attended(scores, capped, masked, weights, _mean(call, weights, v, (mask, how.late)))


def _scores(call: Call, q: Box, k: Box, how: Manner) -> Box:
    """``scale * q @ k^T``. The definition scales both operands by the root of it, ONNX Runtime the product, which overflows before."""
    dtype = q.dtype
    keys = transposed(k, (0, 1, 3, 2)) if k.shape is not None else k
    if q.shape is not None and k.shape is not None and q.shape[:-2] != k.shape[:-2]:
        # some query heads share one of the keys: any of them
        keys = shaped(keys, (*q.shape[:-2], k.shape[-1], k.shape[-2]))
    size = magnitude(q) * magnitude(k)
    inner = q.shape[-1] if q.shape is not None else None
    most = inf if inner is None else length(call, (inner,))[1]
    after = not how.shared or call.setting.runtime == "onnxruntime"
    root = sqrt(abs(how.scale))
    if not after:
        total = part(call, MATMUL, _times(call, q, root), _times(call, keys, root))
    else:
        total = _times(call, part(call, MATMUL, q, keys), how.scale)
        if (
            dtype.bits < 32
        ):  # a product that isn't rounded to the narrow dtype before it is scaled doesn't overflow there
            total = either(total, part(call, MATMUL, _times(call, q, root), _times(call, keys, root)))
    reach = most * size * abs(how.scale) if size else 0.0
    return loosened(call, total, 8.0, min(reach, dtype.max))


def _times(call: Call, box: Box, factor: float) -> Box:
    """A product with a number that may have been rounded to the dtype."""
    if factor == 1.0:
        return box
    rounded = nearest(box.dtype, factor)
    return part(call, MUL, box, Box(box.dtype, (), min(factor, rounded), max(factor, rounded)))


def _capped(call: Call, scores: Box, cap: float) -> Box:
    """``cap * tanh(scores / cap)``."""
    if not cap > 0.0:
        return scores
    own = nearest(scores.dtype, cap)
    point = Box(scores.dtype, (), own, own)
    inner = part(call, TANH, part(call, DIV, scores, point))
    return loosened(call, part(call, MUL, inner, point), 2.0)


def _with_mask(call: Call, scores: Box, mask: Box) -> Box:
    """The mask added to the scores; one that ends before the keys do may meet any of them."""
    shape = scores.shape
    short = shape is None or not mask.shape or mask.shape[-1] not in {1, shape[-1]}
    added = part(call, ADD, scores, Box(mask.dtype, (), *mask.hull(), mask.flags) if short else mask)
    return loosened(call, added, 1.0)


def _weights(call: Call, scores: Box, masked: Box, mask: Mask) -> Box:
    """The softmax of the scores. A row that the mask leaves bare is 0; one whose scores are all -Inf by themselves is NaN."""
    dtype = masked.dtype
    if masked.shape is not None and any(n == 0 for n in masked.shape):
        return Box(dtype, masked.shape, inf, -inf)
    hidden = mask.hides or mask.bare or bool(mask.added is not None and mask.added.flags & NINF)
    if not hidden:
        return part(call, SOFTMAX, masked, axis=-1)
    lo, hi = masked.hull() if masked.has_finite else (0.0, 0.0)
    plain = part(
        call, SOFTMAX, Box(dtype, masked.shape, lo, hi, (masked.flags & ~NINF) | (scores.flags & NINF)), axis=-1
    )
    most = 1.0 + softmax_form(call.setting.runtime, dtype, 1.0).relative
    return Box(dtype, masked.shape, 0.0, max(plain.hull()[1], most), plain.flags)


def _mean(call: Call, weights: Box, v: Box, about: tuple[Mask, bool]) -> Box:
    """A mean of the values: it stays among them, but for the roundings of weights, products and sum."""
    dtype, (mask, late) = v.dtype, about
    shape = None if weights.shape is None or v.shape is None else (*weights.shape[:-1], v.shape[-1])
    if (shape is not None and any(n == 0 for n in shape)) or without_finite(v):
        return Box(dtype, shape, inf, -inf)
    keys = v.shape[-2] if v.shape is not None else weights.shape[-1] if weights.shape is not None else None
    least, most = (0.0, inf) if keys is None else length(call, (keys,))
    if most == 0.0:
        return Box(dtype, shape, 0.0, 0.0)
    if weights.flags:  # some kernels drop NaN half way, and what comes out then is any number
        return call.unknown(dtype, shape)
    flags = special(v.flags) | (NAN if v.flags else 0)
    if not v.has_finite:
        return Box(dtype, shape, 0.0, 0.0, NAN | PINF | NINF)
    lo, hi = v.hull()
    size = max(-lo, hi)
    form = softmax_form(call.setting.runtime, dtype, most)
    accumulator = call.setting.accumulator(dtype)
    rate = 2.0 * form.relative + (4.0 * form.ulps + 8.0) * dtype.unit + (most + 8.0) * 2.0 * accumulator.unit
    lost = most * (form.absolute + (form.quanta + 2.0) * dtype.quantum + (dtype.tiny if form.flushes else 0.0))
    if not rate + lost < 0.5:
        rate, lost = most, 0.0  # too long a row for the errors to be told from the sum
    slack = (rate + lost) * size + (most + 2.0) * dtype.quantum if size else 0.0
    emptied = mask.bare or least == 0.0 or bool(v.flags)
    low, high = (min(lo, 0.0), max(hi, 0.0)) if emptied else (lo, hi)
    low, high = (
        (max(low - slack, 0.0) if lo >= 0.0 else low - slack),
        (min(high + slack, 0.0) if hi <= 0.0 else high + slack),
    )
    born = partial_flags(dtype, hi * most > dtype.max, lo * most < dtype.min) if late else 0
    result = settled(within(call, MATMUL), dtype, (shape, None), (low, high, 0.0), flags=flags, born=born)
    if weights.shape is None or v.shape is None or weights.shape[:-2] != v.shape[:-2]:
        return result
    if weights.cuts is None or v.cuts is None or flags or born or emptied:
        return result
    by_blocks = quiet(call, MATMUL, weights, v)
    return result if by_blocks.flags or not by_blocks.has_finite else meet(result, loosened(call, by_blocks, 4.0))


def split_heads(call: Call, x: Box, count: int, what: str) -> Box:
    """(batch, length, heads * features) as (batch, heads, length, features)."""
    if x.shape is None:
        return x
    batch, size, hidden = x.shape
    features = divided(call, hidden, count, what)
    return transposed(reshaped(x, (batch, size, count, features)), (0, 2, 1, 3))


def divided(call: Call, hidden: Size, count: int, what: str) -> Size:
    """The features of one head."""
    if not isinstance(hidden, int):
        return call.fresh(f"features a head of {what}")
    if hidden % count:
        raise ShapeError(f"the {hidden} features of {what} can't be divided among {count} heads")
    return hidden // count


def joined_heads(x: Box, hidden: Size | None = None) -> Box:
    """(batch, heads, length, features) as (batch, length, heads * features)."""
    if x.shape is None:
        return x
    moved = transposed(x, (0, 2, 1, 3))
    assert moved.shape is not None
    batch, size, heads, features = moved.shape
    return reshaped(moved, (batch, size, hidden if hidden is not None else heads * features))


def either(*boxes: Box) -> Box:
    """Any of several stages of one computation, which have one shape."""
    result = boxes[0]
    for box in boxes[1:]:
        result = join(result, box) if box.shape == result.shape else hull_of((result, box), None)
    return result


__all__ = ["ROW", "Attended", "Manner", "Mask", "attend", "divided", "either", "joined_heads", "split_heads"]
