"""What nanproof says: pure data, no dependencies. The rules are in :mod:`nanproof.findings.rules`."""

from __future__ import annotations

from nanproof.findings.errors import InputError
from nanproof.findings.finding import EMPTY, Finding, stable_id
from nanproof.findings.fix import Fix
from nanproof.findings.location import Location
from nanproof.findings.report import AssumedRange, Report, SiteCounts
from nanproof.findings.rule import Example, Rule
from nanproof.findings.verdict import Verdict
from nanproof.findings.witness import Witness

__all__ = [
    "EMPTY",
    "AssumedRange",
    "Example",
    "Finding",
    "Fix",
    "InputError",
    "Location",
    "Report",
    "Rule",
    "SiteCounts",
    "Verdict",
    "Witness",
    "stable_id",
]
