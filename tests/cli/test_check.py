"""The options of ``check`` reach the analysis, and its report reaches the user."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.report.samples import FINDING, finding, report

TWO = report(FINDING, finding(id="NP201-0", code="NP201"))

NO_PROGRAM = {
    "phase": "forward", "loss": None, "optimizer": None, "clip_norm": None, "specs": {}, "dynamic": (), "mode": None, "trust": False, "load_timeout": 600.0,
}  # fmt: skip
"""What is asked about a program when nothing is said of one."""


def test_options_reach_the_analysis(fake: Any, folder: Path, run: Any) -> None:
    (folder / "nanproof.toml").write_text("ranges = {x = [0, 1], y = [0, 2]}")
    run("check", "model.onnx", "--range", "x=-1,1", "--dim", "n=1..8", "--role", "y=label",
        "--weights", "architecture", "--runtime", "torch", "--effort", "high", "--time-limit", "5")  # fmt: skip
    assert fake.asked == {
        "model": "model.onnx",
        "ranges": {"x": (-1, 1), "y": (0, 2)},
        "dims": {"n": (1, 8)},
        "roles": {"y": "label"},
        "weights": "architecture",
        "runtime": "torch",
        "effort": "high",
        "time_limit": 5.0,
        **NO_PROGRAM,
    }


def test_the_defaults(fake: Any, folder: Path, run: Any) -> None:
    run("check", "model.onnx")
    assert fake.asked == {
        "model": "model.onnx",
        "ranges": {},
        "dims": {},
        "roles": {},
        "weights": "model",
        "runtime": None,
        "effort": "normal",
        "time_limit": None,
        **NO_PROGRAM,
    }


def test_options_about_a_program_reach_the_front_end(fake: Any, folder: Path, run: Any) -> None:
    (folder / "model.py").write_text("class Net: ...")
    run("check", "model.py:Net", "--input", "x=float32[N=4,3]", "--dynamic", "batch", "--dynamic", "y:1", "--mode", "train",
        "--phase", "step", "--loss", "mse", "--optimizer", "adam(eps=1e-6)", "--clip-norm", "2", "--trust", "--load-timeout", "7")  # fmt: skip
    assert (
        fake.asked.items()
        >= {
            "model": "model.py:Net",
            "phase": "step",
            "loss": "mse",
            "optimizer": "adam(eps=1e-6)",
            "clip_norm": 2.0,
            "specs": {"x": "float32[N=4,3]"},
            "dynamic": ("batch", "y:1"),
            "mode": "train",
            "trust": True,
            "load_timeout": 7.0,
        }.items()
    )


def test_formats(fake: Any, folder: Path, run: Any) -> None:
    assert json.loads(run("check", "model.onnx", "--format", "json")[1])["schema"] == 1
    assert json.loads(run("check", "model.onnx", "--format", "sarif")[1])["version"] == "2.1.0"
    assert run("check", "model.onnx", "--format", "github")[1].startswith("::warning file=model.py,line=43,")


def test_levels(fake: Any, folder: Path, run: Any) -> None:
    assert len(run("check", "model.onnx", "-q")[1].splitlines()) == 2
    assert FINDING.id in run("check", "model.onnx", "-v")[1]


def test_colours_only_on_a_terminal(fake: Any, folder: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in run("check", "model.onnx")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" in run("check", "model.onnx")[1]
    assert "\x1b" not in run("check", "model.onnx", "--no-color")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("check", "model.onnx")[1]


def test_select_and_ignore(fake: Any, folder: Path, run: Any) -> None:
    fake.answer = TWO
    assert "NP201" not in run("check", "model.onnx", "--select", "NP1")[1]
    code, out, _ = run("check", "model.onnx", "--ignore", "NP101,NP2")
    assert code == 0
    assert out.startswith("model.onnx: no findings")


def test_output_goes_to_a_file_and_replaces_only_our_own(fake: Any, folder: Path, run: Any) -> None:
    for name in ("rich", "json", "sarif", "github"):
        target = folder / f"report.{name}"
        for _ in range(2):
            assert run("check", "model.onnx", "--format", name, "--output", str(target)) == (1, "", "")
        assert FINDING.node in target.read_text()
    assert sorted(path.name for path in folder.iterdir() if path.name.endswith(".tmp")) == []
    mine = folder / "notes.txt"
    mine.write_text("precious")
    code, _, err = run("check", "model.onnx", "--output", "notes.txt")
    assert code == 2
    assert err == (
        "nanproof: --output notes.txt: that file exists and was not written by nanproof; name another, or delete it\n"
    )
    assert mine.read_text() == "precious"


def test_a_link_is_written_through(fake: Any, folder: Path, run: Any) -> None:
    (folder / "real.json").write_text("")
    (folder / "link.json").symlink_to("real.json")
    assert run("check", "model.onnx", "--format", "json", "--output", "link.json")[0] == 1
    assert (folder / "link.json").is_symlink()
    assert json.loads((folder / "real.json").read_text())["schema"] == 1


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("model.onnx", "--output model.onnx: that is the model itself; name another file"),
        ("no/where.json", "--output no/where.json: there is no folder no"),
        (".git", "--output .git: that file exists and was not written by nanproof; name another, or delete it"),
    ],
)
def test_impossible_outputs(fake: Any, folder: Path, run: Any, path: str, message: str) -> None:
    assert run("check", "model.onnx", "--output", path) == (2, "", f"nanproof: {message}\n")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("modle.onnx", 'modle.onnx does not exist: did you mean "model.onnx"?'),
        ("far/away.onnx", "far/away.onnx does not exist"),
        (
            "net.pt",
            "net.pt: a .pt file is a pickle, which can run any code when it is loaded: say --trust if you trust where it comes from, or name the program that makes the model, file.py:NAME",
        ),
        ("net.tflite", "net.tflite: .tflite files can't be checked yet; export the model to ONNX and check that file"),
        ("net.py", "net.py: say which object of it is the model, net.py:NAME; it defines Net, main"),
        ("net.py:Nets", 'net.py defines no "Nets": did you mean "Net"?'),
        ("nett.py:Net", 'nett.py does not exist: did you mean "net.py"?'),
        ("broken.py:Net", "broken.py:1 is not valid Python: '(' was never closed"),
    ],
)
def test_impossible_targets(fake: Any, folder: Path, run: Any, target: str, message: str) -> None:
    (folder / "net.pt").write_bytes(b"")
    (folder / "net.tflite").write_bytes(b"")
    (folder / "net.py").write_text("class Net: ...\ndef main(): ...\n")
    (folder / "broken.py").write_text("Net = (\n")
    assert run("check", target) == (2, "", f"nanproof: {message}\n")
    assert fake.asked == {}


def test_a_baseline_accepts_what_there_is(fake: Any, folder: Path, run: Any) -> None:
    fake.answer = report(FINDING)
    code, out, _ = run("check", "model.onnx", "--write-baseline", "known.json")
    assert code == 0
    assert "note: 1 finding is in the baseline and not shown\n" in out
    assert run("check", "model.onnx", "--baseline", "known.json")[0] == 0
    fake.answer = TWO
    code, out, _ = run("check", "model.onnx", "--baseline", "known.json")
    assert code == 1
    assert "NP101 " not in out
    assert run("check", "model.onnx", "--write-baseline", "known.json")[0] == 0
    assert len(json.loads((folder / "known.json").read_text())["findings"]) == 2


def test_a_wrong_baseline(fake: Any, folder: Path, run: Any) -> None:
    code, _, err = run("check", "model.onnx", "--baseline", "none.json")
    assert (code, err) == (2, "nanproof: the baseline none.json can't be read: no such file or directory\n")
    (folder / "notes.json").write_text("{}")
    assert run("check", "model.onnx", "--baseline", "notes.json")[0] == 2
    assert run("check", "model.onnx", "--write-baseline", "notes.json")[0] == 2
    assert (folder / "notes.json").read_text() == "{}"


def test_a_baseline_in_the_configuration_is_next_to_it(fake: Any, folder: Path, run: Any) -> None:
    run("check", "model.onnx", "--write-baseline", "known.json")
    (folder / "nanproof.toml").write_text('baseline = "known.json"')
    assert run("check", "model.onnx")[0] == 0
