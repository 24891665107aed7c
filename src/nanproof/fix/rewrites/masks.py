"""Masks: branches that aren't chosen and still spoil what they touch, rows without a live element, means over nothing."""

from __future__ import annotations

from nanproof.fix.draft import Draft, NotHereError
from nanproof.fix.pattern import Any, Moved, call, one_of
from nanproof.fix.rewrite import LIMITS, Match, Rewrite, Words
from nanproof.fix.sheet import CASTS, Sheet, attribute

X, CONDITION, OTHER, Y = Any("x"), Any("condition"), Any("other"), Any("y")
_TRAPS = ("Log", "Sqrt", "Reciprocal", "Acos", "Asin", "Atanh", "Acosh")
_INNER = one_of(*(call(op, X, name="inner") for op in _TRAPS))
_SHAPED = frozenset({"Identity", "Unsqueeze", "Squeeze", "Expand", "Reshape"}) | CASTS
HARMLESS = {
    "Log": 1.0,
    "Sqrt": 1.0,
    "Reciprocal": 1.0,
    "Acos": 0.0,
    "Asin": 0.0,
    "Atanh": 0.0,
    "Acosh": 2.0,
    "Exp": 0.0,
}
"""An argument at which value and derivative are finite."""
BOOL = 9
INTEGERS = frozenset({2, 3, 4, 5, 6, 7, 9, 12, 13})


def _double_where(draft: Draft, match: Match) -> str:
    """where(c, f(where(c, x, harmless)), other): f never sees what isn't chosen, forward or backward."""
    inner, root = match.node("inner"), match.sheet.nodes[match.root]
    x, condition = match.value("x"), match.value("condition")
    chosen_first = match.sheet.source(root.input[1]) in inner.output
    harmless = draft.scalar(HARMLESS[inner.op_type], x)
    safe = draft.op("Where", condition, *((x, harmless) if chosen_first else (harmless, x)))
    value = draft.op(inner.op_type, safe)
    other = match.value("other")
    return draft.op("Where", condition, *((value, other) if chosen_first else (other, value)))


def _double_where_of_quotient(draft: Draft, match: Match) -> str:
    """The same for a quotient, whose divisor is 1 where it isn't chosen."""
    inner, root = match.node("inner"), match.sheet.nodes[match.root]
    x, condition = match.value("x"), match.value("condition")
    chosen_first = match.sheet.source(root.input[1]) in inner.output
    one = draft.scalar(1.0, x)
    safe = draft.op("Where", condition, *((x, one) if chosen_first else (one, x)))
    value = draft.op("Div", match.value("y"), safe)
    other = match.value("other")
    return draft.op("Where", condition, *((value, other) if chosen_first else (other, value)))


def _live_rows(draft: Draft, match: Match) -> str:
    """Scores with a floor instead of -Inf: a row without a live element is uniform, every other row is what it was."""
    node = match.node("softmax")
    x = match.value("x")
    floored = draft.at_least(x, draft.dtype(x).min / 4)
    attributes = {item.name: attribute(node, item.name, None) for item in node.attribute}
    return draft.op(node.op_type, floored, **attributes)


def _is_count(sheet: Sheet, value: str) -> bool:
    """Whether a value is made of truth values or integers, perhaps cast to floats."""
    for _ in range(6):
        if sheet.element(value) in INTEGERS:
            return True
        maker = sheet.maker(value)
        if maker is None or maker.op_type not in _SHAPED | {"ReduceSum", "Where"}:
            return False
        if maker.op_type == "Where":
            return {sheet.number(maker.input[1]), sheet.number(maker.input[2])} <= {0.0, 1.0}
        value = maker.input[0]
    return False


def _counts(match: Match) -> bool:
    return _is_count(match.sheet, match.sheet.nodes[match.root].input[1])


def _at_least_one(draft: Draft, match: Match) -> str:
    """A count of 0 divides nothing but a sum of nothing: divide by 1 there."""
    root = match.sheet.nodes[match.root]
    count = root.input[1]
    return draft.op("Div", root.input[0], draft.at_least(count, 1.0))


def _mean_of_nothing(draft: Draft, match: Match) -> str:
    """sum(x) / max(number of elements, 1)."""
    from onnx import TensorProto

    node, x = match.node("mean"), match.value("x")
    axes = match.sheet.axes(node)
    if axes is None:
        raise NotHereError("the axes of the mean are not known")
    total = draft.reduce("ReduceSum", x, axes, keepdims=int(attribute(node, "keepdims", 1)))
    if axes:
        sizes = draft.op("Gather", draft.op("Shape", x), draft.constant(list(axes), TensorProto.INT64), axis=0)
        count = draft.op("ReduceProd", sizes, keepdims=0)
    else:
        count = draft.op("Size", x)
    return draft.op("Div", total, draft.at_least(draft.cast(count, draft.element(x)), 1.0))


def _harmless_operand(match: Match) -> str:
    """The operand where it is chosen, and a harmless number elsewhere."""
    inner, root = match.node("inner"), match.sheet.nodes[match.root]
    harmless = HARMLESS.get(inner.op_type, 1.0)
    if match.sheet.source(root.input[1]) in inner.output:
        return f"torch.where({{condition}}, {{operand}}, {harmless})"
    return f"torch.where({{condition}}, {harmless}, {{operand}})"


REWRITES = (
    Rewrite(
        "double-where",
        "a harmless operand where the condition doesn't choose the result",
        one_of(call("Where", CONDITION, _INNER, OTHER), call("Where", CONDITION, OTHER, _INNER)),
        _double_where,
        python={"torch": Words(_harmless_operand, at="inner:0", hoisted="chosen")},
    ),
    Rewrite(
        "double-where-of-quotient",
        "a divisor of 1 where the condition doesn't choose the quotient",
        one_of(
            call("Where", CONDITION, call("Div", Y, X, name="inner"), OTHER),
            call("Where", CONDITION, OTHER, call("Div", Y, X, name="inner")),
        ),
        _double_where_of_quotient,
        python={"torch": Words(_harmless_operand, at="inner:-1", hoisted="chosen")},
    ),
    Rewrite(
        "live-rows",
        "a lowest finite score instead of -Inf in the mask",
        one_of(call("Softmax", X, name="softmax"), call("LogSoftmax", X, name="softmax")),
        _live_rows,
        keeps=LIMITS,
        codes=("NP117",),
        python={"torch": Words("{operand}.clamp_min(torch.finfo({operand}.dtype).min / 4)", at="root:0")},
    ),
    Rewrite(
        "count-of-one",
        "a count of at least 1",
        call("Div", Y, Moved(call("ReduceSum", X), "shape", _SHAPED)),
        _at_least_one,
        codes=("NP103", "NP2", "NP3"),
        when=_counts,
        python={
            "torch": Words("{operand}.clamp_min(1)", at="root:-1"),
            "tensorflow": Words("tf.maximum({operand}, 1)", at="root:-1"),
            "jax": Words("jnp.maximum({operand}, 1)", at="root:-1"),
        },
    ),
    Rewrite(
        "mean-of-nothing",
        "the sum over at least 1 element instead of a mean",
        call("ReduceMean", X, name="mean"),
        _mean_of_nothing,
        codes=("NP114",),
        python={"torch": "{x}.sum() / max({x}.numel(), 1)"},
    ),
)
