"""Conditions: what an operator needs of its operands, written once and read five ways.

``X > 0`` is a small immutable value, not a function. It is read as

* a static judgement over intervals (``judge``),
* an element-wise check of concrete numbers (``holds``),
* a differentiable distance to the invalid set (``margin``: positive exactly where it holds),
* a repair of an operand (``guard``),
* text (``needs`` and ``invalid``),

so check, search, fix and documentation can't disagree about what the bug is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from nanproof.numerics.dtypes import DType
from nanproof.numerics.rounding import next_down, next_up

Ends = Sequence["tuple[Any, Any]"]
Attrs = Mapping[str, Any]


class Term:
    """An arithmetic expression over operands and attributes."""

    __slots__ = ()

    def ends(self, ends: Ends, attrs: Attrs) -> tuple[Any, Any]:
        """The interval of the expression over intervals of the operands."""
        raise NotImplementedError

    def value(self, values: Sequence[Any], attrs: Attrs) -> Any:
        """The expression over concrete operands."""
        raise NotImplementedError

    def __add__(self, other: Term | float) -> Term:
        return _Sum(self, _term(other), 1.0)

    def __sub__(self, other: Term | float) -> Term:
        return _Sum(self, _term(other), -1.0)

    def __gt__(self, bound: float) -> Condition:
        return Compare(self, ">", bound)

    def __ge__(self, bound: float) -> Condition:
        return Compare(self, ">=", bound)

    def __lt__(self, bound: float) -> Condition:
        return Compare(self, "<", bound)

    def __le__(self, bound: float) -> Condition:
        return Compare(self, "<=", bound)

    def isnt(self, bound: float) -> Condition:
        """The condition that the expression differs from a number."""
        return Compare(self, "!=", bound)

    def equals(self, bound: float) -> Condition:
        """The condition that the expression is a given number."""
        return Compare(self, "==", bound)

    def is_integral(self) -> Condition:
        """The condition that the expression is a whole number."""
        return Integral(self)


@dataclass(frozen=True, slots=True)
class Operand(Term):
    """The operand at a position."""

    index: int
    label: str

    def ends(self, ends: Ends, attrs: Attrs) -> tuple[Any, Any]:
        return ends[self.index]

    def value(self, values: Sequence[Any], attrs: Attrs) -> Any:
        return values[self.index]

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True, slots=True)
class Attribute(Term):
    """A numeric attribute of the node."""

    name: str
    default: float

    def ends(self, ends: Ends, attrs: Attrs) -> tuple[Any, Any]:
        value = float(attrs.get(self.name, self.default))
        return value, value

    def value(self, values: Sequence[Any], attrs: Attrs) -> Any:
        return float(attrs.get(self.name, self.default))

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class _Number(Term):
    number: float

    def ends(self, ends: Ends, attrs: Attrs) -> tuple[Any, Any]:
        return self.number, self.number

    def value(self, values: Sequence[Any], attrs: Attrs) -> Any:
        return self.number

    def __str__(self) -> str:
        return f"{self.number:g}"


@dataclass(frozen=True, slots=True)
class _Sum(Term):
    left: Term
    right: Term
    sign: float

    def ends(self, ends: Ends, attrs: Attrs) -> tuple[Any, Any]:
        (a, b), (c, d) = self.left.ends(ends, attrs), self.right.ends(ends, attrs)
        return (a + c, b + d) if self.sign > 0 else (a - d, b - c)

    def value(self, values: Sequence[Any], attrs: Attrs) -> Any:
        return self.left.value(values, attrs) + self.sign * self.right.value(values, attrs)

    def __str__(self) -> str:
        return f"{self.left} {'+' if self.sign > 0 else '-'} {self.right}"


def _term(value: Term | float) -> Term:
    return value if isinstance(value, Term) else _Number(float(value))


class Condition(Protocol):
    """What the five readings of a condition look like."""

    def judge(self, ends: Ends, attrs: Attrs) -> tuple[Any, Any]:
        """(holds for all values in the intervals, holds for none of them)."""

    def holds(self, xp: Any, values: Sequence[Any], attrs: Attrs) -> Any:
        """Whether it holds, element by element. NaN violates every condition."""

    def margin(self, xp: Any, values: Sequence[Any], attrs: Attrs) -> Any:
        """Distance to the invalid set: positive exactly where the condition holds."""

    def guard(self, xp: Any, x: Any, index: int, dtype: DType) -> Any | None:
        """The nearest valid operand; None if this condition can't repair that operand."""

    def restrict(self, index: int, ends: tuple[Any, Any], dtype: DType, xp: Any) -> tuple[Any, Any]:
        """An operand's interval, cut to the side where the condition can hold."""

    def needs(self, blamed: int = 0) -> str:
        """What is needed of the blamed operand, in words: "more than 0"."""

    def invalid(self) -> str:
        """What must not be, as a formula: "x <= 0"."""

    def __and__(self, other: Condition) -> Condition: ...

    def __or__(self, other: Condition) -> Condition: ...


