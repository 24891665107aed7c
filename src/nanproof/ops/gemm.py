"""Gemm: a matrix product, scaled, plus a bias."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from nanproof.dims import merge
from nanproof.domain.box import NAN, NINF, PINF, Box, Shape
from nanproof.domain.moves import transposed
from nanproof.domain.partition import Blocks, aligned, split_axis
from nanproof.numerics.dtypes import DType
from nanproof.ops.call import Call
from nanproof.ops.flow import (
    Sums,
    asks_for_hull,
    computed,
    hull_of,
    length,
    product_flags,
    repeated,
    settled,
    sum_flags,
    without_finite,
)
from nanproof.ops.matmul import known_product, one_bound, product_ends
from nanproof.ops.record import Case, Op, Operand, Samples


def _gemm(call: Call, a: Box, b: Box, c: Box | None = None) -> Box:
    """Alpha * A @ B + beta * C: a matrix product of which alpha and C are part of the sum."""
    dtype = a.dtype
    attrs = call.attrs
    turned = bool(attrs.get("transA", 0)), bool(attrs.get("transB", 0))
    alpha, beta = float(attrs.get("alpha", 1.0)), float(attrs.get("beta", 1.0))
    shape: Shape = None
    least, most = 0.0, inf
    if a.shape is not None and b.shape is not None:
        rows, left = a.shape[::-1] if turned[0] else a.shape
        right, columns = b.shape[::-1] if turned[1] else b.shape
        shape = (rows, columns)
        if rows == 0 or columns == 0:
            return Box(dtype, shape, inf, -inf)
        least, most = length(call, (merge(left, right, "the sizes that a matrix product sums over"),))
    plain = not (a.flags or b.flags) and a.has_finite and b.has_finite
    flags: Any = 0
    empty: Any = False
    fixed = plain and shape is not None and least == most > 0
    cuts = None
    sums = one_bound(call, a, b, most, _KEPT[turned]) if fixed else None
    if sums is None:
        a = transposed(a, (1, 0)) if turned[0] and a.shape is not None else a
        b = transposed(b, (1, 0)) if turned[1] and b.shape is not None else b
        found = known_product(a, b, shape) if fixed and shape is not None else None
        if found is not None:
            sums, cuts = found
            if asks_for_hull(call, dtype, most):
                sums, cuts = hull_of(sums), None
    if sums is None:
        if least > 0 and (without_finite(a) or without_finite(b)):
            return Box(dtype, shape, inf, -inf)
        (al, ah), (bl, bh) = a.hull(), b.hull()
        empty = least > 0 and not (al <= ah and bl <= bh)
        ends = product_ends((al, ah), (bl, bh)) if al <= ah and bl <= bh else (0.0, 0.0)
        sums = repeated(*ends, least, most)
        flags = sum_flags(product_flags(a, b)) if a.flags or b.flags else 0
    scaled, extra, born = _times_alpha(call, dtype, sums, most, alpha)
    if alpha < 0 and flags:
        flags = _negated(flags)
    place: Any = (shape, cuts)
    if c is None or beta == 0.0:
        lo, hi, more = computed(call, dtype, scaled, most + 4, products=True)
        return settled(call, dtype, place, (lo, hi, extra), flags=flags, empty=empty, born=born | more)
    if without_finite(c):
        return Box(dtype, shape, inf, -inf)
    if c.cuts is None and cuts is None and not (c.flags or flags or born or empty):
        low, high = (c.lo * beta, c.hi * beta) if beta > 0 else (c.hi * beta, c.lo * beta)
        lo, hi, more = computed(call, dtype, plus(scaled, low, high), most + 5, products=True)
        return settled(call, dtype, (shape, None), (lo, hi, extra), born=more)
    scaled, cuts, marks, void = _plus_bias(c, (shape, cuts), scaled, beta)
    lo, hi, more = computed(call, dtype, scaled, most + 5, products=True)
    marks = sum_flags(flags | (marks if beta > 0 else _negated(marks)))
    hollow = np.asarray(empty) | void if np.ndim(void) else bool(empty or void)
    return settled(call, dtype, (shape, cuts), (lo, hi, extra), flags=marks, empty=hollow, born=born | more)


def _negated(flags: Any) -> Any:
    return (flags & NAN) | (flags & PINF) << 1 | (flags & NINF) >> 1


def _times_alpha(call: Call, dtype: DType, sums: Sums, n: float, alpha: float) -> tuple[Sums, float, int]:
    """The sum of scaled terms, what scaling adds to the error, and what overflow before it gives."""
    if alpha == 1.0:
        return sums, 0.0, 0
    # the factor may be applied before the sum or behind it
    born = int(np.bitwise_or.reduce(computed(call, dtype, sums, n, products=True).born, axis=None))
    lo, hi, below, above = sums if alpha >= 0 else (sums.hi, sums.lo, sums.above, sums.below)
    extra = (abs(alpha) + 1.0) * (n + 2) * call.setting.accumulator(dtype).quantum if dtype.is_float else 0.0
    return Sums(lo * alpha, hi * alpha, below * alpha, above * alpha), extra, born


def _plus_bias(c: Box, place: Any, sums: Sums, beta: float) -> tuple[Sums, Any, Any, Any]:
    """The sums with beta * C as one more term, at common cuts; C's special values, and where it has no others."""
    shape, cuts = place
    low: Any
    high: Any
    marks: Any = c.flags
    low, high = c.hull()
    if shape is not None and c.shape is not None and (c.cuts is not None or (cuts is not None and not c.is_point)):
        # the bias is read element by element where it is known
        rank = len(shape)
        grid: Any = (1,) * rank if cuts is None else np.shape(sums.lo)
        own = Box(c.dtype, shape, np.zeros(grid), np.zeros(grid), cuts=cuts) if cuts else Box(c.dtype, shape, 0.0, 0.0)
        cuts, (_, bias) = aligned((own, c), rank)
        sums = Sums(*(_spread(e, own, cuts, rank) for e in sums))
        low, high = bias.lo, bias.hi
        marks = 0 if bias.spots is None else bias.spots
    void: Any = np.asarray(low) > np.asarray(high)
    if np.any(void):
        low, high = np.where(void, 0.0, low), np.where(void, 0.0, high)
    if np.ndim(low) == 0:
        low, high, void = float(low), float(high), bool(void)
    low, high = (low * beta, high * beta) if beta > 0 else (high * beta, low * beta)
    return plus(sums, low, high), cuts, marks, void


def plus(sums: Sums, low: Any, high: Any) -> Sums:
    """One more term between two bounds."""
    return Sums(sums.lo + low, sums.hi + high, sums.below + _neg(low), sums.above + _pos(high))


def _neg(x: Any) -> Any:
    return min(x, 0.0) if type(x) is float else np.minimum(x, 0.0)


def _pos(x: Any) -> Any:
    return max(x, 0.0) if type(x) is float else np.maximum(x, 0.0)


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


_KEPT = {(left, right): (-1 if left else 0, 0 if right else -1) for left in (False, True) for right in (False, True)}
"""Which axis of either operand the result keeps, by whether it is turned."""


def _weighs(attrs: Mapping[str, Any]) -> dict[int, int]:
    return dict(enumerate(_KEPT[bool(attrs.get("transA", 0)), bool(attrs.get("transB", 0))]))


GEMM = Op(
    "Gemm",
    run=_run,
    bound=_gemm,
    weighs=_weighs,
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
