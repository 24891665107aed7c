"""RotaryEmbedding with its operands in another order, and the variant whose positions have three axes."""

from __future__ import annotations

from typing import Any

from nanproof.domain.box import Box
from nanproof.numerics.rounding import nearest
from nanproof.ops.arithmetic import MUL
from nanproof.ops.call import Call
from nanproof.ops.composing import part, ranked
from nanproof.ops.contributed.moved import DOMAIN
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.rotary import ROTARY_EMBEDDING


def rotated(call: Call, x: Box, cosines: Box, sines: Box) -> Box:
    """Features turned by angles; those beyond the rotary width stay."""
    return part(call, ROTARY_EMBEDDING, x, cosines, sines, rotary_embedding_dim=1)


def _rotary(call: Call, x: Box, places: Box, cosines: Box, sines: Box) -> Box:
    """ONNX's RotaryEmbedding; a scale other than 1 multiplies the result."""
    ranked(x, (2, 3, 4), "the input")
    del places
    whole = 1 if call.attr("rotary_embedding_dim", 0) else 0
    y = part(call, ROTARY_EMBEDDING, x, cosines, sines, rotary_embedding_dim=whole)
    scale = float(call.attr("scale", 1.0))
    if scale == 1.0:
        return y
    own = nearest(x.dtype, scale)
    low, high = y.hull()
    scaled = part(call, MUL, y, Box(x.dtype, (), min(scale, own), max(scale, own)))
    # not every kernel looks at the scale
    return Box(x.dtype, y.shape, min(low, scaled.hull()[0]), max(high, scaled.hull()[1]), y.flags | scaled.flags)


def run_rotary(xp: Any, x: Any, places: Any, cosines: Any, sines: Any, **attrs: Any) -> Any:
    """Its concrete meaning; one position stands for the first of a row."""
    flat = len(x.shape) == 3
    batch, length = (x.shape[0], x.shape[1] if flat else x.shape[2])
    if tuple(places.shape) == (1,):
        places = xp.broadcast_to(places + xp.arange(length), (batch, length))
    if flat and not attrs.get("num_heads"):
        attrs["num_heads"] = x.shape[2] // (2 * cosines.shape[1])
    known = {k: v for k, v in attrs.items() if k in {"interleaved", "num_heads", "rotary_embedding_dim"}}
    return ROTARY_EMBEDDING.run(xp, x, cosines, sines, places, **known)


def _run_three(xp: Any, x: Any, places: Any, cosines: Any, sines: Any, **attrs: Any) -> Any:
    """Sections of the angles by temporal, vertical and horizontal position."""
    pieces, start = [], 0
    for row, width in zip(places, attrs["mrope_section"], strict=True):
        pieces.append((cosines[row][..., start : start + width], sines[row][..., start : start + width]))
        start += width
    cos, sin = (xp.concat([piece[i] for piece in pieces], axis=-1) for i in (0, 1))
    heads = x.shape[2] // (2 * cos.shape[-1])
    known = {"num_heads": heads, "interleaved": attrs.get("interleaved", 0)}
    return ROTARY_EMBEDDING.run(xp, x, cos, sin, **known)


_CACHE = Operand((10, 4), low=-1.0, high=1.0)
_PLACES = Operand((2, 3), "int64", values=[[0, 1, 2], [4, 5, 9]], stored=True)
POINTS = (0.0, 1.0, -1.0, 3e38)

OWN_ROTARY = Op(
    "RotaryEmbedding",
    run=run_rotary,
    bound=_rotary,
    overflow="NP214",
    infinite="NP213",
    domain=DOMAIN,
    samples=Samples(
        POINTS,
        cases=(
            Case((Operand((2, 3, 16)), _PLACES, _CACHE, _CACHE)),
            Case(
                (Operand((2, 3, 16)), Operand((1,), "int64", values=[2], stored=True), _CACHE, _CACHE),
                {"interleaved": 1},
            ),
            Case((Operand((2, 2, 3, 8)), _PLACES, _CACHE, _CACHE)),
            Case(
                (Operand((2, 3, 16)), _PLACES, Operand((10, 2)), Operand((10, 2))),
                {"num_heads": 2, "rotary_embedding_dim": 4},
            ),
        ),
        dtypes=("float32", "float16"),
    ),
)

THREE_PLACES = Op(
    "MRotaryEmbedding",
    run=_run_three,
    bound=_rotary,
    overflow="NP214",
    infinite="NP213",
    domain=DOMAIN,
    samples=Samples(
        POINTS,
        cases=(
            Case(
                (
                    Operand((1, 2, 16)),
                    Operand((3, 1, 2), "int64", values=[[[0, 1]], [[2, 3]], [[5, 9]]], stored=True),
                    _CACHE,
                    _CACHE,
                ),
                {"mrope_section": (2, 1, 1), "num_heads": 2},
            ),
        ),
        dtypes=("float32",),
    ),
)

OPS = (OWN_ROTARY, THREE_PLACES)
