"""Writing a changed program: only over files that git can give back, or behind a copy of the old text."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from nanproof.findings import InputError
from nanproof.frontends.programs.frames import LIBRARIES

BACKUP = ".orig"


def checked(texts: Mapping[Path, bytes], before: Mapping[Path, bytes]) -> dict[Path, Path | None]:
    """Where each file's copy will go; None for one that git has as it is. InputError where a file can't be changed."""
    copies: dict[Path, Path | None] = {}
    for path in texts:
        if any(part in path.as_posix() for part in LIBRARIES):
            raise InputError(f"{path} belongs to an installed package: change the program that it was installed from")
        try:
            now = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path} can't be read: {(error.strerror or str(error)).lower()}") from None
        if now != before[path]:
            raise InputError(f"{path} was changed meanwhile: run the command again")
        if not os.access(path, os.W_OK):
            raise InputError(f"{path} can't be written: permission denied")
        copies[path] = None if _is_clean(path) else path.with_name(path.name + BACKUP)
        copy = copies[path]
        if copy is not None and copy.exists():
            raise InputError(f"{path} isn't committed to git, and its copy {copy} exists: move that away first")
    return copies


def applied(texts: Mapping[Path, bytes], before: Mapping[Path, bytes]) -> dict[Path, Path | None]:
    """Write the new texts. Returns the copy of each old one, None where git has it."""
    copies = checked(texts, before)
    for path, data in texts.items():
        copy = copies[path]
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            if copy is not None:
                shutil.copy2(path, copy)
            temporary.write_bytes(data)
            shutil.copymode(path, temporary)
            temporary.replace(path)
        except OSError as error:
            raise InputError(f"{path} can't be written: {(error.strerror or str(error)).lower()}") from None
        finally:
            temporary.unlink(missing_ok=True)
    return copies


def _is_clean(path: Path) -> bool:
    """Whether git knows the file and has exactly this text of it."""
    git = shutil.which("git")
    if git is None:
        return False

    def asked(*words: str) -> subprocess.CompletedProcess[str]:
        command = [git or "git", *words, "--", path.name]
        return subprocess.run(  # noqa: S603 - git itself, and a name after "--"
            command, cwd=path.parent, capture_output=True, text=True, check=False, timeout=30
        )

    try:
        if asked("ls-files", "--error-unmatch").returncode != 0:
            return False
        changed = asked("status", "--porcelain")
    except (OSError, subprocess.TimeoutExpired):
        return False
    return changed.returncode == 0 and not changed.stdout.strip()
