"""Logarithms of probabilities: stay in the log domain."""

from __future__ import annotations

from nanproof.fix.draft import Draft
from nanproof.fix.pattern import Any, Moved, call, guarded, nonnegative, one_of
from nanproof.fix.rewrite import LIMITS, Match, Rewrite, Words
from nanproof.fix.rewrites.probabilities import SIGMOID, SOFTMAX, log_softmax, softmax_axis

ONE_HOT = Any("labels")
# log(sum(p * one_hot)): the probability of the labelled class
_LABELLED = call("ReduceSum", call("Mul", Moved(SOFTMAX, "inner"), ONE_HOT), name="picked")


def _is_softmax(match: Match) -> bool:
    return softmax_axis(match) is not None


def _log_softmax(draft: Draft, match: Match) -> str:
    return draft.moved(log_softmax(draft, match), match.chain("moves"))


def _is_one_hot(match: Match) -> bool:
    """Whether the factors are the rows of a OneHot, and the sum goes over the classes only."""
    maker = match.sheet.maker(match.value("labels"))
    while maker is not None and maker.op_type == "Cast":
        maker = match.sheet.maker(maker.input[0])
    if not _is_softmax(match) or maker is None or maker.op_type != "OneHot":
        return False
    axes, axis = match.sheet.axes(match.node("picked")), softmax_axis(match)
    assert axis is not None
    rank = match.sheet.rank(match.value("x"))
    return axes == (axis,) or (rank is not None and axes is not None and [a % rank for a in axes] == [axis % rank])


def _cross_entropy(draft: Draft, match: Match) -> str:
    from nanproof.fix.sheet import attribute

    scores = draft.moved(log_softmax(draft, match), match.chain("inner"))
    picked = draft.op("Mul", scores, match.value("labels"))
    node = match.node("picked")
    axes = match.sheet.axes(node)
    return draft.reduce("ReduceSum", picked, axes or (), keepdims=int(attribute(node, "keepdims", 1)))


def _log_sigmoid(draft: Draft, match: Match) -> str:
    softplus = draft.op("Softplus", draft.op("Neg", match.value("x")))
    return draft.moved(draft.op("Neg", softplus), match.chain("moves"))


def _words(text: str) -> Words:
    return Words(text, hoisted="logits")


_LOG_SOFTMAX = {
    "torch": _words("F.log_softmax({x}, dim={axis})"),
    "tensorflow": _words("tf.nn.log_softmax({x}, axis={axis})"),
    "jax": _words("jax.nn.log_softmax({x}, axis={axis})"),
}
_LOG_SIGMOID = {
    "torch": _words("F.logsigmoid({x})"),
    "tensorflow": _words("tf.math.log_sigmoid({x})"),
    "jax": _words("jax.nn.log_sigmoid({x})"),
}

REWRITES = (
    Rewrite(
        "log-softmax",
        "LogSoftmax instead of Log of Softmax",
        call("Log", Moved(nonnegative(SOFTMAX))),
        _log_softmax,
        codes=("NP1", "NP2", "NP4"),
        when=_is_softmax,
        python=_LOG_SOFTMAX,
    ),
    Rewrite(
        "cross-entropy",
        "the LogSoftmax of the labelled class instead of Log of its Softmax",
        call("Log", _LABELLED),
        _cross_entropy,
        codes=("NP1", "NP2", "NP4"),
        when=_is_one_hot,
        python={"torch": _words("(F.log_softmax({x}, dim={axis}) * {labels}).sum({dims})")},
    ),
    Rewrite(
        "log-sigmoid",
        "-Softplus(-x) instead of Log of Sigmoid(x)",
        call("Log", Moved(nonnegative(SIGMOID))),
        _log_sigmoid,
        codes=("NP1", "NP2", "NP4"),
        python=_LOG_SIGMOID,
    ),
    Rewrite(
        "log-softmax-without-epsilon",
        "LogSoftmax instead of Log of Softmax and an epsilon that is lost",
        call("Log", one_of(guarded(Moved(nonnegative(SOFTMAX))), Moved(guarded(nonnegative(SOFTMAX))))),
        _log_softmax,
        keeps=LIMITS,
        codes=("NP1", "NP2", "NP4"),
        when=_is_softmax,
        python=_LOG_SOFTMAX,
    ),
    Rewrite(
        "log-sigmoid-without-epsilon",
        "-Softplus(-x) instead of Log of Sigmoid(x) and an epsilon that is lost",
        call("Log", one_of(guarded(Moved(nonnegative(SIGMOID))), Moved(guarded(nonnegative(SIGMOID))))),
        _log_sigmoid,
        keeps=LIMITS,
        codes=("NP1", "NP2", "NP4"),
        python=_LOG_SIGMOID,
    ),
)
