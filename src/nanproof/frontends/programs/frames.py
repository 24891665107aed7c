"""Which frames of a call stack belong to the user's program: not those of libraries, of Python, or of ours."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from traceback import FrameSummary, extract_tb
from types import TracebackType

LIBRARIES = ("/site-packages/", "/dist-packages/", "\\site-packages\\")


def is_users(file: str, owners: Iterable[str] = ()) -> bool:
    """Whether a file is the user's: outside of all libraries, or in one of the owners' folders (an installed package)."""
    if file.startswith("<") or is_ours(file):
        return False
    if any(file.startswith(owner) for owner in owners):
        return True
    return not file.startswith(_python()) and not any(part in file for part in LIBRARIES)


def is_ours(file: str) -> bool:
    """Whether a file is part of nanproof."""
    return file.startswith(_ours())


def innermost(trace: TracebackType | None, owners: Iterable[str] = ()) -> FrameSummary | None:
    """The user's line that an exception came through last."""
    found = [frame for frame in extract_tb(trace) if is_users(frame.filename, owners) and frame.lineno]
    return found[-1] if found else None


def shown(file: str) -> str:
    """A file as a user would write it: relative where it is below the current folder."""
    try:
        return str(Path(file).resolve().relative_to(Path.cwd().resolve()))
    except (ValueError, OSError):
        return file


def place(trace: TracebackType | None, owners: Iterable[str] = ()) -> str:
    """'model.py:12: ' for the user's innermost line of a traceback; '' if there is none."""
    frame = innermost(trace, owners)
    return "" if frame is None else f"{shown(frame.filename)}:{frame.lineno}: "


@cache
def _ours() -> str:
    return f"{Path(__file__).parents[2]}{os.sep}"


@cache
def _python() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({paths["stdlib"], paths["platstdlib"]})
