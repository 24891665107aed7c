"""Attention as ONNX Runtime fuses it: of projected queries, keys and values, or with the projection in front."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import inf, sqrt
from typing import Any

from nanproof.dims import ShapeError, Size
from nanproof.domain.box import NAN, NINF, PINF, Box, Shape
from nanproof.domain.moves import concatenated, hull_of
from nanproof.domain.moves import part as piece
from nanproof.numerics.dtypes import DType
from nanproof.ops.arithmetic import ADD
from nanproof.ops.attending import Attended, Manner, Mask, attend, divided, joined_heads, split_heads
from nanproof.ops.attention import flat_heads, heads_of, softmax_rows
from nanproof.ops.call import Call
from nanproof.ops.composing import filled, fits, loosened, magnitude, part, positive, ranked, shaped
from nanproof.ops.contributed.moved import DOMAIN
from nanproof.ops.contributed.rotary import rotated, run_rotary
from nanproof.ops.flow import length
from nanproof.ops.matmul import MATMUL
from nanproof.ops.normalization import RMS_NORMALIZATION
from nanproof.ops.operands import one
from nanproof.ops.record import Case, Op, Operand, Samples

FILTER = -10000.0
"""What is added to a score to mask it out, unless the node says otherwise."""


# -- shared steps ------------------------------------------------------------------------------------------------


def scale_of(call: Call, q: Box) -> float:
    """The factor of the scores."""
    scale = float(call.attr("scale", 0.0) or 0.0)
    if scale:
        return scale
    size = None if q.shape is None else q.shape[-1]
    if size is None:
        return 1.0
    return 1.0 / sqrt(max(length(call, (size,))[0], 1.0))


def masking(call: Call, bias: Box | None, *, masked: bool, causal: bool) -> Mask:
    """An additive bias, and elements that are hidden with a number low enough."""
    ranked(bias, (2, 3, 4), "the attention bias")
    empty = masked or bool(bias is not None and (bias.flags or bias.hull()[0] < -1e30))
    return Mask(bias, masked or causal, empty)


def grown(past: Box | None, new: Box, size: Size | None = None) -> Box:
    """A cache with what is new: behind the old, or (with a size) somewhere in a buffer of that size."""
    if past is None:
        return new
    shape = ranked(past, (4,), "the cache")
    if shape is None or new.shape is None or size is not None or past.dtype is not new.dtype:
        wide = None if new.shape is None or size is None else (*new.shape[:2], size, new.shape[3])
        return hull_of((new, past) if past.dtype is new.dtype else (new,), wide)
    return concatenated((past, new), 2)


def _output(found: Attended) -> Box:
    return joined_heads(found.result)


def _columns(call: Call, x: Box, widths: Sequence[Size]) -> list[Box]:
    """Runs of the last axis."""
    if x.shape is None:
        return [x] * len(widths)
    size = x.shape[-1]
    known = [n for n in widths if isinstance(n, int)]
    if not isinstance(size, int) or len(known) < len(widths):
        return [Box(x.dtype, (*x.shape[:-1], w), *x.hull(), x.flags) for w in widths]
    if sum(known) != size:
        raise ShapeError(f"{size} features can't be cut into {' + '.join(map(str, known))}")
    ends = list(accumulate(known, initial=0))
    return [piece(x, len(x.shape) - 1, (start, end, 1)) for start, end in pairwise(ends)]


# -- MultiHeadAttention ------------------------------------------------------------------------------------------


def _multi_head(call: Call, *boxes: Box | None) -> Box | tuple[Box, ...]:
    """Attention over heads that are split here: see ``ops.attending``."""
    q, k, v, bias, mask, added, past_key, past_value = filled(boxes, 10)[:8]
    return _heads(call, (q, k, v, bias), (mask, added), (past_key, past_value))


def _decoder_masked(call: Call, *boxes: Box | None) -> Box | tuple[Box, ...]:
    """MultiHeadAttention of one step, with other places for its operands."""
    q, k, v, mask, added, past_key, past_value, _, _, _, bias = filled(boxes, 11)
    return _heads(call, (q, k, v, bias), (mask, added), (past_key, past_value))


def _heads(call: Call, inputs: tuple[Any, ...], masks: tuple[Any, Any], past: tuple[Any, Any]) -> Box | tuple[Box, ...]:
    heads = positive(call, "num_heads")
    q, k, v = _split(call, inputs, heads)
    shared = bool(call.attr("past_present_share_buffer", 0))
    size = past[0].shape[2] if shared and past[0] is not None and past[0].shape is not None else None
    k, v = grown(past[0], k, size), grown(past[1], v, size)
    hidden = masking(call, masks[1], masked=masks[0] is not None or shared, causal=bool(call.attr("unidirectional", 0)))
    found = attend(call, (q, k, v), hidden, Manner(scale_of(call, q), late=True))
    y = _output(found)
    if call.outputs == 1:
        return y
    scores = shaped(hull_of((found.scores, found.masked, found.weights), None), found.scores.shape)
    return (y, k, v, scores)[: call.outputs]


def _split(call: Call, inputs: tuple[Any, ...], heads: int) -> tuple[Box, Box, Box]:
    """Queries, keys and values by head: apart, or packed into one tensor of five axes."""
    q, k, v, bias = inputs
    shape = ranked(q, (3, 4, 5), "the query")
    if k is None and v is None:
        if shape is not None and len(shape) != 5:
            raise ShapeError("a query without keys has to hold them too, in 5 axes")
        q = k = v = _unpacked(q)
    elif v is None:
        shape = ranked(k, (5,), "keys with values")
        k = v = _unpacked(k)
    shifts: list[Box | None] = [None] * 3
    if bias is not None:
        ranked(bias, (1,), "the bias")
        shifts = [shaped(bias, ())] * 3
        sizes = [b.shape[2] if b.shape is not None and len(b.shape) == 3 else None for b in (q, k, v)]
        if all(isinstance(n, int) for n in sizes):
            shifts = [*_columns(call, bias, [n for n in sizes if n is not None])]
    found = []
    for box, shift, what in zip((q, k, v), shifts, ("the query", "the key", "the value"), strict=True):
        ranked(box, (3, 4), what)
        moved = box
        if shift is not None and (box.shape is None or len(box.shape) == 3):
            fits(shift, box.shape, "the bias")
            moved = part(call, ADD, box, shift)
        elif shift is not None:  # keys and values that come by head may have their bias already
            with_bias = part(call, ADD, box, shaped(shift, ()))
            moved = hull_of((box, with_bias), box.shape)
        found.append(split_heads(call, moved, heads, what) if moved.shape is None or len(moved.shape) == 3 else moved)
    return found[0], found[1], found[2]


def _unpacked(box: Box) -> Box:
    """One of the tensors packed into (batch, length, heads, how many, features), by head."""
    if box.shape is None:
        return box
    batch, size, heads, _, features = box.shape
    return Box(box.dtype, (batch, heads, size, features), *box.hull(), box.flags)


# -- Attention ---------------------------------------------------------------------------------------------------


def _projected(call: Call, *boxes: Box | None) -> Box | tuple[Box, ...]:
    """Attention of a projection: queries, keys and values are columns of one matrix product."""
    x, weights, bias, mask, past, added, _ = filled(boxes, 7)
    ranked(x, (3,), "the input")
    ranked(weights, (2,), "the weights")
    total = part(call, MATMUL, x, weights)
    if bias is not None:
        fits(bias, total.shape, "the bias")
        total = part(call, ADD, total, bias)
        total = loosened(call, total, 2.0, min(magnitude(total) + magnitude(bias), total.dtype.max))
    return self_attention(call, total, (mask, past, added))


def self_attention(call: Call, total: Box, rest: tuple[Box | None, Box | None, Box | None]) -> Box | tuple[Box, ...]:
    """Attention within one tensor that holds queries, keys and values side by side."""
    mask, past, added = rest
    heads = positive(call, "num_heads")
    widths: Sequence[Size] = tuple(call.attr("qkv_hidden_sizes", ()))
    if not widths:
        hidden = None if total.shape is None else total.shape[-1]
        third = call.fresh("hidden") if not isinstance(hidden, int) else divided(call, hidden, 3, "the projection")
        widths = (third,) * 3
    q, k, v = (split_heads(call, b, heads, "the projection") for b in _columns(call, total, widths))
    if call.attr("do_rotary", 0):
        q, k = (_turned(call, b) for b in (q, k))
    size: Size | None = None
    if past is not None:
        shape = ranked(past, (5,), "the past")
        shared = bool(call.attr("past_present_share_buffer", 0))
        size = shape[3] if shared and shape is not None else None
        one_of = Box(past.dtype, None if shape is None else shape[1:], *past.hull(), past.flags)
        k, v = grown(one_of, k, size), grown(one_of, v, size)
    hidden_rows = masking(
        call, added, masked=mask is not None or size is not None, causal=bool(call.attr("unidirectional", 0))
    )
    found = attend(call, (q, k, v), hidden_rows, Manner(scale_of(call, q), late=True))
    y = _output(found)
    if call.outputs == 1:
        return y
    wide: Shape = None
    if k.shape is not None and v.shape is not None and k.shape == v.shape:
        wide = (2, *k.shape)
    return y, hull_of((k, v), wide)


def _turned(call: Call, x: Box) -> Box:
    """Features turned by angles that aren't known."""
    circle = Box(x.dtype, (), -1.0, 1.0)
    return rotated(call, x, circle, circle)


