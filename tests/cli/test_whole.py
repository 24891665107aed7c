"""The command on real files, as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import onnx
import onnx.parser
import pytest

LOG = '<ir_version: 10, opset_import: ["": 26]> g (float[4] x) => (float[4] y) { y = Log (x) }'
HEAVY = ("rich", "torch", "onnxruntime", "array_api_compat", "onnx_ir", "sympy")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "log.onnx"
    onnx.save(onnx.parser.parse_model(LOG), path)
    (tmp_path / "log.onnxtxt").write_text(LOG)
    return path


def nanproof(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = (
        "import sys\nfrom nanproof.cli import main\ncode = main(sys.argv[1:])\n"
        f"heavy = [name for name in {HEAVY!r} if name in sys.modules]\nassert not heavy, heavy\nraise SystemExit(code)"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    env.pop("FORCE_COLOR", None)
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, env=env, check=False
    )


def test_a_finding_and_none(model: Path) -> None:
    bad = nanproof("check", str(model), "--range", "x=0,1")
    assert (bad.returncode, bad.stderr) == (1, "")
    assert bad.stdout.startswith(
        "NP101 log of a value that can be 0 or negative\n  node y\n  x is in [0, 1]; Log needs more than 0\n"
    )
    good = nanproof("check", str(model), "--range", "x=1,2")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith(f"{model}: no findings; 1 site (1 safe) in 1 node")


def test_the_text_form(model: Path) -> None:
    text = model.with_suffix(".onnxtxt")
    value = json.loads(nanproof("check", str(text), "--range", "x*=0,1", "--format", "json").stdout)
    assert value["target"] == str(text)
    (finding,) = value["findings"]
    assert (
        finding["id"]
        == json.loads(nanproof("check", str(model), "--range", "x=0,1", "--format", "json").stdout)["findings"][0]["id"]
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--range", "xx=0,1"], '"xx"'),
        (["--range", "xx=0,1"], 'did you mean "x"?'),
        (["--role", "xx=label"], 'the value "xx" is not in the model: did you mean "x"?'),
        (["--dim", "n=1..2"], '"n"'),
    ],
)
def test_names_that_are_not_in_the_model(model: Path, arguments: list[str], said: str) -> None:
    done = nanproof("check", str(model), *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr


def test_a_broken_file(model: Path) -> None:
    model.write_bytes(model.read_bytes()[:40])
    done = nanproof("check", str(model))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"nanproof: {model}")
