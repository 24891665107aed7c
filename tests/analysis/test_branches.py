"""If: joined where its condition is open, one branch where it is decided; and operators without a record."""

from __future__ import annotations

import onnx.parser
import pytest

from nanproof.analysis import Options, analyse
from nanproof.findings.report import Report
from nanproof.findings.verdict import Verdict
from nanproof.frontends.onnx.load import load

IF = """<ir_version: 10, opset_import: ["" : 26]>
g ({inputs}) => (float[3] y) {{
    {first}
    y = If (c) <
        then_branch = t () => (float[3] a) {{ a = Log(x) }},
        else_branch = e () => (float[3] b) {{ b = Neg(x) }}
    > }}"""


def check(text: str, ranges: dict[str, tuple[float, float]]) -> Report:
    return analyse(load(onnx.parser.parse_model(text)), Options(ranges=ranges))


def test_a_failure_in_one_branch_is_found_and_not_inevitable() -> None:
    report = check(IF.format(inputs="float[3] x, bool c", first=""), {"x": (-2, -1)})
    (finding,) = report.found
    assert (finding.code, finding.verdict) == ("NP101", Verdict.POSSIBLE)
    assert finding.reaches == ("y",)


@pytest.mark.parametrize(("value", "expected"), [(1, [Verdict.INEVITABLE]), (0, [])])
def test_a_decided_condition_takes_one_branch(value: int, expected: list[Verdict]) -> None:
    first = f"k = Constant<value = bool {{{value}}}>()\n c = Identity(k)"
    report = check(IF.format(inputs="float[3] x", first=first), {"x": (-2, -1)})
    assert [f.verdict for f in report.found] == expected


def test_results_of_both_branches_are_joined() -> None:
    text = IF.format(inputs="float[3] x, bool c", first="").replace("(float[3] y) {", "(float[3] z) {")
    text = text.rstrip(" }") + "\n z = Reciprocal(y) }"
    # log(x) in [0, 0.7] for x in [1, 2], -x in [-2, -1]: together they cross 0
    report = check(text, {"x": (1, 2)})
    assert [f.code for f in report.found] == ["NP104"]


def test_an_operator_without_a_record_is_counted_and_weakens_what_follows() -> None:
    text = """<ir_version: 10, opset_import: ["" : 26, "acme" : 1]>
    g (float[3] x) => (float[3] y) { a = acme.Magic(x)
      y = Sqrt(a) }"""
    report = check(text, {"x": (0, 1)})
    assert report.unknown_ops == {"acme.Magic": 1}
    (finding,) = report.found
    assert finding.weak
    assert report.weaker == 1
