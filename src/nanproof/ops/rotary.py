"""RotaryEmbedding: pairs of features turned by angles whose cosines and sines are operands."""

from __future__ import annotations

from math import inf
from typing import Any

from nanproof.domain.box import ALL, INFS, Box
from nanproof.ops.call import Call
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.steps import Steps


def _rotary(call: Call, x: Box, cosines: Box, sines: Box, *_: Box | None) -> Box:
    """No class fits: cos x - sin y and sin x + cos y for two features x and y, or a feature as it is."""
    operands = (x, cosines, sines)
    if any(not b.flags and not b.has_finite for b in operands):
        return Box(x.dtype, x.shape, inf, -inf)
    flags = 0
    for box in operands:
        flags |= ALL if box.flags & INFS else box.flags
    if not all(box.has_finite for box in operands):
        return Box(x.dtype, x.shape, x.dtype.min, x.dtype.max, ALL)
    steps = Steps(x.dtype)
    value, cos, sin = (box.hull() for box in operands)
    one, other = steps.mul(cos, value), steps.mul(sin, value)
    real, imaginary = steps.sub(one, other), steps.add(one, other)
    lo, hi = min(real[0], imaginary[0]), max(real[1], imaginary[1])
    if call.attr("rotary_embedding_dim", 0):
        lo, hi = min(lo, value[0]), max(hi, value[1])
    if steps.over:
        call.overflowed(lo, hi, x.dtype, ALL, never=False)
        return Box(x.dtype, x.shape, x.dtype.min, x.dtype.max, ALL)
    return call.settle(x.dtype, x.shape, lo, hi, spots=flags)


def _run_rotary(xp: Any, x: Any, cosines: Any, sines: Any, places: Any = None, **attrs: Any) -> Any:
    flat = len(x.shape) == 3
    if flat:
        heads = attrs["num_heads"]
        x = xp.permute_dims(xp.reshape(x, (*x.shape[:2], heads, -1)), (0, 2, 1, 3))
    width = attrs.get("rotary_embedding_dim", 0) or x.shape[-1]
    half = width // 2
    if places is not None:
        cosines, sines = cosines[places], sines[places]
    cosines, sines = (xp.expand_dims(c[..., :half], axis=1) for c in (cosines, sines))
    turned, rest = x[..., :width], x[..., width:]
    if attrs.get("interleaved", 0):
        a, b = turned[..., 0::2], turned[..., 1::2]
    else:
        a, b = turned[..., :half], turned[..., half:]
    real, imaginary = cosines * a - sines * b, sines * a + cosines * b
    if attrs.get("interleaved", 0):
        turned = xp.reshape(xp.stack([real, imaginary], axis=-1), turned.shape)
    else:
        turned = xp.concat([real, imaginary], axis=-1)
    result = xp.concat([turned, rest], axis=-1)
    if flat:
        result = xp.permute_dims(result, (0, 2, 1, 3))
        result = xp.reshape(result, (*result.shape[:2], -1))
    return result


_X = Operand((2, 3, 4, 8))
_CACHE = Operand((10, 4), low=-1.0, high=1.0)
_PLACES = Operand((2, 4), dtype="int64", values=[[0, 1, 2, 3], [4, 5, 6, 9]], stored=True)

ROTARY_EMBEDDING = Op(
    "RotaryEmbedding",
    run=_run_rotary,
    bound=_rotary,
    overflow="NP214",
    infinite="NP213",
    samples=Samples(
        (0.0, 1.0, -1.0, 3e38),
        cases=(
            Case((_X, _CACHE, _CACHE, _PLACES)),
            Case((_X, _CACHE, _CACHE, _PLACES), {"interleaved": 1}),
            Case((_X, Operand((2, 4, 4)), Operand((2, 4, 4)))),
            Case((_X, Operand((10, 2)), Operand((10, 2)), _PLACES), {"rotary_embedding_dim": 4}),
            Case((Operand((2, 4, 24)), _CACHE, _CACHE, _PLACES), {"num_heads": 3}),
        ),
        dtypes=("float32", "float16"),
    ),
)

OPS = (ROTARY_EMBEDDING,)
