"""nanproof proves that a deep-learning model never computes a NaN or an Inf, or shows how it does.

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nanproof.api import check
    from nanproof.findings import InputError, Report

__version__ = "0.1.0"

__all__ = ["InputError", "Report", "__version__", "check"]

_HOMES = {"check": "nanproof.api", "InputError": "nanproof.findings", "Report": "nanproof.findings"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nanproof' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
