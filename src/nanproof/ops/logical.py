"""Logic on bools: a Box of bools is an interval of 0 (false) and 1 (true), so that a decided operand decides."""

from __future__ import annotations

from typing import Any

from nanproof.domain.box import Box
from nanproof.ops.call import Call
from nanproof.ops.classes import decreasing, elementwise, increasing_in_all
from nanproof.ops.comparison import decided
from nanproof.ops.elementwise import Elementwise, Pair
from nanproof.ops.pairs import space
from nanproof.ops.record import Case, Op, Operand, Samples


def _different(f: Any, x: Pair, y: Pair) -> Pair:
    """Known only where both operands are."""
    xp = space(*x, *y)
    fixed = (x[0] == x[1]) & (y[0] == y[1])
    differ = 1.0 * (x[0] != y[0])
    return xp.where(fixed, differ, 0.0), xp.where(fixed, differ, 1.0)


def _deciding(inner: Elementwise) -> Any:
    def bound(call: Call, *boxes: Box) -> Box:
        return decided(inner(call, *boxes))

    bound.__doc__ = inner.text
    return bound


_TWO = Samples(
    (0.0, 1.0),
    cases=(Case((Operand((2, 3)), Operand((3,)))), Case((Operand((2, 3)), Operand((2, 3), values=True, stored=True)))),
    dtypes=("bool",),
)

AND = Op(
    "And",
    run=lambda xp, x, y: xp.logical_and(x, y),
    bound=_deciding(increasing_in_all),
    exact=True,
    result="bool",
    samples=_TWO,
)
OR = Op(
    "Or",
    run=lambda xp, x, y: xp.logical_or(x, y),
    bound=_deciding(increasing_in_all),
    exact=True,
    result="bool",
    samples=_TWO,
)
XOR = Op(
    "Xor",
    run=lambda xp, x, y: x != y,
    bound=_deciding(elementwise(_different)),
    exact=True,
    result="bool",
    samples=_TWO,
)
NOT = Op(
    "Not",
    run=lambda xp, x: xp.logical_not(x),
    bound=_deciding(decreasing),
    exact=True,
    result="bool",
    samples=Samples((0.0, 1.0), cases=(Case((Operand((2, 3)),)),), dtypes=("bool",)),
)

OPS = (AND, OR, XOR, NOT)
