"""Bytes -> ModelProto, and a clear word on files that are something else."""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nanproof.findings.errors import InputError
from nanproof.frontends.onnx.strip import SMALLEST_FILE, strip
from nanproof.model.sources import MappedFile

if TYPE_CHECKING:
    from onnx import ModelProto

MAX_BYTES = (1 << 31) - 1
"""Protobuf messages end here; larger models keep their tensors in external data."""

MARKS = (b".py", b"nanproof.phase")
"""What every name of a Python source file has, and the mark of a training graph: without them no node needs a look."""

_LOOKS: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a zip archive: a .pt, .pt2, .keras or .npz file; export the model to ONNX first"),
    (b"\x80\x02", "a Python pickle, such as an old PyTorch checkpoint; export the model with torch.onnx.export first"),
    (b"\x80\x03", "a Python pickle; export the model to ONNX first"),
    (b"\x80\x04", "a Python pickle; export the model to ONNX first"),
    (b"\x80\x05", "a Python pickle; export the model to ONNX first"),
    (b"\x89HDF\r\n", "an HDF5 file, such as Keras's .h5; export the model to ONNX first"),
    (b"\x1f\x8b", "a gzip archive: unpack it first"),
    (b"ORTM", "ONNX Runtime's own .ort format; give the .onnx file that it was made from"),
    (b"GGUF", "a GGUF file, which holds weights only; export the model to ONNX first"),
    (b"version https://git-lfs", "a Git LFS pointer, not the model itself: run `git lfs pull`"),
    (b"<!DOCTYPE", "a web page: the download failed, fetch the file again"),
    (b"<html", "a web page: the download failed, fetch the file again"),
)


@dataclass(frozen=True, slots=True)
class Container:
    """A parsed message and where it came from."""

    proto: ModelProto
    folder: Path | None = None  # what external data is relative to
    located: bool = True  # may name source files, or parts of a training step
    file: MappedFile | None = None  # the file itself, where big initialisers were left in it
    left: dict[int, tuple[int, int]] = field(default_factory=dict)  # their (offset, length), by number


def parse(target: str | Path | bytes | ModelProto) -> Container:
    """Read a file, or take bytes or a message."""
    if isinstance(target, bytes):
        return Container(_decode(target), None, _marked(target))
    if not isinstance(target, (str, Path)):
        return Container(target)
    path = Path(target)
    size = _size(path)
    stripped = strip(path) if size >= SMALLEST_FILE else None
    if stripped is not None:
        data, left = stripped
        return Container(_decode(data), path.parent, _marked(data), MappedFile(path, size), left)
    data = _read(path)
    return Container(_decode(data), path.parent, _marked(data))


def _marked(data: bytes) -> bool:
    return any(mark in data for mark in MARKS)


def _size(path: Path) -> int:
    """Return the size of a file that can be read."""
    try:
        info = path.stat()
        if stat.S_ISDIR(info.st_mode):
            raise InputError("is a folder: give the .onnx file in it")
        if not stat.S_ISREG(info.st_mode):
            raise InputError("is no regular file: give the path of an .onnx file")
        if info.st_size > MAX_BYTES:
            raise InputError(
                f"has {info.st_size} bytes, more than the 2 GiB that a protobuf file can have: save the model with external data"
            )
        with path.open("rb"):
            return info.st_size
    except FileNotFoundError:
        raise InputError("there is no such file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"can't be read: {getattr(error, 'strerror', None) or error}") from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}") from None


def _decode(data: bytes) -> ModelProto:
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    if not data:
        raise InputError("is empty: it holds no model, export or download it again")
    for start, what in _LOOKS:
        if data.startswith(start):
            raise InputError(f"is no ONNX model; it looks like {what}")
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError:
        raise InputError(_unreadable(data)) from None
    if not proto.HasField("graph"):
        raise InputError(_unreadable(data))
    return proto


def _unreadable(data: bytes) -> str:
    head = data[:4096]
    if not head.translate(None, bytes(range(32, 127)) + b"\t\r\n"):
        return "is no ONNX model; it looks like a text file: give the binary .onnx file"
    if b"safetensors" in head or head[8:9] == b"{":
        return "is no ONNX model; it looks like a safetensors file, which holds weights only: export the model to ONNX first"
    if b"saved_model" in head or b"Placeholder" in head:
        return "is no ONNX model; it looks like a TensorFlow graph: convert it with tf2onnx first"
    return "is no ONNX model, or it is cut short: export or download it again"
