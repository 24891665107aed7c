"""The algebraic classes: how an operator maps end points to end points.

Each is a bound that needs nothing but the operator's own ``run``; rounding,
errors and special values are the engine's (``ops.elementwise``). Arithmetic on
pairs is written so that Python floats and arrays of block bounds both work.
"""

from __future__ import annotations

from typing import Any

from nanproof.ops.elementwise import Elementwise, Pair, Rule


def least(*values: Any) -> Any:
    """The smallest, of floats or element by element of arrays."""
    return _pick(min, "minimum", values)


def most(*values: Any) -> Any:
    """The largest, of floats or element by element of arrays."""
    return _pick(max, "maximum", values)


def _pick(of_floats: Any, of_arrays: str, values: tuple[Any, ...]) -> Any:
    for value in values:
        if type(value) is not float and not isinstance(value, (float, int)):
            break
    else:
        return of_floats(values)
    import numpy as np

    combine = getattr(np, of_arrays)
    result = values[0]
    for value in values[1:]:
        result = combine(result, value)
    return result


def _increasing(f: Any, x: Pair) -> Pair:
    """Never falls: the ends of the operand give the ends of the result."""
    return f(x[0]), f(x[1])


def _decreasing(f: Any, x: Pair) -> Pair:
    """Never rises: the ends change places."""
    return f(x[1]), f(x[0])


def _corners(f: Any, *operands: Pair) -> Pair:
    """Monotone in each operand while the others stand still: extremes are at the corners."""
    values = [f(x) for x in operands[0]] if len(operands) == 1 else None
    if values is None:
        a, b = operands
        values = [f(a[0], b[0]), f(a[0], b[1]), f(a[1], b[0]), f(a[1], b[1])]
    return least(*values), most(*values)


def _increasing_in_all(f: Any, *operands: Pair) -> Pair:
    """Never falls in any operand."""
    return f(*(x[0] for x in operands)), f(*(x[1] for x in operands))


def _constant(f: Any, x: Pair) -> Pair:
    """The same for every operand."""
    return f(x[0]), f(x[0])


increasing = Elementwise(_increasing)
decreasing = Elementwise(_decreasing)
corners = Elementwise(_corners)
increasing_in_all = Elementwise(_increasing_in_all)


def unimodal(at: float, *, peak: bool = False) -> Elementwise:
    """Falls before ``at`` and rises behind it (``peak``: the other way round)."""

    def rule(f: Any, x: Pair) -> Pair:
        ends = f(x[0]), f(x[1])
        # the turning point if it lies inside, else the nearer end
        turn = f(most(x[0], least(x[1], _like(x[0], at))))
        if peak:
            return least(*ends), most(turn, *ends)
        return least(turn, *ends), most(*ends)

    rule.__name__ = "unimodal"
    rule.__doc__ = f"{'Rises, then falls' if peak else 'Falls, then rises'}; turns at {at:g}."
    return Elementwise(rule)


def _like(_: Any, value: float) -> float:
    return value


def elementwise(rule: Rule) -> Elementwise:
    """A hand-written end-point rule, for what fits no class (its docstring says why)."""
    return Elementwise(rule)
