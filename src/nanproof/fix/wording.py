"""What is said of a fix: the text to write, and for what it was proved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanproof.findings import Fix
from nanproof.findings.wording import listing, number, place, plural

if TYPE_CHECKING:
    from nanproof.findings import Finding
    from nanproof.fix.changes import Change
    from nanproof.fix.sample import Sampled
    from nanproof.fix.solving import Rejected


def fix_of(change: Change, sampled: Sampled, *, hard: bool = False) -> Fix:
    """A proved change as a Fix."""
    return Fix(
        title=change.name,
        text=change.title,
        proved=proof(sampled, hard=hard),
        kind=change.kind,
        ulps=sampled.ulps,
        samples=sampled.count,
    )


def proof(sampled: Sampled, *, hard: bool = False) -> str:
    """That both verifications passed, and what changes: 'proved safe, 1,000 samples finite, output unchanged within 1 ulp'."""
    parts = ["proved safe at effort high" if hard else "proved safe"]
    if sampled.skipped:
        parts.append(f"not sampled: {sampled.skipped}")
    else:
        parts.append(f"{plural(sampled.count, 'sample')} finite")
    change = output_change(sampled)
    return ", ".join([*parts, change] if change else parts)


def output_change(sampled: Sampled) -> str | None:
    """How much ordinary outputs change."""
    if sampled.ulps is None:
        return None
    if sampled.ulps == 0:
        return "output unchanged"
    if sampled.ulps <= 1:
        return "output unchanged within 1 ulp"
    if sampled.ulps < 1e6:
        return f"output changes by at most {number(float(-(-sampled.ulps // 1)))} ulps"
    return f"output changes by up to {number(sampled.ulps)} ulps"


def nothing_proved(finding: Finding, rejected: Sequence[Rejected]) -> str:
    """That no fix was found, and what was tried: 'NP101 at /log: no fix is proved; tried log-softmax (the alarm stays)'."""
    tried: dict[str, list[str]] = {}
    for item in rejected:
        tried.setdefault(item.why, []).append(item.name)
    reasons = [f"{listing(list(dict.fromkeys(names)))} ({why})" for why, names in tried.items()]
    tail = f"; tried {'; '.join(reasons)}" if reasons else "; no rewrite fits there"
    return f"{finding.code} at {place(finding)}: no fix is proved{tail}"
