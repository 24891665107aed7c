"""Products that are never negative, and mixtures that stay between what they mix.

The sign of a float product is the product of the signs, and 0 where it underflows: factors that occur twice cancel,
whatever is rounded between. A sum of such products, in any order and fused or not, isn't negative either.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from nanproof.analysis.facts.made import is_number, maker, plain, same
from nanproof.analysis.facts.order import rounds_late
from nanproof.analysis.state import State
from nanproof.domain.box import Box
from nanproof.model.lower import Step

DEEP = 4
"""How many products within products are taken apart."""


def even_product(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """D * d, c * d * d, (x + y) * (y + x): every factor that may be negative occurs twice."""
    if not plain(*operands):
        return None
    left: list[int] = []
    for factor in _factors(state, step, DEEP):
        box = state.hulls[factor]
        if box is None or not plain(box):
            return None
        if box.hull()[0] >= 0.0:
            continue
        twin = next((i for i, other in enumerate(left) if same(state, factor, other)), None)
        if twin is None:
            left.append(factor)
        else:
            del left[twin]
    return None if left else (0.0, inf)


def _factors(state: State, step: Step, depth: int) -> list[int]:
    found: list[int] = []
    for slot in step.inputs:
        inner = maker(state, slot, {"Mul"}) if depth else None
        found += [slot] if inner is None else _factors(state, inner, depth - 1)
    return found


def row_with_itself(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """X @ transpose(x) of a single row: a sum of squares."""
    a, b = operands
    if a is None or not plain(a, b) or a.shape is None or len(a.shape) < 2 or a.shape[-2] != 1:
        return None
    turned = maker(state, step.inputs[1], {"Transpose"})
    if turned is None or not same(state, turned.inputs[0], step.inputs[0]):
        return None
    rank = len(a.shape)
    order = turned.attrs.get("perm") or tuple(reversed(range(rank)))
    return (0.0, inf) if order == (*range(rank - 2), rank - 1, rank - 2) else None


def contraction_with_itself(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """Einsum of a value with itself, index by index the same: sums of squares."""
    equation = str(step.attrs.get("equation", "")).replace(" ", "")
    terms = equation.partition("->")[0].split(",")
    if len(terms) != 2 or terms[0] != terms[1] or "." in equation or "->" not in equation or not plain(*operands):
        return None
    return (0.0, inf) if same(state, *step.inputs) else None


def mixture(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """P * a + (1 - p) * b for p in [0, 1] lies between the ends of a and b.

    fl(1 - p) is off by half a unit at most, so the weights add up to 1 within that; each product and the sum are rounded
    once: 4 units of the largest number and two quanta cover it. Of numbers that are never negative, they are of the
    result itself.
    """
    if not plain(*operands) or rounds_late(state, operands):
        return None
    products = [maker(state, slot, {"Mul"}) for slot in step.inputs]
    one, two = products
    if one is None or two is None:
        return None
    for first, second in ((one, two), (two, one)):
        found = _mixed(state, first, second)
        if found is not None:
            return found
    return None


def _mixed(state: State, first: Step, second: Step) -> tuple[float, float] | None:
    for p, a in (first.inputs, first.inputs[::-1]):
        for q, b in (second.inputs, second.inputs[::-1]):
            rest = maker(state, q, {"Sub"})
            if rest is None or not is_number(state, rest.inputs[0], 1.0) or not same(state, rest.inputs[1], p):
                continue
            weight, x, y = (state.hulls[slot] for slot in (p, a, b))
            if weight is None or x is None or y is None or not plain(weight, x, y):
                continue
            if weight.hull()[0] < 0.0 or weight.hull()[1] > 1.0:
                continue
            lo, hi = min(x.hull()[0], y.hull()[0]), max(x.hull()[1], y.hull()[1])
            unit, floor = 8.0 * x.dtype.unit, 4.0 * x.dtype.quantum
            size = max(-lo, hi)
            return (lo * (1.0 - unit) if lo > 0.0 else lo - unit * size) - floor, hi + unit * size + floor
    return None
