"""The schemas of operators that ONNX Runtime adds to ONNX's, as far as they aren't in the onnx package.

``contributed.txt`` has one line an operator: name, operands, results, attributes, and the types of each type variable.
A test holds it against what the installed ONNX Runtime says.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

TABLE = Path(__file__).with_name("contributed.txt")
UNLIMITED = (1 << 31) - 1


class Option(IntEnum):
    """How often a formal parameter is there."""

    Single = 0
    Optional = 1
    Variadic = 2


class Kind(IntEnum):
    """Kinds of attributes, as ONNX numbers them."""

    f = 1
    i = 2
    s = 3
    t = 4
    g = 5
    ff = 6
    ii = 7
    ss = 8
    tt = 9
    gg = 10


@dataclass(frozen=True, slots=True)
class Formal:
    """An operand or a result."""

    name: str
    type_str: str
    option: Option
    is_homogeneous: bool


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute."""

    type: Kind
    required: bool


@dataclass(frozen=True, slots=True)
class Constraint:
    """The types that a type variable may stand for."""

    type_param_str: str
    allowed_type_strs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contributed:
    """What is asked of an ``onnx.defs.OpSchema``, under the same names."""

    inputs: tuple[Formal, ...]
    outputs: tuple[Formal, ...]
    attributes: Mapping[str, Attribute]
    type_constraints: tuple[Constraint, ...]
    deprecated: bool = False
    since_version: int = 1

    @property
    def min_input(self) -> int:
        """How many operands there are at least."""
        return _least(self.inputs)

    @property
    def max_input(self) -> int:
        """How many operands there are at most."""
        return _most(self.inputs)

    @property
    def min_output(self) -> int:
        """How many results there are at least."""
        return _least(self.outputs)

    @property
    def max_output(self) -> int:
        """How many results there are at most."""
        return _most(self.outputs)


def _least(formals: tuple[Formal, ...]) -> int:
    return max((i + 1 for i, formal in enumerate(formals) if formal.option != Option.Optional), default=0)


def _most(formals: tuple[Formal, ...]) -> int:
    return UNLIMITED if formals and formals[-1].option == Option.Variadic else len(formals)


def contributed(domain: str, op: str) -> Contributed | None:
    """The schema of one of ONNX Runtime's operators; None where it has none of that name."""
    if domain and not domain.startswith("com.microsoft"):
        return None
    line = _table().get((domain, op))
    return None if line is None else _read(line)


@lru_cache(maxsize=1)
def _table() -> Mapping[tuple[str, str], str]:
    found = {}
    for line in TABLE.read_text().splitlines():
        names, _, rest = line.partition(" | ")
        domain, _, op = names.partition(" ")
        found["" if domain == "ai.onnx" else domain, op] = rest
    return found


@lru_cache(maxsize=512)
def _read(line: str) -> Contributed:
    inputs, outputs, attrs, variables = (part.split() for part in line.split("|"))
    kinds = dict(entry.split("=") for entry in attrs)
    allowed = dict(entry.split("=") for entry in variables)
    return Contributed(
        tuple(map(_formal, inputs)),
        tuple(map(_formal, outputs)),
        {name: Attribute(Kind[kind.rstrip("!")], kind.endswith("!")) for name, kind in kinds.items()},
        tuple(Constraint(name, tuple(map(_full, kinds.split(",")))) for name, kinds in allowed.items()),
    )


def _formal(text: str) -> Formal:
    name, _, kind = text.partition(":")
    option = {"?": Option.Optional, "*": Option.Variadic}.get(kind[-1], Option.Single)
    kind = kind.rstrip("?*")
    variable = not kind[0].islower()
    return Formal(name, kind if variable else _full(kind), option, option != Option.Variadic)


def _full(kind: str) -> str:
    return kind if "(" in kind else f"tensor({kind})"
