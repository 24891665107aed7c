"""Findings and reports for the tests of what is said about them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nanproof.findings import AssumedRange, Finding, Fix, Location, Report, SiteCounts, Verdict, stable_id

FINDING = Finding(
    id=stable_id("NP101", "/loss/Log", "p"),
    code="NP101",
    op="Log",
    node="/loss/Log",
    operand=0,
    operand_name="p",
    interval=(0.0, 1.0),
    may=("-inf",),
    invalid="x <= 0",
    needs="more than 0",
    verdict=Verdict.POSSIBLE,
    location=Location("model.py", 43),
    source="    loss = -(y * torch.log(p)).sum()",
    because=("softmax(x) reaches 0 in float32 once its inputs differ by more than 103.97",),
    reaches=("loss",),
)


def finding(**changes: Any) -> Finding:
    return replace(FINDING, **changes)


def note() -> Finding:
    return finding(id="NP103-0", code="NP103", op="Div", node="/n/Div", operand=1, operand_name="std", needs="anything but 0",
                   note="follows only from an assumed range", location=None)  # fmt: skip


def report(*findings: Finding, **changes: Any) -> Report:
    found = sum(not f.is_note for f in findings)
    base = Report("model.onnx", "onnxruntime", 0.1234, SiteCounts(found + 10, 10, found), 25, findings)
    return replace(base, **changes)


def rich_report() -> Report:
    fixed = finding(
        id="NP201-0",
        code="NP201",
        op="Exp",
        node="/act/Exp",
        operand=-1,
        operand_name="",
        interval=(1.0, float("inf")),
        may=("+inf",),
        needs="at most 3.4e38",
        verdict=Verdict.INEVITABLE,
        location=None,
        source=None,
        because=(),
        reaches=(),
        fixes=(Fix("use Softplus", "F.softplus(x)", "proved for |x| <= 3.4e38"),),
        also=("/act_1/Exp", "/act_2/Exp"),
        weak=True,
    )
    return report(
        FINDING,
        fixed,
        note(),
        unknown_ops={"DeformConv": 1},
        weaker=1,
        assumed_ranges=(
            AssumedRange("x", -3.4028234663852886e38, 3.4028234663852886e38, "input", "no range was given"),
        ),
        notes=("/loop/Loop was bounded by widening",),
    )
