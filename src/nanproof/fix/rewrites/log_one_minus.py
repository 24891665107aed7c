"""log(1 - p): the probability of everything else, from the scores rather than by a difference."""

from __future__ import annotations

from nanproof.fix.draft import Draft
from nanproof.fix.pattern import Moved, call, one_minus
from nanproof.fix.rewrite import Match, Rewrite, Words
from nanproof.fix.rewrites.probabilities import SIGMOID, SOFTMAX, softmax_axis

OLDEST = 13
"""The opset from which LogSoftmax runs over one axis."""
_CASTABLE = frozenset({"Identity", "Cast", "CastLike", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten",
                       "Slice", "Gather", "GatherElements", "GatherND"})  # fmt: skip


def _log_one_minus_sigmoid(draft: Draft, match: Match) -> str:
    negative = draft.op("Neg", draft.op("Softplus", match.value("x")))
    return draft.moved(negative, match.chain("moves"))


def _log_one_minus_softmax(draft: Draft, match: Match) -> str:
    """The largest score of a row alone can have p > 1/2: there the others are added up, elsewhere 1 - p is no loss.

    With s = x - max(x): log(1 - p) = logsumexp(s without the largest) - logsumexp(s) where s is the largest of its
    row, and log(1 - min(p, 1/2)) elsewhere, which changes nothing. The largest is left out by putting something there
    that is exp(-110) of the smallest: too little to count in any float, and not so low that later products overflow.
    """
    axis = softmax_axis(match)
    assert axis is not None
    x = match.value("x")
    shifted = draft.op("Sub", x, draft.reduce("ReduceMax", x, [axis], keepdims=1))
    largest = _largest(draft, x, axis)
    smallest = draft.reduce("ReduceMin", shifted, [axis], keepdims=1)
    lowest = draft.op("Sub", smallest, draft.scalar(110.0, x))
    others = draft.reduce("ReduceLogSumExp", draft.op("Where", largest, lowest, shifted), [axis], keepdims=1)
    whole = draft.reduce("ReduceLogSumExp", shifted, [axis], keepdims=1)
    p = draft.op("Softmax", x, axis=axis)
    rest = draft.op("Log", draft.op("Sub", draft.scalar(1.0, x), draft.at_most(p, 0.5)))
    result = draft.op("Where", largest, draft.op("Sub", others, whole), rest)
    return draft.moved(result, match.chain("moves"))


def _largest(draft: Draft, x: str, axis: int) -> str:
    """Which element is the (first) largest of its row, as booleans."""
    from onnx import TensorProto

    place = draft.op("ArgMax", x, axis=axis, keepdims=0)
    size = draft.sheet.size(x, axis)
    if size is None:
        sizes = draft.op("Shape", x)
        depth = draft.op("Gather", sizes, draft.constant([axis], TensorProto.INT64), axis=0)
    else:
        depth = draft.constant([size], TensorProto.INT64)
    marks = draft.op("OneHot", place, depth, draft.constant([0.0, 1.0], TensorProto.FLOAT), axis=axis)
    return draft.op("Greater", marks, draft.constant(0.5, TensorProto.FLOAT))


def _two_classes(match: Match) -> bool:
    axis = softmax_axis(match)
    return axis is not None and match.sheet.size(match.value("x"), axis) == 2 and match.sheet.opset >= OLDEST


def _log_other_of_two(draft: Draft, match: Match) -> str:
    """Of two classes, the rest is the other one: LogSoftmax with the two swapped."""
    from onnx import TensorProto

    axis = softmax_axis(match)
    assert axis is not None
    scores = draft.op("LogSoftmax", match.value("x"), axis=axis)
    swapped = draft.op("Gather", scores, draft.constant([1, 0], TensorProto.INT64), axis=axis)
    return draft.moved(swapped, match.chain("moves"))


def _has_axis(match: Match) -> bool:
    return softmax_axis(match) is not None and match.sheet.opset >= OLDEST


_LOG_ONE_MINUS_SOFTMAX = call("Log", one_minus(Moved(SOFTMAX, "moves", _CASTABLE)))

REWRITES = (
    Rewrite(
        "log-one-minus-sigmoid",
        "-Softplus(x) instead of Log of 1 - Sigmoid(x)",
        call("Log", one_minus(Moved(SIGMOID, "moves", _CASTABLE))),
        _log_one_minus_sigmoid,
        codes=("NP1", "NP2", "NP4"),
        python={
            "torch": Words("F.logsigmoid(-{x})", hoisted="logits"),
            "tensorflow": Words("tf.math.log_sigmoid(-{x})", hoisted="logits"),
            "jax": Words("jax.nn.log_sigmoid(-{x})", hoisted="logits"),
        },
    ),
    Rewrite(
        "log-one-minus-softmax-of-two",
        "LogSoftmax of the other class instead of Log of 1 - Softmax",
        _LOG_ONE_MINUS_SOFTMAX,
        _log_other_of_two,
        codes=("NP1", "NP2", "NP4"),
        when=_two_classes,
        python={"torch": Words("F.log_softmax({x}, dim={axis}).flip({axis})", hoisted="logits")},
    ),
    Rewrite(
        "log-one-minus-softmax",
        "the ReduceLogSumExp of the other scores instead of Log of 1 - Softmax",
        _LOG_ONE_MINUS_SOFTMAX,
        _log_one_minus_softmax,
        codes=("NP1", "NP2", "NP4"),
        when=_has_axis,
    ),
)
