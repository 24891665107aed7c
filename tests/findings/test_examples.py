"""The checker flags the bad example of each rule with its code, and has nothing to say about the good one."""

from __future__ import annotations

import pytest

import nanproof
from nanproof.findings import Example, Report, Rule
from nanproof.findings.rules import RULES
from nanproof.frontends.onnx import load_text
from nanproof.model.graph import parted
from nanproof.ops import lookup


def check(example: Example) -> Report:
    model = load_text(example.model, known=lambda domain, op: lookup(domain, op) is not None)
    parted(model.graph, example.back, example.update)
    report = nanproof.check(model, ranges=example.ranges)
    if report.unknown_ops:
        pytest.skip(f"no record yet for {', '.join(sorted(report.unknown_ops))}")
    return report


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_bad_example_is_flagged(rule: Rule) -> None:
    found = {finding.code: finding.phase for finding in check(rule.bad).found}
    assert rule.code in found
    if rule.family == "gradient":
        assert set(found.values()) == {"step" if rule.bad.update else "gradient"}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_good_example_is_silent(rule: Rule) -> None:
    assert [str(finding) for finding in check(rule.good).found] == []
