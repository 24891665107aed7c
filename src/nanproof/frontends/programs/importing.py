"""Do something with a module as soon as a program imports it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Hooks = Mapping[str, Callable[[Any], object]]


def after_import(hooks: Hooks) -> None:
    """Call the hooks with their modules: when they are imported, or now with those that are there already."""
    for name, hook in hooks.items():
        if name in sys.modules:
            hook(sys.modules[name])
    sys.meta_path.insert(0, _Watching(hooks))


class _Watching:
    """A finder that only looks over the shoulder of the others."""

    def __init__(self, hooks: Hooks) -> None:
        self.hooks = hooks
        self.busy: set[str] = set()

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in self.hooks or name in self.busy:
            return None
        self.busy.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.busy.discard(name)
        loader = None if spec is None else spec.loader
        if spec is None or loader is None:
            return spec
        run = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            self.hooks[name](module)

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
