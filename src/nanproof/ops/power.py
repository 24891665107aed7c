"""Powers."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from nanproof.domain.box import INFS, NAN, NINF, Box, Shape, limits
from nanproof.domain.partition import Blocks, aligned, pack
from nanproof.numerics import scalar
from nanproof.numerics.dtypes import DType
from nanproof.ops.call import Call
from nanproof.ops.classes import elementwise, least, most
from nanproof.ops.conditions import Requirement, X, Y
from nanproof.ops.elementwise import Elementwise, Pair
from nanproof.ops.pairs import Signed, space, within
from nanproof.ops.record import Case, Op, Operand, Samples


def _magnitude(f: Any, size: Pair, y: Pair, quantum: float) -> Pair:
    """The power of a base >= 0: y * log(size) is bilinear, so extremes are at the corners.

    Where the exponent may be negative, a base that may be 0 comes down to the
    dtype's smallest number (0 itself breaks the requirement); where it may not, 0.
    """
    xp = space(*size, *y)
    top = most(size[1], quantum)
    values = []
    for exponent in y:
        values += [f(xp.where(exponent < 0, most(size[0], quantum), size[0]), exponent)]
        values += [f(xp.where(exponent < 0, top, size[1]), exponent)]
    return least(*values), most(*values)


def _powers(quantum: float) -> Elementwise:
    def rule(f: Any, x: Pair, y: Pair) -> Pair:
        """Each sign of the base by itself; a negative base has a power at whole exponents only.

        No class fits: the image of a negative base depends on which exponents are even.
        """
        xp = space(*x, *y)
        lo, hi = inf, -inf
        there = x[1] >= 0
        low, high = _magnitude(f, (most(x[0], 0.0), most(x[1], 0.0)), y, quantum)
        lo, hi = xp.where(there, low, lo), xp.where(there, high, hi)
        first, last = xp.ceil(y[0]), xp.floor(y[1])
        there = (x[0] < 0) & (first <= last)
        whole = least(first, last), most(first, last)
        low, high = _magnitude(f, (most(-x[1], 0.0), most(-x[0], 0.0)), whole, quantum)
        single = first == last
        odd = xp.remainder(first, 2.0) == 1.0
        even_only, odd_only = single & (odd == False), single & odd  # noqa: E712  # arrays as well as bools
        below, above = xp.where(even_only, low, -high), xp.where(odd_only, -low, high)
        lo, hi = xp.where(there, least(lo, below), lo), xp.where(there, most(hi, above), hi)
        # a negative base without a whole exponent has no power: inf > -inf, and the requirement flags NaN
        return lo, hi

    return elementwise(rule)


def _even(f: Any, x: Pair, y: Pair) -> Pair:
    """A fixed even exponent: falls, then rises; turns at 0."""
    ends = f(x[0], y[0]), f(x[1], y[0])
    return f(most(x[0], least(x[1], 0.0)), y[0]), most(*ends)


def _odd(f: Any, x: Pair, y: Pair) -> Pair:
    """A fixed odd exponent: never falls."""
    return f(x[0], y[0]), f(x[1], y[0])


def _root(f: Any, x: Pair, y: Pair) -> Pair:
    """A fixed fraction above 0: never falls from 0 on, and negative bases have no power."""
    xp = space(*x)
    there = x[1] >= 0
    low, high = f(most(x[0], 0.0), y[0]), f(most(x[1], 0.0), y[0])
    return xp.where(there, low, inf), xp.where(there, high, -inf)


def _rule(x: Box, y: Box) -> Elementwise:
    if not y.is_point or y.lo <= 0:
        return _powers(x.dtype.quantum)
    return _ROOT if y.lo % 1 else _ODD if y.lo % 2 else _EVEN


_EVEN, _ODD, _ROOT = elementwise(_even), elementwise(_odd), elementwise(_root)


def _raised(call: Call, x: Box, y: Box) -> Box:
    """Powers, with what end points don't tell: the signs of infinities, and results that can't be negative."""
    if not x.dtype.is_float:
        return _raised_whole(call, x, y)
    if y.is_point and y.lo == 1.0 and _no_larger(y.shape, x.shape):
        return x
    op = _SQUARE if y.is_point and y.lo == 2.0 else POW
    result = _rule(x, y)(Signed(within(call, op)), x, y)
    return _signs_of_infinity(result, x, y) if x.flags & NINF else result


def _signs_of_infinity(result: Box, x: Box, y: Box) -> Box:
    """-Inf to a positive power is -Inf or +Inf, which depends on the exponent between the end points, too."""
    if x.shape is None or y.shape is None or result.shape is None:
        return Box(result.dtype, result.shape, *result.hull(), result.flags | INFS)
    cuts, (base, exponent) = aligned((x, y), len(result.shape))
    even = (np.asarray(exponent.lo) == exponent.hi) & (np.asarray(exponent.lo) % 2 == 0)
    there = (np.asarray(base.spots) & NINF != 0) & (np.asarray(exponent.hi) > 0) & ~even
    if not there.any():
        return result
    if result.cuts is None or cuts != result.cuts:
        return Box(result.dtype, result.shape, *result.hull(), result.flags | INFS)
    spots = result.block_flags() | np.where(there, np.uint8(INFS), np.uint8(0))
    return pack(result.dtype, result.shape, result.cuts, Blocks(result.lo, result.hi, spots))


def _no_larger(shape: Shape, other: Shape) -> bool:
    """Whether broadcasting the one number of a shape leaves the other shape as it is."""
    if shape is None or other is None:
        return False
    return len(shape) <= len(other) and all(n == 1 for n in shape)


def _raised_whole(call: Call, x: Box, y: Box) -> Box:
    """A power of integers is computed in float64 and cut off; what doesn't fit can be anything."""
    hull_x, hull_y = x.hull(), y.hull()
    for requirement in POW.requires:
        always, never = requirement.condition.judge((x.hull(), y.hull()), call.attrs)
        if not always and x.has_finite and y.has_finite:
            call.fail(requirement, x.hull(), never=bool(never))
    shape = _powers(1.0)(Call(_SILENT, {}, call.setting), x, y).shape
    if not (x.has_finite and y.has_finite):
        return Box(x.dtype, shape, inf, -inf)
    lo, hi = _powers(1.0).rule(scalar.pow, hull_x, hull_y)
    least_value, most_value = limits(x.dtype)
    crosses = hull_x[0] <= 0 <= hull_x[1] and hull_y[0] < 0
    fractional = hull_x[0] < 0 and not (hull_y[0] == hull_y[1] and hull_y[0] % 1 == 0) and y.dtype.is_float
    if crosses or fractional or y.flags or not (least_value <= lo and hi <= most_value):
        return Box(x.dtype, shape, least_value, most_value)
    room = 8.0 * 2.0**-53
    lo, hi = lo - abs(lo) * room, hi + abs(hi) * room
    return Box(x.dtype, shape, max(float(np.floor(lo)), least_value), min(float(np.ceil(hi)), most_value))


