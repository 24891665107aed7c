"""Known weights on the one side of a contraction: summed once, in pieces, and given back to the system.

For x in [lo, hi] with centre c and radius r, the sum of w*x lies within
``sum w*c  -+  sum |w|*r``. So one pass over the weights that adds up w and |w|
answers for all x, channel by channel of the result.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator

import numpy as np

from nanproof.domain.box import Array

PIECE = 1 << 20
"""Bytes of weights that are widened to float64 at a time: about what the processor's cache holds."""


def pieces(weights: Array, room: int = PIECE) -> Iterator[tuple[int, int, Array]]:
    """A matrix as float64, a run of rows at a time: (first row, last row + 1, rows)."""
    rows = weights.shape[0]
    height = max(1, room // max(1, weights.itemsize * int(np.prod(weights.shape[1:], dtype=np.int64))))
    for start in range(0, rows, height):
        stop = min(rows, start + height)
        yield start, stop, np.asarray(weights[start:stop]).astype(np.float64)


def times(left: Array, left_of_size: Array, weights: Array) -> tuple[Array, Array]:
    """``left @ w`` and ``left_of_size @ |w|`` for a matrix (K, N) of known weights.

    The factors have shape (rows, K), or (rows, 1) for the same number all along.
    """
    count = weights.shape[1]
    plain, sizes = np.zeros((len(left), count)), np.zeros((len(left_of_size), count))
    one = left.shape[1] == 1 and left_of_size.shape[1] == 1
    # wide matrices that don't fit a piece row by row are taken in columns too
    width = max(1, PIECE // weights.itemsize)
    for begin in range(0, count, width):
        end = min(count, begin + width)
        for start, stop, part in pieces(weights[:, begin:end]):
            across = slice(0, 1) if one else slice(start, stop)
            ones = np.ones((1, stop - start))
            a, b = (ones, ones) if one else (left[:, across], left_of_size[:, across])
            plain[:, begin:end] += a @ part
            np.abs(part, out=part)
            sizes[:, begin:end] += b @ part
    release(weights)
    return (plain * left, sizes * left_of_size) if one else (plain, sizes)


def times_transposed(left: Array, left_of_size: Array, weights: Array) -> tuple[Array, Array]:
    """The same for weights of shape (N, K), whose rows are summed."""
    count = weights.shape[0]
    plain, sizes = np.zeros((len(left), count)), np.zeros((len(left_of_size), count))
    one = left.shape[1] == 1 and left_of_size.shape[1] == 1
    length = weights.shape[1]
    width = max(1, PIECE // weights.itemsize)
    for begin in range(0, length, width):
        end = min(length, begin + width)
        ones = np.ones((end - begin, 1))
        a, b = (ones, ones) if one else (left[:, begin:end].T, left_of_size[:, begin:end].T)
        for start, stop, part in pieces(weights[:, begin:end]):
            plain[:, start:stop] += (part @ a).T
            np.abs(part, out=part)
            sizes[:, start:stop] += (part @ b).T
    release(weights)
    return (plain * left, sizes * left_of_size) if one else (plain, sizes)


def summed(weights: Array, keep: int) -> tuple[Array, Array]:
    """The sums of w and of |w| over all axes behind the first ``keep``."""
    shape = weights.shape[:keep]
    flat = weights.reshape(int(np.prod(shape, dtype=np.int64)), -1)
    one = np.ones((1, 1))
    plain, sizes = times_transposed(one, one, flat)
    return plain.reshape(shape), sizes.reshape(shape)


def release(array: Array) -> None:
    """Give the pages of a memory-mapped array back; they are read from the file again when they are needed."""
    base: object = array
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