# -- GroupQueryAttention -----------------------------------------------------------------------------------------


def _grouped(call: Call, *boxes: Box | None) -> Box | tuple[Box, ...]:
    """Attention whose keys and values have fewer heads, over a cache that may be a buffer."""
    q, k, v, past_key, past_value, _, total, cos, sin, _, added, sink, _, _, q_norm, k_norm = filled(boxes, 16)
    masked = sink is not None or call.attr("smooth_softmax", 0) or int(call.attr("local_window_size", -1)) >= 0
    caches = (past_key, past_value, total)
    return _sharing(call, (q, k, v, cos, sin, q_norm, k_norm), caches, (added, bool(masked)))


def _sparse(call: Call, *boxes: Box | None) -> Box | tuple[Box, ...]:
    """GroupQueryAttention over some blocks of the keys."""
    q, k, v, past_key, past_value, _, _, total, _, cos, sin = filled(boxes, 11)
    return _sharing(call, (q, k, v, cos, sin, None, None), (past_key, past_value, total), (None, True))


def _sharing(
    call: Call, inputs: tuple[Any, ...], caches: tuple[Any, Any, Any], masks: tuple[Any, bool]
) -> Box | tuple[Box, ...]:
    q, k, v, cos, sin, q_norm, k_norm = inputs
    heads, groups = positive(call, "num_heads"), positive(call, "kv_num_heads")
    if heads % groups:
        raise ShapeError(f"{heads} query heads can't share {groups} key heads")
    ranked(q, (3,), "the query")
    if k is None:
        hidden = None if q.shape is None else q.shape[-1]
        size = (
            call.fresh("features a head")
            if not isinstance(hidden, int)
            else divided(call, hidden, heads + 2 * groups, "the query")
        )
        q, k, v = _columns(call, q, (size * heads, size * groups, size * groups))
    q, k, v = (
        split_heads(call, b, n, what) if ranked(b, (3, 4), what) is None or len(b.shape) == 3 else b
        for b, n, what in ((q, heads, "the query"), (k, groups, "the key"), (v, groups, "the value"))
    )
    q, k = (_normed(call, b, norm) for b, norm in ((q, q_norm), (k, k_norm)))
    if call.attr("do_rotary", 0):
        if cos is None or sin is None:
            raise ShapeError("a rotary embedding needs cosines and sines")
        q, k = (rotated(call, b, cos, sin) for b in (q, k))
    room = _cache_size(call, caches, k)
    keys, values = (grown(past, b, room) for past, b in zip(caches[:2], (k, v), strict=True))
    hides = masking(call, masks[0], masked=masks[1], causal=bool(call.attr("causal", 1)))
    # a cache's unused places are hidden too
    hides = hides._replace(hides=hides.hides or caches[0] is not None, bare=hides.bare or caches[0] is not None)
    found = attend(
        call, (q, keys, values), hides, Manner(scale_of(call, q), cap=float(call.attr("softcap", 0.0)), late=True)
    )
    y = _output(found)
    if call.outputs == 1:
        return y
    present = [_stored(past, b) for past, b in zip(caches[:2], (keys, values), strict=True)]
    scores = Box(y.dtype, None, y.dtype.min, y.dtype.max, NAN | PINF | NINF)
    return (y, *present, scores)[: call.outputs]


