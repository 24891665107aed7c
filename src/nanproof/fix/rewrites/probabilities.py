"""What a softmax and a sigmoid look like: the operators, and what people write by hand."""

from __future__ import annotations

from nanproof.fix.draft import Draft, NotHereError
from nanproof.fix.pattern import ONE, Any, call, negated, one_of
from nanproof.fix.rewrite import Match
from nanproof.fix.sheet import attribute

X = Any("x")
_EXP = call("Exp", X)
# exp(clip(x)) / sum(exp(x)): the clip of one of the two breaks the quotient, so it can't have been meant
_CLIPPED = one_of(call("Exp", call("Clip", X)), call("Exp", call("Min", X, Any("most"))))

SOFTMAX = one_of(
    call("Softmax", X, name="softmax"),
    call("Div", _EXP, call("ReduceSum", _EXP, name="sum")),
    call("Mul", _EXP, call("Reciprocal", call("ReduceSum", _EXP, name="sum"))),
    call("Div", _CLIPPED, call("ReduceSum", _EXP, name="sum")),
)
HAND_MADE_SOFTMAX = one_of(*SOFTMAX.patterns[1:])

SIGMOID = one_of(
    call("Sigmoid", X),
    call("Reciprocal", call("Add", ONE, call("Exp", negated(X)))),
    call("Div", ONE, call("Add", ONE, call("Exp", negated(X)))),
    call("Div", call("Exp", X), call("Add", ONE, call("Exp", X))),
)
HAND_MADE_SIGMOID = one_of(*SIGMOID.patterns[1:])

PER_AXIS = 13
"""Before this opset a softmax runs over everything from its axis on."""


def softmax_axis(match: Match) -> int | None:
    """The axis that a matched softmax runs over; None if it is another kind of sum, or not known."""
    if match.has("softmax"):
        node = match.node("softmax")
        if match.sheet.opset >= PER_AXIS:
            return int(attribute(node, "axis", -1))
        axis, rank = int(attribute(node, "axis", 1)), match.sheet.rank(match.value("x"))
        return axis if rank is not None and axis % rank == rank - 1 else None
    axes = match.sheet.axes(match.node("sum"))
    if axes is None or len(axes) != 1 or not attribute(match.node("sum"), "keepdims", 1):
        return None
    return axes[0]


def log_softmax(draft: Draft, match: Match) -> str:
    """LogSoftmax(x) over the axis of the matched softmax."""
    axis = softmax_axis(match)
    if axis is None:
        raise NotHereError("the axis of the softmax is not known")
    return draft.op("LogSoftmax", match.value("x"), axis=axis)


def softmax(draft: Draft, match: Match) -> str:
    """Softmax(x) over the axis of the matched softmax."""
    axis = softmax_axis(match)
    if axis is None:
        raise NotHereError("the axis of the softmax is not known")
    if match.sheet.opset < PER_AXIS:
        rank = match.sheet.rank(match.value("x"))
        if rank is None or axis % rank != rank - 1:
            raise NotHereError("before opset 13 a Softmax can't run over one axis in the middle")
    return draft.op("Softmax", match.value("x"), axis=axis)
