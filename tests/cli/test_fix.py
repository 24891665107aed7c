"""``nanproof fix`` as people call it."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import onnx.parser
import pytest

from nanproof.cli.main import main
from nanproof.fix.sample import Sampled
from nanproof.fix.wording import proof

TEXT = """<ir_version: 10, opset_import: ["" : 20]>
g (float[4] x) => (float[4] y) { s = Sigmoid(x)\n y = Log(s) }"""
ASK = ["--range", "x=-50,50", "--samples", "50"]


@pytest.fixture
def target(tmp_path: Path) -> str:
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(TEXT), path)
    return str(path)


def test_it_says_the_fix_and_writes_the_model(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "fixed.onnx"
    assert main(["fix", target, *ASK, "-o", str(out)]) == 0
    shown = capsys.readouterr()
    assert "fix: -Softplus(-x) instead of Log of Sigmoid(x)   proved safe, 50 samples finite, output" in shown.out
    assert "nothing is left to find" in shown.err
    assert main(["check", str(out), "--range", "x=-50,50"]) == 0


def test_it_never_replaces_a_file_unasked(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "fixed.onnx"
    out.write_text("precious")
    assert main(["fix", target, *ASK, "-o", str(out)]) == 2
    assert "--force" in capsys.readouterr().err
    assert out.read_text() == "precious"
    assert main(["fix", target, *ASK, "-o", target]) == 2
    assert main(["fix", target, *ASK, "-o", str(out), "--force"]) == 0


def test_json_has_the_fix(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["fix", target, *ASK, "--format", "json"])
    (fix,) = json.loads(capsys.readouterr().out)["findings"][0]["fixes"]
    assert fix["title"] == "log-sigmoid"
    assert fix["kind"] == "rewrite"
    assert fix["samples"] == 50


def test_it_says_what_was_tried_where_nothing_is_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.onnx"
    text = """<ir_version: 10, opset_import: ["" : 20]>
        g (float[2] x) => (float[2] y) { y = Mul(x, x) }"""
    onnx.save(onnx.parser.parse_model(text), path)
    assert main(["fix", str(path), "--range", "x=-1e30,1e30", "--samples", "10"]) == 1
    assert "no fix is proved" in capsys.readouterr().out


def test_a_wrong_number_of_samples_is_refused(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", target, "--samples", "many"]) == 2
    assert "--samples" in capsys.readouterr().err


def test_the_words_of_a_proof() -> None:
    assert proof(Sampled(1000, ulps=0.0)) == "proved safe, 1,000 samples finite, output unchanged"
    assert proof(Sampled(1, ulps=0.7)) == "proved safe, 1 sample finite, output unchanged within 1 ulp"
    assert proof(Sampled(9, ulps=2.2), hard=True) == (
        "proved safe at effort high, 9 samples finite, output changes by at most 3 ulps"
    )
    assert proof(Sampled(0, skipped="onnxruntime is not installed")) == (
        "proved safe, not sampled: onnxruntime is not installed"
    )