def _cache_size(call: Call, caches: tuple[Any, Any, Any], k: Box) -> Size | None:
    """How long the present keys are: as the buffer of the past, or as all that is known in the end."""
    past, _, total = caches
    count = one(total)
    room = past.shape[2] if past is not None and past.shape is not None else None
    if count is not None and (past is None or isinstance(room, int)):
        return max(count, room) if isinstance(room, int) else count
    if past is None and k.shape is not None and total is None:
        return k.shape[2]
    return call.fresh("keys")


def _stored(past: Box | None, box: Box) -> Box:
    """A cache as it comes out; one of another dtype holds codes."""
    kind: DType = box.dtype if past is None else past.dtype
    if kind is box.dtype:
        return box
    return Box(kind, box.shape, kind.min, kind.max, NAN | PINF | NINF if kind.is_float else 0)


def _normed(call: Call, x: Box, weight: Box | None) -> Box:
    """RMSNormalization of each head."""
    if weight is None:
        return x
    return part(call, RMS_NORMALIZATION, x, weight, axis=-1, epsilon=float(call.attr("qk_norm_epsilon", 1e-6)))


# -- concrete meaning --------------------------------------------------------------------------------------------


def _weighed(xp: Any, q: Any, k: Any, v: Any, *, bias: Any, scale: float) -> Any:
    return xp.matmul(softmax_rows(xp, xp.matmul(q, xp.permute_dims(k, (0, 1, 3, 2))) * scale + bias), v)


