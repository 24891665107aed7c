"""Vectors divided by their own length: the length of a zero vector is 0, and that of a long one overflows."""

from __future__ import annotations

from nanproof.fix.draft import Draft, NotHereError
from nanproof.fix.pattern import Any, Moved, Pattern, call, guarded, one_of, squared
from nanproof.fix.rewrite import LIMITS, Match, Rewrite
from nanproof.fix.sheet import CASTS, attribute

X, Y, DOT = Any("x"), Any("y"), Any("dot")
_SHAPED = frozenset({"Identity", "Unsqueeze", "Expand", "Reshape"}) | CASTS


def _length(x: Any, name: str) -> Pattern:
    return one_of(
        call("ReduceL2", x, name=name),
        call("Sqrt", guarded(call("ReduceSum", squared(x), name=name))),
        call("Sqrt", guarded(call("ReduceSumSquare", x, name=name))),
        call("Pow", call("ReduceSum", squared(x), name=name), Any("half")),
    )


_LENGTH = _length(X, "norm")
_LENGTH_X, _LENGTH_Y = _length(X, "norm"), _length(Y, "norm_y")
_UNIT = one_of(
    call("Div", X, guarded(Moved(_LENGTH, "shape", _SHAPED))),
    call("Mul", X, call("Reciprocal", guarded(Moved(_LENGTH, "shape", _SHAPED)))),
)
FLOOR = {1: 1e-12, 10: 1e-4, 11: 1e-24, 16: 1e-12}
"""The least length that is divided by, by ONNX's number of the type, as in torch's normalize."""


def _floor(draft: Draft, x: str) -> float:
    return FLOOR.get(draft.element(x), 1e-12)


def _floored(draft: Draft, match: Match) -> str:
    """X / max(||x||, epsilon)."""
    x, axes, keepdims = match.value("x"), *_reduction(match)
    norm = draft.reduce("ReduceL2", x, axes, keepdims=keepdims)
    floored = draft.at_least(norm, _floor(draft, x))
    return draft.op("Div", x, draft.moved(floored, match.chain("shape")))


def _scaled(draft: Draft, match: Match) -> str:
    """With u = x / max(max|x|, 1), within [-1, 1]: u / max(||u||, epsilon). Nothing in it can overflow."""
    x, axes, _ = match.value("x"), *_reduction(match)
    if not attribute(match.node("norm"), "keepdims", 1):
        raise NotHereError("the norm doesn't keep its axes")
    largest = draft.at_least(draft.reduce("ReduceMax", draft.op("Abs", x), axes, keepdims=1), 1.0)
    scaled = draft.clip(draft.op("Div", x, largest), -1.0, 1.0)
    return draft.op("Div", scaled, draft.at_least(draft.reduce("ReduceL2", scaled, axes, keepdims=1), _floor(draft, x)))


def _cosine(draft: Draft, match: Match) -> str:
    """Dot / (max(||x||, epsilon) max(||y||, epsilon))."""
    lengths = []
    for value, name in (("x", "norm"), ("y", "norm_y")):
        node = match.node(name)
        axes = match.sheet.axes(node)
        if axes is None:
            raise NotHereError("the axes of a norm are not known")
        x = match.value(value)
        norm = draft.reduce("ReduceL2", x, axes, keepdims=int(attribute(node, "keepdims", 1)))
        lengths.append(draft.at_least(norm, max(_floor(draft, x), 1e-8)))
    return draft.op("Div", match.value("dot"), draft.op("Mul", *lengths))


def _reduction(match: Match) -> tuple[tuple[int, ...], int]:
    node = match.node("norm")
    axes = match.sheet.axes(node)
    if axes is None:
        raise NotHereError("the axes of the norm are not known")
    return axes, int(attribute(node, "keepdims", 1))


def _half_power(match: Match) -> bool:
    return "half" not in match.found.values or match.sheet.number(match.value("half")) == 0.5


REWRITES = (
    Rewrite(
        "normalize",
        "x over max(||x||, epsilon)",
        _UNIT,
        _floored,
        keeps=LIMITS,
        when=_half_power,
        python={"torch": "F.normalize({x}, dim={axis})", "tensorflow": "tf.math.l2_normalize({x}, axis={axis})"},
    ),
    Rewrite(
        "scaled-normalize",
        "x over its largest element first, then over its length",
        _UNIT,
        _scaled,
        keeps=LIMITS,
        when=_half_power,
        python={"torch": "F.normalize({x} / {x}.abs().amax(dim={axis}, keepdim=True).clamp_min(1.0), dim={axis})"},
    ),
    Rewrite(
        "cosine-similarity",
        "each length at least epsilon before they divide the dot product",
        call("Div", DOT, guarded(call("Mul", _LENGTH_X, _LENGTH_Y))),
        _cosine,
        keeps=LIMITS,
        when=_half_power,
        python={"torch": "F.cosine_similarity({x}, {y}, dim={axis})"},
    ),
)
