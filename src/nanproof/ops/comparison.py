"""Comparisons and tests of floats: three-valued on intervals.

A result is a Box of bools, [0, 0] where the comparison surely fails, [1, 1] where
it surely holds, [0, 1] where it may be either. NaN compares as false, which the
engine finds out by comparing it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from nanproof.domain.box import NAN, NINF, PINF, Array, Box
from nanproof.domain.partition import EXACT_LIMIT, Blocks, blocks_of, pack
from nanproof.numerics.dtypes import BOOL, STRING
from nanproof.ops.call import Call
from nanproof.ops.classes import elementwise
from nanproof.ops.elementwise import Elementwise, Pair, anything
from nanproof.ops.operands import numeric
from nanproof.ops.pairs import space
from nanproof.ops.record import Case, Op, Operand, Samples

NUMERIC = ("float32", "float64", "float16", "int32", "int64")


def _greater(f: Any, x: Pair, y: Pair) -> Pair:
    """Rises in x, falls in y; as numbers, false is 0 and true is 1."""
    return 1.0 * f(x[0], y[1]), 1.0 * f(x[1], y[0])


def _less(f: Any, x: Pair, y: Pair) -> Pair:
    """Falls in x, rises in y."""
    return 1.0 * f(x[1], y[0]), 1.0 * f(x[0], y[1])


def _equal(f: Any, x: Pair, y: Pair) -> Pair:
    """Surely true for two equal points, surely false for intervals without a common value."""
    xp = space(*x, *y)
    same = (x[0] == x[1]) & (y[0] == y[1]) & (x[0] == y[0])
    meet = (x[0] <= y[1]) & (y[0] <= x[1])
    return xp.where(same, 1.0, 0.0), xp.where(meet, 1.0, 0.0)


def compared(rule: Callable[..., Pair]) -> Callable[..., Box]:
    """A comparison: decided ones know all their elements."""
    inner: Elementwise = elementwise(rule)

    def bound(call: Call, x: Box, y: Box) -> Box:
        if x.dtype is STRING and (x.known is None or y.known is None):
            return anything(call, (x, y))
        return decided(inner(call, x, y))

    bound.__doc__ = rule.__doc__
    return bound


def decided(result: Box) -> Box:
    """Write down the elements of a Box of bools that are all the same."""
    shape = numeric(result.shape)
    if result.known is None and result.is_point and shape is not None and prod(shape) <= EXACT_LIMIT:
        result.known = np.broadcast_to(np.bool_(result.lo != 0), shape)
    return result


def _comparison(name: str, run: Any, rule: Callable[..., Pair], dtypes: tuple[str, ...] = NUMERIC) -> Op:
    cases = tuple(
        Case(operands)
        for operands in (
            (Operand((2, 3)), Operand((3,))),
            (Operand((2, 3)), Operand(values=0.0, stored=True)),
            (Operand((2, 3), low=2.0), Operand((2, 1), high=1.0)),
        )
    )
    return Op(
        name, run=run, bound=compared(rule), exact=True, result="bool", samples=Samples(cases=cases, dtypes=dtypes)
    )


EQUAL = _comparison("Equal", lambda xp, x, y: x == y, _equal)
GREATER = _comparison("Greater", lambda xp, x, y: x > y, _greater)
GREATER_OR_EQUAL = _comparison("GreaterOrEqual", lambda xp, x, y: x >= y, _greater)
LESS = _comparison("Less", lambda xp, x, y: x < y, _less)
LESS_OR_EQUAL = _comparison("LessOrEqual", lambda xp, x, y: x <= y, _less)


def _tests(call: Call, x: Box, wanted: int) -> Box:
    """Whether elements are special: false where no flag allows it, true where nothing else is left.

    No class fits: the answer is in the flags, not in the interval.
    """
    known = None
    if x.known is not None and x.known.dtype.kind == "f":
        known = np.asarray(call.op.run(np, x.known, **call.attrs))
    if x.shape is None or x.cuts is None:
        may = bool(x.flags & wanted)
        must = may and not x.flags & ~wanted and not x.has_finite
        result = Box(BOOL, x.shape, float(must), float(may)) if x.flags or x.has_finite else _void(x)
    else:
        blocks = blocks_of(x)
        spots: Array = blocks.spots if blocks.spots is not None else np.zeros(np.shape(blocks.lo), np.uint8)
        may_be = (spots & wanted) != 0
        must_be = may_be & ((spots & ~np.uint8(wanted)) == 0) & (np.asarray(blocks.lo) > blocks.hi)
        result = pack(BOOL, x.shape, x.cuts, Blocks(1.0 * must_be, 1.0 * may_be, None))
    if known is not None and known.shape == x.shape:
        result.known = known
        return result
    return decided(result)


def _void(x: Box) -> Box:
    return Box(BOOL, x.shape, x.lo, x.hi)


def _infinite(xp: Any, x: Any, detect_positive: int = 1, detect_negative: int = 1) -> Any:
    """Whether x is +Inf or -Inf, of the signs that are asked for."""
    if detect_positive and detect_negative:
        return xp.isinf(x)
    if detect_positive or detect_negative:
        return x == xp.full_like(x, xp.inf if detect_positive else -xp.inf)
    return x != x  # a tensor of false, but for NaN


def _wanted(call: Call) -> int:
    return (PINF if call.attr("detect_positive", 1) else 0) | (NINF if call.attr("detect_negative", 1) else 0)


ISNAN = Op(
    "IsNaN",
    run=lambda xp, x: xp.isnan(x),
    bound=lambda call, x: _tests(call, x, NAN),
    exact=True,
    result="bool",
    samples=Samples(cases=(Case((Operand((2, 3)),)),)),
)

ISINF = Op(
    "IsInf",
    run=_infinite,
    bound=lambda call, x: _tests(call, x, _wanted(call)),
    exact=True,
    result="bool",
    samples=Samples(
        cases=(
            Case((Operand((2, 3)),)),
            Case((Operand((2, 3)),), {"detect_negative": 0}),
            Case((Operand((2, 3)),), {"detect_positive": 0}),
        ),
        dtypes=("float32", "float64"),
    ),
)

OPS = (EQUAL, GREATER, GREATER_OR_EQUAL, LESS, LESS_OR_EQUAL, ISNAN, ISINF)
