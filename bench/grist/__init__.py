"""The GRIST benchmark (63 programs, 79 known numerical defects), written anew as PyTorch modules.

``cases()`` gives all of them, ``cases(["2a", "35b"])`` some.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules

from .case import RANGE_SETS, Case, Input, RangeSet, Site, Training

__all__ = ["RANGE_SETS", "Case", "Input", "RangeSet", "Site", "Training", "cases"]


def cases(ids: Iterable[str] | None = None) -> tuple[Case, ...]:
    """The cases in the order of their numbers; those with the given ids, in the order given. Imports torch."""
    programs = import_module(f"{__name__}.programs")
    found = [
        case
        for program in iter_modules(programs.__path__, f"{programs.__name__}.")
        for case in import_module(program.name).CASES
    ]
    known = {case.id: case for case in sorted(found, key=_place)}
    if ids is None:
        return tuple(known.values())
    unknown = [name for name in ids if name not in known]
    if unknown:
        raise KeyError(f"no case {', '.join(unknown)}: there are {', '.join(known)}")
    return tuple(known[name] for name in ids)


def _place(case: Case) -> tuple[int, str]:
    number, letter = re.fullmatch(r"(\d+)([a-d]?)", case.id).groups()  # type: ignore[union-attr]
    return int(number), letter
