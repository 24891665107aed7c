"""Which findings to keep: by code, and without those that a baseline already knows. Pure functions over a Report."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanproof.findings.report import Report


def wanted(code: str, select: Sequence[str], ignore: Sequence[str]) -> bool:
    """Whether a code is kept. The longest matching prefix decides, and a tie is for ``ignore``, as in other linters.

    An empty ``select`` selects everything.
    """
    selected = _longest(code, select) if select else 0
    ignored = _longest(code, ignore)
    if selected is None:
        return False
    return ignored is None or selected > ignored


def _longest(code: str, prefixes: Iterable[str]) -> int | None:
    """The length of the longest prefix that fits, None if none does."""
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=None)


def keep(report: Report, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> Report:
    """The report with the findings of the wanted codes only, and without those that their source line silences.

    The counts of sites stay as they are: a finding that isn't shown is still no proof.
    """
    left = tuple(f for f in report.findings if wanted(f.code, select, ignore) and not silenced(f.code, f.source))
    return report if len(left) == len(report.findings) else replace(report, findings=left)


def silenced(code: str, source: str | None) -> bool:
    """Whether the source line says '# nanproof: ignore' (all codes) or '# nanproof: ignore[NP101, NP2]' (these)."""
    if source is None or "nanproof" not in source:
        return False
    comment = re.search(r"#\s*nanproof:\s*ignore(?:\[([^\]]*)\])?", source)
    if comment is None:
        return False
    if comment[1] is None:
        return True
    return any(code.startswith(part.strip().upper()) for part in comment[1].split(",") if part.strip())


def without(report: Report, known: Collection[str]) -> Report:
    """The report without the findings whose ids are known, with a note that says how many were left out."""
    left = tuple(finding for finding in report.findings if finding.id not in known)
    dropped = len(report.found) - sum(not finding.is_note for finding in left)
    if len(left) == len(report.findings):
        return report
    notes = report.notes
    if dropped:
        what = "1 finding is" if dropped == 1 else f"{dropped} findings are"
        notes = (*notes, f"{what} in the baseline and not shown")
    return replace(report, findings=left, notes=notes)
