"""The determinant of square matrices."""

from __future__ import annotations

from math import inf

import numpy as np

from nanproof.domain.box import ALL, Box
from nanproof.ops.call import Call
from nanproof.ops.record import Case, Op, Operand, Samples

LARGEST = 64
"""Larger matrices could have a determinant of any size."""


def _det(call: Call, x: Box) -> Box:
    """No class fits: Hadamard's inequality, |det| is at most the product of the rows' lengths.

    Elimination with pivoting gives the exact determinant of a matrix whose elements differ by no more than
    ``n**2 * 2**(n-1)`` roundings of the largest one, and no pivot exceeds ``2**(n-1)`` times that: what the
    partial products of the pivots can be decides on overflow.
    """
    shape = None if x.shape is None else x.shape[:-2]
    if x.shape is not None and 0 in x.shape[:-2]:
        return Box(x.dtype, shape, inf, -inf)
    size = None if x.shape is None else x.shape[-1]
    if x.flags or not x.has_finite or not isinstance(size, int) or size > LARGEST:
        if not x.flags and x.has_finite:
            call.overflowed(x.dtype.min, x.dtype.max, x.dtype, ALL, never=False)
        known_empty = size == 0 and not x.flags
        return Box(x.dtype, shape, 1.0, 1.0) if known_empty else Box(x.dtype, shape, x.dtype.min, x.dtype.max, ALL)
    if size == 0:
        return Box(x.dtype, shape, 1.0, 1.0)
    lo, hi = x.hull()
    if size == 1:
        return Box(x.dtype, shape, lo, hi)
    far = max(abs(lo), abs(hi))
    pivot = far * 2.0 ** (size - 1) * (1.0 + size * 2.0 * x.dtype.unit)
    largest = _power(max(pivot, 1.0), size)
    near = far * (1.0 + size * size * 2.0 ** (size - 1) * 2.0 * x.dtype.unit) * (1.0 + 2.0 * x.dtype.unit)
    bound = min(_power(size**0.5 * near * (1.0 + 2.0**-50), size), largest)
    if not largest <= x.dtype.max:
        call.overflowed(-bound, bound, x.dtype, ALL, never=False)
        ends = min(bound, x.dtype.max)
        return Box(x.dtype, shape, -ends, ends, ALL)
    return call.settle(x.dtype, shape, -bound, bound, err=x.dtype.quantum * size * max(pivot, 1.0) ** size)


def _power(x: float, n: int) -> float:
    """``x**n`` of what isn't negative: Inf where it overflows."""
    try:
        return x**n
    except OverflowError:
        return inf


DET = Op(
    "Det",
    run=lambda xp, x: xp.asarray(np.linalg.det(np.asarray(x))),
    bound=_det,
    overflow="NP208",
    infinite="NP213",
    samples=Samples(
        (0.0, 1.0, -1.0, 1e10),
        cases=(
            Case((Operand((3, 3)),)),
            Case((Operand((2, 4, 4)),)),
            Case((Operand((5, 1, 1)),)),
            Case((Operand((6, 6), low=-10.0, high=10.0),)),
        ),
        dtypes=("float32",),
    ),
)

OPS = (DET,)
