"""Arrays that a function sees without being given them, with the names that the program has for them."""

from __future__ import annotations

import inspect
from typing import Any

from nanproof.frontends.jax.arguments import is_array, path_name

MOST = 50
"""Functions that are looked into."""


def closed_over(model: Any) -> dict[int, str]:
    """{identity: name} of the arrays in closures and globals of a function and of those that it calls."""
    import jax

    found: dict[int, str] = {}
    for function in _functions(model):
        try:
            seen = inspect.getclosurevars(function)
        except (TypeError, ValueError):
            continue
        for name, value in (*seen.nonlocals.items(), *seen.globals.items()):
            if inspect.ismodule(value) or callable(value):
                continue
            for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]:
                if is_array(leaf):
                    found.setdefault(id(leaf), path_name(name, path))
    return found


def _functions(model: Any) -> list[Any]:
    """The function itself, those that it wraps, and those in its closure."""
    found: list[Any] = []
    waiting = [model]
    while waiting and len(found) < MOST:
        item = waiting.pop()
        item = getattr(item, "__func__", item)
        if not hasattr(item, "__code__"):
            waiting += [value for value in (getattr(item, "__wrapped__", None),) if value is not None]
            continue
        if any(item is other for other in found):
            continue
        found.append(item)
        seen = [
            *(cell.cell_contents for cell in item.__closure__ or () if _filled(cell)),
            getattr(item, "__wrapped__", None),
        ]
        names = set(item.__code__.co_names)
        seen += [value for name, value in item.__globals__.items() if name in names]
        waiting += [value for value in seen if inspect.isfunction(value) and value.__module__ == item.__module__]
    return found


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
