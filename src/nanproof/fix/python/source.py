"""A Python file: its text by offset, its syntax tree with parents, and what its imported names stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from nanproof.findings import InputError

Function = ast.FunctionDef | ast.AsyncFunctionDef
Span = tuple[int, int]
"""First and last offset (the last one excluded), in bytes: that is how Python counts columns."""


@dataclass(eq=False)
class Source:
    """The text of a file, as bytes, and its tree. Nothing of the file is run."""

    path: Path
    data: bytes
    tree: ast.Module
    _parents: dict[int, ast.AST] = field(default_factory=dict)

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line."""
        found = [0]
        for line in self.data.splitlines(keepends=True):
            found.append(found[-1] + len(line))
        return found

    def span(self, node: ast.expr | ast.stmt) -> Span:
        """Where a node stands in the text."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node, as it stands there."""
        return self.between(*self.span(node))

    def between(self, start: int, stop: int) -> str:
        """The text between two offsets."""
        return self.data[start:stop].decode("utf-8")

    def parent(self, node: ast.AST) -> ast.AST | None:
        """What a node is a part of."""
        if not self._parents:
            for outer in ast.walk(self.tree):
                for inner in ast.iter_child_nodes(outer):
                    self._parents[id(inner)] = outer
        return self._parents.get(id(node))

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """All that a node is a part of, innermost first."""
        outer = self.parent(node)
        while outer is not None:
            yield outer
            outer = self.parent(outer)

    @cached_property
    def imports(self) -> dict[str, str]:
        """What each imported name stands for: {'F': 'torch.nn.functional'}."""
        found: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.asname:
                        found[alias.asname] = alias.name
                    else:
                        first = alias.name.split(".", 1)[0]
                        found[first] = first
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        return found

    def dotted(self, node: ast.expr) -> str | None:
        """The full name of what an expression names, if it starts at an import: 'torch.nn.functional.softmax'."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.imports:
            return None
        return ".".join([self.imports[node.id], *reversed(parts)])

    def name_of(self, full: str) -> str | None:
        """How this file writes a full name: 'F.softmax'; None where nothing that it imports leads there."""
        found = [
            f"{name}{full[len(module) :]}"
            for name, module in self.imports.items()
            if full == module or full.startswith(f"{module}.")
        ]
        return min(found, key=len) if found else None

    @cached_property
    def functions(self) -> list[Function]:
        """Every function, outer ones first."""
        return [node for node in ast.walk(self.tree) if isinstance(node, Function)]

    def function_at(self, line: int) -> Function | None:
        """The innermost function that a line belongs to."""
        around = [f for f in self.functions if f.lineno <= line <= (f.end_lineno or f.lineno)]
        return max(around, key=lambda f: f.lineno, default=None)

    def class_of(self, function: Function) -> ast.ClassDef | None:
        """The class that a method is defined in."""
        outer = self.parent(function)
        return outer if isinstance(outer, ast.ClassDef) else None


def read(path: Path) -> Source:
    """A file and its tree. InputError where it is no readable Python."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read: {(error.strerror or str(error)).lower()}") from None
    return parsed(path, data)


def parsed(path: Path, data: bytes) -> Source:
    """A text and its tree; only UTF-8 is understood, because offsets are counted in it."""
    try:
        data.decode("utf-8")
        return Source(path, data, ast.parse(data, str(path)))
    except UnicodeDecodeError:
        raise InputError(f"{path} can't be changed: it is not UTF-8") from None
    except (SyntaxError, ValueError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise InputError(f"{path}{line} is not valid Python: {error}") from None
