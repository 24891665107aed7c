"""Inverse functions at and beyond the edge of their domain, and the angle of the origin."""

from __future__ import annotations

from nanproof.fix.draft import Draft
from nanproof.fix.pattern import Any, call, one_of
from nanproof.fix.rewrite import LIMITS, Match, Rewrite, Words

X, Y = Any("x"), Any("y")


def _clipped(draft: Draft, match: Match) -> str:
    root, x = match.sheet.nodes[match.root], match.value("x")
    return draft.op(root.op_type, draft.clip(x, -1.0, 1.0))


def _clipped_inside(draft: Draft, match: Match) -> str:
    """One step inside the edge, where the derivative (or the value) is still finite."""
    root, x = match.sheet.nodes[match.root], match.value("x")
    edge = 1.0 - 2.0 * draft.dtype(x).unit
    return draft.op(root.op_type, draft.clip(x, -edge, edge))


def _above_one(draft: Draft, match: Match) -> str:
    return draft.op("Acosh", draft.at_least(match.value("x"), 1.0))


def _angle(draft: Draft, match: Match) -> str:
    """atan(y / x) by two quotients, one for each sign of x, with divisors that stay away from 0: 0 / 0 is the angle 0."""
    x, y = match.value("x"), match.value("y")
    dtype = draft.dtype(x)
    least = dtype.tiny**0.5
    below = draft.op("Div", y, draft.at_most(x, -least))
    above = draft.op("Div", y, draft.at_least(x, least))
    negative = draft.op("Less", x, draft.scalar(0.0, x))
    return draft.op("Atan", draft.op("Where", negative, below, above))


REWRITES = (
    Rewrite(
        "clipped-arc",
        "an operand clipped to [-1, 1]",
        one_of(call("Acos", X), call("Asin", X)),
        _clipped,
        keeps=LIMITS,
        codes=("NP107",),
        python={
            "torch": Words("{operand}.clamp(-1.0, 1.0)", at="root:0"),
            "tensorflow": Words("tf.clip_by_value({operand}, -1.0, 1.0)", at="root:0"),
            "jax": Words("jnp.clip({operand}, -1.0, 1.0)", at="root:0"),
        },
    ),
    Rewrite(
        "clipped-inside-arc",
        "an operand clipped to just inside [-1, 1]",
        one_of(call("Acos", X), call("Asin", X), call("Atanh", X)),
        _clipped_inside,
        keeps=LIMITS,
        codes=("NP107", "NP109", "NP3"),
        python={
            "torch": Words(
                "{operand}.clamp(torch.finfo({operand}.dtype).eps - 1, 1 - torch.finfo({operand}.dtype).eps)",
                at="root:0",
            )
        },
    ),
    Rewrite(
        "acosh-above-one",
        "an operand of at least 1",
        call("Acosh", X),
        _above_one,
        keeps=LIMITS,
        codes=("NP108",),
        python={"torch": Words("{operand}.clamp_min(1.0)", at="root:0")},
    ),
    Rewrite(
        "angle",
        "Atan of a quotient whose divisor stays away from 0",
        call("Atan", call("Div", Y, X)),
        _angle,
        keeps=LIMITS,
        codes=("NP103", "NP205", "NP212"),
    ),
)
