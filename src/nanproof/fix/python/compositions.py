"""Functions that are several operators, spelled as the exporters spell them, so that patterns see through them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanproof.fix.python.sketch import Sketch

Composition = Callable[["Sketch", Sequence[str], Mapping[str, ast.expr], ast.expr], str]


def _log1p(s: Sketch, x: Sequence[str], settings: Mapping[str, ast.expr], e: ast.expr) -> str:
    return s.node("Log", [s.node("Add", [s.number(1.0), x[0]])], e)


def _expm1(s: Sketch, x: Sequence[str], settings: Mapping[str, ast.expr], e: ast.expr) -> str:
    return s.node("Sub", [s.node("Exp", x), s.number(1.0)], e)


def _rsqrt(s: Sketch, x: Sequence[str], settings: Mapping[str, ast.expr], e: ast.expr) -> str:
    return s.node("Reciprocal", [s.node("Sqrt", x)], e)


def _square(s: Sketch, x: Sequence[str], settings: Mapping[str, ast.expr], e: ast.expr) -> str:
    return s.node("Mul", [x[0], x[0]], e)


def _norm(s: Sketch, x: Sequence[str], settings: Mapping[str, ast.expr], e: ast.expr) -> str:
    from nanproof.fix.python.sketch import _attributes

    power = settings.get("p")
    if power is not None and not (isinstance(power, ast.Constant) and power.value in {2, "fro"}):
        return s.unknown(x, e)
    return s.node("ReduceL2", x, e, **_attributes("ReduceL2", settings))


def _var(s: Sketch, x: Sequence[str], settings: Mapping[str, ast.expr], e: ast.expr) -> str:
    return s.node("Variance", x, e, domain="nanproof.python")


def _std(s: Sketch, x: Sequence[str], settings: Mapping[str, ast.expr], e: ast.expr) -> str:
    return s.node("Sqrt", [s.node("Variance", x, domain="nanproof.python")], e)


def _masked_fill(s: Sketch, x: Sequence[str], settings: Mapping[str, ast.expr], e: ast.expr) -> str:
    return s.node("Where", [x[1], x[2], x[0]], e) if len(x) == 3 else s.unknown(x, e)


COMPOSITIONS: Mapping[str, Composition] = MappingProxyType(
    {
        "@log1p": _log1p,
        "@expm1": _expm1,
        "@rsqrt": _rsqrt,
        "@square": _square,
        "@norm": _norm,
        "@var": _var,
        "@std": _std,
        "@masked_fill": _masked_fill,
    }
)
