"""Quotients that are bounded whatever their operands: a share of a sum, a number over its norm, a row over its own.

The bounds hold in floats. A numerator that is no larger than the divisor gives at most 1, since rounding to nearest is
monotone. Squares, sums of them, means and roots round by some units more, which is added to the bound; a square that
underflows belongs to an element below sqrt(tiny), so the rules about squares ask for a divisor well above that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, prod, sqrt

from nanproof.analysis.facts.away import away
from nanproof.analysis.facts.made import is_number, maker, plain, same
from nanproof.analysis.facts.order import Term, at_most, dominated, rounds_late
from nanproof.analysis.facts.rows import rows_of
from nanproof.analysis.state import State
from nanproof.dims import bounds
from nanproof.domain.box import Box
from nanproof.model.lower import Step

DEEP = 4
"""Longest way from a divisor down to the number that it is no less than."""

_L2 = frozenset({"ReduceL2"})
_SQUARES = frozenset({"ReduceMean", "ReduceSum", "ReduceSumSquare"})


def quotient(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """X / y where |x| <= c * y: x / (x + p), x / sum(x), x / max|x|, x / sqrt(x * x + ...), d / sqrt(mean(d * d) + eps)."""
    x, y = operands
    if x is None or y is None or not plain(x, y) or y.hull()[0] < 0.0 or rounds_late(state, operands):
        return None
    value, divisor = step.inputs
    if y.hull()[0] == 0.0 and away(state, divisor) <= 0.0:
        return None
    lo, hi = x.hull()
    if dominated(state, value, divisor):
        return (0.0 if lo >= 0.0 else -1.0), (0.0 if hi <= 0.0 else 1.0)
    least = 1.0 if at_most(state, Term(divisor), Term(value)) == 0.0 else -inf
    c = over(state, value, divisor)
    if c is None:
        return None if least == -inf else (least, inf)
    bound = c * (1.0 + 8.0 * x.dtype.unit)
    return max(least, 0.0 if lo >= 0.0 else -bound), (0.0 if hi <= 0.0 else bound)


def inverse_product(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """X * (1 / y) and x * y ** -0.5 as the quotient they stand for, with the rounding of one more step."""
    if not plain(*operands) or rounds_late(state, operands):
        return None
    for value, inverse in (step.inputs, step.inputs[::-1]):
        c = _over_inverse(state, value, inverse)
        box = state.hulls[value]
        if c is not None and box is not None:
            bound = c * (1.0 + 32.0 * box.dtype.unit)
            lo, hi = box.hull()
            return (0.0 if lo >= 0.0 else -bound), (0.0 if hi <= 0.0 else bound)
    return None


def _over_inverse(state: State, value: int, inverse: int) -> float | None:
    step = maker(state, inverse, {"Reciprocal", "Pow", "Div"})
    if step is None:
        return None
    if step.node.op == "Pow":
        if not is_number(state, step.inputs[1], -0.5):
            return None
        square = _over_square(state, value, step.inputs[0], DEEP)
        return None if square is None or not _large_square(state, step.inputs[0]) else max(sqrt(square), 1.0)
    if step.node.op == "Div" and not is_number(state, step.inputs[0], 1.0):
        return None
    divisor = step.inputs[-1]
    box = state.hulls[divisor]
    if box is None or not plain(box) or box.hull()[0] <= 0.0:
        return None
    return 1.0 if dominated(state, value, divisor) else over(state, value, divisor)


def over(state: State, value: int, limit: int) -> float | None:
    """A number c such that |value| <= c * limit for the floats at hand, wherever the limit isn't 0; None if none is known.

    Where squares are involved, an element below 4 * sqrt(tiny) may have lost its square to underflow: if the limit
    is larger than that, it is at least the element, and c at least 1. If it is smaller, and the root of a positive
    number s, then s is at least a quantum, and the lost part of the square at most half of that: 2 * s covers both.
    """
    box, own = state.hulls[limit], state.hulls[value]
    if box is None or own is None or not plain(box, own) or box.hull()[0] < 0.0:
        return None
    chosen = maker(state, limit, {"Where"})
    if chosen is not None:
        each = [over(state, value, slot) or _by_ends(state, own, slot) for slot in chosen.inputs[1:]]
        return max((c for c in each if c is not None), default=None) if None not in each else None
    if box.hull()[0] >= 4.0 * sqrt(box.dtype.tiny):
        c = _over(state, value, limit, DEEP, large=True)
        return None if c is None else max(c, 1.0)
    found = _over(state, value, limit, DEEP, large=False)
    root = 1.0 if rows_of(state, limit, _L2, value) is not None else None
    under = _under_root(state, limit)
    if under is not None:
        root = _over_square(state, value, under, DEEP)
    if root is None:
        return found
    c = sqrt(2.0 * root) * (1.0 + 32.0 * box.dtype.unit)
    return c if found is None else min(c, found)


def _by_ends(state: State, value: Box, slot: int) -> float | None:
    least = _least(state, slot)
    lo, hi = value.hull()
    return max(-lo, hi) / least * (1.0 + 2.0**-50) if least > 0.0 else None


def _over(state: State, value: int, limit: int, depth: int, *, large: bool) -> float | None:
    box = state.hulls[limit] if limit >= 0 else None
    if depth == 0 or box is None or not plain(box) or box.hull()[0] < 0.0:
        return None
    if depth < DEEP and dominated(state, value, limit):
        return 1.0
    below = [_scaled(c, _over(state, value, at, depth - 1, large=large)) for c, at in _no_less(state, limit)]
    found = [c for c in below if c is not None]
    if large:
        if rows_of(state, limit, _L2, value) is not None:
            found.append(1.0 + 32.0 * box.dtype.unit)
        under = _under_root(state, limit)
        square = None if under is None else _over_square(state, value, under, DEEP)
        if square is not None:
            found.append(sqrt(square) * (1.0 + 8.0 * box.dtype.unit))
    return min(found, default=None)


def _scaled(factor: float, found: float | None) -> float | None:
    return None if found is None else factor * found


def _no_less(state: State, slot: int) -> Iterator[tuple[float, int]]:
    """(c, other) such that other <= c * slot, for values that are never negative."""
    step = state.makers.get(slot)
    if step is None or step.op is None or step.node.domain:
        return
    name, box = step.node.op, state.hulls[slot]
    assert box is not None
    unit = box.dtype.unit
    if name in {"Identity", "Max", "Expand"}:
        yield from ((1.0, other) for other in step.inputs[: None if name == "Max" else 1])
    elif name == "Clip" and (len(step.inputs) < 3 or step.inputs[2] < 0):
        yield 1.0, step.inputs[0]
    elif name == "Add" and all(_least(state, other) >= 0.0 for other in step.inputs):
        yield from ((1.0, other) for other in step.inputs)
    elif name == "Sub":
        yield from ((1.0 + 8.0 * unit, other) for other in without_share(state, step))
    elif name in {"Mul", "Div"}:
        yield from _multiple(state, step, unit)


def _multiple(state: State, step: Step, unit: float) -> Iterator[tuple[float, int]]:
    """X * k and x / k for a known k >= 1 (or 1 / k): no less than x / c, up to a rounding, where nothing underflows."""
    box = state.hulls[step.outputs[0]]
    if box is None or box.hull()[0] < box.dtype.tiny:
        return
    for value, factor in (step.inputs, step.inputs[::-1])[: 2 if step.node.op == "Mul" else 1]:
        known = state.hulls[factor]
        if known is not None and known.is_point and known.lo > 0.0:
            k = float(known.lo)
            yield (1.0 / k if step.node.op == "Mul" else k) * (1.0 + 4.0 * unit), value


def without_share(state: State, step: Step) -> tuple[int, ...]:
    """The operands p and q of (p + q) - i, where 0 <= i <= p and i <= q: the union of two areas, with their intersection.

    The result is at least max(p, q) * (1 - 4 * unit) in floats: with p >= q, fl(p + q) - i >= (p + q) * (1 - unit) - q
    >= p * (1 - 2 * unit), and the difference is rounded once.
    """
    whole = maker(state, step.inputs[0], {"Add"})
    if whole is None or _least(state, step.inputs[1]) < 0.0:
        return ()
    share = Term(step.inputs[1])
    both = all(_least(state, s) >= 0.0 and at_most(state, share, Term(s)) == 0.0 for s in whole.inputs)
    return whole.inputs if both else ()


def union(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """(p + q) - i >= max(p, q) * (1 - 4 * unit), for a share i of both."""
    if not plain(*operands) or rounds_late(state, operands):
        return None
    parts = [state.hulls[slot] for slot in without_share(state, step)]
    least = [box.hull()[0] * (1.0 - 4.0 * box.dtype.unit) for box in parts if box is not None]
    return (max(least), inf) if least else None


def _least(state: State, slot: int) -> float:
    box = state.hulls[slot] if slot >= 0 else None
    return -inf if box is None or not plain(box) else box.hull()[0]


def _large_square(state: State, slot: int) -> bool:
    box = state.hulls[slot]
    return box is not None and box.hull()[0] >= 16.0 * box.dtype.tiny


def _over_square(state: State, value: int, limit: int, depth: int) -> float | None:
    """A number c such that value ** 2 <= c * limit, up to 16 units and what underflows."""
    if depth == 0 or limit < 0 or _least(state, limit) < 0.0:
        return None
    rows = _mean_square(state, limit, value)
    if rows is not None:
        return rows
    step = state.makers.get(limit)
    if step is not None and _is_square(state, step, value):
        return 1.0
    found = [_scaled(c, _over_square(state, value, at, depth - 1)) for c, at in _no_less(state, limit)]
    return min((c for c in found if c is not None), default=None)


def _is_square(state: State, step: Step, value: int) -> bool:
    if step.node.op == "Mul":
        return same(state, step.inputs[0], step.inputs[1]) and same(state, step.inputs[0], value)
    return step.node.op == "Pow" and is_number(state, step.inputs[1], 2.0) and same(state, step.inputs[0], value)


def _under_root(state: State, slot: int) -> int | None:
    step = maker(state, slot, {"Sqrt", "Pow"})
    if step is None or (step.node.op == "Pow" and not is_number(state, step.inputs[1], 0.5)):
        return None
    return step.inputs[0]


def _mean_square(state: State, slot: int, source: int) -> float | None:
    """The number s such that the slot is at least source_i ** 2 / s for every row element of ``source``.

    A sum of non-negative terms is no less than any of them, in whatever order it is rounded.
    """
    rows = rows_of(state, slot, _SQUARES)
    if rows is None:
        return None
    step, axes = rows
    inner = step.inputs[0]
    if step.node.op != "ReduceSumSquare":
        square = maker(state, inner, {"Mul", "Pow"})
        if square is None or not _is_square(state, square, square.inputs[0]):
            return None
        inner = square.inputs[0]
    if not same(state, inner, source):
        return None
    box = state.hulls[inner]
    if box is None or box.shape is None:
        return None
    sizes = [bounds(box.shape[a], state.setting.dims)[1] for a in axes]
    if any(n is None for n in sizes):
        return None
    return float(prod(n for n in sizes if n is not None)) if step.node.op == "ReduceMean" else 1.0
