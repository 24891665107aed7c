"""Lines of the user's program that call a layer or an operation of a functional model.

Such a model is built once, with symbols, and run later by Keras itself: when it is traced no frame of the user's is left.
So the line is noted while the model is built (in a child, which can watch Keras from the start), and looked up while it is traced.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

from nanproof.frontends.programs.frames import is_users, shown
from nanproof.frontends.programs.importing import after_import

NODES = "keras.src.ops.node"
LINE = "_nanproof_line"


def watch() -> None:
    """Note the line of every call from now on; Keras need not be imported yet."""
    after_import({NODES: _patch})


def _patch(module: ModuleType) -> None:
    node: Any = getattr(module, "Node", None)
    if node is None or hasattr(node, LINE):
        return
    start: Callable[..., None] = node.__init__

    def noted(self: Any, *args: Any, **kwargs: Any) -> None:
        start(self, *args, **kwargs)
        setattr(self, LINE, _users_line())

    node.__init__ = noted
    setattr(node, LINE, "")


def _users_line() -> str:
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - a whole traceback for every layer would be slow
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return "" if frame is None else f"{shown(frame.f_code.co_filename)}:{frame.f_lineno}"


@contextmanager
def following(found: dict[str, str]) -> Iterator[None]:
    """Within this, the operators that a functional model makes while it is traced are put down with the lines of its calls."""
    import tensorflow as tf
    from keras.src.ops.function import Function

    run = getattr(Function, "_run_through_graph", None)
    if run is None:
        yield
        return

    def lined(self: Any, inputs: Any, operation_fn: Any = lambda operation: operation, call_fn: Any = None) -> Any:
        def wrapped(operation: Any) -> Any:
            call, line = operation_fn(operation), _line_of(operation)
            return call if not line else _following(call, (tf, line, found))

        return run(self, inputs, wrapped, call_fn)

    Function._run_through_graph = lined  # noqa: SLF001
    try:
        yield
    finally:
        Function._run_through_graph = run  # noqa: SLF001


def _line_of(operation: Any) -> str:
    nodes = getattr(operation, "_inbound_nodes", ())
    return next((line for node in nodes if (line := getattr(node, LINE, ""))), "")


def _following(call: Callable[..., Any], about: tuple[Any, str, dict[str, str]]) -> Callable[..., Any]:
    tf, line, found = about

    def followed(*args: Any, **kwargs: Any) -> Any:
        graph = tf.compat.v1.get_default_graph()
        before = len(graph.get_operations()) if hasattr(graph, "get_operations") else 0
        result = call(*args, **kwargs)
        for operation in graph.get_operations()[before:]:
            found.setdefault(operation.name, line)
        return result

    return followed
