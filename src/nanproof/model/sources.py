"""Where stored tensors live: an array, bytes in memory, or a part of a mapped file that is read only when asked for."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nanproof.numerics.dtypes import DType, of_numpy, to_numpy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanproof.model.graph import Array

CHUNK = 1 << 20

AHEAD = 1 << 26
"""How many bytes a mapped file is fetched ahead of its reader, so that the disk never waits."""

FETCH = 1 << 22
"""How many of them are asked for at a time."""


@dataclass(frozen=True, slots=True)
class ArraySource:
    """A tensor that is in memory as an array."""

    values: Array
    dtype: DType

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def nbytes(self) -> int:
        return self.values.nbytes

    def array(self) -> Array:
        return self.values

    def chunks(self, limit_bytes: int = CHUNK) -> Iterator[tuple[int, Array]]:
        yield from _slices(self.values.reshape(-1), limit_bytes)

    def expect(self, start: int) -> None:
        """It is there already."""

    def release(self) -> None:
        """Nothing to give back."""


@dataclass(frozen=True, slots=True)
class RawSource:
    """A tensor as little-endian bytes, as ONNX stores it; elements under 8 bits are packed, the first one lowest."""

    data: bytes | memoryview
    dtype: DType
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return len(self.data)

    def array(self) -> Array:
        return _decode(self.data, self.dtype, 0, prod(self.shape)).reshape(self.shape)

    def chunks(self, limit_bytes: int = CHUNK) -> Iterator[tuple[int, Array]]:
        for start, length in _pieces(prod(self.shape), self.dtype, limit_bytes):
            yield start, _decode(self.data, self.dtype, start, length)

    def expect(self, start: int) -> None:
        """It is there already."""

    def release(self) -> None:
        """Nothing to give back."""


@dataclass(slots=True)
class MappedFile:
    """A data file, mapped into memory when its first tensor is read."""

    path: Path
    size: int
    _map: mmap.mmap | None = None
    _asked: int = 0  # how far the system was asked to fetch the file

    def map(self) -> mmap.mmap:
        if self._map is None:
            with self.path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return self._map

    def expect(self, start: int, stop: int) -> None:
        """Ask the system to fetch [start, stop) while the reader works on what it has, a few megabytes at a time."""
        if not hasattr(mmap, "MADV_WILLNEED"):
            return
        stop = min(stop, self.size)
        if not start <= self._asked <= stop:  # another part of the file
            self._asked = start
        while self._asked < stop:
            first = self._asked // mmap.PAGESIZE * mmap.PAGESIZE
            self._asked = min(first + FETCH, stop)
            self.map().madvise(mmap.MADV_WILLNEED, first, self._asked - first)

    def release(self, start: int, stop: int) -> None:
        """Give the pages that lie within [start, stop) back; they are read from the file again when they are needed."""
        page = mmap.PAGESIZE
        first, last = start // page * page, stop // page * page
        if self._map is not None and last > first and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED, first, last - first)


@dataclass(frozen=True, slots=True)
class MappedSource:
    """A tensor in a data file: never copied whole, and only resident while it is read."""

    file: MappedFile
    offset: int
    dtype: DType
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return byte_count(prod(self.shape), self.dtype)

    def _view(self) -> memoryview:
        return memoryview(self.file.map())[self.offset : self.offset + self.nbytes]

    def array(self) -> Array:
        count = prod(self.shape)
        if not count:
            return np.zeros(self.shape, to_numpy(self.dtype))
        return _decode(self._view(), self.dtype, 0, count).reshape(self.shape)

    def chunks(self, limit_bytes: int = CHUNK) -> Iterator[tuple[int, Array]]:
        count = prod(self.shape)
        if not count:
            return
        view, done = self._view(), self.offset
        for start, length in _pieces(count, self.dtype, limit_bytes):
            self.expect(byte_count(start, self.dtype))
            yield start, _decode(view, self.dtype, start, length)
            stop = self.offset + byte_count(start + length, self.dtype)
            self.file.release(done, stop)
            done = stop // mmap.PAGESIZE * mmap.PAGESIZE

    def expect(self, start: int) -> None:
        """Fetch ahead: this tensor, and as many bytes behind it, where its neighbour is likely to be."""
        first = self.offset + start
        self.file.expect(first, min(first + AHEAD, self.offset + 2 * self.nbytes))

    def release(self) -> None:
        """Give the memory of this tensor back to the system; arrays handed out stay valid and are read again on use."""
        self.file.release(self.offset, self.offset + self.nbytes + mmap.PAGESIZE - 1)


def from_array(values: Array, dtype: DType | None = None) -> ArraySource:
    """Wrap an array; its dtype is found by NumPy's name unless it is given."""
    return ArraySource(values, dtype or of_numpy(values.dtype))


def byte_count(count: int, dtype: DType) -> int:
    """Return how many bytes the packed storage of so many elements takes."""
    return (count * dtype.bits + 7) // 8


def _pieces(count: int, dtype: DType, limit_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield (start, length): pieces within the limit that begin on a byte."""
    width = max(1, limit_bytes * 8 // max(dtype.bits, 1))
    width = max(8, width // 8 * 8)
    for start in range(0, count, width):
        yield start, min(width, count - start)


def _slices(flat: Array, limit_bytes: int) -> Iterator[tuple[int, Array]]:
    width = max(1, limit_bytes // max(flat.itemsize, 1))
    for start in range(0, flat.size, width):
        yield start, flat[start : start + width]


def _decode(data: bytes | memoryview, dtype: DType, start: int, length: int) -> Array:
    kind = to_numpy(dtype)
    if dtype.bits >= 8:
        if not length:
            return np.zeros(0, kind)
        return np.frombuffer(data, kind, length, start * kind.itemsize)
    return unpack(np.frombuffer(data, np.uint8, byte_count(length, dtype), start * dtype.bits // 8), dtype, length)


def unpack(packed: Array, dtype: DType, length: int) -> Array:
    """Spread elements of 4 or 2 bits, lowest bits first, to one array element each."""
    per_byte = 8 // dtype.bits
    spread = np.empty((packed.size, per_byte), np.uint8)
    for place in range(per_byte):
        spread[:, place] = (packed >> (place * dtype.bits)) & ((1 << dtype.bits) - 1)
    flat: Array = spread.reshape(-1)[:length]
    if dtype.is_float:
        floats: Array = flat.view(to_numpy(dtype))
        return floats
    if dtype.kind == "int":
        sign = 1 << (dtype.bits - 1)
        flat = (flat ^ sign).astype(np.int8) - np.int8(sign)
    values: Array = flat.astype(to_numpy(dtype))
    return values
