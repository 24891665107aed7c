"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from nanproof.dims import Size, broadcast, merge
from nanproof.domain.box import Array, Box, Shape
from nanproof.domain.partition import Cuts, at_cuts, blocks_of, everywhere, fine, merge_whole, widths
from nanproof.domain.weights import signed_sums, sums_of, times, times_transposed
from nanproof.ops.call import Call
from nanproof.ops.flow import (
    Sums,
    asks_for_hull,
    length,
    product_flags,
    repeated,
    settled_sum,
    sum_flags,
    weighed,
    weighed_hull,
    without_finite,
)
from nanproof.ops.record import Case, Op, Operand, Samples

ROWS = 16
"""Most rows of blocks of the variable operand that are told apart against known weights."""

CORNERS = 1 << 18
"""Most products of blocks that are formed for two variable operands."""

FLOATS = ("float32", "float64", "float16")


def product_shape(a: Shape, b: Shape) -> tuple[Shape, Size | None]:
    """The shape of a matrix product as NumPy defines it, and the contracted length."""
    if a is None or b is None or not a or not b:
        known = a if a is not None else b
        return None, (known[-1] if known is not None and known is a and known else None)
    one, two = a if len(a) > 1 else (1, *a), b if len(b) > 1 else (*b, 1)
    inner = merge(one[-1], two[-2], "the sizes that a matrix product sums over")
    batch = broadcast(one[:-2], two[:-2])
    rows = (one[-2],) if len(a) > 1 else ()
    columns = (two[-1],) if len(b) > 1 else ()
    return (*batch, *rows, *columns), inner


def _matmul(call: Call, a: Box, b: Box) -> Box:
    """Bilinear, but a sum of products: known weights are summed once by sign, the rest is interval times length."""
    dtype = a.dtype
    shape, inner = product_shape(a.shape, b.shape)
    if shape is not None and 0 in shape:
        return Box(dtype, shape, float("inf"), -float("inf"))
    least, most = (0.0, float("inf")) if inner is None else length(call, (inner,))
    if most == 0:
        return Box(dtype, shape, 0.0, 0.0)
    if shape is not None and least == most and not (a.flags or b.flags) and a.has_finite and b.has_finite:
        one = one_bound(call, a, b, most)
        if one is not None:
            return settled_sum(call, dtype, (shape, None), one, most, products=True)
        found = known_product(a, b, shape)
        if found is not None:
            return settled_sum(call, dtype, (shape, found[1]), found[0], most, products=True)
    return _hulls(call, (a, b), shape, (least, most))


def _hulls(call: Call, operands: tuple[Box, Box], shape: Shape, counts: tuple[float, float]) -> Box:
    """Any element of the one times any of the other."""
    a, b = operands
    dtype = a.dtype
    if counts[0] > 0 and (without_finite(a) or without_finite(b)):
        return Box(dtype, shape, float("inf"), -float("inf"))
    (al, ah), (bl, bh) = a.hull(), b.hull()
    empty = not (al <= ah and bl <= bh)
    lo, hi = (0.0, 0.0) if empty else product_ends((al, ah), (bl, bh))
    sums = repeated(lo, hi, *counts)
    flags = sum_flags(product_flags(a, b)) if a.flags or b.flags else 0
    return settled_sum(
        call, dtype, (shape, None), sums, counts[1], flags=flags, empty=empty and counts[0] > 0, products=True
    )


def product_ends(x: tuple[float, float], y: tuple[float, float]) -> tuple[float, float]:
    """The interval of a product of two floats."""
    p, q, r, s = x[0] * y[0], x[0] * y[1], x[1] * y[0], x[1] * y[1]
    return min(p, q, r, s), max(p, q, r, s)


# -- one operand known ------------------------------------------------------------------------


def _usable(box: Box) -> bool:
    known = box.known
    return (
        known is not None
        and known.dtype != object
        and known.ndim >= 1
        and known.size > 1
        and (box.dtype.is_float or known.size < 1 << 22)
    )