class _Joined:
    __slots__ = ()

    def __and__(self, other: Condition) -> Condition:
        return Both(self, other)  # type: ignore[arg-type]

    def __or__(self, other: Condition) -> Condition:
        return Either(self, other)  # type: ignore[arg-type]


_WORDS = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most",
          "!=": "anything but", "==": "exactly"}  # fmt: skip
_OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "!=": "==", "==": "!="}
_LEAST = 5e-324


@dataclass(frozen=True, slots=True)
class Compare(_Joined):
    """A term against a number."""

    term: Term
    relation: str
    bound: float

    def judge(self, ends: Ends, attrs: Attrs) -> tuple[Any, Any]:
        term = self.term
        lo, hi = ends[term.index] if type(term) is Operand else term.ends(ends, attrs)
        c = self.bound
        relation = self.relation
        if relation == ">":
            return lo > c, hi <= c
        if relation == ">=":
            return lo >= c, hi < c
        if relation == "<":
            return hi < c, lo >= c
        if relation == "<=":
            return hi <= c, lo > c
        apart, same = (lo > c) | (hi < c), (lo == c) & (hi == c)
        return (apart, same) if relation == "!=" else (same, apart)

    def holds(self, xp: Any, values: Sequence[Any], attrs: Attrs) -> Any:
        t, c = self.term.value(values, attrs), self.bound
        if self.relation == ">":
            return t > c
        if self.relation == ">=":
            return t >= c
        if self.relation == "<":
            return t < c
        if self.relation == "<=":
            return t <= c
        if self.relation == "==":
            return t == c
        return (t > c) | (t < c)

    def margin(self, xp: Any, values: Sequence[Any], attrs: Attrs) -> Any:
        t, c = self.term.value(values, attrs), self.bound
        if self.relation == "!=":
            return xp.abs(t - c)
        if self.relation == "==":
            return xp.where(t == c, xp.abs(t - c) + 1.0, -xp.abs(t - c))
        distance = t - c if self.relation in (">", ">=") else c - t
        if self.relation in (">", "<"):
            return distance
        return xp.where(distance == 0, distance + 1e-30, distance)

    def guard(self, xp: Any, x: Any, index: int, dtype: DType) -> Any | None:
        if not isinstance(self.term, Operand) or self.term.index != index:
            return None
        c = self.bound
        if self.relation in (">", ">="):
            return xp.maximum(x, next_up(dtype, c) if self.relation == ">" else c)
        if self.relation in ("<", "<="):
            return xp.minimum(x, next_down(dtype, c) if self.relation == "<" else c)
        if self.relation == "==":
            return xp.where(x == c, x, c)
        return xp.where(x == c, next_up(dtype, c), x)

    def restrict(self, index: int, ends: tuple[Any, Any], dtype: DType, xp: Any) -> tuple[Any, Any]:
        if not isinstance(self.term, Operand) or self.term.index != index:
            return ends
        (lo, hi), c = ends, self.bound
        if self.relation in (">", ">="):
            return xp.maximum(lo, next_up(dtype, c) if self.relation == ">" else c), hi
        if self.relation in ("<", "<="):
            return lo, xp.minimum(hi, next_down(dtype, c) if self.relation == "<" else c)
        if self.relation == "==":
            return xp.maximum(lo, c), xp.minimum(hi, c)
        up, down = next_up(dtype, c), next_down(dtype, c)
        return xp.where(lo == c, up, lo), xp.where(hi == c, down, hi)

    def needs(self, blamed: int = 0) -> str:
        subject = "" if isinstance(self.term, Operand) and self.term.index == blamed else f"{self.term} "
        return f"{subject}{_WORDS[self.relation]} {self.bound:g}"

    def invalid(self) -> str:
        return f"{self.term} {_OPPOSITE[self.relation]} {self.bound:g}"


@dataclass(frozen=True, slots=True)
class Integral(_Joined):
    """A term is a whole number."""

    term: Term

    def judge(self, ends: Ends, attrs: Attrs) -> tuple[Any, Any]:
        lo, hi = self.term.ends(ends, attrs)
        whole = (lo == hi) & (lo % 1 == 0)
        return whole, (lo == hi) & (lo % 1 != 0)

    def holds(self, xp: Any, values: Sequence[Any], attrs: Attrs) -> Any:
        t = self.term.value(values, attrs)
        return xp.floor(t) == t

    def margin(self, xp: Any, values: Sequence[Any], attrs: Attrs) -> Any:
        t = self.term.value(values, attrs)
        distance = xp.abs(t - xp.round(t))
        return xp.where(distance == 0, distance + 1.0, -distance)

    def guard(self, xp: Any, x: Any, index: int, dtype: DType) -> Any | None:
        if not isinstance(self.term, Operand) or self.term.index != index:
            return None
        return xp.round(x)

    def restrict(self, index: int, ends: tuple[Any, Any], dtype: DType, xp: Any) -> tuple[Any, Any]:
        return ends

    def needs(self, blamed: int = 0) -> str:
        return f"a whole number as {self.term}"

    def invalid(self) -> str:
        return f"{self.term} not a whole number"


