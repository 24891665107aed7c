"""Gemm: a matrix product, scaled, plus a bias."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from nanproof.domain.box import Box
from nanproof.domain.moves import transposed
from nanproof.domain.partition import Blocks, aligned, split_axis
from nanproof.numerics.dtypes import DType
from nanproof.ops.call import Call
from nanproof.ops.flow import (
    Sums,
    length,
    overflows,
    partial_flags,
    product_flags,
    repeated,
    settled,
    sum_flags,
    sum_slack,
    without_finite,
)
from nanproof.ops.matmul import known_product, product_ends
from nanproof.ops.record import Case, Op, Operand, Samples


def _gemm(call: Call, a: Box, b: Box, c: Box | None = None) -> Box:
    """Alpha * A @ B + beta * C: a matrix product of which alpha and C are part of the sum."""
    dtype = a.dtype
    a = transposed(a, (1, 0)) if call.attr("transA", 0) and a.shape is not None else a
    b = transposed(b, (1, 0)) if call.attr("transB", 0) and b.shape is not None else b
    alpha, beta = float(call.attr("alpha", 1.0)), float(call.attr("beta", 1.0))
    shape = None if a.shape is None or b.shape is None else (a.shape[0], b.shape[1])
    if shape is not None and any(n == 0 for n in shape):
        return Box(dtype, shape, inf, -inf)
    inner = None
    if a.shape is not None and b.shape is not None:
        inner = a.shape[1] if isinstance(a.shape[1], int) else b.shape[0]
    least, most = (0.0, inf) if inner is None else length(call, (inner,))
    plain = not (a.flags or b.flags) and a.has_finite and b.has_finite
    flags, empty = 0, False
    found = known_product(a, b, shape) if plain and shape is not None and least == most > 0 else None
    if found is not None:
        sums, cuts = found
    else:
        cuts = None
        if least > 0 and (without_finite(a) or without_finite(b)):
            return Box(dtype, shape, inf, -inf)
        (al, ah), (bl, bh) = a.hull(), b.hull()
        empty = least > 0 and not (al <= ah and bl <= bh)
        ends = product_ends((al, ah), (bl, bh)) if al <= ah and bl <= bh else (0.0, 0.0)
        sums = repeated(*ends, least, most)
        flags = sum_flags(product_flags(a, b)) if a.flags or b.flags else 0
    if alpha < 0 and flags:
        flags = (flags & 1) | (flags & 2) << 1 | (flags & 4) >> 1
    if c is None or beta == 0.0:
        return _scaled(call, dtype, (shape, cuts), (sums, most, alpha), (flags, empty))
    return _with_bias(call, c, (shape, cuts), (sums, most, alpha, beta), (flags, empty))


def _scaled(call: Call, dtype: DType, place: Any, what: tuple[Sums, float, float], marks: tuple[int, bool]) -> Box:
    sums, n, alpha = what
    ends, born = _product(call, dtype, sums, n, alpha)
    return settled(call, dtype, place, ends, flags=marks[0], empty=marks[1], born=born)


def _product(call: Call, dtype: DType, sums: Sums, n: float, alpha: float) -> tuple[tuple[Any, Any, Any], int]:
    """The ends of alpha times the sum, its error, and what its overflow gives."""
    accumulator = call.setting.accumulator(dtype)
    slack = sum_slack(n + 3, sums.size, accumulator)
    born = partial_flags(dtype, *overflows(sums, slack, accumulator)) if dtype.is_float else 0
    lo, hi = (sums.lo * alpha, sums.hi * alpha) if alpha >= 0 else (sums.hi * alpha, sums.lo * alpha)
    if alpha != 1.0:
        if dtype.is_float:  # the factor may be applied before the sum or behind it
            ends = Sums(0.0, 0.0, sums.below * abs(alpha), sums.above * abs(alpha), 0.0)
            over, under = overflows(ends, slack * abs(alpha), accumulator)
            born |= partial_flags(dtype, *((over, under) if alpha > 0 else (under, over)))
        slack = slack * abs(alpha) + (n + 1) * accumulator.quantum
    return (lo, hi, slack), born


def _with_bias(call: Call, c: Box, place: Any, what: tuple[Sums, float, float, float], marks: tuple[int, bool]) -> Box:
    shape, cuts = place
    sums, n, alpha, beta = what
    flags: int = marks[0]
    empty: Any = marks[1]
    dtype = c.dtype
    (lo, hi, slack), born = _product(call, dtype, sums, n, alpha)
    if without_finite(c):
        return Box(dtype, shape, inf, -inf)
    cl, ch = c.hull()
    blocks: tuple[Any, Any, Any] = (cl, ch, c.flags)
    if shape is not None and c.shape is not None and (c.cuts is not None or (cuts is not None and not c.is_point)):
        # bring both to common cuts, the bias element by element where it is known
        rank = len(shape)
        grid: Any = (1,) * rank if cuts is None else np.shape(lo)
        own = Box(dtype, shape, np.zeros(grid), np.zeros(grid), cuts=cuts) if cuts else Box(dtype, shape, 0.0, 0.0)
        cuts, (_, bias) = aligned((own, c), rank)
        lo, hi, slack = (_spread(e, own, cuts, rank) for e in (lo, hi, slack))
        size = _spread(sums.size, own, cuts, rank)
        below, above = (_spread(e, own, cuts, rank) for e in (sums.below, sums.above))
        sums = Sums(lo, hi, below, above, size)
        marks_c: Any = 0 if bias.spots is None else bias.spots
        blocks = bias.lo, bias.hi, marks_c
        if cuts is not None:
            lo = np.broadcast_to(lo, np.broadcast_shapes(np.shape(lo), np.shape(bias.lo)))
            hi = np.broadcast_to(hi, lo.shape)
    low, high, extra = blocks
    void = np.asarray(low) > np.asarray(high)
    if np.any(void):
        low, high = np.where(void, 0.0, low), np.where(void, 0.0, high)
        low, high = (float(low), float(high)) if np.ndim(low) == 0 else (low, high)
        empty = empty or (bool(void) if np.ndim(void) == 0 else void)
    low, high = (low * beta, high * beta) if beta > 0 else (high * beta, low * beta)
    size_c = max(-low, high) if type(low) is float and type(high) is float else np.maximum(-low, high)
    if dtype.is_float:
        accumulator = call.setting.accumulator(dtype)
        a = abs(alpha)
        together = Sums(lo + low, hi + high, sums.below * a + _neg(low), sums.above * a + _pos(high), 0.0)
        slack = slack + (sums.size * a + size_c) * (4.0 * accumulator.unit) + 2.0 * accumulator.quantum
        born |= partial_flags(dtype, *overflows(together, slack, accumulator))
    flags_c = _bias_flags(extra, beta)
    return settled(
        call,
        dtype,
        (shape, cuts),
        (lo + low, hi + high, slack),
        flags=sum_flags(flags | flags_c),
        empty=empty,
        born=born,
    )


def _neg(x: Any) -> Any:
    return min(x, 0.0) if type(x) is float else np.minimum(x, 0.0)


def _pos(x: Any) -> Any:
    return max(x, 0.0) if type(x) is float else np.maximum(x, 0.0)


def _bias_flags(flags: Any, beta: float) -> Any:
    if beta > 0 or (isinstance(flags, int) and not flags):
        return flags
    return (flags & 1) | (flags & 2) << 1 | (flags & 4) >> 1


def _spread(value: Any, own: Box, cuts: Any, rank: int) -> Any:
    """Numbers over the blocks of a Box, repeated at finer cuts."""
    if cuts is None or np.ndim(value) == 0:
        return value
    blocks = Blocks(np.broadcast_to(value, np.shape(own.lo)), np.zeros(np.shape(own.lo)), None)
    for axis in range(rank):
        have = None if own.cuts is None else own.cuts[axis]
        if cuts[axis] is not None and have is not None and have != cuts[axis]:
            blocks = split_axis(blocks, axis, have, cuts[axis])
    return blocks.lo


def _run(xp: Any, a: Any, b: Any, c: Any = None, **attrs: Any) -> Any:
    alpha, beta = attrs.get("alpha", 1.0), attrs.get("beta", 1.0)
    a, b = (xp.matrix_transpose(m) if attrs.get(t) else m for m, t in ((a, "transA"), (b, "transB")))
    y = xp.matmul(a, b)
    y = y if alpha == 1.0 else alpha * y
    return y if c is None else y + (c if beta == 1.0 else beta * c)


GEMM = Op(
    "Gemm",
    run=_run,
    bound=_gemm,
    overflow="NP206",
    infinite="NP213",
    samples=Samples(
        (0.0, 1.0, -1.0, 1e19, -1e19, 1e-30),
        (
            Case((Operand((3, 4)), Operand((4, 5)), Operand((5,)))),
            Case((Operand((3, 4)), Operand((4, 5)))),
            Case((Operand((3, 4)), Operand((5, 4), stored=True), Operand((5,), stored=True)), {"transB": 1}),
            Case((Operand((4, 3)), Operand((4, 5), stored=True), Operand((3, 5))), {"transA": 1, "alpha": 0.5}),
            Case((Operand((3, 4), stored=True), Operand((4, 5)), Operand((3, 1))), {"alpha": -2.0, "beta": 0.25}),
            Case((Operand((4, 3)), Operand((5, 4)), Operand((1, 5))), {"transA": 1, "transB": 1, "beta": -1.5}),
            Case((Operand((3, 4)), Operand((4, 5), stored=True), Operand(()))),
            Case((Operand((3, 4)), Operand((4, 5)), Operand((3, 5))), {"beta": 0.0}),
        ),
    ),
)

OPS = (GEMM,)
