"""Programs are replayed as they are: in this process where they are objects, in a child where they have a name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.confirm import programs

import nanproof
from nanproof.findings import Verdict
from nanproof.frontends.live import CannotRunLiveError, Live, Training
from nanproof.frontends.opening import open_target

FILE = Path(programs.__file__)
RANGES = {"x": (-1000.0, 1000.0), "y": (0.0, 1.0)}


@pytest.fixture(scope="module")
def remote() -> Live:
    opened = open_target(f"{FILE}:factory")
    assert opened.live is not None
    return opened.live()


def test_a_live_object_is_replayed_itself() -> None:
    report = nanproof.check(programs.Classifier(), ranges=RANGES, roles={"y": "label"}).confirm()
    (finding,) = report.found
    assert finding.verdict is Verdict.CONFIRMED
    assert finding.witness is not None
    assert finding.witness.runtime == "torch"


def test_a_failure_of_the_exported_form_alone_is_not_confirmed() -> None:
    # the check takes the exported form for what it is; the program is asked before anything is called confirmed
    report = nanproof.check(programs.OnlyExported(), ranges={"x": (-1000, 1000)}).confirm(prove=False, seconds=5)
    assert not report.evidence
    assert all(f.verdict is Verdict.POSSIBLE for f in report.found)


def test_a_replay_leaves_the_object_alone() -> None:
    module = programs.Classifier()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    report = nanproof.check(module, ranges=RANGES, weights="architecture").confirm()
    assert report.evidence
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())
    assert module.training


def test_a_child_runs_a_program(remote: Live) -> None:
    assert (remote.runtime, remote.plain) == ("torch", True)
    weights = remote.initial(3)
    assert {name: value.shape for name, value in weights.items()} == {"layer.weight": (3, 4), "layer.bias": (3,)}
    again, other = remote.initial(3), remote.initial(4)
    assert np.array_equal(weights["layer.weight"], again["layer.weight"])
    assert not np.array_equal(weights["layer.weight"], other["layer.weight"])
    ran = remote.run({"x": np.full((2, 4), 1e4, np.float32), **weights})
    assert ran.bad == (0,)
    assert (ran.births[0].function, ran.births[0].gives) == ("log.default", "-inf")
    assert "log(p)" in FILE.read_text().splitlines()[ran.births[0].line - 1]
    assert not remote.run({"x": np.zeros((2, 4), np.float32), **weights}).births


def test_a_child_says_what_it_can_not_run(remote: Live) -> None:
    with pytest.raises(CannotRunLiveError, match="no tensor named z"):
        remote.run({"z": np.zeros(3)})
    with pytest.raises(CannotRunLiveError, match="shapes"):
        remote.run({"x": np.zeros((2, 5), np.float32)})


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adam", "adagrad", "rmsprop"])
def test_a_step_is_that_of_pytorch(remote: Live, optimizer: str) -> None:
    weights = remote.initial(0)
    x, y = np.float32([[1, 2, 3, 4], [0, 1, 0, 1]]), np.float32([[1, 0, 0], [0, 1, 0]])
    found = remote.trained(weights, [[{"x": x, "y": y}]], Training(optimizer, 0.1))
    module = programs.Classifier()
    module.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    kind = {"sgd": "SGD", "momentum": "SGD", "adam": "Adam", "adagrad": "Adagrad", "rmsprop": "RMSprop"}[optimizer]
    stepper = getattr(torch.optim, kind)(module.parameters(), lr=0.1)
    module(torch.from_numpy(x), torch.from_numpy(y)).backward()
    stepper.step()
    assert found.finite
    for name, value in module.state_dict().items():
        np.testing.assert_array_equal(found.weights[name], value.numpy())


@pytest.mark.parametrize(
    ("name", "mended", "ranges"),
    [("factory", "Mended", RANGES), ("Inside", "MendedInside", {"x": (0.0, 1.0)})],
)
def test_an_emitted_test_runs_the_program(
    name: str, mended: str, ranges: dict[str, tuple[float, float]], tmp_path: Path
) -> None:
    report = nanproof.check(f"{FILE}:{name}", ranges=ranges)
    report = report.confirm(tests=tmp_path, seconds=20)
    assert [f.verdict for f in report.found] == [Verdict.CONFIRMED]
    (path,) = tmp_path.glob("test_*.py")
    assert "programs.py" in path.read_text()
    compile(path.read_text(), str(path), "exec")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    now = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert now.returncode == 1, now.stdout
    assert "NaN or Inf in" in now.stdout
    environment["NANPROOF_TARGET"] = f"{FILE}:{mended}"
    then = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert then.returncode == 0, then.stdout


def test_a_live_object_without_a_name_gets_a_test_of_its_exported_form(tmp_path: Path) -> None:
    report = nanproof.check(programs.Classifier(), ranges=RANGES).confirm(tests=tmp_path)
    (finding,) = report.found
    assert finding.witness is not None
    assert finding.witness.test is not None
    assert "onnx" in Path(finding.witness.test).read_text()
    assert list(tmp_path.glob("*.onnx"))
