"""Remainders."""

from __future__ import annotations

from typing import Any

import numpy as np

from nanproof.domain.box import NAN, Box
from nanproof.ops.call import Call
from nanproof.ops.classes import elementwise, least, most
from nanproof.ops.conditions import Requirement, Y
from nanproof.ops.elementwise import Pair
from nanproof.ops.pairs import space
from nanproof.ops.record import Case, Op, Operand, Samples


def _remainder(xp: Any, x: Any, y: Any, fmod: int = 0) -> Any:
    """``fmod``: the sign of the dividend (C); otherwise that of the divisor (Python)."""
    return xp.fmod(x, y) if fmod else xp.remainder(x, y)


def _of_dividend(f: Any, x: Pair, y: Pair, gap: float = 0.0) -> Pair:
    """Like x, smaller than |y|; x itself while |x| < |y|; rising between two multiples of a fixed y.

    ``gap`` is how far a remainder surely stays below the divisor: 1 for integers.
    """
    xp = space(*x, *y)
    nearest_y = xp.where((y[0] <= 0) & (y[1] >= 0), 0.0, least(xp.abs(y[0]), xp.abs(y[1])))
    size = most(xp.abs(y[0]), xp.abs(y[1]))
    largest = most(size - gap, 0.0)
    lo = xp.where(x[0] < 0, -least(-x[0], largest), 0.0)
    hi = xp.where(x[1] > 0, least(x[1], largest), 0.0)
    untouched = most(xp.abs(x[0]), xp.abs(x[1])) < nearest_y
    fixed = (y[0] == y[1]) & (xp.abs(x[1] - x[0]) < size) & ((x[0] >= 0) | (x[1] <= 0))
    low, high = f(x[0], y[0]), f(x[1], y[0])
    # without a multiple between them, the remainders are as far apart as the dividends
    fixed = fixed & (low <= high)
    return (
        xp.where(untouched, x[0], xp.where(fixed, low, lo)),
        xp.where(untouched, x[1], xp.where(fixed, high, hi)),
    )


def _of_divisor(f: Any, x: Pair, y: Pair, gap: float = 0.0) -> Pair:
    """Between 0 and y, y included (a tiny negative x plus y rounds to y); rising between two multiples of y.

    ``gap`` as above: an integer remainder is never y itself.
    """
    xp = space(*x, *y)
    lo, hi = least(y[0] + gap, 0.0), most(y[1] - gap, 0.0)
    untouched = ((x[0] >= 0) & (x[1] < y[0])) | ((x[1] <= 0) & (x[0] > y[1]))
    fixed = (y[0] == y[1]) & (xp.abs(x[1] - x[0]) < xp.abs(y[0]))
    low, high = f(x[0], y[0]), f(x[1], y[0])
    fixed = fixed & (low <= high)
    return (
        xp.where(untouched, x[0], xp.where(fixed, low, lo)),
        xp.where(untouched, x[1], xp.where(fixed, high, hi)),
    )


def _of_whole_dividend(f: Any, x: Pair, y: Pair) -> Pair:
    """As above, for integers."""
    return _of_dividend(f, x, y, 1.0)


def _of_whole_divisor(f: Any, x: Pair, y: Pair) -> Pair:
    """As above, for integers."""
    return _of_divisor(f, x, y, 1.0)


_DIVIDEND, _DIVISOR = elementwise(_of_dividend), elementwise(_of_divisor)
_WHOLE_DIVIDEND, _WHOLE_DIVISOR = elementwise(_of_whole_dividend), elementwise(_of_whole_divisor)


def _bounded(call: Call, x: Box, y: Box) -> Box:
    """The two kinds of remainder, and what some runtimes do where the quotient overflows."""
    if x.dtype.is_integer:
        return (_WHOLE_DIVIDEND if call.attr("fmod", 0) else _WHOLE_DIVISOR)(call, x, y)
    result = (_DIVIDEND if call.attr("fmod", 0) else _DIVISOR)(call, x, y)
    if x.dtype.is_float:
        form = call.form(x.dtype, "mod")
        if form.quotient_nan and _quotient_overflows(x, y):
            return Box(result.dtype, result.shape, *result.hull(), result.flags | NAN)
    return result


def _quotient_overflows(x: Box, y: Box) -> bool:
    """Whether |x| / |y| can pass the dtype's limit."""
    (a, b), (c, d) = x.hull(), y.hull()
    smallest = x.dtype.quantum if c <= 0 <= d else min(abs(c), abs(d))
    with np.errstate(all="ignore"):
        return bool(np.float64(max(abs(a), abs(b))) / smallest > x.dtype.max)


_X = Operand((2, 3))
_FLOATS, _INTS = ("float32", "float64", "float16"), ("int32", "int64", "uint8", "int8")

MOD = Op(
    "Mod",
    run=_remainder,
    bound=_bounded,
    requires=(
        Requirement("NP105", Y.isnt(0.0), NAN, operand=1, only="float"),
        Requirement("NP118", Y.isnt(0.0), 0, operand=1, only="integer"),
    ),
    exact=True,
    infinite="NP105",
    samples=Samples(
        (0.0, 1.0, -1.0, 3.0, -3.0, 7.5),
        cases=(
            Case((_X, Operand((3,))), {"fmod": 1}, dtypes=_FLOATS),
            Case((_X, Operand(values=3.0, stored=True)), {"fmod": 1}, dtypes=_FLOATS),
            Case((_X, Operand((3,), low=1)), dtypes=_INTS),
            Case((_X, Operand((3,), low=1)), {"fmod": 1}, dtypes=_INTS),
            Case((_X, Operand((3,), high=-1)), dtypes=("int32", "int64", "int8")),
            Case((_X, Operand(values=3, stored=True)), dtypes=_INTS),
        ),
        dtypes=(*_FLOATS, *_INTS),
    ),
)

OPS = (MOD,)