@dataclass(frozen=True, slots=True)
class Both(_Joined):
    """Two conditions at once."""

    first: Condition
    second: Condition

    def judge(self, ends: Ends, attrs: Attrs) -> tuple[Any, Any]:
        (a, b), (c, d) = self.first.judge(ends, attrs), self.second.judge(ends, attrs)
        return a & c, b | d

    def holds(self, xp: Any, values: Sequence[Any], attrs: Attrs) -> Any:
        return self.first.holds(xp, values, attrs) & self.second.holds(xp, values, attrs)

    def margin(self, xp: Any, values: Sequence[Any], attrs: Attrs) -> Any:
        one, two = self.first.margin(xp, values, attrs), self.second.margin(xp, values, attrs)
        return xp.minimum(one, two)

    def guard(self, xp: Any, x: Any, index: int, dtype: DType) -> Any | None:
        one = self.first.guard(xp, x, index, dtype)
        two = self.second.guard(xp, x if one is None else one, index, dtype)
        return one if two is None else two

    def restrict(self, index: int, ends: tuple[Any, Any], dtype: DType, xp: Any) -> tuple[Any, Any]:
        return self.second.restrict(index, self.first.restrict(index, ends, dtype, xp), dtype, xp)

    def needs(self, blamed: int = 0) -> str:
        return f"{self.first.needs(blamed)} and {self.second.needs(blamed)}"

    def invalid(self) -> str:
        return f"{self.first.invalid()} or {self.second.invalid()}"


@dataclass(frozen=True, slots=True)
class Either(_Joined):
    """At least one of two conditions."""

    first: Condition
    second: Condition

    def judge(self, ends: Ends, attrs: Attrs) -> tuple[Any, Any]:
        (a, b), (c, d) = self.first.judge(ends, attrs), self.second.judge(ends, attrs)
        return a | c, b & d

    def holds(self, xp: Any, values: Sequence[Any], attrs: Attrs) -> Any:
        return self.first.holds(xp, values, attrs) | self.second.holds(xp, values, attrs)

    def margin(self, xp: Any, values: Sequence[Any], attrs: Attrs) -> Any:
        one, two = self.first.margin(xp, values, attrs), self.second.margin(xp, values, attrs)
        return xp.maximum(one, two)

    def guard(self, xp: Any, x: Any, index: int, dtype: DType) -> Any | None:
        one, two = self.first, self.second
        for part in (one, two):
            if not (isinstance(part, Compare) and isinstance(part.term, Operand) and part.term.index == index):
                return None  # the other operand may make this one valid as it is
        repaired = one.guard(xp, x, index, dtype)
        return None if repaired is None else xp.where(two.holds(xp, [x] * (index + 1), {}), x, repaired)

    def restrict(self, index: int, ends: tuple[Any, Any], dtype: DType, xp: Any) -> tuple[Any, Any]:
        one = self.first.restrict(index, ends, dtype, xp)
        two = self.second.restrict(index, ends, dtype, xp)
        lo, hi = xp.minimum(one[0], two[0]), xp.maximum(one[1], two[1])
        return xp.maximum(lo, ends[0]), xp.minimum(hi, ends[1])

    def needs(self, blamed: int = 0) -> str:
        return f"{self.first.needs(blamed)}, or {self.second.needs(blamed)}"

    def invalid(self) -> str:
        return f"({self.first.invalid()}) and ({self.second.invalid()})"


X = Operand(0, "x")
Y = Operand(1, "y")
Z = Operand(2, "z")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A condition, the rule that a violation breaks, and what comes out then.

    ``operand`` is the one to blame; ``gives`` the flags (domain.box) of the results
    of a violation. ``only`` is "float" or "integer" where it holds for such operands
    only: a division by zero is an Inf for floats, and a crash for integers.
    """

    code: str
    condition: Condition
    gives: int
    operand: int = 0
    only: str = ""

    def concerns(self, dtype: DType) -> bool:
        """Whether operands of a dtype have to meet it."""
        return not self.only or (self.only == "float") == dtype.is_float

    @property
    def text(self) -> str:
        """The violated condition as a formula."""
        return self.condition.invalid()
