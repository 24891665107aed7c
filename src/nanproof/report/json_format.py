"""A Report as JSON, schema 1. ``report.schema.json`` next to this file is its published JSON Schema.

The JSON is strict: an infinite end of an interval is the string "inf" or "-inf", and the interval of an operand that
holds no value is null. Fields may be added to schema 1, none is removed or changes its meaning.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from importlib import resources
from typing import Any

from nanproof import __version__
from nanproof.findings.finding import EMPTY, Finding
from nanproof.findings.fix import Fix
from nanproof.findings.report import Report
from nanproof.findings.witness import Witness

SCHEMA = 1


def schema() -> str:
    """The text of the published JSON Schema."""
    return (resources.files("nanproof.report") / "report.schema.json").read_text("utf-8")


def text(report: Report) -> str:
    """The report as a JSON document."""
    return json.dumps(value(report), indent=2, allow_nan=False) + "\n"


def value(report: Report) -> dict[str, Any]:
    """The report as plain dicts and lists that JSON can hold."""
    return {
        "schema": SCHEMA,
        "nanproof": __version__,
        "target": report.target,
        "runtime": report.runtime,
        "seconds": round(report.seconds, 6),
        "nodes": report.nodes,
        "sites": asdict(report.sites),
        "unknown_ops": dict(sorted(report.unknown_ops.items())),
        "weaker": report.weaker,
        "assumed_ranges": [
            {"name": a.name, "range": [number(a.lo), number(a.hi)], "role": a.role, "why": a.why}
            for a in report.assumed_ranges
        ],
        "notes": list(report.notes),
        "findings": [_finding(finding) for finding in report.findings],
    }


def number(x: float) -> float | str:
    """A number, or the string "inf" or "-inf"."""
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return x


def _finding(finding: Finding) -> dict[str, Any]:
    location = finding.location
    return {
        "id": finding.id,
        "code": finding.code,
        "op": finding.op,
        "node": finding.node,
        "operand": finding.operand,
        "operand_name": finding.operand_name,
        "phase": finding.phase,
        "interval": None if finding.interval == EMPTY else [number(end) for end in finding.interval],
        "may": list(finding.may),
        "invalid": finding.invalid,
        "needs": finding.needs,
        "verdict": finding.verdict.value,
        "note": finding.note,
        "weak": finding.weak,
        "hazard": finding.hazard,
        "location": {"file": location.file, "line": location.line} if location else None,
        "source": finding.source,
        "because": list(finding.because),
        "reaches": list(finding.reaches),
        "also": list(finding.also),
        "witness": finding.witness.test if finding.witness else None,
        "seen": _seen(finding.witness) if finding.witness else None,
        "fixes": [_fix(fix) for fix in finding.fixes],
    }


def _seen(witness: Witness) -> dict[str, Any]:
    return {
        "summary": witness.summary,
        "runtime": witness.runtime,
        "outputs": list(witness.outputs),
        "tensors": witness.tensors,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "title": fix.title,
        "text": fix.text,
        "proved": fix.proved,
        "kind": fix.kind,
        "ulps": fix.ulps,
        "samples": fix.samples,
        "diff": fix.diff,
    }
