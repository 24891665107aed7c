"""Known weights on the one side of a contraction: looked at once, in pieces, and given back to the system.

For x in [lo, hi] the lowest sum of w * x takes lo where w > 0 and hi where
w < 0. So one pass over the weights that adds up their positive and their
negative part answers for all x, channel by channel of the result. The two are
kept apart to the end: a sum is 0 exactly where there is nothing to add.

The sums stay with the Box of the weights (``Box.sums``), together with the axis
that they are kept for: 0 for the first (the output channels of a convolution),
-1 for the last (the columns of a matrix).
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from math import prod
from typing import NamedTuple

import numpy as np

from nanproof.domain.box import Array, Box, extent

PIECE = 1 << 20
"""Bytes of weights that are widened to float64 at a time where factors differ: about what the processor's cache holds."""

STREAM = 1 << 20
"""Bytes of weights that are summed at a time: with their float64s they stay in the cache nearest to one core."""

SPARE = 16
"""Sums that take more than this share of their weights aren't kept."""


class Seen(NamedTuple):
    """One look at a tensor: its finite ends, the flags of its special values, and its sums by sign if it has none."""

    lo: float
    hi: float
    flags: int
    sums: Array | None


def look(weights: Array, keep: int, expect: Callable[[int], None] = lambda _: None) -> Seen:
    """Ends, flags and sums by sign of float weights in one pass; a mapped array's pages are given back behind it.

    ``expect`` is told which byte comes next.
    """
    total = _total(weights, keep, expect)
    lo, hi = float(total.low.min(initial=np.inf)), float(total.high.max(initial=-np.inf))
    if total.finite:
        return Seen(lo, hi, 0, total.sums())
    lo, hi, flags = np.inf, -np.inf, 0
    for part in _tiles(_matrix(weights, keep)):
        low, high, special = extent(part.array)
        lo, hi, flags = min(lo, low), max(hi, high), flags | special
        release(part.array)
    return Seen(lo, hi, flags, None)


def signed_sums(weights: Array, keep: int) -> Array:
    """The sums of the positive and of the negative part over all axes but one: an array of shape (2, n)."""
    if weights.nbytes > STREAM:
        return _total(weights, keep).sums()
    sums: Array = stacked_sums(weights[None], keep)[0]
    release(weights)
    return sums


def _total(weights: Array, keep: int, expect: Callable[[int], None] = lambda _: None) -> _Total:
    matrix = _matrix(weights, keep)
    if matrix.flags.f_contiguous and not matrix.flags.c_contiguous:  # read in the order of the memory
        matrix, keep = matrix.T, -1 - keep
    total = _Total(matrix.shape, keep)
    for part in _tiles(matrix):
        expect((part.row * matrix.shape[1] + part.column) * matrix.itemsize)
        total.add(part)
        release(part.array)
    release(weights)
    return total


def stacked_sums(stack: Array, keep: int) -> Array:
    """``signed_sums`` of many tensors of one shape, stacked along a first axis: an array of shape (tensors, 2, n)."""
    count = len(stack)
    size = stack.shape[1] if keep == 0 else stack.shape[-1]
    part = stack.reshape((count, size, -1) if keep == 0 else (count, -1, size)).astype(np.float64)
    plus = np.maximum(part, 0.0)
    np.subtract(plus, part, out=part)
    axis = 2 if keep == 0 else 1
    sums = np.empty((count, 2, size))
    np.add.reduce(plus, axis=axis, out=sums[:, 0])
    np.add.reduce(part, axis=axis, out=sums[:, 1])
    return sums


def sums_of(box: Box, keep: int) -> Array:
    """The signed sums of a known Box, which keeps them for who asks next."""
    if box.sums is not None and box.sums[0] == keep:
        return box.sums[1]
    weights = box.known
    assert weights is not None
    sums = signed_sums(weights, keep)
    if sums.nbytes * SPARE <= max(weights.nbytes, 1 << 16):
        box.sums = keep, sums
    return sums


def _matrix(weights: Array, keep: int) -> Array:
    """The same elements with the kept axis first or last, and all others as one."""
    size = weights.shape[keep]
    rest = prod(weights.shape) // size if size else 0
    return weights.reshape((size, rest) if keep == 0 else (rest, size))


class _Tile(NamedTuple):
    """A part of a matrix, and where its first element is."""

    array: Array
    row: int
    column: int