def _causal(xp: Any, q: Any, k: Any, *, window: int = -1) -> Any:
    row = xp.reshape(xp.arange(q.shape[2]), (-1, 1)) + (k.shape[2] - q.shape[2])
    key = xp.reshape(xp.arange(k.shape[2]), (1, -1))
    seen = key <= row
    seen = seen & (row - key < window) if window >= 0 else seen
    return xp.where(seen, 0.0, -inf)


def _padding(xp: Any, mask: Any) -> Any:
    if mask is None:
        return 0.0
    if len(mask.shape) == 1:
        raise ValueError("only masks of a number for every key")
    wide = xp.reshape(mask, (mask.shape[0], 1, 1, -1)) if len(mask.shape) == 2 else xp.expand_dims(mask, axis=1)
    return xp.where(wide > 0, 0.0, FILTER)


def _run_multi_head(xp: Any, *operands: Any, **attrs: Any) -> Any:
    q, k, v, bias, mask, added, past_key, past_value = filled(operands, 8)[:8]
    if k is None:
        q, k, v = (xp.permute_dims(q[:, :, :, i, :], (0, 2, 1, 3)) for i in range(3))
    elif v is None:
        k, v = (xp.permute_dims(k[:, :, :, i, :], (0, 2, 1, 3)) for i in range(2))
        q = heads_of(xp, q, attrs["num_heads"])
    else:
        if bias is not None:
            a, b = q.shape[-1], k.shape[-1]
            q, k, v = q + bias[:a], k + bias[a : a + b], v + bias[a + b :]
        q, k, v = (heads_of(xp, x, attrs["num_heads"]) if len(x.shape) == 3 else x for x in (q, k, v))
    if past_key is not None:
        k, v = xp.concat([past_key, k], axis=2), xp.concat([past_value, v], axis=2)
    scale = attrs.get("scale") or 1.0 / sqrt(q.shape[-1])
    shift = _padding(xp, mask) + (0.0 if added is None else added)
    shift = shift + _causal(xp, q, k) if attrs.get("unidirectional", 0) else shift
    return flat_heads(xp, _weighed(xp, q, k, v, bias=shift, scale=scale)), k, v


