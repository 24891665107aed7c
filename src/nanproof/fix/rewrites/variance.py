"""Variances and standard deviations: differences that round below zero, and roots of them."""

from __future__ import annotations

from nanproof.fix.draft import Draft, NotHereError
from nanproof.fix.pattern import Any, call, one_of, squared
from nanproof.fix.rewrite import LIMITS, Match, Rewrite
from nanproof.fix.sheet import ALL, attribute

X = Any("x")
_MEAN_OF_SQUARES = call("ReduceMean", squared(X), name="squares")
_SQUARE_OF_MEAN = squared(call("ReduceMean", X, name="mean"))
_RAW = call("Sub", _MEAN_OF_SQUARES, _SQUARE_OF_MEAN)
SMALLEST = {1: 1e-12, 10: 1e-6, 11: 1e-24, 16: 1e-12}
"""What is added to a variance, by ONNX's number of the type: far below anything seen, and far above what is lost."""


def _same_axes(match: Match) -> bool:
    return _axes(match) is not None


def _axes(match: Match) -> tuple[int, ...] | None:
    one, other = match.sheet.axes(match.node("squares")), match.sheet.axes(match.node("mean"))
    if one is None or other is None:
        return None
    rank = match.sheet.rank(match.value("x"))
    if rank is not None:
        one, other = tuple(sorted(a % rank for a in one)), tuple(sorted(a % rank for a in other))
    both = attribute(match.node("squares"), "keepdims", 1), attribute(match.node("mean"), "keepdims", 1)
    return one if one == other and both[0] == both[1] else None


def _centred(draft: Draft, match: Match) -> str:
    """mean((x - mean(x))^2): a mean of squares is never negative."""
    axes = _axes(match)
    if axes is None:
        raise NotHereError("the axes of the two means differ or are not known")
    x = match.value("x")
    mean = draft.reduce("ReduceMean", x, axes or ALL, keepdims=1)
    apart = draft.op("Sub", x, mean)
    keepdims = int(attribute(match.node("squares"), "keepdims", 1))
    return draft.reduce("ReduceMean", draft.op("Mul", apart, apart), axes or ALL, keepdims=keepdims)


def _centred_above_zero(draft: Draft, match: Match) -> str:
    """The same plus an epsilon, for roots, logarithms and quotients of it."""
    variance = _centred(draft, match)
    return draft.op("Add", variance, draft.scalar(SMALLEST.get(draft.element(variance), 1e-12), variance))


REWRITES = (
    Rewrite(
        "centred-variance",
        "the mean of (x - mean(x))^2 instead of mean(x^2) - mean(x)^2",
        _RAW,
        _centred,
        when=_same_axes,
        python={
            "torch": "{x}.var({dims}, correction=0)",
            "tensorflow": "tf.math.reduce_variance({x}, {dims})",
            "jax": "jnp.var({x}, {dims})",
        },
    ),
    Rewrite(
        "centred-variance-with-epsilon",
        "the mean of (x - mean(x))^2 + epsilon instead of mean(x^2) - mean(x)^2",
        one_of(_RAW, call("Max", _RAW, Any("floor")), call("Relu", _RAW), call("Abs", _RAW)),
        _centred_above_zero,
        keeps=LIMITS,
        when=_same_axes,
        python={"torch": "{x}.var({dims}, correction=0) + 1e-12"},
    ),
)
