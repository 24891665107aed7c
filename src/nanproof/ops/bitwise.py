"""Operations on the bits of integers."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from nanproof.dims import broadcast
from nanproof.domain.box import Box, Shape, limits, of_array
from nanproof.numerics.dtypes import DType
from nanproof.ops.call import Call
from nanproof.ops.elementwise import folded
from nanproof.ops.record import Case, Op, Operand, Samples

Ends = tuple[float, float]
Rule = Callable[[DType, Ends, Ends], Ends]


def _bits(*ends: Ends) -> float:
    """The smallest power of two above all magnitudes."""
    size = max(abs(end) for pair in ends for end in pair)
    return 2.0 ** int(size).bit_length()


def _and(dtype: DType, x: Ends, y: Ends) -> Ends:
    """Never more than an operand that isn't negative; with two that may be, the bits of the larger one."""
    if x[0] >= 0 or y[0] >= 0:
        return 0.0, min(end[1] for end in (x, y) if end[0] >= 0)
    return -_bits(x, y), max(x[1], y[1])


def _or(dtype: DType, x: Ends, y: Ends) -> Ends:
    """Never less than an operand, if neither is negative; no new high bits."""
    if x[0] >= 0 and y[0] >= 0:
        return max(x[0], y[0]), _bits(x, y) - 1.0
    return -_bits(x, y), _bits(x, y) - 1.0


def _xor(dtype: DType, x: Ends, y: Ends) -> Ends:
    """No new high bits."""
    return 0.0 if x[0] >= 0 and y[0] >= 0 else -_bits(x, y), _bits(x, y) - 1.0


def _binary(rule: Rule) -> Any:
    def bound(call: Call, x: Box, y: Box) -> Box:
        return _settled(call, (x, y), rule(x.dtype, x.hull(), y.hull()) if x.has_finite and y.has_finite else None)

    bound.__doc__ = f"{rule.__doc__} Bits mix the ends of intervals, so no class fits."
    return bound


def _settled(call: Call, boxes: tuple[Box, ...], ends: Ends | None) -> Box:
    """The exact result of known operands, else an interval within the dtype."""
    dtype = boxes[0].dtype
    shape: Shape = boxes[0].shape
    for box in boxes[1:]:
        shape = None if shape is None or box.shape is None else broadcast(shape, box.shape)
    known = folded(call, boxes)
    if known is not None and known.dtype != object and known.shape == shape:
        return of_array(dtype, known)
    if ends is None:
        return Box(dtype, shape, inf, -inf)
    least, most = limits(dtype)
    lo, hi = ends
    if max(abs(lo), abs(hi)) > 2.0**53:  # the float64 arithmetic above may have been rounded
        lo, hi = float(np.nextafter(lo, -inf)), float(np.nextafter(hi, inf))
    if not (least <= lo and hi <= most):
        lo, hi = max(lo, least), min(hi, most)
    return Box(dtype, shape, lo, hi)


def _not(call: Call, x: Box) -> Box:
    """Falls: -1 - x of signed integers, the largest value less x of unsigned ones."""
    lo, hi = x.hull()
    if not x.has_finite:
        return _settled(call, (x,), None)
    top = limits(x.dtype)[1] if x.dtype.kind == "uint" else -1.0
    return _settled(call, (x,), (top - hi, top - lo))


def _shifted(call: Call, x: Box, y: Box) -> Box:
    """Unsigned: times or over a power of two. A left shift that drops bits can give anything."""
    (a, b), (c, d) = x.hull(), y.hull()
    if not (x.has_finite and y.has_finite):
        return _settled(call, (x, y), None)
    wild = d >= x.dtype.bits  # undefined in C: zero, or a shift by the remainder
    if call.attr("direction", "LEFT") == "RIGHT":
        lo, hi = np.floor(a / 2.0 ** min(d, 64.0)), np.floor(b / 2.0 ** min(c, 64.0))
        return _settled(call, (x, y), (0.0, b) if wild else (float(lo), float(hi)))
    hi = b * 2.0 ** min(d, 64.0)
    whole = wild or hi > limits(x.dtype)[1]
    return _settled(call, (x, y), limits(x.dtype) if whole else (a * 2.0**c, hi))


def _shift(xp: Any, x: Any, y: Any, direction: str = "LEFT") -> Any:
    return x << y if direction == "LEFT" else x >> y


_SIGNED = ("int32", "int64", "uint8", "uint32")
_CASES = (
    Case((Operand((2, 3)), Operand((3,)))),
    Case((Operand((2, 3), low=0), Operand((2, 1), low=0))),
    Case((Operand((2, 3)), Operand(values=7, stored=True))),
)
_PAIR = Samples((0.0, 1.0, -1.0, 7.0, 8.0), _CASES, _SIGNED)
_SHIFTS = tuple(
    Case((Operand((2, 3), low=0, high=top), Operand((3,), low=0, high=4)), {"direction": way})
    for way in ("LEFT", "RIGHT")
    for top in (9, 255)
)

BITWISE_AND = Op("BitwiseAnd", run=lambda xp, x, y: x & y, bound=_binary(_and), exact=True, samples=_PAIR)
BITWISE_OR = Op("BitwiseOr", run=lambda xp, x, y: x | y, bound=_binary(_or), exact=True, samples=_PAIR)
BITWISE_XOR = Op("BitwiseXor", run=lambda xp, x, y: x ^ y, bound=_binary(_xor), exact=True, samples=_PAIR)
BITWISE_NOT = Op(
    "BitwiseNot",
    run=lambda xp, x: ~x,
    bound=_not,
    exact=True,
    samples=Samples((0.0, 1.0, -1.0), (Case((Operand((2, 3)),)),), _SIGNED),
)
BIT_SHIFT = Op(
    "BitShift",
    run=_shift,
    bound=_shifted,
    exact=True,
    samples=Samples((0.0, 1.0, 8.0), _SHIFTS, ("uint8", "uint32", "uint64")),
)

OPS = (BITWISE_AND, BITWISE_OR, BITWISE_XOR, BITWISE_NOT, BIT_SHIFT)
