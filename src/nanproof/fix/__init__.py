"""Findings -> fixes: stable rewrites, guards, preconditions; each verified twice before it is said.

``nanproof.fix(model)`` is a function of the public API, and this package has the same name: so it can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package that stands for its main function."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from nanproof.fix.api import fix

        return fix(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
