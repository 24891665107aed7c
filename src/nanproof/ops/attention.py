"""Attention: scaled products of queries and keys, masked, as weights of values."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

from nanproof.dims import ShapeError
from nanproof.domain.box import NINF, Box
from nanproof.domain.moves import concatenated
from nanproof.ops.attending import Manner, Mask, attend, either, joined_heads, split_heads
from nanproof.ops.call import Call
from nanproof.ops.composing import filled, positive, ranked
from nanproof.ops.flow import length
from nanproof.ops.record import Case, Op, Operand, Samples

LOWEST = 0.5
"""An additive mask this close to the dtype's lowest number hides an element, in ONNX Runtime's kernel."""


def _attention(call: Call, *boxes: Box | None) -> Box | tuple[Box, ...]:
    """A mean of the values: see ``ops.attending``.

    Where the definition masks with -Inf, ONNX Runtime's kernel takes the lowest number; a row without any
    element left is 0 in both.
    """
    q, k, v, mask, past_key, past_value, lengths = filled(boxes, 7)
    shapes = [ranked(box, (3, 4), what) for box, what in ((q, "query"), (k, "key"), (v, "value"))]
    flat = any(s is not None and len(s) == 3 for s in shapes)
    if any(s is not None and (len(s) == 3) != flat for s in shapes):
        raise ShapeError("query, key and value have to be all of 3 axes, or all of 4")
    hidden = None
    if flat:
        heads, groups = positive(call, "q_num_heads"), positive(call, "kv_num_heads")
        if heads % groups:
            raise ShapeError(f"{heads} query heads can't share {groups} key heads")
        q, k, v = (
            split_heads(call, b, n, w) for b, n, w in ((q, heads, "query"), (k, groups, "key"), (v, groups, "value"))
        )
    present = [_grown(past, new, what) for past, new, what in ((past_key, k, "key"), (past_value, v, "value"))]
    hides = _mask(call, mask, lengths, present[0])
    found = attend(call, (q, present[0], present[1]), hides, _manner(call, q))
    y = joined_heads(found.result, hidden) if flat else found.result
    if not flat and all(s is None for s in shapes) and y.shape is not None:
        y = Box(y.dtype, None, *y.hull(), y.flags)
    if call.outputs == 1:
        return y
    return (y, *present, _scores_out(call, found))[: call.outputs]


def _grown(past: Box | None, new: Box, what: str) -> Box:
    """Keys or values behind those of earlier steps."""
    if past is None:
        return new
    ranked(past, (4,), f"past {what}")
    if past.shape is None or new.shape is None:
        (a, b), (c, d) = past.hull(), new.hull()
        return Box(new.dtype, None, min(a, c), max(b, d), past.flags | new.flags)
    return concatenated((past, new), 2)


def _manner(call: Call, q: Box) -> Manner:
    scale = call.attr("scale")
    if scale is None:
        size = None if q.shape is None else q.shape[-1]
        if not isinstance(size, int) and size is not None:
            size = int(max(length(call, (size,))[0], 1.0))
        scale = 1.0 / sqrt(size) if size else 1.0
    return Manner(float(scale), shared=True, cap=float(call.attr("softcap", 0.0)))


def _mask(call: Call, mask: Box | None, lengths: Box | None, keys: Box) -> Mask:
    """What the mask, the causal frontier, the window and the lengths of unpadded rows leave of a row."""
    window = call.attr("left_window_size", -1) >= 0 or call.attr("right_window_size", -1) >= 0
    causal = bool(call.attr("is_causal", 0))
    hides = causal or window or lengths is not None
    # a causal row sees its own key, and so at least one; a window may lie past the keys
    bare = window or lengths is not None
    if mask is None:
        return Mask(None, hides, bare)
    shape = ranked(mask, (1, 2, 3, 4), "the mask")
    # one that is shorter than the keys is padded with -Inf
    short = not shape or keys.shape is None or shape[-1] != keys.shape[2]
    if mask.dtype.is_bool:
        return Mask(None, True, True)
    low = mask.hull()[0]
    bare = bare or bool(mask.flags) or low <= LOWEST * mask.dtype.min
    return Mask(mask, hides or short, bare)


def _scores_out(call: Call, found: Any) -> Box:
    """The scores as the operator hands them out; its versions differ in what they call the stages before the softmax."""
    mode = int(call.attr("qk_matmul_output_mode", 0))
    if mode == 3:
        return found.weights  # type: ignore[no-any-return]
    if mode == 0:
        return either(found.scores, found.capped)
    stages = either(found.capped, found.masked)
    if stages.flags & NINF:  # what a mask hides is there to be seen
        call.overflowed(*stages.hull(), stages.dtype, NINF, never=False)
    return stages


def _run_attention(xp: Any, *operands: Any, **attrs: Any) -> Any:
    q, k, v, mask, past_key, past_value, lengths = filled(operands, 7)
    flat = len(q.shape) == 3
    if flat:
        q, k, v = (heads_of(xp, x, attrs[n]) for x, n in ((q, "q_num_heads"), (k, "kv_num_heads"), (v, "kv_num_heads")))
    past = 0 if past_key is None else past_key.shape[2]
    if past_key is not None:
        k, v = xp.concat([past_key, k], axis=2), xp.concat([past_value, v], axis=2)
    present = k, v
    repeats = q.shape[1] // k.shape[1]
    k, v = (xp.repeat(x, repeats, axis=1) for x in (k, v))
    root = sqrt(attrs.get("scale") or 1.0 / sqrt(q.shape[-1]))
    raw = xp.matmul(q * root, xp.permute_dims(k, (0, 1, 3, 2)) * root)
    cap = attrs.get("softcap", 0.0)
    scores = cap * xp.tanh(raw / cap) if cap else raw
    bias = _bias(xp, scores, (mask, lengths, past), attrs)
    masked = scores + bias
    weights = xp.where(bias_rows(xp, bias), xp.zeros_like(masked), softmax_rows(xp, masked))
    y = xp.matmul(weights, v)
    stages = (scores, scores, masked, weights)
    y = flat_heads(xp, y) if flat else y
    return y, *present, stages[attrs.get("qk_matmul_output_mode", 0)]


def _bias(xp: Any, scores: Any, about: tuple[Any, Any, int], attrs: Any) -> Any:
    mask, lengths, offset = about
    rows, keys = scores.shape[-2:]
    bias = xp.zeros_like(scores)
    row, key = xp.reshape(xp.arange(rows), (rows, 1)), xp.reshape(xp.arange(keys), (1, keys))
    place = row + offset
    if lengths is not None:
        ends = xp.reshape(lengths, (-1, 1, 1, 1))
        place = row + ends - rows
        bias = xp.where(key < ends, bias, -inf)
    if mask is not None:
        rest = keys - mask.shape[-1]
        if rest:
            hidden = xp.zeros((*mask.shape[:-1], rest), dtype=mask.dtype)
            mask = xp.concat([mask, hidden if mask.dtype == xp.bool_ else hidden - inf], axis=-1)
        bias = xp.where(mask, bias, -inf) if mask.dtype == xp.bool_ else bias + mask
    if attrs.get("is_causal", 0):
        bias = xp.where(key <= place, bias, -inf)
    if attrs.get("left_window_size", -1) >= 0:
        bias = xp.where(place - key <= attrs["left_window_size"], bias, -inf)
    if attrs.get("right_window_size", -1) >= 0:
        bias = xp.where(key - place <= attrs["right_window_size"], bias, -inf)
    return bias


def bias_rows(xp: Any, bias: Any) -> Any:
    """The rows that a mask has hidden whole."""
    return xp.max(bias, axis=-1, keepdims=True) == -inf


def softmax_rows(xp: Any, x: Any) -> Any:
    """Softmax along the last axis."""
    top = xp.max(x, axis=-1, keepdims=True)
    e = xp.exp(x - xp.where(top == -inf, xp.zeros_like(top), top))
    return e / xp.sum(e, axis=-1, keepdims=True)


def heads_of(xp: Any, x: Any, count: int) -> Any:
    """(batch, length, heads * features) as (batch, heads, length, features)."""
    return xp.permute_dims(xp.reshape(x, (*x.shape[:2], count, -1)), (0, 2, 1, 3))


def flat_heads(xp: Any, x: Any) -> Any:
    """The way back."""
    moved = xp.permute_dims(x, (0, 2, 1, 3))
    return xp.reshape(moved, (*moved.shape[:2], -1))


_X, _KEYS = Operand((2, 2, 3, 4)), Operand((2, 2, 5, 4))
_VALUES = Operand((2, 2, 5, 3))
_ABSENT = Operand(absent=True)
_SEEN = Operand((3, 5), dtype="bool", values=[[1, 1, 0, 0, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]])

ATTENTION = Op(
    "Attention",
    run=_run_attention,
    bound=_attention,
    overflow="NP206",
    infinite="NP213",
    samples=Samples(
        (0.0, 1.0, -1.0, 10.0, 104.0, 1e19, -1e19, 3e38),
        cases=(
            Case((_X, _KEYS, _VALUES)),
            Case((_X, _KEYS, _VALUES, Operand((3, 5)))),
            Case((_X, _KEYS, _VALUES, _SEEN), {"qk_matmul_output_mode": 2}, 4),
            Case((_X, _X, _X), {"is_causal": 1, "softcap": 2.0, "scale": 3.0}),
            Case((Operand((2, 3, 8)), Operand((2, 5, 4)), Operand((2, 5, 6))), {"q_num_heads": 4, "kv_num_heads": 2}),
            Case((_X, _X, _X, Operand((3, 7)), Operand((2, 2, 4, 4)), Operand((2, 2, 4, 4))), {}, 4),
            Case(
                (_X, _X, _X, Operand((3, 5)), Operand((2, 2, 4, 4)), Operand((2, 2, 4, 4))),
                {"is_causal": 1},
                3,
                dtypes=("float32",),
            ),
            Case((_X, _X, _X), {"qk_matmul_output_mode": 3}, 4),
        ),
        dtypes=("float32", "float16"),
    ),
)

OPS = (ATTENTION,)