def one_bound(call: Call, a: Box, b: Box, n: float, kept: tuple[int, int] = (0, -1)) -> Sums | None:
    """One bound for all channels, where that is all that is asked for: known weights, the rest in one block.

    ``kept``: the axis of either operand that the product has too.
    """
    if not asks_for_hull(call, a.dtype, n):
        return None
    if a.cuts is None and _usable(b) and b.known is not None and b.known.ndim == 2:
        return weighed_hull(sums_of(b, kept[1]), float(a.lo), float(a.hi))
    if b.cuts is None and _usable(a) and a.known is not None and a.known.ndim == 2:
        return weighed_hull(sums_of(a, kept[0]), float(b.lo), float(b.hi))
    return None


def known_product(a: Box, b: Box, shape: tuple[Size, ...]) -> tuple[Sums, Cuts | None] | None:
    """Bounds that tell blocks apart: per output channel of known weights, or of the operands' own blocks.

    Both operands are finite. None where one hull times the other is all there is.
    """
    if _usable(b) and (not _usable(a) or b.known.size >= a.known.size):  # type: ignore[union-attr]
        return _known_right(a, b, len(shape))
    if _usable(a) and b.shape:
        return _known_left(a, b, len(shape))
    return _by_blocks(a, b, shape) if a.cuts is not None or b.cuts is not None else None


def _rows(box: Box, inner: int, *, right: bool) -> tuple[Array, Array, Cuts | None]:
    """Ends of the variable operand as (rows of blocks, K or 1); the cuts of the row axis.

    ``right``: its contracted axis is the last but one.
    """
    rank = len(box.shape or ())
    if box.cuts is None:
        return np.full((1, 1), box.lo), np.full((1, 1), box.hi), None
    last = rank - 1 if rank == 1 or not right else rank - 2
    other = rank - 1 if right else rank - 2
    others = tuple(i for i in range(rank) if i not in {last, other})
    blocks = blocks_of(box)
    if others:
        blocks = merge_whole(blocks, others)
    row_cuts = None if rank == 1 else box.cuts[other]
    if row_cuts is not None and len(row_cuts) - 1 > ROWS:
        blocks, row_cuts = merge_whole(blocks, (other,)), None
    inner_cuts = box.cuts[last]
    lo, hi = np.asarray(blocks.lo), np.asarray(blocks.hi)
    if rank > 1 and last < other:
        lo, hi = np.swapaxes(lo, last, other), np.swapaxes(hi, last, other)
    count = 1 if inner_cuts is None else len(inner_cuts) - 1
    lo, hi = lo.reshape(-1, count), hi.reshape(-1, count)
    if inner_cuts is not None:
        spans = np.diff(inner_cuts)
        lo, hi = np.repeat(lo, spans, axis=1), np.repeat(hi, spans, axis=1)
    return lo, hi, (row_cuts,)


def weighted(lo: Array, hi: Array, weights: Array, *, transposed: bool = False, sums: Array | None = None) -> Sums:
    """Sums of x * w over K for x in [lo, hi] (rows, K or 1) and known w (K, N), or (N, K) if ``transposed``.

    The lowest term is lo * w where w > 0 and hi * w where w < 0. Terms of one
    sign are added up apart from the others, so nothing cancels. ``sums``: what w adds up to by sign, if that is known.
    """
    n, width = lo.shape
    if width == 1 and sums is None:
        sums = signed_sums(weights, 0 if transposed else -1)
    if n == width == 1:
        assert sums is not None
        return weighed(sums[:1], sums[1:], float(lo[0, 0]), float(hi[0, 0]))
    up, down = np.maximum(hi, 0.0), np.maximum(-lo, 0.0)
    low, high = np.maximum(lo, 0.0), np.maximum(-hi, 0.0)
    factors = np.concatenate((up, down, low, high))
    if width == 1:
        assert sums is not None
        positive, negative = factors * sums[:1], factors * sums[1:]
    else:
        positive, negative = (times_transposed if transposed else times)(factors, weights)
    (up_p, down_p, low_p, high_p), (up_n, down_n, low_n, high_n) = (
        (part[:n], part[n : 2 * n], part[2 * n : 3 * n], part[3 * n :]) for part in (positive, negative)
    )
    below, above = -(down_p + up_n), up_p + down_n
    return Sums(below + (low_p + high_n), above - (high_p + low_n), below, above)


