"""Names that a user typed: what they mean, and what was meant where they mean nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from nanproof.findings.errors import InputError

T = TypeVar("T")

WILD = "*?["
LISTED = 6


def hint(name: str, known: Collection[str]) -> str:
    """'did you mean "x"', or the names that there are, or '' if there are none."""
    from difflib import get_close_matches

    lowered = {item.lower(): item for item in known}
    close = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6)
    if close:
        return f'did you mean "{lowered[close[0]]}"?'
    if not known:
        return ""
    listed = [f'"{item}"' for item in sorted(known)[:LISTED]]
    more = f" and {len(known) - LISTED} more" if len(known) > LISTED else ""
    return f"there is {', '.join(listed)}{more}"


def one_of(value: str, known: Sequence[str], what: str) -> str:
    """The value if it is known; otherwise an error that says what there is."""
    if value in known:
        return value
    raise InputError(f'{what} "{value}" is not known: {hint(value, known)}')


def expand(given: Mapping[str, T], known: Collection[str], what: str) -> dict[str, T]:
    """Replace wildcards (*, ?, [seq]) by the known names that they fit. An exact name wins over every wildcard.

    Of several wildcards that fit a name the last one counts. A name or wildcard that fits nothing is an error.
    """
    from fnmatch import fnmatchcase

    exact = {name: value for name, value in given.items() if name in known}
    found: dict[str, T] = {}
    for pattern, value in given.items():
        if pattern in exact:
            continue
        wild = any(sign in pattern for sign in WILD)
        fitting = [name for name in known if fnmatchcase(name, pattern)] if wild else []
        if not fitting:
            help_text = hint(pattern, known)
            raise InputError(f'{what} "{pattern}" is not in the model' + (f": {help_text}" if help_text else ""))
        found.update(dict.fromkeys(fitting, value))
    return {**found, **exact}
