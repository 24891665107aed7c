"""Reading and writing files for the user: never a traceback, and never a file lost by a slip of the tongue."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from nanproof.findings.errors import InputError

HEAD = 1 << 20
"""How much of an existing file is looked at."""


def read(path: Path, what: str) -> str:
    """The text of a file."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "it is not text"
        raise InputError(f"the {what} {path} can't be read: {reason}") from None


def write(path: Path, content: str, ours: Callable[[str], bool], option: str) -> None:
    """Write a file as a whole or not at all. An existing one is replaced only if it is empty or one of ours."""
    try:
        real = path.resolve()  # a link stays a link: what it leads to is written
        if real.exists() and not _replaceable(real, ours):
            raise InputError(
                f"{option} {path}: that file exists and was not written by nanproof; name another, or delete it"
            )
        temporary = real.with_name(f".{real.name}.{os.getpid()}.tmp")
        try:
            temporary.write_text(content, "utf-8")
            temporary.replace(real)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{option} {path} can't be written: {(error.strerror or str(error)).lower()}") from None


def _replaceable(path: Path, ours: Callable[[str], bool]) -> bool:
    if not path.is_file():
        # A device such as /dev/stdout isn't replaced by a rename, so it is refused like a folder.
        return False
    with path.open("rb") as stream:
        head = stream.read(HEAD)
    return not head or ours(head.decode("utf-8", "replace"))


def is_report(content: str) -> bool:
    """Whether a text looks like a report of any of our formats."""
    return '"nanproof"' in content or ", for runtime " in content
