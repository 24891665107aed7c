"""A row that can be all -Inf is a finding of its own only where its -Inf may be meant."""

from __future__ import annotations

import pytest

import nanproof
from nanproof.findings.report import Report
from nanproof.frontends.onnx import load_text

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'


def checked(body: str, *, inputs: str = "float[2, 4] x, float[2, 4] g", **ranges: tuple[float, float]) -> Report:
    text = f"{HEAD}g ({inputs}) => (float[2, 4] y) {{ {body} }}"
    return nanproof.check(load_text(text), ranges=ranges, runtime="torch")


def codes(report: Report) -> list[str]:
    return sorted(finding.code for finding in report.findings)


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax"])
def test_infinities_of_a_division_are_blamed_on_the_division(op: str) -> None:
    report = checked(f"q = Div(x, g)  y = {op}(q)", x=(-1.0, 1.0), g=(0.0, 1.0))
    assert codes(report) == ["NP103"]
    assert report.sites.possible == 2, "the softmax isn't proved safe either"


def test_infinities_that_pass_further_steps_are_blamed_on_the_division() -> None:
    report = checked("q = Div(x, g) n = Neg(q) t = Transpose <perm = [1, 0]>(n) r = Transpose <perm = [1, 0]>(t) y = Softmax(r)",
                     x=(-1.0, 1.0), g=(0.0, 1.0))  # fmt: skip
    assert codes(report) == ["NP103"]


def test_a_mask_may_be_meant() -> None:
    body = "least = Constant <value = float {-inf}> () q = Div(x, g) m = Where(keep, q, least) y = Softmax(m)"
    report = checked(body, inputs="float[2, 4] x, float[2, 4] g, bool[2, 4] keep", x=(-1.0, 1.0), g=(0.0, 1.0))
    assert codes(report) == ["NP103", "NP117"]


def test_a_filled_tensor_may_be_meant() -> None:
    body = """
        shape = Constant <value = int64[2] {2, 4}> ()
        least = ConstantOfShape <value = float[1] {-inf}> (shape)
        q = Div(x, g)
        m = Where(keep, q, least)
        y = Softmax(m)
    """
    report = checked(body, inputs="float[2, 4] x, float[2, 4] g, bool[2, 4] keep", x=(-1.0, 1.0), g=(0.0, 1.0))
    assert codes(report) == ["NP103", "NP117"]


def test_an_operator_without_a_bound_may_mean_it() -> None:
    text = (
        '<ir_version: 10, opset_import: ["" : 21, "odd" : 1]>\n'
        "g (float[2, 4] x) => (float[2, 4] y) { m = odd.Thing(x) y = Softmax(m) }"
    )
    report = nanproof.check(load_text(text), ranges={"x": (-1.0, 1.0)})
    assert "NP117" in codes(report)
