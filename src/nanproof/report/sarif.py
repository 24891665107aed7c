"""A Report as SARIF 2.1.0, the format that code-scanning services read."""

from __future__ import annotations

import json
from pathlib import PurePath, PureWindowsPath
from typing import Any
from urllib.parse import quote

from nanproof import __version__
from nanproof.findings import wording
from nanproof.findings.finding import Finding
from nanproof.findings.report import Report
from nanproof.findings.rule import Rule
from nanproof.findings.rules import find
from nanproof.report.level import level, title
from nanproof.report.rule_page import markdown

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "nanproofFinding/v1"


def text(report: Report) -> str:
    """The report as a SARIF log file."""
    return json.dumps(value(report), indent=2, allow_nan=False) + "\n"


def value(report: Report) -> dict[str, Any]:
    """The report as plain dicts and lists. Each code that occurs brings the page of its rule along."""
    codes = sorted({finding.code for finding in report.findings})
    run = {
        "tool": {
            "driver": {
                "name": "nanproof",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_descriptor(code, find(code)) for code in codes],
            }
        },
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notifications(report)}],
        "artifacts": [{"location": {"uri": uri(report.target)}, "roles": ["analysisTarget"]}],
        "results": [_result(finding, report.target, codes.index(finding.code)) for finding in report.findings],
        "properties": {"runtime": report.runtime, "nodes": report.nodes, "summary": wording.summary(report)},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def uri(path: str) -> str:
    """A path as a URI reference: relative ones stay relative, absolute ones get the file scheme."""
    pure: PurePath = PurePath(path)
    if not pure.is_absolute() and PureWindowsPath(path).drive:
        pure = PureWindowsPath(path)
    return pure.as_uri() if pure.is_absolute() else quote(pure.as_posix())


def message(finding: Finding) -> str:
    """The whole finding as sentences, since viewers show little else."""
    because = [f"because {reason}" for reason in finding.because]
    parts = [
        wording.seen(finding),
        *because,
        wording.certainty(finding),
        wording.reaches(finding),
        wording.also(finding),
    ]
    if finding.note:
        parts.append(f"only a note: {finding.note}")
    return ". ".join(part.rstrip(".") for part in parts if part) + "."


def _literal(text: str) -> str:
    """The text as SARIF wants it: braces mark placeholders there, so those in names are doubled."""
    return text.replace("{", "{{").replace("}", "}}")


def _descriptor(code: str, rule: Rule | None) -> dict[str, Any]:
    if rule is None:
        return {"id": code}
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in rule.slug.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.summary},
        "help": {"text": f"{rule.why}\n\n{rule.advice}", "markdown": markdown(rule)},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["numerics", rule.family]},
    }


def _result(finding: Finding, target: str, index: int) -> dict[str, Any]:
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": level(finding),
        "message": {"text": _literal(f"{title(finding)}: {message(finding)}")},
        "locations": [_location(finding, target)],
        "partialFingerprints": {FINGERPRINT: finding.id},
        "properties": {
            "verdict": finding.verdict.value,
            "op": finding.op,
            "phase": finding.phase,
            "weak": finding.weak,
            **_seen(finding),
        },
    }


def _seen(finding: Finding) -> dict[str, Any]:
    """What a replay has shown, where one has."""
    witness = finding.witness
    if witness is None:
        return {}
    test = {} if witness.test is None else {"witness": witness.test}
    return {"seen": witness.summary, "seenIn": witness.runtime, **test}


def _location(finding: Finding, target: str) -> dict[str, Any]:
    """The line of the source where it is known; else the model file, of which line 1 stands for all."""
    where = finding.location
    region: dict[str, Any] = {"startLine": where.line if where else 1}
    if where and finding.source:
        region["snippet"] = {"text": finding.source}
    return {
        "physicalLocation": {"artifactLocation": {"uri": uri(where.file if where else target)}, "region": region},
        "logicalLocations": [{"name": finding.node, "fullyQualifiedName": finding.node, "kind": "node"}],
    }


def _notifications(report: Report) -> list[dict[str, Any]]:
    texts = [wording.assumed_range(a) for a in report.assumed_ranges]
    texts += report.notes
    unknown = wording.unknown_operators(report.unknown_ops, report.weaker)
    if unknown:
        texts.append(unknown)
    return [{"level": "note", "message": {"text": _literal(text)}} for text in texts]
