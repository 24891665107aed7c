"""From a report to one with evidence or proofs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from tests.confirm.graphs import LOG_SIGMOID, LOG_SOFTMAX, checked, proto

import nanproof
from nanproof.findings import InputError, Verdict

MODEL = Path(__file__).parents[2] / "examples" / "logistic_regression" / "model.onnx"
RANGES = {"x": (-50.0, 50.0), "y": (0.0, 1.0)}


def softmax(x: np.ndarray) -> np.ndarray:
    grown = np.exp(x - x.max(-1, keepdims=True))
    return grown / grown.sum(-1, keepdims=True)


def test_a_finding_becomes_confirmed() -> None:
    report = checked(LOG_SOFTMAX, {"x": (-90, 90)}).confirm()
    (finding,) = report.found
    assert finding.verdict is Verdict.CONFIRMED
    assert finding.witness is not None
    assert finding.witness.summary.endswith("gives -inf")
    assert finding.witness.outputs == ("y",)
    assert (report.sites.confirmed, report.sites.possible) == (1, 0)
    assert report.exit_code == 1
    evidence = report.evidence[finding.id]
    with np.errstate(divide="ignore"):
        assert np.isneginf(np.log(softmax(evidence.sample["x"]))).any()


def test_weights_are_chosen_in_their_range() -> None:
    report = nanproof.confirm(MODEL, ranges=RANGES, weights="architecture", roles={"y": "label"})  # type: ignore[operator]
    assert [f.verdict for f in report.found] == [Verdict.CONFIRMED] * 2
    for evidence in report.evidence.values():
        weights, labels = evidence.sample["W"], evidence.sample["y"]
        assert (weights >= -2.54).all()
        assert (weights <= 1.42).all()
        assert (labels.sum(axis=1) == 1).all()


@pytest.mark.parametrize(("vary", "kept"), [("inputs", "W"), ("weights", "x")])
def test_what_may_vary(vary: str, kept: str) -> None:
    report = nanproof.check(MODEL, ranges=RANGES, weights="architecture").confirm(vary=vary, seconds=1)
    for evidence in report.evidence.values():
        assert kept not in evidence.sample
    assert report.evidence if vary == "inputs" else not report.evidence


def test_what_no_search_breaks_is_proved() -> None:
    # x * x - 2 x + 1.5 is at least 0.5, which one interval doesn't show
    text = """g (float[3] x) => (float[3] y) {
        two = Constant<value = float {2.0}>()
        c = Constant<value = float {1.5}>()
        s = Mul(x, x)
        t = Mul(two, x)
        d = Sub(s, t)
        e = Add(d, c)
        y = Log(e) }"""
    before = checked(text, {"x": (-3, 3)})
    assert len(before.found) == 1
    after = before.confirm()
    assert not after.found
    assert after.exit_code == 0
    assert any("proved" in note for note in after.notes)
    open_still = before.confirm(prove=False, seconds=1)
    assert [f.verdict for f in open_still.found] == [Verdict.POSSIBLE]
    assert any("stays open" in note and "best margin" in note for note in open_still.notes)


def test_inevitable_stays_inevitable_and_gets_a_witness() -> None:
    (finding,) = checked("g (float[3] x) => (float[3] y) { y = Log(x) }", {"x": (-2, -1)}).confirm().found
    assert finding.verdict is Verdict.INEVITABLE
    assert finding.witness is not None


def test_float16_is_replayed_where_it_is_rounded() -> None:
    text = """g (float16[4] x, float16[4] std) => (float16[4] y) {
        e = Constant<value = float[1] {1e-8}>()
        h = Cast<to = 10>(e)
        d = Add(std, h)
        y = Div(x, d) }"""
    report = checked(text, {"x": (-10, 10), "std": (0, 10)}).confirm()
    assert {f.witness.runtime for f in report.found if f.witness} == {"reference"}


def test_a_failure_that_only_one_runtime_has() -> None:
    assert checked(LOG_SIGMOID, {"x": (-200, 200)}, runtime="torch").confirm().sites.confirmed == 1
    assert checked(LOG_SIGMOID, {"x": (-30, 30)}).confirm().sites.confirmed == 1
    assert not checked(LOG_SIGMOID, {"x": (-30, 30)}, runtime="torch").confirm().found


def test_a_report_of_a_bare_model_says_what_to_do() -> None:
    report = checked(LOG_SIGMOID, {"x": (-30, 30)})
    assert report.opened is not None
    with pytest.raises(InputError, match="check the file itself"):
        nanproof.check(report.opened.model, ranges={"x": (-30, 30)}).confirm()


def repaired() -> onnx.ModelProto:
    return proto("g (float[2, 4] x) => (float[2, 4] y) { y = LogSoftmax(x) }")


def test_an_emitted_test_fails_now_and_passes_after_the_repair(tmp_path: Path) -> None:
    model, mended, folder = tmp_path / "model.onnx", tmp_path / "mended.onnx", tmp_path / "tests"
    onnx.save(proto(LOG_SOFTMAX), model)
    onnx.save(repaired(), mended)
    report = nanproof.check(model, ranges={"x": (-90, 90)}).confirm(tests=folder)
    (finding,) = report.found
    assert finding.witness is not None
    assert finding.witness.test == (folder / "test_np101_y.py").as_posix()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}  # it needs nothing of ours
    now = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert now.returncode == 1, now.stdout
    assert "NaN or Inf in {'y': array([-inf" in now.stdout
    environment["NANPROOF_MODEL"] = str(mended)
    then = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert then.returncode == 0, then.stdout


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    onnx.save(proto(LOG_SOFTMAX), model)
    report = nanproof.check(model, ranges={"x": (-90, 90)})
    (tmp_path / "test_np101_y.py").write_text("def test(): pass\n")
    with pytest.raises(InputError, match=r"test_np101_y\.py exists and was not written by nanproof"):
        report.confirm(tests=tmp_path)
    (tmp_path / "test_np101_y.py").unlink()
    first = report.confirm(tests=tmp_path)
    assert first.found[0].witness == report.confirm(tests=tmp_path).found[0].witness