def _power(xp: Any, x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu" and (y < 0).any():
        with np.errstate(all="ignore"):  # NumPy refuses 2 ** -1 of integers; runtimes cut 0.5 off to 0
            return np.trunc(np.power(x.astype(np.float64), y)).astype(x.dtype)
    raised = xp.pow(x, y)
    return raised.astype(x.dtype) if isinstance(x, np.ndarray) and x.dtype.kind in "iu" else raised


def _result(call: Call, boxes: Any) -> DType:
    dtype: DType = boxes[0].dtype
    return dtype


_BASE = Operand((2, 3))
_CASES = (
    *(Case((_BASE, Operand(values=p, stored=True))) for p in (2.0, 3.0, -1.0, 0.0, 1.0, -2.0)),
    *(
        Case((_BASE, Operand(values=p, stored=True)), dtypes=("float32", "float64", "float16"))
        for p in (0.5, -0.5, 1.5)
    ),
    Case((_BASE, Operand((3,)))),
    Case((Operand((2, 3), low=0.0), Operand((2, 1)))),
    Case((_BASE, Operand((3,), dtype="int64", low=-4, high=4)), dtypes=("float32", "float64")),
    Case((_BASE, Operand((3,), dtype="float32", low=0, high=4)), dtypes=("float64",)),
)

POW = Op(
    "Pow",
    run=_power,
    bound=_raised,
    requires=(
        Requirement("NP106", (X >= 0.0) | Y.is_integral(), NAN),
        Requirement("NP106", X.isnt(0.0) | (Y >= 0.0), INFS),
    ),
    smooth=(X.isnt(0.0) | (Y >= 1.0),),
    overflow="NP202",
    error="pow",
    samples=Samples(
        (0.0, 1.0, -1.0, 2.0, 0.5, -2.0, 1e-20), _CASES, ("float32", "float64", "float16", "int32", "int64")
    ),
)

# every runtime squares by a multiplication
_SQUARE = Op("Pow", run=_power, bound=_raised, overflow="NP202")
_SILENT = Op("Pow", run=_power, bound=_raised, error="pow")

OPS = (POW,)