def _run_decoder(xp: Any, *operands: Any, **attrs: Any) -> Any:
    q, k, v, mask, added, past_key, past_value, _, _, _, bias = filled(operands, 11)
    return _run_multi_head(xp, q, k, v, bias, mask, added, past_key, past_value, **attrs)


def _run_projected(xp: Any, *operands: Any, **attrs: Any) -> Any:
    x, weights, bias, mask, past, added, _ = filled(operands, 7)
    total = xp.matmul(x, weights) if bias is None else xp.matmul(x, weights) + bias
    return run_self(xp, total, mask, past, added, **attrs)


def run_self(xp: Any, total: Any, mask: Any, past: Any, added: Any, **attrs: Any) -> Any:
    """Attention within one tensor."""
    a, b, _ = attrs.get("qkv_hidden_sizes") or (total.shape[-1] // 3,) * 3
    past_key, past_value = (None, None) if past is None else (past[0], past[1])
    parts = (total[..., :a], total[..., a : a + b], total[..., a + b :])
    y, k, v = _run_multi_head(xp, *parts, None, mask, added, past_key, past_value, **attrs)
    return (y, xp.stack([k, v])) if k.shape == v.shape else (y,)


def _run_grouped(xp: Any, *operands: Any, **attrs: Any) -> Any:
    q, k, v, past_key, past_value, _, _, cos, sin, _, added = filled(operands, 11)[:11]
    heads, groups = attrs["num_heads"], attrs["kv_num_heads"]
    if k is None:
        size = q.shape[-1] // (heads + 2 * groups)
        q, k, v = (
            q[..., : size * heads],
            q[..., size * heads : size * (heads + groups)],
            q[..., size * (heads + groups) :],
        )
    q, k, v = heads_of(xp, q, heads), heads_of(xp, k, groups), heads_of(xp, v, groups)
    start = 0 if past_key is None else past_key.shape[2]
    if attrs.get("do_rotary", 0):
        places = xp.asarray([start])
        q, k = (run_rotary(xp, x, places, cos, sin, interleaved=attrs.get("rotary_interleaved", 0)) for x in (q, k))
    if past_key is not None:
        k, v = xp.concat([past_key, k], axis=2), xp.concat([past_value, v], axis=2)
    repeats = heads // groups
    wide_k, wide_v = (xp.repeat(x, repeats, axis=1) for x in (k, v))
    cap, scale = attrs.get("softcap", 0.0), attrs.get("scale") or 1.0 / sqrt(q.shape[-1])
    scores = xp.matmul(q, xp.permute_dims(wide_k, (0, 1, 3, 2))) * scale
    scores = cap * xp.tanh(scores / cap) if cap else scores
    scores = (
        scores + _causal(xp, q, wide_k, window=attrs.get("local_window_size", -1)) + (0.0 if added is None else added)
    )
    return flat_heads(xp, xp.matmul(softmax_rows(xp, scores), wide_v)), k, v


_Q, _KV = Operand((2, 3, 8)), Operand((2, 5, 8))
_NO = Operand(absent=True)
_BIAS = Operand((24,), low=-5.0, high=5.0)
_PADDED = Operand((2, 5), "int32", values=[[1, 1, 0, 1, 0], [1, 0, 0, 0, 0]])
_BITS = Operand((2, 3), "int32", values=[[1, 1, 0], [0, 0, 0]])
POINTS = (0.0, 1.0, -1.0, 10.0, 104.0, 1e18, 3e38)
_LENGTHS = Operand((2,), "int32", values=[2, 2], stored=True)


def _total(count: int) -> Operand:
    return Operand((), "int32", values=count, stored=True)


def _op(name: str, run: Any, bound: Any, *cases: Case, dtypes: tuple[str, ...] = ("float32", "float16")) -> Op:
    samples = Samples(POINTS, cases, dtypes)
    return Op(name, run=run, bound=bound, overflow="NP206", infinite="NP213", domain=DOMAIN, samples=samples)


_CACHES = (Operand((2, 2, 2, 4)), Operand((2, 2, 2, 4)))
_ANGLES = (Operand((8, 8), low=-1.0, high=1.0), Operand((8, 8), low=-1.0, high=1.0))
_WIDE, _NARROW = Operand((2, 3, 32)), Operand((2, 3, 16))
_FRESH = (_NO, _NO, _LENGTHS, _total(3))
_STEP = (Operand((1, 1, 32)), Operand((1, 1, 16)), Operand((1, 1, 16)))
_CACHED = (Operand((1, 2, 4, 8)), Operand((1, 2, 4, 8)))
_SHARED = {"num_heads": 4, "kv_num_heads": 2}

OPS = (
    _op(
        "MultiHeadAttention",
        _run_multi_head,
        _multi_head,
        Case((_Q, _KV, _KV), {"num_heads": 2}),
        Case((_Q, _KV, _KV, _BIAS), {"num_heads": 2, "scale": 0.25}),
        Case((_Q, _KV, _KV, _NO, _PADDED), {"num_heads": 2}),
        Case((_Q, _KV, _KV, _NO, _NO, Operand((2, 2, 3, 5))), {"num_heads": 2}),
        Case((_Q, _Q, _Q, _NO, _NO, _NO, *_CACHES), {"num_heads": 2}, 3),
        Case((_Q, _Q, _Q), {"num_heads": 2, "unidirectional": 1}),
        Case((Operand((2, 3, 2, 3, 4), low=-10.0, high=10.0),), {"num_heads": 2}, 3),
        Case((_Q, Operand((2, 2, 5, 4)), Operand((2, 2, 5, 4))), {"num_heads": 2}),
        dtypes=("float32",),
    ),
    _op(
        "DecoderMaskedMultiHeadAttention",
        _run_decoder,
        _decoder_masked,
        Case((Operand((2, 1, 8)), Operand((2, 2, 5, 4)), Operand((2, 2, 5, 4))), {"num_heads": 2}),
        dtypes=("float32",),
    ),
    _op(
        "Attention",
        _run_projected,
        _projected,
        Case((_Q, Operand((8, 24)), _BIAS), {"num_heads": 2}),
        Case((_Q, Operand((8, 24), stored=True), _BIAS, _BITS), {"num_heads": 2}),
        Case((_Q, Operand((8, 24), stored=True), _BIAS), {"num_heads": 2, "unidirectional": 1, "scale": 0.5}),
        Case((_Q, Operand((8, 24)), _BIAS, _NO, Operand((2, 2, 2, 4, 4))), {"num_heads": 2}, 2),
        Case((_Q, Operand((8, 20)), Operand((20,))), {"num_heads": 2, "qkv_hidden_sizes": (8, 8, 4)}),
        dtypes=("float32",),
    ),
    _op(
        "GroupQueryAttention",
        _run_grouped,
        _grouped,
        Case((_WIDE, _NARROW, _NARROW, *_FRESH), _SHARED, 3),
        Case((Operand((2, 3, 64)), _NO, _NO, *_FRESH), _SHARED, 3),
        Case((Operand((2, 3, 64)), _WIDE, _WIDE, *_FRESH, *_ANGLES), {**_SHARED, "do_rotary": 1}, 3),
        Case((_WIDE, _NARROW, _NARROW, *_FRESH), {**_SHARED, "softcap": 3.0, "local_window_size": 2}, 3),
        Case((_WIDE, _NARROW, _NARROW, *_FRESH, _NO, _NO, _NO, Operand((2, 4, 3, 3))), _SHARED, 3),
        Case((*_STEP, *_CACHED, Operand((1,), "int32", values=[4], stored=True), _total(5)), _SHARED, 3),
    ),
)
