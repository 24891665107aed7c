"""A stable rewrite as a value: what it looks for, what it puts there, when it holds, and what it keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanproof.fix.draft import Draft
from nanproof.fix.pattern import Found, Pattern
from nanproof.fix.sheet import Sheet

if TYPE_CHECKING:
    from onnx import NodeProto

KEEPS = "keeps"
"""The value is that of the original in exact arithmetic, and so is the gradient."""
LIMITS = "limits"
"""The value is that of the original except where the original fails or nearly does."""


@dataclass(frozen=True, slots=True)
class Match:
    """A rewrite's pattern in a graph."""

    sheet: Sheet
    found: Found

    @property
    def root(self) -> int:
        """The index of the node whose result is replaced."""
        return self.found.used[0]

    def value(self, name: str) -> str:
        """The value of a variable."""
        return self.found.values[name]

    def has(self, name: str) -> bool:
        """Whether a variable or a named node was part of the match."""
        return name in self.found.values or name in self.found.nodes

    def node(self, name: str) -> NodeProto:
        """A named node."""
        return self.sheet.nodes[self.found.nodes[name]]

    def number(self, name: str) -> float:
        """The number of a constant."""
        number = self.sheet.number(self.found.values[name])
        assert number is not None
        return number

    def chain(self, name: str) -> tuple[int, ...]:
        """A chain of moves."""
        return self.found.chains.get(name, ())


Build = Callable[[Draft, Match], str]


@dataclass(frozen=True, slots=True)
class Words:
    """A replacement in the words of a framework.

    text     what is put there: ``{x}`` and the like is what the pattern's variables were matched with, ``{axis}`` and
             ``{dims}`` what the program says of axes, ``{operand}`` what stood there
    at       which expression is replaced: "" the root of the match, "name:n" operand n of a named node ("root:n" of the root)
    hoisted  how something is called that needs a name, to be used a second time
    """

    text: str | Callable[[Match], str]
    at: str = ""
    hoisted: str = "inner"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One way to compute something that floats can stand.

    name     lower case with hyphens; in the names of new nodes
    title    what is done, to end the sentence "use ...", in ONNX's words
    pattern  what it looks for
    build    writes the replacement; raises NotHereError where that can't be done
    keeps    KEEPS or LIMITS
    codes    starts of the codes of findings that it may answer
    when     further conditions on a match
    python   the same in words of each framework; a text alone replaces the root
    """

    name: str
    title: str
    pattern: Pattern
    build: Build
    keeps: str = KEEPS
    codes: tuple[str, ...] = ("NP",)
    when: Callable[[Match], bool] = lambda match: True
    python: Mapping[str, str | Words] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.keeps not in {KEEPS, LIMITS}:
            raise ValueError(f'a rewrite "{KEEPS}" or "{LIMITS}", got {self.keeps!r}')

    def answers(self, code: str) -> bool:
        """Whether it may be what a finding of a code needs."""
        return code.startswith(self.codes)

    def first(self, sheet: Sheet, value: str, *, sketched: bool = False) -> Match | None:
        """The first match whose replaced result is a value. ``sketched``: in a graph without types, where ``when`` can't tell."""
        for found in self.pattern.match(sheet, value, Found()):
            if found.used and value in sheet.nodes[found.used[0]].output:
                match = Match(sheet, found)
                if sketched or self.when(match):
                    return match
        return None
