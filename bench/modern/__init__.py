"""Numerical defects of 2021 to 2026 from public trackers, each written anew in its defective and in its repaired form.

``cases()`` gives all of them, ``cases(["M07"])`` some. Those of JAX are JAX functions; others are said in PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules

from .case import Case, Input

__all__ = ["Case", "Input", "cases"]


def cases(ids: Iterable[str] | None = None) -> tuple[Case, ...]:
    """The cases in the order of their numbers; those with the given ids, in the order given. Imports torch and jax."""
    programs = import_module(f"{__name__}.programs")
    found = [
        case
        for program in iter_modules(programs.__path__, f"{programs.__name__}.")
        for case in import_module(program.name).CASES
    ]
    known = {case.id: case for case in sorted(found, key=lambda case: int(case.id[1:]))}
    if ids is None:
        return tuple(known.values())
    unknown = [name for name in ids if name not in known]
    if unknown:
        raise KeyError(f"no case {', '.join(unknown)}: there are {', '.join(known)}")
    return tuple(known[name] for name in ids)
