"""The example of `make demo`: RANUM's Figure 2, re-created, has exactly its two logarithms to answer for."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

FOLDER = Path(__file__).parents[1] / "examples" / "logistic_regression"


def test_the_stored_model_is_what_its_program_makes() -> None:
    spec = importlib.util.spec_from_file_location("make_model", FOLDER / "make_model.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert onnx.load(FOLDER / "model.onnx") == module.logistic_regression()


def test_it_really_fails_within_its_ranges() -> None:
    session = onnxruntime.InferenceSession(FOLDER / "model.onnx", providers=["CPUExecutionProvider"])
    (loss,) = session.run(None, {"x": np.float32([[50, -50]]), "y": np.float32([[0, 1]])})
    assert not np.isfinite(loss)


def test_check_shows_exactly_the_two_logarithms() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "nanproof", "check", "model.onnx", "--format", "json"],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stderr
    report = json.loads(ran.stdout)
    assert report["unknown_ops"] == {}
    findings = {finding["node"]: finding for finding in report["findings"]}
    assert findings.keys() == {"loss/Log", "loss/Log_1"}
    for finding in findings.values():
        assert finding["code"] == "NP101"
        assert finding["invalid"] == "x <= 0"
        assert finding["reaches"] == ["loss"]
        lo, hi = finding["interval"]
        assert -1e-6 < lo <= 0  # up to the rounding of a softmax
        assert 1 <= hi < 1 + 1e-6


def test_people_read_the_reason() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "nanproof", "check", "model.onnx"],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.count("NP101") >= 2
    assert "softmax" in ran.stdout.lower()
    assert "because" in ran.stdout


def test_readme_shows_a_real_session() -> None:
    """When a message changes, README.md changes: paste what `make demo` prints."""
    ran = subprocess.run(
        [sys.executable, "-m", "nanproof", "check", "model.onnx"],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    readme = (FOLDER.parents[1] / "README.md").read_text()
    shown = readme.partition("$ nanproof check model.onnx\n")[2].partition("```")[0]
    assert timeless(shown) == timeless(ran.stdout)


def timeless(text: str) -> str:
    return re.sub(r"\d+\.\d+ s\b", "? s", text)
