"""Exponentials under logarithms and roots, and those that overflow on their own."""

from __future__ import annotations

from nanproof.fix.draft import Draft
from nanproof.fix.pattern import ONE, Any, Const, Moved, call, negated, one_of
from nanproof.fix.rewrite import LIMITS, Match, Rewrite

X = Any("x")
_EXP = call("Exp", X)
_HALVES = one_of(call("Sqrt", Moved(_EXP)), call("Pow", Moved(_EXP), Const(0.5, 0.5)))


def _softplus(draft: Draft, match: Match) -> str:
    return draft.moved(draft.op("Softplus", match.value("x")), match.chain("moves"))


def _wide_softplus(draft: Draft, match: Match) -> str:
    """max(x, 0) + log(1 + exp(-|x|)): nothing in it grows."""
    x = match.value("x")
    small = draft.op("Exp", draft.op("Neg", draft.op("Abs", x)))
    log = draft.op("Log", draft.op("Add", small, draft.scalar(1.0, x)))
    return draft.moved(draft.op("Add", draft.op("Relu", x), log), match.chain("moves"))


def _half(draft: Draft, match: Match) -> str:
    x = match.value("x")
    return draft.moved(draft.op("Exp", draft.op("Mul", x, draft.scalar(0.5, x))), match.chain("moves"))


def _itself(draft: Draft, match: Match) -> str:
    return draft.moved(draft.op("Identity", match.value("x")), match.chain("moves"))


def _minus_expm1(draft: Draft, match: Match) -> str:
    """log(1 - exp(x)) of a negative x: -Elu(x) is 1 - exp(x) without the cancellation; next to 0 it stops at half a step of 1."""
    x = match.value("x")
    return draft.op("Log", draft.at_least(draft.op("Neg", draft.op("Elu", x)), draft.dtype(x).unit))


REWRITES = (
    Rewrite(
        "softplus",
        "Softplus(x) instead of Log of 1 + Exp(x)",
        call("Log", call("Add", ONE, Moved(_EXP))),
        _softplus,
        python={"torch": "F.softplus({x})", "tensorflow": "tf.math.softplus({x})", "jax": "jax.nn.softplus({x})"},
    ),
    Rewrite(
        "shifted-softplus",
        "Relu(x) + Log(1 + Exp(-|x|)) instead of an exponential that overflows",
        one_of(call("Log", call("Add", ONE, Moved(_EXP))), call("Softplus", X)),
        _wide_softplus,
        python={"torch": "F.softplus({x})"},
    ),
    Rewrite(
        "log-exp",
        "x instead of Log of Exp(x)",
        call("Log", Moved(_EXP)),
        _itself,
        python={"torch": "{x}", "tensorflow": "{x}", "jax": "{x}"},
    ),
    Rewrite(
        "sqrt-exp",
        "Exp(x / 2) instead of Sqrt of Exp(x)",
        _HALVES,
        _half,
        python={"torch": "torch.exp(0.5 * {x})", "tensorflow": "tf.exp(0.5 * {x})", "jax": "jnp.exp(0.5 * {x})"},
    ),
    Rewrite(
        "log-one-minus-exp",
        "Log of -Elu(x), stopped above 0, instead of Log of 1 - Exp(x)",
        one_of(call("Log", call("Sub", ONE, _EXP)), call("Log", call("Add", ONE, negated(_EXP)))),
        _minus_expm1,
        keeps=LIMITS,
        codes=("NP1", "NP4"),
        python={"torch": "torch.log((-torch.expm1({x})).clamp_min(torch.finfo({x}.dtype).eps))"},
    ),
)
