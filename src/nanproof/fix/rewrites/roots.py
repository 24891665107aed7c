"""Roots, powers, logarithms and quotients whose epsilon is missing, too small, or on the wrong side."""

from __future__ import annotations

from nanproof.fix.draft import Draft, NotHereError
from nanproof.fix.pattern import SMALL, Any, Const, Moved, call, one_of
from nanproof.fix.rewrite import LIMITS, Match, Rewrite, Words
from nanproof.fix.sheet import CASTS

X, Y = Any("x"), Any("y")
_LOST = Moved(SMALL, "casts", CASTS | {"Identity"})
KEPT = {1: 1e-12, 10: 1e-4, 11: 1e-24, 16: 1e-12}
"""An epsilon beside values that may be 0, by ONNX's number of the type."""


def _eps(draft: Draft, x: str) -> float:
    return KEPT.get(draft.element(x), 1e-12)


def _sqrt_inside(draft: Draft, match: Match) -> str:
    """sqrt(x + eps) instead of sqrt(x) + eps: the root stays where its derivative is finite."""
    x = match.value("x")
    return draft.op("Sqrt", draft.at_least(x, _eps(draft, x)))


def _larger_eps(draft: Draft, match: Match) -> str:
    """The epsilon that the type can hold beside 0."""
    x = match.value("x")
    root = match.sheet.nodes[match.root]
    least = max(_eps(draft, x), draft.dtype(x).tiny)
    guarded = draft.op("Add", x, draft.scalar(least, x))
    rest = list(root.input)
    for index, name in enumerate(rest):
        if match.sheet.source(name) in match.sheet.nodes[match.found.nodes["guard"]].output:
            rest[index] = guarded
    if guarded not in rest:
        raise NotHereError("the epsilon isn't where it is used")
    return draft.op(root.op_type, *rest)


def _pow_above_zero(draft: Draft, match: Match) -> str:
    """The base at least the smallest number whose power is finite."""
    x, exponent = match.value("x"), match.number("exponent")
    dtype = draft.dtype(x)
    least = dtype.tiny if exponent > 0 else max(dtype.tiny, (dtype.max / 4) ** (1.0 / min(exponent, -1e-6)))
    return draft.op("Pow", draft.at_least(x, least), match.value("exponent"))


_GUARD = one_of(call("Add", X, _LOST, name="guard"), call("Max", X, _LOST, name="guard"))

REWRITES = (
    Rewrite(
        "eps-inside-sqrt",
        "the epsilon inside Sqrt instead of beside it",
        one_of(call("Add", call("Sqrt", X), SMALL), call("Max", call("Sqrt", X), SMALL)),
        _sqrt_inside,
        keeps=LIMITS,
        python={"torch": "torch.sqrt({x}.clamp_min(1e-12))"},
    ),
    Rewrite(
        "larger-epsilon",
        "an epsilon that the type can hold",
        one_of(
            call("Log", _GUARD),
            call("Sqrt", _GUARD),
            call("Reciprocal", _GUARD),
            call("Div", Y, _GUARD),
        ),
        _larger_eps,
        keeps=LIMITS,
        codes=("NP1", "NP2", "NP4"),
    ),
    Rewrite(
        "pow-above-zero",
        "a base that stays above 0",
        call("Pow", X, Const(-1e6, 1e6, "exponent")),
        _pow_above_zero,
        keeps=LIMITS,
        codes=("NP106", "NP2", "NP3"),
        python={"torch": Words("{operand}.clamp_min(torch.finfo({operand}.dtype).tiny)", at="root:0")},
    ),
)
