"""Functions of two tensors, element by element, with broadcasting."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onnx import TensorProto

from nanproof.dims import bounds
from nanproof.frontends.tensorflow.context import Context, Translation
from nanproof.frontends.tensorflow.shapes import sizes_of
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call

_SAME = {
    "Add": "Add", "AddV2": "Add", "Sub": "Sub", "Mul": "Mul", "RealDiv": "Div", "Pow": "Pow", "Maximum": "Max", "Minimum": "Min",
    "Greater": "Greater", "GreaterEqual": "GreaterOrEqual", "Less": "Less", "LessEqual": "LessOrEqual", "Equal": "Equal",
    "LogicalAnd": "And", "LogicalOr": "Or", "BitwiseAnd": "BitwiseAnd", "BitwiseOr": "BitwiseOr", "BitwiseXor": "BitwiseXor",
    "TruncateDiv": "Div",
}  # fmt: skip
_FLOATS = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16}


def _same(kind: str) -> Translation:
    return lambda c, call, x, y: c.op(kind, x, y)


def _add(c: Context, call: Call, x: Tensor, y: Tensor) -> Tensor:
    if x.kind == TensorProto.STRING:
        return c.op("StringConcat", x, y)
    return c.op("Add", x, y)


def _not_equal(c: Context, call: Call, x: Tensor, y: Tensor) -> Tensor:
    return c.op("Not", c.op("Equal", x, y))


def _squared_difference(c: Context, call: Call, x: Tensor, y: Tensor) -> Tensor:
    difference = c.op("Sub", x, y)
    return c.op("Mul", difference, difference)


def _div(c: Context, call: Call, x: Tensor, y: Tensor) -> Tensor:
    return c.op("Div", x, y)


def _floor_div(c: Context, call: Call, x: Tensor, y: Tensor) -> Tensor:
    if x.kind in _FLOATS:
        return c.op("Floor", c.op("Div", x, y))
    if _never_negative(x) and _never_negative(y):
        return c.op("Div", x, y)
    rest = c.op("Mod", x, y)  # of the sign of y, so that x - rest is a multiple of y
    return c.op("Div", c.op("Sub", x, rest), y)


def _floor_mod(c: Context, call: Call, x: Tensor, y: Tensor) -> Tensor:
    if x.kind in _FLOATS:
        return c.op("Sub", x, c.op("Mul", c.op("Floor", c.op("Div", x, y)), y))
    return c.op("Mod", x, y)


def _truncate_mod(c: Context, call: Call, x: Tensor, y: Tensor) -> Tensor:
    return c.op("Mod", x, y, fmod=1)


def _never_negative(x: Tensor) -> bool:
    sizes = sizes_of(x)
    return sizes is not None and all(bounds(size)[0] >= 0 for size in sizes.flat)


def _zero_where(c: Context, test: Tensor, made: Tensor) -> Tensor:
    return c.op("Where", test, c.like(0, made), made)


def _div_no_nan(c: Context, call: Call, x: Tensor, y: Tensor) -> Tensor:
    """X / y, but 0 where y is 0: the division never sees that 0."""
    zero = c.op("Equal", y, c.like(0, y))
    return _zero_where(c, zero, c.op("Div", x, c.op("Where", zero, c.like(1, y), y)))


def _mul_no_nan(c: Context, call: Call, x: Tensor, y: Tensor) -> Tensor:
    """X * y, but 0 where y is 0, whatever x is: the product never sees an x there."""
    zero = c.op("Equal", y, c.like(0, y))
    return c.op("Mul", _zero_where(c, zero, x), y)


def _xdivy(c: Context, call: Call, x: Tensor, y: Tensor) -> Tensor:
    zero = c.op("Equal", x, c.like(0, x))
    return _zero_where(c, zero, c.op("Div", x, c.op("Where", zero, c.like(1, y), y)))


def _xlogy(c: Context, call: Call, x: Tensor, y: Tensor) -> Tensor:
    """X * log(y), but 0 where x is 0: the logarithm never sees a y there."""
    zero = c.op("Equal", x, c.like(0, x))
    return _zero_where(c, zero, c.op("Mul", x, c.op("Log", c.op("Where", zero, c.like(1, y), y))))


def _xlog1py(c: Context, call: Call, x: Tensor, y: Tensor) -> Tensor:
    zero = c.op("Equal", x, c.like(0, x))
    logarithm = c.op("Log", c.op("Add", c.like(1, y), c.op("Where", zero, c.like(0, y), y)))
    return _zero_where(c, zero, c.op("Mul", x, logarithm))


def _atan2(c: Context, call: Call, y: Tensor, x: Tensor) -> Tensor:
    """The angle of (x, y): the arc tangent of y / x, turned by half a circle to the left of 0, and a quarter at 0."""
    zero = c.op("Equal", x, c.like(0, x))
    slope = c.op("Atan", c.op("Div", y, c.op("Where", zero, c.like(1, x), x)))
    turn = c.op("Where", c.op("Less", y, c.like(0, y)), c.like(-math.pi, y), c.like(math.pi, y))
    turned = c.op("Where", c.op("Less", x, c.like(0, x)), c.op("Add", slope, turn), slope)
    return c.op("Where", zero, c.op("Mul", c.op("Sign", y), c.like(math.pi / 2, y)), turned)


def _add_n(c: Context, call: Call, *terms: Tensor) -> Tensor:
    total = terms[0]
    for term in terms[1:]:
        total = c.op("Add", total, term)
    return total


def _select(c: Context, call: Call, test: Tensor, one: Tensor, other: Tensor) -> Tensor:
    """Select of old takes a vector of tests for the first axis."""
    if call.op == "Select" and test.rank == 1 and one.rank != 1:
        test = c.op("Unsqueeze", test, c.ints(list(range(1, c.rank(one)))))
    return c.op("Where", test, one, other)


def _approximately(c: Context, call: Call, x: Tensor, y: Tensor) -> Tensor:
    return c.op("Less", c.op("Abs", c.op("Sub", x, y)), c.like(call.get("tolerance", 1e-5), x))


TRANSLATIONS: dict[str, Translation] = {
    **{name: _same(kind) for name, kind in _SAME.items()},
    "Add": _add,
    "AddN": _add_n,
    "AddV2": _add,
    "ApproximateEqual": _approximately,
    "Atan2": _atan2,
    "Div": _div,
    "DivNoNan": _div_no_nan,
    "FloorDiv": _floor_div,
    "FloorMod": _floor_mod,
    "Mod": _truncate_mod,
    "MulNoNan": _mul_no_nan,
    "NotEqual": _not_equal,
    "Select": _select,
    "SelectV2": _select,
    "SquaredDifference": _squared_difference,
    "TruncateMod": _truncate_mod,
    "Xdivy": _xdivy,
    "Xlog1py": _xlog1py,
    "Xlogy": _xlogy,
}
