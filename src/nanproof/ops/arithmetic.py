"""Addition, multiplication, division and their like."""

from __future__ import annotations

from typing import Any

from nanproof.dims import Size, bounds
from nanproof.domain.box import NAN, NINF, PINF, Box
from nanproof.ops.call import Call
from nanproof.ops.classes import decreasing, elementwise, increasing_in_all, least, most, unimodal
from nanproof.ops.conditions import Requirement, X, Y
from nanproof.ops.elementwise import Pair
from nanproof.ops.linear import difference_of, negative_of, product_of, quotient_of, sum_of
from nanproof.ops.pairs import space
from nanproof.ops.record import Op, Samples, around

TINY, LARGE = 1e-38, 3e38
NUMERIC = ("float32", "float64", "float16", "int32", "int64")


def _difference(f: Any, x: Pair, y: Pair) -> Pair:
    """Rises in x, falls in y."""
    return f(x[0], y[1]), f(x[1], y[0])


def _product(f: Any, x: Pair, y: Pair) -> Pair:
    """Bilinear: the extremes are among the four corners (0 times anything finite is 0)."""
    values = f(x[0], y[0]), f(x[0], y[1]), f(x[1], y[0]), f(x[1], y[1])
    return least(*values), most(*values)


def _quotient(f: Any, x: Pair, y: Pair) -> Pair:
    """Monotone in both where the divisor keeps its sign.

    A divisor on both sides of 0 comes as near to 0 as its dtype allows from
    either side, so the quotient is as large as x over the dtype's quantum: the
    engine has cut end points that are 0, and an interval around 0 gives +-Inf
    unless x is 0 throughout.
    """
    values = f(x[0], y[0]), f(x[0], y[1]), f(x[1], y[0]), f(x[1], y[1])
    lo, hi = least(*values), most(*values)
    crosses = (y[0] < 0) & (y[1] > 0) & ((x[0] != 0) | (x[1] != 0))
    return _where(crosses, -INFINITY, lo), _where(crosses, INFINITY, hi)


def _whole_quotient(f: Any, x: Pair, y: Pair) -> Pair:
    """The quotient of integers, truncated towards 0: a divisor is at least 1 away from 0 on either side."""
    xp = space(*x, *y)
    (below_lo, below_hi), (above_lo, above_hi) = (y[0], xp.minimum(y[1], -1.0)), (xp.maximum(y[0], 1.0), y[1])
    lo, hi = INFINITY, -INFINITY
    for low, high in ((below_lo, below_hi), (above_lo, above_hi)):
        there = low <= high
        values = [f(a, xp.where(there, b, 1.0)) for a in x for b in (low, high)]
        lo = xp.where(there, xp.minimum(lo, least(*values)), lo)
        hi = xp.where(there, xp.maximum(hi, most(*values)), hi)
    # beyond 2**53 the float64 quotient may have been rounded up to a whole number
    large = most(xp.abs(x[0]), xp.abs(x[1])) > 2.0**53
    return xp.trunc(xp.where(large, lo - 1.0, lo)), xp.trunc(xp.where(large, hi + 1.0, hi))


INFINITY = float("inf")


def _where(condition: Any, yes: float, no: Any) -> Any:
    if isinstance(condition, bool):
        return yes if condition else no
    import numpy as np

    return np.where(condition, yes, no)


def _divided(call: Call, x: Box, y: Box) -> Box:
    """Integers are truncated, floats aren't."""
    return (_QUOTIENT if x.dtype.is_float else _WHOLE_QUOTIENT)(call, x, y)


def _product_of_square(call: Call, x: Box, y: Box) -> Box:
    """X * y; of a tensor with itself the square, which is never negative."""
    if x is y:
        return _SQUARE(call, x, y)
    return _PRODUCT(call, x, y)


