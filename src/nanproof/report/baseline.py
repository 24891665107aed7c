"""A baseline: the findings that are known and accepted, so that only new ones count.

It is a JSON file of finding ids, each with a line for the reader that says what it is. Only the ids count.
"""

from __future__ import annotations

import json

from nanproof.findings import wording
from nanproof.findings.errors import InputError
from nanproof.findings.report import Report

KEY = "nanproof_baseline"
VERSION = 1


def text(report: Report) -> str:
    """The findings of the report as a baseline file, sorted so that it changes little from one version to the next."""
    known = {f.id: f"{wording.place(f)}: {wording.seen(f)}" for f in report.found}
    return json.dumps({KEY: VERSION, "findings": dict(sorted(known.items()))}, indent=2) + "\n"


def read(content: str, name: str) -> frozenset[str]:
    """The ids in a baseline file; ``name`` is for the message if it isn't one."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if not is_baseline(value):
        raise InputError(f"{name} is not a baseline file: write one with --write-baseline {name}")
    return frozenset(value["findings"])


def is_baseline(value: object) -> bool:
    """Whether a JSON value is a baseline."""
    return isinstance(value, dict) and value.get(KEY) == VERSION and isinstance(value.get("findings"), dict)
