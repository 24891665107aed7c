"""A Report as GitHub workflow commands, which show up as annotations of a pull request."""

from __future__ import annotations

from nanproof.findings import wording
from nanproof.findings.finding import Finding
from nanproof.findings.report import Report
from nanproof.report.level import level, title

COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def text(report: Report) -> str:
    """One command a finding, and the summary as an ordinary line of the log."""
    commands = [annotation(finding, report.target) for finding in report.findings]
    return "\n".join([*commands, _data(wording.summary(report))]) + "\n"


def annotation(finding: Finding, target: str) -> str:
    """'::warning file=...,line=...,title=...::...' for one finding."""
    where = finding.location
    properties = {
        "file": where.file if where else target,
        "line": str(where.line) if where else "1",
        "title": f"{finding.code} {title(finding)}",
    }
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    parts = [wording.seen(finding), *(f"because {reason}" for reason in finding.because[:1])]
    parts.append(finding.note or wording.certainty(finding) or "")
    body = f"{'. '.join(filter(None, parts))} (node {finding.node})"
    return f"::{COMMANDS[level(finding)]} {listed}::{_data(body)}"


def _data(value: str) -> str:
    """Escape the text of a command, so that no name in a model can start a command of its own."""
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    """Escape a property of a command."""
    return _data(value).replace(":", "%3A").replace(",", "%2C")