def _known_right(a: Box, b: Box, rank: int) -> tuple[Sums, Cuts | None] | None:
    weights = b.known
    assert weights is not None
    assert a.shape is not None
    if weights.ndim == 1:
        weights = weights.reshape(-1, 1)
    if weights.ndim > 2:
        return _stacked(a, weights, rank)
    lo, hi, row_cuts = _rows(a, weights.shape[0], right=False)
    sums = weighted(lo, hi, weights, sums=sums_of(b, -1) if b.known is weights and lo.shape[1] == 1 else None)
    columns = weights.shape[1] if b.known is not None and b.known.ndim > 1 else 0
    return _placed(sums, rank, (row_cuts if len(a.shape) > 1 else None, columns))


def _placed(sums: Sums, rank: int, what: tuple[Cuts | None, int]) -> tuple[Sums, Cuts | None]:
    """Sums of (row blocks, columns) as blocks of the result: rows on the last axis but one, columns on the last."""
    row_cuts, columns = what
    rows = None if not row_cuts else row_cuts[0]
    has_rows = row_cuts is not None or False
    cuts: list[Any] = [None] * rank
    grid = [1] * rank
    place = rank - 1
    if columns:
        cuts[place] = everywhere(columns) if columns > 1 else None
        grid[place] = columns
        place -= 1
    if has_rows and rows is not None:
        cuts[place] = rows
        grid[place] = len(rows) - 1
    if not any(cuts):
        return Sums(*(np.asarray(p).reshape(grid) for p in sums)), tuple(cuts)
    return Sums(*(np.asarray(p).reshape(grid) for p in sums)), tuple(cuts)


def _stacked(a: Box, weights: Array, rank: int) -> tuple[Sums, Cuts | None] | None:
    """A stack of known matrices: the hull over the stack, column by column."""
    if a.cuts is not None:
        a = Box(a.dtype, a.shape, *a.hull())
    ends = np.full((1, 1), a.lo), np.full((1, 1), a.hi)
    flat = weights.reshape(-1, *weights.shape[-2:])
    every = [weighted(*ends, matrix) for matrix in flat]
    sums = _hull_of_sums(every)
    return _placed(sums, rank, (None, weights.shape[-1]))


def _hull_of_sums(every: list[Sums]) -> Sums:
    los, his, below, above = (np.stack(parts) for parts in zip(*every, strict=True))
    return Sums(los.min(0), his.max(0), below.min(0), above.max(0))


def _known_left(a: Box, b: Box, rank: int) -> tuple[Sums, Cuts | None] | None:
    weights = a.known
    assert weights is not None
    vector = b.shape is not None and len(b.shape) == 1
    if weights.ndim > 2:
        stack = weights.reshape(-1, *weights.shape[-2:])
        if len(stack) > 64:
            return None
        if b.cuts is not None:
            b = Box(b.dtype, b.shape, *b.hull())
    else:
        stack = weights.reshape(1, -1, weights.shape[-1])
    lo, hi, column_cuts = _rows(b, weights.shape[-1], right=True)
    once = sums_of(a, 0) if a.known is not None and a.known.ndim == 2 and lo.shape[1] == 1 else None
    sums = _hull_of_sums([weighted(lo, hi, matrix, transposed=True, sums=once) for matrix in stack])
    # (column blocks, rows) -> rows on the last axis but one (or the last, for a vector)
    sums = Sums(*(np.asarray(p).T for p in sums))
    rows, columns = sums.lo.shape
    cuts: list[Any] = [None] * rank
    grid = [1] * rank
    place = rank - 1
    if not vector:
        cuts[place] = column_cuts[0] if column_cuts else None
        grid[place] = columns
        place -= 1
    if weights.ndim > 1:
        cuts[place] = everywhere(rows) if rows > 1 else None
        grid[place] = rows
    return Sums(*(p.reshape(grid) for p in sums)), tuple(cuts)


# -- two variable operands --------------------------------------------------------------------