def _square(f: Any, x: Pair, _: Pair) -> Pair:
    """X * x: falls before 0, rises behind it."""
    ends = f(x[0], x[0]), f(x[1], x[1])
    turn = most(x[0], least(x[1], 0.0))
    return least(f(turn, turn), *ends), most(*ends)


_PRODUCT = elementwise(_product)
_SQUARE = elementwise(_square)
_QUOTIENT = elementwise(_quotient)
_WHOLE_QUOTIENT = elementwise(_whole_quotient)


def _truncated(xp: Any, x: Any, y: Any) -> Any:
    """Division as ONNX means it: integers are truncated towards 0."""
    kind = getattr(getattr(x, "dtype", None), "kind", "f")
    if kind == "O" or getattr(getattr(y, "dtype", None), "kind", "f") == "O":
        return _sizes_divided(x, y)
    if kind not in "iu":
        return xp.divide(x, y)
    quotient = xp.abs(x) // xp.abs(y)
    return quotient * xp.sign(x) * xp.sign(y)


def _sizes_divided(x: Any, y: Any) -> Any:
    """Symbolic sizes: rounding down is rounding towards 0 while nothing is negative."""
    import numpy as np

    return np.asarray(np.frompyfunc(_size_divided, 2, 1)(x, y), dtype=object)


def _size_divided(x: Size, y: Size) -> Size:
    if isinstance(x, int) and isinstance(y, int):
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    if bounds(x)[0] < 0 or bounds(y)[0] < 1:
        raise ValueError(f"{x} / {y} may be negative, or a division by 0")
    return x // y


ADD = Op(
    "Add",
    run=lambda xp, x, y: x + y,
    bound=increasing_in_all,
    overflow="NP203",
    relate=sum_of,
    samples=Samples((0.0, 1.0, -1.0, LARGE), dtypes=NUMERIC),
)

SUB = Op(
    "Sub",
    run=lambda xp, x, y: x - y,
    bound=elementwise(_difference),
    overflow="NP203",
    relate=difference_of,
    samples=Samples((0.0, 1.0, -1.0, LARGE), dtypes=NUMERIC),
)

MUL = Op(
    "Mul",
    run=lambda xp, x, y: x * y,
    bound=_product_of_square,
    overflow="NP204",
    infinite="NP213",
    relate=product_of,
    samples=Samples((0.0, 1.0, -1.0, 1e20, 1e-20), dtypes=NUMERIC),
)

DIV = Op(
    "Div",
    run=_truncated,
    bound=_divided,
    requires=(
        Requirement("NP103", Y.isnt(0.0), NAN | PINF | NINF, operand=1, only="float"),
        Requirement("NP118", Y.isnt(0.0), 0, operand=1, only="integer"),
    ),
    smooth=(Y.isnt(0.0),),
    overflow="NP205",
    infinite="NP213",
    relate=quotient_of,
    samples=Samples((0.0, 1.0, -1.0, TINY, LARGE), dtypes=NUMERIC),
)

NEG = Op(
    "Neg",
    run=lambda xp, x: -x,
    bound=decreasing,
    exact=True,
    relate=negative_of,
    samples=Samples(dtypes=NUMERIC),
)

RECIPROCAL = Op(
    "Reciprocal",
    run=lambda xp, x: xp.divide(1.0, x),
    bound=elementwise(lambda f, x: _quotient(lambda a, b: f(b), (1.0, 1.0), x)),
    requires=(Requirement("NP104", X.isnt(0.0), PINF | NINF),),
    smooth=(X.isnt(0.0),),
    overflow="NP205",
    samples=around(0.0, also=(TINY, 1.0, LARGE)),
)

ABS = Op(
    "Abs",
    run=lambda xp, x: xp.abs(x),
    bound=unimodal(0.0),
    exact=True,
    smooth=(X.isnt(0.0),),
    samples=Samples(dtypes=NUMERIC),
)

OPS = (ADD, SUB, MUL, DIV, NEG, RECIPROCAL, ABS)
