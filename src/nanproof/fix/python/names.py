"""Names in a syntax tree: which are given a value, which are read."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def assigned(node: ast.AST | None) -> Iterator[str]:
    """Names (and dotted ones, such as self.x) that get a value in a tree, arguments included."""
    for inner in ast.walk(node) if node is not None else ():
        match inner:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.Attribute(value=ast.Name(id=owner), attr=attr, ctx=ast.Store() | ast.Del()):
                yield f"{owner}.{attr}"
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name


def reads(node: ast.AST) -> Iterator[ast.Name]:
    """Every name that is read in a tree."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            yield inner


def all_names(node: ast.AST) -> set[str]:
    """Every name that a tree mentions."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | set(assigned(node))
