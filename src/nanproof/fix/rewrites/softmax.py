"""Softmax, sigmoid, tanh and log-sum-exp as people write them by hand, with exponentials that overflow."""

from __future__ import annotations

from nanproof.fix.draft import Draft, NotHereError
from nanproof.fix.pattern import Any, call, guarded, negated, one_of
from nanproof.fix.rewrite import LIMITS, Match, Rewrite, Words
from nanproof.fix.rewrites.probabilities import HAND_MADE_SIGMOID, HAND_MADE_SOFTMAX, X, softmax, softmax_axis
from nanproof.fix.sheet import attribute

_EXP = call("Exp", X)
_EXP_MINUS = call("Exp", negated(X))
_SUM_EXP = call("ReduceSum", _EXP, name="sum")
OTHER = Any("other")


def _log_sum_exp(draft: Draft, match: Match) -> str:
    node = match.node("sum")
    axes = match.sheet.axes(node)
    if axes is None:
        raise NotHereError("the axes of the sum are not known")
    keepdims = int(attribute(node, "keepdims", 1))
    return draft.reduce("ReduceLogSumExp", match.value("x"), axes, keepdims=keepdims)


def _shifted_log_sum_exp(draft: Draft, match: Match) -> str:
    """max(x) + log(sum(exp(x - max(x)))): for runtimes whose ReduceLogSumExp isn't shifted itself."""
    node, x = match.node("sum"), match.value("x")
    axes = match.sheet.axes(node)
    if axes is None:
        raise NotHereError("the axes of the sum are not known")
    keepdims = int(attribute(node, "keepdims", 1))
    most = draft.reduce("ReduceMax", x, axes, keepdims=1)
    total = draft.reduce("ReduceSum", draft.op("Exp", draft.op("Sub", x, most)), axes, keepdims=keepdims)
    kept = most if keepdims else draft.squeeze(most, axes) if axes else draft.reduce("ReduceMax", x, axes, keepdims=0)
    return draft.op("Add", kept, draft.op("Log", total))


def _share(draft: Draft, match: Match) -> str:
    """exp(other) / sum(exp(x)) = exp(other - logsumexp(x)), no further than exp(0): a share of the sum."""
    node = match.node("sum")
    axes = match.sheet.axes(node)
    if axes is None or not attribute(node, "keepdims", 1):
        raise NotHereError("the sum doesn't keep its axes")
    total = draft.reduce("ReduceLogSumExp", match.value("x"), axes, keepdims=1)
    return draft.op("Exp", draft.at_most(draft.op("Sub", match.value("other"), total), 0.0))


def _sigmoid(draft: Draft, match: Match) -> str:
    return draft.op("Sigmoid", match.value("x"))


def _tanh(draft: Draft, match: Match) -> str:
    return draft.op("Tanh", match.value("x"))


def _has_axis(match: Match) -> bool:
    return softmax_axis(match) is not None


REWRITES = (
    Rewrite(
        "softmax",
        "Softmax instead of Exp over ReduceSum of Exp",
        one_of(HAND_MADE_SOFTMAX, call("Div", _EXP, guarded(_SUM_EXP))),
        softmax,
        when=_has_axis,
        python={
            "torch": Words("torch.softmax({x}, dim={axis})", hoisted="logits"),
            "tensorflow": Words("tf.nn.softmax({x}, axis={axis})", hoisted="logits"),
            "jax": Words("jax.nn.softmax({x}, axis={axis})", hoisted="logits"),
        },
    ),
    Rewrite(
        "log-sum-exp",
        "ReduceLogSumExp instead of Log of ReduceSum of Exp",
        call("Log", guarded(_SUM_EXP)),
        _log_sum_exp,
        python={
            "torch": Words("torch.logsumexp({x}, {dims})", hoisted="logits"),
            "tensorflow": Words("tf.reduce_logsumexp({x}, {dims})", hoisted="logits"),
            "jax": Words("jax.nn.logsumexp({x}, {dims})", hoisted="logits"),
        },
    ),
    Rewrite(
        "shifted-log-sum-exp",
        "the maximum taken out of Log of ReduceSum of Exp",
        one_of(
            call("Log", guarded(_SUM_EXP)),
            call("ReduceLogSumExp", X, name="sum"),
            call("ReduceLogSum", _EXP, name="sum"),
        ),
        _shifted_log_sum_exp,
        python={"torch": Words("torch.logsumexp({x}, {dims})", hoisted="logits")},
    ),
    Rewrite(
        "share-of-exponentials",
        "Exp of a difference instead of a quotient of exponentials",
        call("Div", call("Exp", OTHER), guarded(_SUM_EXP)),
        _share,
        keeps=LIMITS,
        python={"torch": "torch.exp({other} - torch.logsumexp({x}, {dims})).clamp_max(1.0)"},
    ),
    Rewrite(
        "sigmoid",
        "Sigmoid instead of 1 over 1 + Exp(-x)",
        HAND_MADE_SIGMOID,
        _sigmoid,
        python={"torch": "torch.sigmoid({x})", "tensorflow": "tf.sigmoid({x})", "jax": "jax.nn.sigmoid({x})"},
    ),
    Rewrite(
        "tanh",
        "Tanh instead of a quotient of exponentials",
        call("Div", call("Sub", _EXP, _EXP_MINUS), call("Add", _EXP, _EXP_MINUS)),
        _tanh,
        python={"torch": "torch.tanh({x})", "tensorflow": "tf.tanh({x})", "jax": "jnp.tanh({x})"},
    ),
)
