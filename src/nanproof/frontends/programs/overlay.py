"""Run a program as if some of its files had another text: how a change is tried before anything is written."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from inspect import unwrap
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from nanproof.findings.errors import InputError


@contextmanager
def imported_as(texts: Mapping[str, str]) -> Iterator[None]:
    """Within this, importing one of the files (by absolute path) gives what the text says."""
    before = SourceFileLoader.get_code
    wanted = {_same(path): text for path, text in texts.items()}

    def get_code(self: SourceFileLoader, name: str) -> CodeType | None:
        text = wanted.get(_same(self.path))
        return before(self, name) if text is None else compile(text, self.path, "exec", dont_inherit=True)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        SourceFileLoader.get_code = before  # type: ignore[method-assign]


@contextmanager
def running_as(texts: Mapping[str, str]) -> Iterator[None]:
    """Within this, functions of modules that are loaded already run the code that the texts have for them.

    Only the code of functions changes: modules aren't run again. InputError where a function is no longer there.
    """
    swapped: list[tuple[FunctionType, CodeType]] = []
    try:
        for path, text in texts.items():
            codes = _codes(compile(text, path, "exec", dont_inherit=True))
            for function in _functions_of(_same(path)):
                code = codes.get(function.__qualname__)
                if code is None or len(code.co_freevars) != len(function.__code__.co_freevars):
                    continue  # decorated away, or made at run time
                swapped.append((function, function.__code__))
                function.__code__ = code
        if texts and not swapped:
            raise InputError("the functions of the changed files can't be found in this process")
        yield
    finally:
        for function, code in reversed(swapped):
            function.__code__ = code


def _same(path: str) -> str:
    return str(Path(path).resolve())


def _codes(code: CodeType, prefix: str = "") -> dict[str, CodeType]:
    """The code of every function in a module's code, by its qualified name."""
    found: dict[str, CodeType] = {}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            name = f"{prefix}{inner.co_name}"
            is_class = not inner.co_flags & 0x1  # no fast locals: the body of a class
            if not is_class:
                found[name] = inner
            found.update(_codes(inner, f"{name}." if is_class else f"{name}.<locals>."))
    return found


def _functions_of(path: str) -> list[FunctionType]:
    """The functions of loaded modules that a file defines."""
    found: dict[int, FunctionType] = {}
    for module in list(sys.modules.values()):
        if _is_at(module, path):
            _collect(vars(module), path, found, set())
    return list(found.values())


def _is_at(module: ModuleType | None, path: str) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and file.endswith(".py") and _same(file) == path


def _collect(names: Mapping[str, Any], path: str, found: dict[int, FunctionType], seen: set[int]) -> None:
    for value in list(names.values()):
        inner = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        inner = unwrap(inner.fget) if isinstance(inner, property) and inner.fget is not None else inner
        inner = unwrap(inner) if isinstance(inner, FunctionType) else inner
        if isinstance(inner, FunctionType) and _same(inner.__code__.co_filename) == path:
            found[id(inner)] = inner
        elif isinstance(inner, type) and id(inner) not in seen:
            seen.add(id(inner))
            _collect(vars(inner), path, found, seen)