def _tiles(matrix: Array) -> Iterator[_Tile]:
    """Runs of rows (and of columns, where a row by itself is too long) that a piece has room for."""
    rows, columns = matrix.shape
    if not matrix.size:
        return
    room = max(1, STREAM // matrix.itemsize)
    width = min(columns, room)
    height = max(1, room // width)
    for row in range(0, rows, height):
        for column in range(0, columns, width):
            yield _Tile(matrix[row : row + height, column : column + width], row, column)


class _Total:
    """Sums by sign that grow tile by tile, with the ends of what is summed.

    Of each tile the sum and the sum of absolute values are taken, the cheapest
    two that say both: P = (A + S) / 2 and N = (A - S) / 2. Their rounding, at most
    n * 2**-53 * A, is put on top. Where no weight has the sign in question, which
    the ends tell, the sum is 0 and stays it.
    """

    def __init__(self, shape: tuple[int, ...], keep: int) -> None:
        count, self.terms = shape if keep == 0 else shape[::-1]
        self.axis = 1 if keep == 0 else 0
        self.plain, self.absolute = np.zeros((2, count))
        self.low, self.high = np.full(count, np.inf), np.full(count, -np.inf)
        self.wide = np.empty(0)

    def add(self, tile: _Tile) -> None:
        """Add a tile. Products with ones are the fastest sums, and float32 has the fastest ends."""
        part = tile.array
        if self.wide.size < part.size:
            self.wide = np.empty(part.size)
        wide = self.wide[: part.size].reshape(part.shape)
        np.copyto(wide, part, casting="unsafe")
        source = part if part.dtype == np.float32 else wide
        start = (tile.column, tile.row)[self.axis]
        where = slice(start, start + part.shape[1 - self.axis])
        for ends, pick in ((self.low, np.minimum), (self.high, np.maximum)):
            pick(ends[where], pick.reduce(source, axis=self.axis), out=ends[where])
        ones = np.ones(part.shape[self.axis])
        for found, change in ((self.plain, None), (self.absolute, np.abs)):
            if change is not None:
                change(wide, out=wide)
            found[where] += wide @ ones if self.axis else ones @ wide

    @property
    def finite(self) -> bool:
        """Whether there was neither NaN nor Inf."""
        return bool((self.low > -np.inf).all() and (self.high < np.inf).all())

    def sums(self) -> Array:
        """The two sums, as (2, n)."""
        drift = (self.terms + 8.0) * 2.0**-52 * self.absolute
        positive = np.where(self.high <= 0.0, 0.0, 0.5 * (self.absolute + self.plain) + drift)
        return np.stack((positive, np.where(self.low >= 0.0, 0.0, 0.5 * (self.absolute - self.plain) + drift)))


def pieces(weights: Array, room: int = PIECE) -> Iterator[tuple[int, int, Array]]:
    """A matrix as float64, a run of rows at a time: (first row, last row + 1, rows)."""
    rows = weights.shape[0]
    height = max(1, room // max(1, weights.itemsize * prod(weights.shape[1:])))
    for start in range(0, rows, height):
        stop = min(rows, start + height)
        yield start, stop, np.asarray(weights[start:stop]).astype(np.float64)


def times(factors: Array, weights: Array) -> tuple[Array, Array]:
    """``factors @ w+`` and ``factors @ w-`` for factors (rows, K) and known weights (K, N) = w+ - w-."""
    count = weights.shape[1]
    positive, negative = np.zeros((len(factors), count)), np.zeros((len(factors), count))
    # wide matrices that don't fit a piece row by row are taken in columns too
    width = max(1, PIECE // weights.itemsize)
    for begin in range(0, count, width):
        end = min(count, begin + width)
        for start, stop, part in pieces(weights[:, begin:end]):
            left = factors[:, start:stop]
            plus = np.maximum(part, 0.0)
            positive[:, begin:end] += left @ plus
            np.subtract(plus, part, out=part)
            negative[:, begin:end] += left @ part
    release(weights)
    return positive, negative


def times_transposed(factors: Array, weights: Array) -> tuple[Array, Array]:
    """The same for weights of shape (N, K), whose rows are summed."""
    count, length = weights.shape
    positive, negative = np.zeros((len(factors), count)), np.zeros((len(factors), count))
    width = max(1, PIECE // weights.itemsize)
    for begin in range(0, length, width):
        end = min(length, begin + width)
        right = factors[:, begin:end].T
        for start, stop, part in pieces(weights[:, begin:end]):
            plus = np.maximum(part, 0.0)
            positive[:, start:stop] += (plus @ right).T
            np.subtract(plus, part, out=part)
            negative[:, start:stop] += (part @ right).T
    release(weights)
    return positive, negative


def release(array: Array) -> None:
    """Give the pages of a memory-mapped array back; they are read from the file again when they are needed."""
    base: object = array.base
    if base is None:
        return
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    if not isinstance(base, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    low, high = np.lib.array_utils.byte_bounds(array)
    origin = np.frombuffer(base, np.uint8, 1).ctypes.data
    first = (low - origin) // mmap.PAGESIZE * mmap.PAGESIZE
    last = (high - origin) // mmap.PAGESIZE * mmap.PAGESIZE
    if last > first:
        base.madvise(mmap.MADV_DONTNEED, first, last - first)
