"""Known weights on the one side of a contraction: summed once by sign, in pieces, and given back to the system.

For x in [lo, hi] the lowest sum of w * x takes lo where w > 0 and hi where
w < 0. So one pass over the weights that adds up their positive and their
negative part answers for all x, channel by channel of the result. The two are
kept apart to the end: a sum is 0 exactly where there is nothing to add.
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


def _small(weights: Array, axis: int) -> tuple[Array, Array]:
    """The sums of the positive and of the negative part along an axis, for what fits the cache."""
    part = weights.astype(np.float64)
    plus = np.maximum(part, 0.0)
    np.subtract(plus, part, out=part)
    return np.add.reduce(plus, axis=axis), np.add.reduce(part, axis=axis)


def by_sign(weights: Array, axis: int) -> tuple[Array, Array]:
    """The sums of the positive and of the negative part of a matrix along one of its axes."""
    if weights.nbytes <= PIECE:
        sums = _small(weights, axis)
        release(weights)
        return sums
    one = np.ones((1, 1))
    return times(one, weights) if axis == 0 else times_transposed(one, weights)


def times(factors: Array, weights: Array) -> tuple[Array, Array]:
    """``factors @ w+`` and ``factors @ w-`` for known weights (K, N), split into their parts w = w+ - w-.

    The factors have shape (rows, K), or (rows, 1) for the same number all along.
    """
    count = weights.shape[1]
    one = factors.shape[1] == 1
    if one and weights.nbytes <= PIECE:
        plus, minus = _small(weights, 0)
        release(weights)
        return factors * plus, factors * minus
    rows = 1 if one else len(factors)
    positive, negative = np.zeros((rows, count)), np.zeros((rows, count))
    # wide matrices that don't fit a piece row by row are taken in columns too
    width = max(1, PIECE // weights.itemsize)
    for begin in range(0, count, width):
        end = min(count, begin + width)
        for start, stop, part in pieces(weights[:, begin:end]):
            left = np.ones((1, stop - start)) if one else factors[:, start:stop]
            plus = np.maximum(part, 0.0)
            positive[:, begin:end] += left @ plus
            np.subtract(plus, part, out=part)
            negative[:, begin:end] += left @ part
    release(weights)
    return (factors * positive, factors * negative) if one else (positive, negative)


def times_transposed(factors: Array, weights: Array) -> tuple[Array, Array]:
    """The same for weights of shape (N, K), whose rows are summed."""
    count, length = weights.shape
    one = factors.shape[1] == 1
    if one and weights.nbytes <= PIECE:
        plus, minus = _small(weights, 1)
        release(weights)
        return factors * plus, factors * minus
    rows = 1 if one else len(factors)
    positive, negative = np.zeros((rows, count)), np.zeros((rows, count))
    width = max(1, PIECE // weights.itemsize)
    for begin in range(0, length, width):
        end = min(length, begin + width)
        right = np.ones((end - begin, 1)) if one else factors[:, begin:end].T
        for start, stop, part in pieces(weights[:, begin:end]):
            plus = np.maximum(part, 0.0)
            positive[:, start:stop] += (plus @ right).T
            np.subtract(plus, part, out=part)
            negative[:, start:stop] += (part @ right).T
    release(weights)
    return (factors * positive, factors * negative) if one else (positive, negative)


def summed(weights: Array, keep: int) -> tuple[Array, Array]:
    """The sums of the positive and of the negative part over all axes behind the first ``keep``."""
    shape = weights.shape[:keep]
    flat = weights.reshape(int(np.prod(shape, dtype=np.int64)), -1)
    positive, negative = times_transposed(np.ones((1, 1)), flat)
    return positive.reshape(shape), negative.reshape(shape)


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
