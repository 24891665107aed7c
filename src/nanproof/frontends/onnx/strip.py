"""Large model files: leave the bytes of big initialisers in the file, and parse only the rest.

Protobuf would copy them, and reading them out of the message once more. So the wire format of the two outer messages is walked (a tag
and a length a field), each initialiser that carries much raw data loses it here, and its Source maps that part of the file.
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SMALLEST_FILE = 32 << 20
"""Files under this size are parsed as they are: 0.1 s of walking isn't worth their memory."""
SMALLEST_DATA = 64 << 10
_GRAPH, _INITIALIZER, _RAW_DATA = 7, 5, 9
_BYTES = 2  # the wire type of messages, strings and bytes


class _NotPlainError(Exception):
    """The walk met something unusual: the file is left to protobuf as it is."""


def strip(path: Path) -> tuple[bytes, dict[int, tuple[int, int]]] | None:
    """Return the file less the big raw data, and (offset, length) in the file by number of the initialiser; None to parse it whole."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            return _strip(data)
        except (_NotPlainError, IndexError):
            return None


def _strip(data: mmap.mmap) -> tuple[bytes, dict[int, tuple[int, int]]] | None:
    graphs = [entry for entry in _fields(data, 0, len(data)) if entry[0] == _GRAPH]
    if len(graphs) != 1 or graphs[0][1] != _BYTES:
        return None
    _, _, tag, start, stop = graphs[0]
    kept: list[bytes] = []
    found: dict[int, tuple[int, int]] = {}
    number, copied = 0, start
    for field, kind, begin, inner, end in _fields(data, start, stop):
        if field != _INITIALIZER or kind != _BYTES:
            continue
        raw = _raw_data(data, inner, end) if end - inner >= SMALLEST_DATA else None
        if raw is not None:
            raw_tag, raw_start, raw_stop = raw
            rest = data[inner:raw_tag] + data[raw_stop:end]
            kept += [data[copied:begin], bytes([_INITIALIZER << 3 | _BYTES]), _varint(len(rest)), rest]
            copied = end
            found[number] = (raw_start, raw_stop - raw_start)
        number += 1
    if not found:
        return None
    kept.append(data[copied:stop])
    graph = b"".join(kept)
    return b"".join((data[:tag], bytes([_GRAPH << 3 | _BYTES]), _varint(len(graph)), graph, data[stop:])), found


def _raw_data(data: mmap.mmap, start: int, stop: int) -> tuple[int, int, int] | None:
    """Return where the tag, the content and the end of the raw data of a tensor are; None if it isn't big, or not there once."""
    found = [
        (tag, inner, end)
        for field, kind, tag, inner, end in _fields(data, start, stop)
        if field == _RAW_DATA and kind == _BYTES
    ]
    return found[0] if len(found) == 1 and found[0][2] - found[0][1] >= SMALLEST_DATA else None


def _fields(data: mmap.mmap, at: int, stop: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield (field number, wire type, start of the tag, start and end of the content) of a message."""
    while at < stop:
        tag = at
        key, at = _read_varint(data, at)
        kind = key & 7
        if kind == _BYTES:
            length, at = _read_varint(data, at)
            end = at + length
        elif kind == 0:
            end = _read_varint(data, at)[1]
        elif kind in {1, 5}:
            end = at + (8 if kind == 1 else 4)
        else:
            raise _NotPlainError
        if end > stop:
            raise _NotPlainError
        yield key >> 3, kind, tag, at, end
        at = end


def _read_varint(data: mmap.mmap, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise _NotPlainError


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
