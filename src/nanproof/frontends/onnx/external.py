"""External data: the files beside a model that hold its large tensors.

The rule for a `location`: it names a file relative to the folder that the model was opened from. An absolute path and a path
with a `..` part are refused, whatever they lead to, because the file that we were given chose them. A symbolic link that lies in
that folder is followed, because the user's own file system has it there: the caches of HuggingFace keep every file of a model as a
link into `../../blobs`. What it leads to has to be a regular file.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from math import prod
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from nanproof.findings.errors import InputError
from nanproof.model.sources import MappedFile, MappedSource, byte_count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanproof.numerics.dtypes import DType


@dataclass(slots=True)
class DataFolder:
    """The folder of a model, and the data files in it that were used so far. None: the model came without a folder."""

    folder: Path | None
    model: MappedFile | None = None  # the model file, where big initialisers were left in it
    files: dict[str, MappedFile] = field(default_factory=dict)

    def inside(self, tensor: str, place: tuple[int, int], dtype: DType, shape: tuple[int, ...]) -> MappedSource:
        """Return a tensor whose bytes were left in the model file."""
        assert self.model is not None
        offset, length = place
        needed = byte_count(prod(shape), dtype)
        if length != needed:
            raise InputError(
                f'tensor "{tensor}" needs {needed} bytes for its shape and holds {length}: the file is damaged, export or download it again'
            )
        return MappedSource(self.model, offset, dtype, shape)

    def source(
        self, tensor: str, entries: Iterable[tuple[str | bytes, str | bytes]], dtype: DType, shape: tuple[int, ...]
    ) -> MappedSource:
        """Find the bytes of one tensor; raises InputError when the entries or the file don't hold it."""
        facts = {str(key): value if isinstance(value, str) else "\0" for key, value in entries}
        location = facts.get("location", "")
        file = self.files.get(location)
        if file is None:
            file = self.files[location] = _open(self.folder, location, tensor)
        needed = byte_count(prod(shape), dtype)
        offset = _number(facts.get("offset", "0"), "offset", tensor)
        length = _number(facts["length"], "length", tensor) if "length" in facts else needed
        if length != needed:
            raise InputError(
                f'tensor "{tensor}" needs {needed} bytes for its shape, its external data claims {length}: '
                "the model file and its data don't fit together, export the model again"
            )
        if offset + needed > file.size:
            raise InputError(
                f'tensor "{tensor}" ends at byte {offset + needed} of "{location}", which has {file.size}: '
                "the data file is cut short, copy or download it again"
            )
        return MappedSource(file, offset, dtype, shape)


def _open(folder: Path | None, location: str, tensor: str) -> MappedFile:
    shown = location if len(location) <= 100 else location[:97] + "..."
    if folder is None:
        raise InputError(
            f'tensor "{tensor}" lies in the external file "{shown}", but the model came without a folder: load it by its path'
        )
    if not location or "\0" in location:
        raise InputError(f'tensor "{tensor}" has external data without a usable file name: export the model again')
    posix, windows = PurePosixPath(location), PureWindowsPath(location)
    if posix.is_absolute() or windows.drive or windows.root or ".." in posix.parts or ".." in windows.parts:
        raise InputError(
            f'tensor "{tensor}" wants its data from "{shown}", which leads out of the model\'s folder: '
            "nanproof doesn't follow that; put the data file beside the model and set its location to the bare name"
        )
    path = folder / location
    try:
        info = path.stat()
    except (OSError, ValueError):
        raise InputError(
            f'tensor "{tensor}" lies in "{shown}", which isn\'t beside the model: copy the data file into {folder} as well'
        ) from None
    if not stat.S_ISREG(info.st_mode):
        raise InputError(
            f'tensor "{tensor}" wants its data from "{shown}", which is no regular file: put the data file there'
        )
    return MappedFile(path, info.st_size)


def _number(text: str, what: str, tensor: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        shown = text if len(text) <= 40 else text[:37] + "..."
        raise InputError(
            f'tensor "{tensor}" has external data with {what} "{shown}", a number from 0 up is needed: export the model again'
        )
    return value
