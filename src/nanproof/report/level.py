"""How loudly a finding is said in formats that know error, warning and note."""

from __future__ import annotations

from nanproof.findings.finding import Finding
from nanproof.findings.verdict import Verdict


def level(finding: Finding) -> str:
    """'error' for what fails for certain, 'warning' for what could not be ruled out, 'note' for a note."""
    if finding.is_note:
        return "note"
    return "warning" if finding.verdict is Verdict.POSSIBLE else "error"


def title(finding: Finding) -> str:
    """The headline without its code: the title of the rule, or the operator if the rule is unknown."""
    from nanproof.findings.rules import find

    rule = find(finding.code)
    return rule.title if rule else f"{finding.op} outside its domain"