def _by_blocks(a: Box, b: Box, shape: tuple[Size, ...]) -> tuple[Sums, Cuts] | None:
    """Blocks of rows times blocks of columns, over common cuts of the contracted axis; batch axes as one."""
    assert a.shape is not None
    assert b.shape is not None
    if len(a.shape) < 2 or len(b.shape) < 2:
        return None
    size = a.shape[-1]
    if not isinstance(size, int):
        return None
    a_cuts, b_cuts = a.cuts or (None,) * len(a.shape), b.cuts or (None,) * len(b.shape)
    inner = a_cuts[-1] if b_cuts[-2] is None else b_cuts[-2] if a_cuts[-1] is None else _both(a_cuts[-1], b_cuts[-2])
    left = at_cuts(fine_enough(a), (*a_cuts[:-1], inner))
    right = at_cuts(fine_enough(b), (*b_cuts[:-2], inner, b_cuts[-1]))
    batch_a, batch_b = tuple(range(len(a.shape) - 2)), tuple(range(len(b.shape) - 2))
    left = merge_whole(_full(left, len(a.shape)), batch_a) if batch_a else _full(left, len(a.shape))
    right = merge_whole(_full(right, len(b.shape)), batch_b) if batch_b else _full(right, len(b.shape))
    al, ah = (np.reshape(e, np.shape(e)[-2:])[:, :, None] for e in (left.lo, left.hi))
    bl, bh = (np.reshape(e, np.shape(e)[-2:])[None] for e in (right.lo, right.hi))
    if al.shape[0] * max(al.shape[1], bl.shape[1]) * bl.shape[2] > CORNERS:
        return None
    spans = widths(inner, size)
    assert spans is not None
    p, q, r, s = al * bl, al * bh, ah * bl, ah * bh
    lo, hi = np.minimum(np.minimum(p, q), np.minimum(r, s)), np.maximum(np.maximum(p, q), np.maximum(r, s))
    span = spans[None, :, None]
    parts = (lo, hi, np.minimum(lo, 0.0), np.maximum(hi, 0.0))
    rank = len(shape)
    lead = (1,) * (rank - 2)
    sums = Sums(*((part * span).sum(axis=1).reshape(*lead, part.shape[0], part.shape[2]) for part in parts))
    return sums, (*(None,) * (rank - 2), a_cuts[-2], b_cuts[-1])


def fine_enough(box: Box) -> Box:
    """The Box itself; a small known tensor element by element."""
    return fine(box) if box.cuts is None and box.known is not None and box.known.size <= 256 else box


def _both(one: Any, two: Any) -> tuple[int, ...]:
    return tuple(sorted({*one, *two}))


def _full(blocks: Any, rank: int) -> Any:
    """Blocks of one number as arrays with all axes."""
    if np.ndim(blocks.lo):
        return blocks
    return blocks._replace(lo=np.full((1,) * rank, blocks.lo), hi=np.full((1,) * rank, blocks.hi))


_SUMS = {0: 0, 1: -1}
"""Rows of a matrix on the left are summed, columns of one on the right."""

MATMUL = Op(
    "MatMul",
    run=lambda xp, a, b: xp.matmul(a, b),
    bound=_matmul,
    overflow="NP206",
    infinite="NP213",
    weighs=lambda _: _SUMS,
    samples=Samples(
        (0.0, 1.0, -1.0, 1e19, -1e19, 1e-30),
        (
            Case((Operand((3, 4)), Operand((4, 5)))),
            Case((Operand((3, 4)), Operand((4, 5), stored=True))),
            Case((Operand((3, 4), stored=True), Operand((4, 5)))),
            Case((Operand((2, 3, 4)), Operand((4, 2), stored=True))),
            Case((Operand((2, 1, 3, 4)), Operand((2, 4, 2)))),
            Case((Operand((4,)), Operand((4, 3), stored=True))),
            Case((Operand((3, 4), stored=True), Operand((4,)))),
            Case((Operand((4,)), Operand((4,)))),
            Case((Operand((2, 3, 4)), Operand((2, 4, 2), stored=True))),
            Case((Operand((2, 3, 4), stored=True), Operand((2, 4, 2)))),
            Case((Operand((1, 64)), Operand((64, 1)))),
            Case((Operand((2, 0)), Operand((0, 3)))),
        ),
        FLOATS,
    ),
)

OPS = (MATMUL,)
