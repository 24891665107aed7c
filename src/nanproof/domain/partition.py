"""Partitions: how a tensor is cut into blocks that share one interval.

Every axis has its own cut points, so the blocks form a grid; bounds are arrays
in the shape of that grid. An axis in one piece (cuts None) has one block, and
NumPy's broadcasting lines it up with a cut axis by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np

from nanproof.domain.box import Array, Bound, Box, Shape, of_array
from nanproof.numerics.dtypes import DType

AxisCuts: TypeAlias = "tuple[int, ...] | None"
Cuts: TypeAlias = "tuple[AxisCuts, ...]"

BUDGET = 4096
"""Most blocks that a Box may have; finer partitions are coarsened to it."""

EXACT_LIMIT = 1 << 22
"""Most elements of a known tensor that are read again for the bounds of its blocks."""


class Blocks(NamedTuple):
    """Bounds and flags block by block. ``spots`` None: no special values anywhere."""

    lo: Bound
    hi: Bound
    spots: Array | None

    def rearranged(self, move: Callable[[Array], Array]) -> Blocks:
        """The same function of positions applied to bounds and flags."""
        spots = None if self.spots is None else move(self.spots)
        return Blocks(move(np.asarray(self.lo)), move(np.asarray(self.hi)), spots)


def blocks_of(box: Box) -> Blocks:
    """The blocks of a Box, as arrays with one axis for each of its axes."""
    if box.cuts is not None:
        return Blocks(box.lo, box.hi, box.block_flags() if box.flags else None)
    rank = () if box.shape is None else (1,) * len(box.shape)
    spots = np.full(rank, box.flags, np.uint8) if box.flags else None
    return Blocks(np.full(rank, box.lo), np.full(rank, box.hi), spots)


def pack(dtype: DType, shape: Shape, cuts: Cuts | None, blocks: Blocks, budget: int = BUDGET) -> Box:
    """A Box from blocks: one block becomes two floats, too many are coarsened."""
    lo, hi, spots = blocks
    if cuts is None or budget == 1 or not any(cuts):
        flags = int(np.bitwise_or.reduce(spots, axis=None)) if spots is not None else 0
        return Box(dtype, shape, float(np.min(lo)), float(np.max(hi)), flags)
    grid = tuple(1 if c is None else len(c) - 1 for c in cuts)
    if np.shape(lo) != grid or (spots is not None and spots.shape != grid):
        lo, hi = np.broadcast_to(lo, grid), np.broadcast_to(hi, grid)
        spots = None if spots is None else np.broadcast_to(spots, grid)
    if np.size(lo) > budget:
        cuts, blocks = coarsen(cuts, Blocks(lo, hi, spots), budget)
        return pack(dtype, shape, cuts, blocks, budget)
    flags = int(np.bitwise_or.reduce(spots, axis=None)) if spots is not None else 0
    return Box(dtype, shape, lo, hi, flags, cuts=cuts, spots=spots if flags else None)


def coarsen(cuts: Cuts, blocks: Blocks, budget: int) -> tuple[Cuts, Blocks]:
    """Merge neighbouring blocks, two by two on the axis with most of them, down to a budget."""
    current = list(cuts)
    while np.size(blocks.lo) > budget:
        axis = int(np.argmax(np.shape(blocks.lo)))
        points = current[axis]
        assert points is not None  # an axis in one piece has one block and is never the longest
        kept = (*points[:-1:2], points[-1])
        blocks = merge_axis(blocks, axis, points, kept)
        current[axis] = kept if len(kept) > 2 else None
    return tuple(current), blocks


def merge_axis(blocks: Blocks, axis: int, points: tuple[int, ...], kept: Sequence[int]) -> Blocks:
    """Merge the blocks of an axis to the coarser cuts ``kept``, a subset of ``points``."""
    starts = np.searchsorted(points, kept[:-1])
    lo = np.minimum.reduceat(blocks.lo, starts, axis=axis)
    hi = np.maximum.reduceat(blocks.hi, starts, axis=axis)
    spots = blocks.spots
    if spots is not None:
        spots = np.bitwise_or.reduceat(spots, starts, axis=axis)
    return Blocks(lo, hi, spots)


def merge_whole(blocks: Blocks, axes: tuple[int, ...]) -> Blocks:
    """Merge all blocks along the axes into one; the axes stay, with length 1."""
    spots = blocks.spots
    if spots is not None:
        spots = np.bitwise_or.reduce(spots, axis=axes, keepdims=True)
    lo = np.min(blocks.lo, axis=axes, keepdims=True)
    return Blocks(lo, np.max(blocks.hi, axis=axes, keepdims=True), spots)


def split_axis(blocks: Blocks, axis: int, points: AxisCuts, finer: tuple[int, ...]) -> Blocks:
    """Repeat the blocks of an axis at the finer cuts (a superset of ``points``)."""
    if points is None:
        where = np.zeros(len(finer) - 1, np.intp)
    else:
        where = np.searchsorted(points, finer[:-1], side="right") - 1
    return blocks.rearranged(lambda a: np.take(a, where, axis=axis))


def union(first: AxisCuts, second: AxisCuts) -> AxisCuts:
    """The cut points of both."""
    if first is None or first is second or first == second:
        return second
    if second is None:
        return first
    return tuple(sorted({*first, *second}))


def widths(points: AxisCuts, size: object) -> Array | None:
    """How many elements each block of an axis spans; None where the size is symbolic."""
    if points is not None:
        return np.diff(np.asarray(points, np.float64))
    return np.array([float(size)]) if isinstance(size, int) else None


def aligned(boxes: Sequence[Box], rank: int) -> tuple[Cuts | None, list[Blocks]]:
    """Bring operands of an elementwise operation to common cuts.

    The arrays come back ready for broadcasting: an axis that is in one piece
    in an operand has length 1 there. Known constants are read again, so that
    their finer blocks are exact.
    """
    lead = next((b.cuts for b in boxes if b.cuts is not None), None)
    if lead is None:
        return None, [Blocks(b.lo, b.hi, _spots(b)) for b in boxes]
    if len(lead) == rank and all(_uniform(b) if b.cuts is None else b.cuts == lead for b in boxes):
        return lead, [Blocks(b.lo, b.hi, _spots(b)) for b in boxes]
    common: list[AxisCuts] = [None] * rank
    for box in boxes:
        if box.cuts is not None:
            offset = rank - len(box.cuts)
            for axis, points in enumerate(box.cuts):
                if points is not None:
                    common[offset + axis] = union(common[offset + axis], points)
    return tuple(common), [_fitted(box, common) for box in boxes]


def _uniform(box: Box) -> bool:
    """Whether finer cuts would say nothing new of a Box in one block."""
    return box.known is None or (box.lo == box.hi and not box.flags)


def _spots(box: Box) -> Array | None:
    if not box.flags:
        return None
    return np.asarray(box.flags, np.uint8) if box.cuts is None else box.block_flags()


def _fitted(box: Box, common: list[AxisCuts]) -> Blocks:
    if box.shape is None:
        return Blocks(box.lo, box.hi, _spots(box))
    offset = len(common) - len(box.shape)
    wanted = tuple(None if n == 1 else common[offset + i] for i, n in enumerate(box.shape))
    return at_cuts(box, wanted)


def at_cuts(box: Box, wanted: Cuts) -> Blocks:
    """The blocks of a Box at finer cuts; exact where its elements are known."""
    if box.cuts is None:
        if box.known is None or box.known.dtype == object or not any(wanted):
            return Blocks(box.lo, box.hi, _spots(box))
        if box.lo == box.hi and not box.flags:
            return Blocks(box.lo, box.hi, None)
        if box.known.size <= EXACT_LIMIT:
            return exact_blocks(box.known, wanted)
        return Blocks(box.lo, box.hi, _spots(box))
    blocks = Blocks(box.lo, box.hi, box.block_flags() if box.flags else None)
    for axis, (have, want) in enumerate(zip(box.cuts, wanted, strict=True)):
        if have is not None and want is not None and have != want:
            blocks = split_axis(blocks, axis, have, want)
    return blocks


def refine(box: Box, wanted: Cuts, budget: int = BUDGET) -> Box:
    """A Box with (at least) the wanted cut points; the relation and the elements stay."""
    have = box.cuts or (None,) * len(wanted)
    cuts = tuple(union(a, b) for a, b in zip(have, wanted, strict=True))
    result = pack(box.dtype, box.shape, cuts, at_cuts(box, cuts), budget)
    result.known, result.form, result.symbol = box.known, box.form, box.symbol
    return result


def exact_blocks(array: Array, cuts: Cuts) -> Blocks:
    """Bounds of a known tensor at the given cuts."""
    if array.size == 0:
        grid = tuple(1 if c is None else len(c) - 1 for c in cuts)
        return Blocks(np.full(grid, inf), np.full(grid, -inf), None)
    wide = array.astype(np.float64)
    if all(n == (1 if c is None else len(c) - 1) for n, c in zip(array.shape, cuts, strict=True)) and (
        array.dtype.kind not in "iu" and np.isfinite(wide).all()
    ):
        return Blocks(wide, wide, None)  # every element is a block
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and np.abs(wide).max() >= 2.0**53:
        large = np.abs(wide) >= 2.0**53  # the others are float64 numbers as they are
        lo = _reduced(np.minimum, np.where(large, np.nextafter(wide, -inf), wide), cuts)
        return Blocks(lo, _reduced(np.maximum, np.where(large, np.nextafter(wide, inf), wide), cuts), None)
    usual = np.isfinite(wide)
    if usual.all():
        return Blocks(_reduced(np.minimum, wide, cuts), _reduced(np.maximum, wide, cuts), None)
    lo = _reduced(np.minimum, np.where(usual, wide, inf), cuts)
    hi = _reduced(np.maximum, np.where(usual, wide, -inf), cuts)
    flags = np.isnan(wide) * np.uint8(1) + (wide == inf) * np.uint8(2) + (wide == -inf) * np.uint8(4)
    return Blocks(lo, hi, _reduced(np.bitwise_or, flags.astype(np.uint8), cuts))


def _reduced(combine: np.ufunc, array: Array, cuts: Cuts) -> Array:
    for axis, points in enumerate(cuts):
        if points is None:
            array = combine.reduce(array, axis=axis, keepdims=True)
        else:
            array = combine.reduceat(array, points[:-1], axis=axis)
    return array


@lru_cache(maxsize=256)
def everywhere(size: int) -> tuple[int, ...]:
    """Cut points that give every element of an axis its own block."""
    return tuple(range(size + 1))


def fine(box: Box, budget: int = BUDGET) -> Box:
    """A known Box cut as finely as its budget allows."""
    if box.shape is None or box.known is None or box.known.dtype == object:
        return box
    if box.known.size < 2 or box.known.size > EXACT_LIMIT or box.is_point:
        return box
    if box.known.size > budget and not box.flags:
        return box  # only special values make seams
    cuts = tuple(everywhere(n) if isinstance(n, int) and n > 1 else None for n in box.shape)
    if box.known.size > budget:
        cuts = seams(box.known, budget)
    return refine(box, cuts, budget)


def constant(dtype: DType, array: Array, budget: int = BUDGET) -> Box:
    """The Box of a known tensor; special values (a mask's -Inf) keep their places."""
    box = of_array(dtype, array)
    return fine(box, budget) if box.flags else box


def seams(array: Array, budget: int = BUDGET) -> Cuts:
    """Cuts of a large known tensor where the kind of its values changes.

    On each axis, positions are told apart by whether any value there is NaN,
    +Inf or -Inf: a causal mask gets a seam behind its first column, which is
    finite in every row. Axes with too many seams for the budget stay whole.
    """
    _, _, spots = exact_blocks(array, tuple(everywhere(n) for n in array.shape))
    if spots is None or not spots.any():
        return (None,) * array.ndim
    cuts: list[AxisCuts] = []
    room = budget
    for axis, size in enumerate(array.shape):
        others = tuple(i for i in range(array.ndim) if i != axis)
        some = np.bitwise_or.reduce(spots, axis=others)
        every = np.bitwise_and.reduce(spots, axis=others)
        change = np.flatnonzero((np.diff(some) != 0) | (np.diff(every) != 0)) + 1
        points = (0, *(int(c) for c in change), size)
        if len(points) == 2 or len(points) - 1 > room:
            cuts.append(None)
        else:
            room //= len(points) - 1
            cuts.append(points)
    return tuple(cuts)
