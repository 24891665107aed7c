from __future__ import annotations

from tests.report.samples import FINDING, finding, note, report

from nanproof.report import github


def test_a_finding_at_a_line() -> None:
    assert github.annotation(FINDING, "model.onnx") == (
        "::warning file=model.py,line=43,title=NP101 log of a value that can be 0 or negative::"
        "p is in [0, 1]; Log needs more than 0. because softmax(x) reaches 0 in float32 once its inputs differ by more than "
        "103.97. could not rule out -Inf (node /loss/Log)"
    )


def test_a_note_in_the_model_file() -> None:
    assert github.annotation(note(), "a,b:c.onnx").startswith("::notice file=a%2Cb%3Ac.onnx,line=1,title=NP103 ")


def test_a_name_can_not_start_a_command() -> None:
    text = github.text(report(finding(node="x\n::error::owned\r%")))
    assert len(text.splitlines()) == 2
    assert "x%0A::error::owned%0D%25" in text


def test_the_summary_is_the_last_line() -> None:
    assert github.text(report()).startswith("model.onnx: no findings")
