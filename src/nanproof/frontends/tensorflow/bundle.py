"""TensorFlow's checkpoints: a sorted table of names (.index) and files of bytes (.data-00000-of-00001).

The table is a LevelDB table: blocks of entries whose keys share prefixes, found through an index block at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.findings.errors import InputError
from nanproof.frontends.tensorflow.messages import message
from nanproof.frontends.tensorflow.tensors import STRING, numpy_kind, shape_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOOTER = 48
MAGIC = bytes.fromhex("57fb808b247547db")
TRAILER = 5
"""Bytes behind a block: how it is compressed, and a checksum."""


class Bundle(Mapping[str, "NDArray[Any]"]):
    """The tensors of a checkpoint, mapped from their files when asked for."""

    def __init__(self, prefix: Path, entries: Mapping[str, Any], shards: int) -> None:
        self._prefix, self._entries, self._shards = prefix, entries, shards

    @classmethod
    def at(cls, prefix: Path) -> Bundle | None:
        """The checkpoint with that prefix; None if there is none. Raises InputError for a damaged one."""
        index = prefix.with_name(f"{prefix.name}.index")
        if not index.is_file():
            return None
        header, entries = message("BundleHeaderProto"), {}
        try:
            for key, value in _table(index.read_bytes()):
                if not key:
                    header.ParseFromString(value)
                    continue
                entry = message("BundleEntryProto")
                entry.ParseFromString(value)
                entries[key.decode("utf-8", "replace")] = entry
        except InputError:
            raise
        except Exception as error:
            raise InputError(f"the checkpoint {index} is damaged") from error
        return cls(prefix, entries, max(header.num_shards, 1))

    def __getitem__(self, name: str) -> NDArray[Any]:
        entry = self._entries[name]
        shape = shape_of(entry.shape) or ()
        if entry.dtype == STRING or entry.slices:
            raise KeyError(name)
        dtype = numpy_kind(entry.dtype)
        file = self._prefix.with_name(f"{self._prefix.name}.data-{entry.shard_id:05d}-of-{self._shards:05d}")
        if min(shape, default=0) < 0 or prod(shape) * dtype.itemsize != entry.size:
            raise InputError(
                f"the checkpoint {self._prefix} says that {name} has {entry.size} bytes, its shape says otherwise"
            )
        try:
            if entry.offset < 0 or entry.offset + entry.size > file.stat().st_size:
                raise InputError(f"the checkpoint {file} is cut short: {name} lies behind its end")
            if not entry.size:
                return np.zeros(shape, dtype)
            return np.memmap(file, np.uint8, "r", entry.offset, (entry.size,)).view(dtype).reshape(shape)
        except OSError as error:
            raise InputError(f"the checkpoint {file} can't be read: {(error.strerror or str(error)).lower()}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _table(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The entries of a table, in order."""
    if len(data) < FOOTER or data[-8:] != MAGIC:
        raise InputError("the checkpoint's index is cut short, or none")
    footer = data[-FOOTER:]
    place = _varint(footer, _varint(footer, 0)[1])[1]  # behind the place and size of the index of statistics
    offset, place = _varint(footer, place)
    size, _ = _varint(footer, place)
    for _, handle in _block(data, offset, size):
        start, place = _varint(handle, 0)
        length, _ = _varint(handle, place)
        yield from _block(data, start, length)


def _block(data: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    if offset + size + TRAILER > len(data) or size < 4:
        raise InputError("the checkpoint's index is cut short")
    if data[offset + size]:
        raise InputError("the checkpoint's index is compressed, which no checkpoint of TensorFlow's is")
    block = data[offset : offset + size]
    restarts = int.from_bytes(block[-4:], "little")
    end = size - 4 - 4 * restarts
    place, key = 0, b""
    while 0 <= place < end:
        shared, place = _varint(block, place)
        fresh, place = _varint(block, place)
        length, place = _varint(block, place)
        key = key[:shared] + block[place : place + fresh]
        place += fresh
        yield key, block[place : place + length]
        place += length


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
        if shift > 63:
            raise InputError("the checkpoint's index is damaged")
