"""Patterns of a graph, as values: what a rewrite looks for.

``Call("Log", Moved(SOFTMAX))`` is a small immutable term. Matching walks from a value back to what makes it, tries the
operands of commutative operators in both orders, sees through Identity, takes constants from wherever they are stored,
and takes two values for the same if they are computed alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from nanproof.fix.sheet import CASTS, Sheet

COMMUTATIVE = frozenset({"Add", "Mul", "Max", "Min", "Equal", "And", "Or"})
MOVES = frozenset({
    "Identity", "Cast", "CastLike", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Expand", "Slice",
    "Gather", "GatherElements", "GatherND", "Tile",
})  # fmt: skip
"""Operators that move, select or repeat elements of their first operand, so that a function of each element may as well come before them."""
LONGEST_CHAIN = 8


@dataclass(frozen=True, slots=True)
class Found:
    """What a pattern was matched with."""

    values: Mapping[str, str] = field(default_factory=dict)
    """The value that each variable stands for."""
    nodes: Mapping[str, int] = field(default_factory=dict)
    """The index of each named node."""
    chains: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The nodes of each named chain of moves, last one first."""
    used: tuple[int, ...] = ()
    """The indexes of all matched nodes, the root first."""

    def using(self, index: int, name: str = "") -> Found:
        """The same with one more node."""
        nodes = {**self.nodes, name: index} if name else self.nodes
        return replace(self, nodes=nodes, used=self.used if index in self.used else (*self.used, index))


class Pattern(Protocol):
    """A term that a value may fit."""

    def match(self, sheet: Sheet, value: str, found: Found) -> Iterator[Found]:
        """Every way in which the value fits, given what is bound already."""
        ...


@dataclass(frozen=True, slots=True)
class Any:
    """Any value; the same one wherever the name comes again."""

    name: str

    def match(self, sheet: Sheet, value: str, found: Found) -> Iterator[Found]:
        bound = found.values.get(self.name)
        if bound is None:
            yield replace(found, values={**found.values, self.name: sheet.source(value)})
        elif sheet.same(bound, value):
            yield found


@dataclass(frozen=True, slots=True)
class Const:
    """A constant all of whose elements are one number in [least, most]."""

    least: float
    most: float
    name: str = ""

    def match(self, sheet: Sheet, value: str, found: Found) -> Iterator[Found]:
        number = sheet.number(value)
        if number is not None and self.least <= number <= self.most:
            yield replace(found, values={**found.values, self.name: value}) if self.name else found


def exactly(number: float, tolerance: float = 1e-6) -> Const:
    """The constant that is a number but for rounding."""
    slack = tolerance * max(abs(number), 1.0)
    return Const(number - slack, number + slack)


ONE, TWO, MINUS_ONE = exactly(1.0), exactly(2.0), exactly(-1.0)
ZERO = Const(0.0, 0.0)
SMALL = Const(1e-45, 1e-2, "eps")
"""An epsilon."""


@dataclass(frozen=True, slots=True)
class Call:
    """An operator of ONNX on operands; further operands of the node (axes, shapes) are free."""

    op: str
    operands: tuple[Pattern, ...]
    name: str = ""

    def match(self, sheet: Sheet, value: str, found: Found) -> Iterator[Found]:
        index = sheet.makers.get(sheet.source(value))
        if index is None:
            return
        node = sheet.nodes[index]
        if node.op_type != self.op or node.domain not in {"", "ai.onnx"} or len(node.input) < len(self.operands):
            return
        orders = [tuple(node.input)]
        if self.op in COMMUTATIVE and len(self.operands) == 2 and len(node.input) == 2:
            orders.append((node.input[1], node.input[0]))
        for order in orders:
            yield from _each(sheet, self.operands, order, found.using(index, self.name))


def call(op: str, *operands: Pattern, name: str = "") -> Call:
    """An operator on operands."""
    return Call(op, operands, name)


def _each(sheet: Sheet, patterns: tuple[Pattern, ...], values: tuple[str, ...], found: Found) -> Iterator[Found]:
    if not patterns:
        yield found
        return
    for first in patterns[0].match(sheet, values[0], found):
        yield from _each(sheet, patterns[1:], values[1:], first)


@dataclass(frozen=True, slots=True)
class OneOf:
    """Any of several patterns, the first one that fits first."""

    patterns: tuple[Pattern, ...]

    def match(self, sheet: Sheet, value: str, found: Found) -> Iterator[Found]:
        for pattern in self.patterns:
            yield from pattern.match(sheet, value, found)


def one_of(*patterns: Pattern) -> OneOf:
    """Any of several patterns."""
    return OneOf(patterns)


@dataclass(frozen=True, slots=True)
class Moved:
    """A pattern whose elements were then moved, selected, repeated or cast; the chain is kept under a name."""

    pattern: Pattern
    name: str = "moves"
    ops: frozenset[str] = MOVES

    def match(self, sheet: Sheet, value: str, found: Found) -> Iterator[Found]:
        chain: list[int] = []
        for _ in range(LONGEST_CHAIN):
            kept = replace(found, chains={**found.chains, self.name: tuple(chain)})
            yield from self.pattern.match(sheet, value, kept)
            index = sheet.makers.get(value)
            if index is None or sheet.nodes[index].op_type not in self.ops:
                return
            chain.append(index)
            found = found.using(index)
            value = sheet.nodes[index].input[0]


def cast(pattern: Pattern, name: str = "casts") -> Moved:
    """A pattern, perhaps cast to another type."""
    return Moved(pattern, name, CASTS | {"Identity"})


def negated(pattern: Pattern) -> Pattern:
    """-p, however it is spelled."""
    return one_of(
        call("Neg", pattern),
        call("Mul", pattern, MINUS_ONE),
        call("Sub", ZERO, pattern),
        call("Div", pattern, MINUS_ONE),
    )


def one_minus(pattern: Pattern) -> Pattern:
    """1 - p, however it is spelled, and with an epsilon that floats lose."""
    nearly = exactly(1.0, 1e-5)
    plain = one_of(
        call("Sub", nearly, pattern),
        call("Add", nearly, negated(pattern)),
        call("Neg", call("Sub", pattern, nearly)),
        call("Mul", call("Sub", pattern, nearly), MINUS_ONE),
    )
    return one_of(plain, call("Add", plain, SMALL), call("Sub", nearly, call("Sub", pattern, SMALL)))


def squared(pattern: Pattern) -> Pattern:
    """P * p, however it is spelled."""
    return one_of(call("Mul", pattern, pattern), call("Pow", pattern, TWO))


def guarded(pattern: Pattern) -> Pattern:
    """A pattern, perhaps with an epsilon added or as a floor."""
    return one_of(
        pattern,
        call("Add", pattern, SMALL),
        call("Max", pattern, SMALL),
        call("Clip", pattern, SMALL),
    )


def nonnegative(pattern: Pattern) -> Pattern:
    """A pattern that is never negative, perhaps made so once more."""
    return one_of(pattern, call("Relu", pattern), call("Abs", pattern), call("Max", pattern, ZERO))
