"""Guards right at the failing operator, made from its own conditions: the last resort among the rewrites.

The condition that the check reports (``x > 0``) is read here as a repair of the operand, so the two can't disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanproof.findings.wording import number
from nanproof.fix.candidates import Place
from nanproof.fix.changes import Rewriting
from nanproof.fix.draft import Draft, NotHereError
from nanproof.fix.pattern import Found
from nanproof.fix.rewrite import LIMITS, Match, Rewrite, Words
from nanproof.fix.sheet import Sheet, attribute
from nanproof.numerics.dtypes import DType, by_onnx
from nanproof.numerics.rounding import next_down, next_up
from nanproof.ops import lookup
from nanproof.ops.conditions import Both, Compare, Condition, Operand

if TYPE_CHECKING:
    from onnx import NodeProto

    from nanproof.findings import Finding

QUOTIENTS = ("Div", "Reciprocal")
ZERO_DIVISION = frozenset({"NP103", "NP104", "NP205"})
EPSILONS = (1e-30, 1e-12, 1e-8, 1e-6, 1e-4)
"""Least divisors that are tried after the least one that keeps the quotient of ordinary numbers finite."""
EXPONENTS = (1.0, 0.9, 0.75, 0.5, 0.25, 0.1)
"""Shares of the largest exponent that are tried: what is computed from the result has to fit, too."""


@dataclass(frozen=True, slots=True)
class _Node:
    """The node that makes a value, of one of some operators."""

    ops: tuple[str, ...]

    def match(self, sheet: Sheet, value: str, found: Found) -> Iterator[Found]:
        index = sheet.makers.get(value)
        if index is not None and sheet.nodes[index].op_type in self.ops:
            yield found.using(index)


def guards(place: Place, finding: Finding, *, wide: bool = False) -> Iterator[Rewriting]:
    """Guards of the operand that a finding blames, those that change least first; wide: those that limit most first."""
    node = place.sheet.nodes[place.index]
    element = place.sheet.element(node.output[0]) or place.sheet.element(node.input[0] if node.input else "")
    try:
        dtype = by_onnx(element)
    except KeyError:
        return
    if not dtype.is_float:
        return
    if finding.code in ZERO_DIVISION and node.op_type in {"Div", "Reciprocal"}:
        builds = _divisors(node, finding, dtype)
    elif finding.code == "NP201" and node.op_type == "Exp":
        builds = _exponents(dtype)
    else:
        builds = _conditions(node, finding, dtype)
    # a program may write a reciprocal as a quotient
    ops = (node.op_type,) if node.op_type not in QUOTIENTS else QUOTIENTS
    for guard in reversed(list(builds)) if wide else builds:
        name = f"guard-{node.op_type.lower()}"
        rewrite = Rewrite(name, guard.title, _Node(ops), guard.build, LIMITS, python=guard.python)
        yield Rewriting(rewrite, ((place.path, node.output[0]),))


Build = Callable[[Draft, Match], str]


@dataclass(frozen=True, slots=True)
class _Guard:
    """What one guard is called, how it is built, and how a program says it."""

    title: str
    build: Build
    python: Mapping[str, Words | str]


def _again(draft: Draft, match: Match, position: int, operand: str) -> str:
    """The root node once more, with another operand."""
    root = match.sheet.nodes[match.root]
    if len(root.output) != 1:
        raise NotHereError("the node has several results")
    inputs = list(root.input)
    inputs[position] = operand
    attributes = {item.name: attribute(root, item.name, None) for item in root.attribute}
    return draft.op(root.op_type, *inputs, **attributes)


# -- conditions ------------------------------------------------------------------------------------


def _conditions(node: NodeProto, finding: Finding, dtype: DType) -> Iterator[_Guard]:
    """One guard with every comparison that the violated requirement makes of one operand."""
    op = lookup(node.domain, node.op_type)
    for requirement in op.requires if op is not None else ():
        if requirement.code != finding.code:
            continue
        compares = [c for c in _parts(requirement.condition) if _is_bound(c)]
        positions = {c.term.index for c in compares if isinstance(c.term, Operand)}
        if len(positions) != 1 or not compares:
            continue
        (position,) = positions
        ends = [_end(compare, dtype) for compare in compares]
        words = " and ".join(f"at {'least' if low else 'most'} {number(end)}" for low, end in ends)
        yield _Guard(f"an operand of {words}", _bounded(position, ends), bounded_words(position, ends, dtype))


def _parts(condition: Condition) -> list[Compare]:
    if isinstance(condition, Both):
        return _parts(condition.first) + _parts(condition.second)
    return [condition] if isinstance(condition, Compare) else []


def _is_bound(compare: Compare) -> bool:
    return isinstance(compare.term, Operand) and compare.relation in {">", ">=", "<", "<="}


def _end(compare: Compare, dtype: DType) -> tuple[bool, float]:
    """(whether it is a lower bound, the bound): the first float on the right side, and no subnormal one."""
    bound, relation = compare.bound, compare.relation
    if relation in {">", ">="}:
        return True, bound if relation == ">=" else dtype.tiny if bound == 0 else next_up(dtype, bound)
    return False, bound if relation == "<=" else -dtype.tiny if bound == 0 else next_down(dtype, bound)


def _bounded(position: int, ends: list[tuple[bool, float]]) -> Build:
    def build(draft: Draft, match: Match) -> str:
        x = match.sheet.nodes[match.root].input[position]
        for low, end in ends:
            x = draft.at_least(x, end) if low else draft.at_most(x, end)
        return _again(draft, match, position, x)

    return build


def bounded_words(position: int, ends: list[tuple[bool, float]], dtype: DType) -> dict[str, Words | str]:
    """An operand within its ends, in the words of each framework."""
    low = next((_literal(end, dtype) for is_low, end in ends if is_low), None)
    high = next((_literal(end, dtype) for is_low, end in ends if not is_low), None)
    if low is not None and high is not None:
        texts = {"torch": f"{{operand}}.clamp({low}, {high})", "jax": f"jnp.clip({{operand}}, {low}, {high})",
                 "tensorflow": f"tf.clip_by_value({{operand}}, {low}, {high})"}  # fmt: skip
    elif low is not None:
        texts = {"torch": f"{{operand}}.clamp_min({low})", "jax": f"jnp.maximum({{operand}}, {low})",
                 "tensorflow": f"tf.maximum({{operand}}, {low})"}  # fmt: skip
    else:
        texts = {"torch": f"{{operand}}.clamp_max({high})", "jax": f"jnp.minimum({{operand}}, {high})",
                 "tensorflow": f"tf.minimum({{operand}}, {high})"}  # fmt: skip
    return {framework: Words(text, at=f"root:{position}") for framework, text in texts.items()}


def _literal(end: float, dtype: DType) -> str:
    """A number that a program can say, on the safe side of the end."""
    if end == dtype.tiny and dtype.name == "float32":
        return "1.2e-38"
    return repr(end)


# -- divisors --------------------------------------------------------------------------------------


def _divisors(node: NodeProto, finding: Finding, dtype: DType) -> Iterator[_Guard]:
    lo, hi = finding.interval
    if finding.operand < 0:  # the quotient overflows: of the divisor nothing was said
        lo, hi = -1.0, 1.0
    least = max(dtype.tiny, 4.0 / dtype.max)
    for epsilon in (least, *(e for e in EPSILONS if e > least)):
        if lo >= 0:
            python = bounded_words(-1, [(True, epsilon)], dtype)
            yield _Guard(f"a divisor of at least {number(epsilon)}", _one_sided(epsilon, positive=True), python)
        elif hi <= 0:
            python = bounded_words(-1, [(False, -epsilon)], dtype)
            yield _Guard(f"a divisor of at most {number(-epsilon)}", _one_sided(epsilon, positive=False), python)
        else:
            yield _Guard(f"a divisor that stays {number(epsilon)} away from 0", _two_sided(epsilon), {})


def _one_sided(epsilon: float, *, positive: bool) -> Build:
    def build(draft: Draft, match: Match) -> str:
        position = 1 if match.sheet.nodes[match.root].op_type == "Div" else 0
        divisor = match.sheet.nodes[match.root].input[position]
        kept = draft.at_least(divisor, epsilon) if positive else draft.at_most(divisor, -epsilon)
        return _again(draft, match, position, kept)

    return build


def _two_sided(epsilon: float) -> Build:
    """One quotient for each sign of the divisor: each of them is proved on its own."""

    def build(draft: Draft, match: Match) -> str:
        position = 1 if match.sheet.nodes[match.root].op_type == "Div" else 0
        divisor = match.sheet.nodes[match.root].input[position]
        above = _again(draft, match, position, draft.at_least(divisor, epsilon))
        below = _again(draft, match, position, draft.at_most(divisor, -epsilon))
        negative = draft.op("Less", divisor, draft.scalar(0.0, divisor))
        return draft.op("Where", negative, below, above)

    return build


# -- exponents -------------------------------------------------------------------------------------


def _exponents(dtype: DType) -> Iterator[_Guard]:
    from math import floor, log

    top = floor(log(dtype.max) * 100.0) / 100.0
    for share in EXPONENTS:
        most = top if share == 1.0 else float(floor(top * share))
        ends = [(False, most)]
        yield _Guard(f"an exponent of at most {number(most)}", _bounded(0, ends), bounded_words(0, ends, dtype))
