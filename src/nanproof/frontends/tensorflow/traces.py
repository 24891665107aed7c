"""Lines of the user's program that made the calls of a graph, as long as the graph is in the process that made it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nanproof.frontends.programs.frames import is_ours, is_users, shown

Places = dict[tuple[str, str], str]


def places(graph: Any, owners: tuple[str, ...] = ()) -> Places:
    """'file:line' of every call of a tf.Graph and of its functions that comes from a line of the user's."""
    found: Places = {}
    for function, inner in _graphs(graph, "", set()):
        for operation in inner.get_operations():
            line = _line(operation, owners)
            if line:
                found[function, operation.name] = line
    return found


def _graphs(graph: Any, name: str, seen: set[str]) -> Iterator[tuple[str, Any]]:
    yield name, graph
    for function, held in getattr(graph, "_functions", {}).items():
        inner = getattr(held, "graph", None)
        text = function.decode() if isinstance(function, bytes) else str(function)
        if inner is not None and text not in seen:
            seen.add(text)
            yield from _graphs(inner, text, seen)


def _line(operation: Any, owners: tuple[str, ...]) -> str:
    frames = list(operation.traceback or ())
    start = max((i for i, frame in enumerate(frames) if is_ours(frame.filename)), default=-1)
    users = [f for f in frames[start + 1 :] if f.lineno and is_users(f.filename, owners)]
    return f"{shown(users[-1].filename)}:{users[-1].lineno}" if users else ""
