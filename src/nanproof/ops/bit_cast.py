"""BitCast: the bits of a number, read as a number of another dtype of the same width."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from nanproof.domain.box import NAN, NINF, PINF, Box, limits, of_array, top
from nanproof.domain.partition import EXACT_LIMIT
from nanproof.numerics.dtypes import DType, by_onnx, to_numpy
from nanproof.ops.call import Call
from nanproof.ops.record import Case, Op, Operand, Samples

Part = tuple[int, int]
"""The first and the last of consecutive bit patterns, as unsigned numbers."""


def _target(call: Call, _: Any = None) -> DType:
    return by_onnx(int(call.attr("to", 1)))


def _bound(call: Call, x: Box) -> Box:
    """Known bits exactly; else by patterns: floats of one sign are in the order of their bits, and so are integers.

    No class fits: the bits of negative numbers come after those of positive ones.
    """
    target = _target(call)
    if x.known is not None and x.known.dtype != object and x.known.size <= EXACT_LIMIT:
        return of_array(target, x.known.astype(to_numpy(x.dtype)).view(to_numpy(target)))
    if x.flags or not x.has_finite or x.dtype.bits != target.bits or not _ordered(x.dtype) or not _ordered(target):
        return top(target, x.shape)
    lo, hi, flags = inf, -inf, 0
    for part in _patterns(x.dtype, *x.hull()):
        low, high, more = _read(target, part)
        lo, hi, flags = min(lo, low), max(hi, high), flags | more
    least, most = limits(target)
    return (
        Box(target, x.shape, max(lo, least), min(hi, most), flags)
        if lo <= hi
        else Box(target, x.shape, inf, -inf, flags)
    )


def _ordered(dtype: DType) -> bool:
    """Integers, and floats whose infinity comes right after the largest number."""
    return dtype.is_integer or (dtype.is_float and dtype.overflows_to == "inf")


def _patterns(dtype: DType, lo: float, hi: float) -> list[Part]:
    """The bit patterns of all numbers between two ends: of those that aren't negative, and of those that are."""
    sign = 1 << (dtype.bits - 1)
    if dtype.is_integer:
        first, last = _whole(dtype, lo, hi)
        if dtype.kind == "uint":
            return [p for p in ((first, min(last, sign - 1)), (max(first, sign), last)) if p[0] <= p[1]]
        parts = [(max(first, 0), last), (first + 2 * sign, min(last, -1) + 2 * sign)]
        return [(a, b) for (a, b), there in zip(parts, (last >= 0, first < 0), strict=True) if there]
    parts = []
    if hi >= 0.0:
        parts.append((_bits(dtype, max(lo, 0.0)), _bits(dtype, hi)))
    if lo <= 0.0:  # 0 may be the negative one
        parts.append((sign + _bits(dtype, max(-hi, 0.0)), sign + _bits(dtype, -lo)))
    return parts


def _whole(dtype: DType, lo: float, hi: float) -> Part:
    """The ends of an interval of integers; all of the dtype where float64 may have rounded them."""
    size: int = 1 << dtype.bits
    least, most = (0, size - 1) if dtype.kind == "uint" else (-(size // 2), size // 2 - 1)
    if max(abs(lo), abs(hi)) > 2.0**53:
        return least, most
    return max(int(lo), least), min(int(hi), most)


def _bits(dtype: DType, size: float) -> int:
    """The bits of a float that isn't negative."""
    number = np.asarray(abs(size), np.float64).astype(to_numpy(dtype))
    return int(number.view(f"uint{dtype.bits}").item())


def _read(target: DType, part: Part) -> tuple[float, float, int]:
    """The numbers of consecutive patterns of one sign: their ends, and the infinity or NaN among them."""
    first, last = part
    sign = 1 << (target.bits - 1)
    if target.kind == "uint":
        return _float(first, up=False), _float(last, up=True), 0
    if target.is_integer:
        past = 2 * sign if first >= sign else 0
        return _float(first - past, up=False), _float(last - past, up=True), 0
    negative = first >= sign
    first, last = first - sign * negative, last - sign * negative
    infinity = _bits(target, inf)
    flags = (NINF if negative else PINF) if first <= infinity <= last else 0
    flags |= NAN if last > infinity else 0
    if first >= infinity:
        return inf, -inf, flags
    ends = [float(np.asarray(n, f"uint{target.bits}").view(to_numpy(target))) for n in (first, min(last, infinity - 1))]
    return (-ends[1], -ends[0], flags) if negative else (ends[0], ends[1], flags)


def _float(n: int, *, up: bool) -> float:
    """The float64 next to an integer, on one side of it."""
    x = float(n)
    if up and int(x) < n:
        return float(np.nextafter(x, inf))
    if not up and int(x) > n:
        return float(np.nextafter(x, -inf))
    return x


_X = Operand((2, 3))
BIT_CAST = Op(
    "BitCast",
    run=lambda xp, x, to=1: x.view(to_numpy(by_onnx(int(to)))),
    bound=_bound,
    result=_target,
    samples=Samples(
        (0.0, 1.0, -1.0, 1065353216.0, 1073741823.0, 2139095040.0, 2139095039.0),
        # floats as operands: the laws widen those, which changes their bits; tests/ops/test_bit_cast.py has them
        cases=(
            Case((_X,), {"to": 12}, dtypes=("int32",)),
            Case((_X,), {"to": 1}, dtypes=("int32", "uint32")),
            Case((_X,), {"to": 6}, dtypes=("uint32",)),
            Case((_X,), {"to": 16}, dtypes=("uint16", "int16")),
        ),
        dtypes=("int32", "uint32", "uint16", "int16"),
    ),
)

OPS = (BIT_CAST,)
