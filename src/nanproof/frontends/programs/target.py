"""The text of a target that names an object of a program. Nothing here runs anything of it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from nanproof.findings.errors import InputError
from nanproof.findings.names import hint


@dataclass(frozen=True, slots=True)
class ProgramTarget:
    """An object by name: in a file, or in a module that can be imported."""

    name: str
    file: Path | None = None
    module: str | None = None

    @property
    def where(self) -> str:
        """The file or module, as the user wrote it."""
        return str(self.file) if self.file is not None else str(self.module)

    def __str__(self) -> str:
        return f"{self.where}:{self.name}"


def parse(text: str) -> ProgramTarget | None:
    """'file.py:name' or 'package.module:name'; None for anything else, such as the path of a model."""
    where, colon, name = text.rpartition(":")
    if not colon:
        return None
    if not all(part.isidentifier() for part in name.split(".")):
        return None
    if where.endswith(".py"):
        return ProgramTarget(name, file=Path(where))
    if where and all(part.isidentifier() for part in where.split(".")) and not Path(text).exists():
        return ProgramTarget(name, module=where)
    return None


def checked(target: ProgramTarget) -> ProgramTarget:
    """The target, if its file is there and defines something of that name on its outermost level."""
    if target.file is None:
        return target
    if not target.file.is_file():
        raise InputError(f"{target.file} does not exist{_nearby(target.file)}")
    names, closed = defined(target.file)
    first = target.name.split(".", 1)[0]
    if closed and first not in names:
        guess = hint(first, names)
        raise InputError(f'{target.file} defines no "{first}"' + (f": {guess}" if guess else ""))
    return target


def without_name(path: Path) -> InputError:
    """The complaint about a Python file without the name of an object in it."""
    names, _ = defined(path)
    listed = ", ".join(sorted(n for n in names if not n.startswith("_"))[:6]) or "nothing"
    return InputError(f"{path}: say which object of it is the model, {path}:NAME; it defines {listed}")


def defined(path: Path) -> tuple[set[str], bool]:
    """Names that a file defines, and whether these are all (no ``import *``, no ``__getattr__``)."""
    try:
        tree = ast.parse(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "it is not text"
        raise InputError(f"{path} can't be read: {reason}") from None
    except (SyntaxError, ValueError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        raise InputError(f"{path}{line} is not valid Python: {text}") from None
    names: set[str] = set()
    closed = True
    for node in ast.walk(tree):  # wherever they are: under `if`, `try` and `with` too
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".", 1)[0] for alias in node.names)
            closed = closed and all(alias.name != "*" for alias in node.names)
    return names, closed and "__getattr__" not in names and "globals" not in path.read_text("utf-8")


def defines(text: str, name: str) -> bool:
    """Whether the file of a target defines a name on some level; not known, so no, of a module."""
    target = parse(text)
    return target is not None and target.file is not None and name.split(".", 1)[0] in defined(target.file)[0]


def _nearby(path: Path) -> str:
    try:
        names = [item.name for item in path.parent.iterdir() if item.suffix == ".py"]
    except OSError:
        return ""
    guess = hint(path.name, names)
    return f": {guess}" if guess.startswith("did") else ""
