"""One step of an optimiser from the command line and from Python: what is found, where, with which evidence, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import nanproof
from nanproof.findings.errors import InputError
from nanproof.findings.verdict import Verdict

PROGRAM = """\
import torch
from torch import nn

EPS = 0.0


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 4)
        self.head = nn.Linear(4, 3)

    def forward(self, words):
        return self.head(self.table(words).mean(1))


def training(eps=EPS):
    model = Words()
    return {
        "model": model,
        "inputs": (torch.zeros(2, 3, dtype=torch.int64),),
        "loss": nn.functional.cross_entropy,
        "targets": (torch.tensor([0, 1]),),
        "optimizer": torch.optim.Adam(model.parameters(), eps=eps),
    }


def mended():
    return training(1e-8)


class Unit(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(p.grad / p.grad.norm())
"""


LOGS = """\
import torch
from torch import nn


def training(eps=0.0):
    return {
        "model": nn.Sequential(nn.Linear(4, 3), nn.Softmax(-1)),
        "inputs": {"input": torch.rand(2, 4)},
        "kwargs": {"y": torch.rand(2, 3)},
        "loss": lambda p, y: -(torch.log(p + eps) * y).sum(),
        "optimizer": "sgd",
    }


def mended():
    return training(1e-6)
"""


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x)


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "words.py").write_text(PROGRAM)
    return tmp_path


def line(text: str) -> int:
    return next(i for i, found in enumerate(PROGRAM.splitlines(), 1) if text in found)


def test_a_finding_names_the_line_that_makes_the_optimiser(folder: Path) -> None:
    ran = run(folder, "nanproof", "check", "words.py:training", "--phase", "step", "--format", "json")
    assert ran.returncode == 1, ran.stderr
    (finding,) = json.loads(ran.stdout)["findings"]
    assert (finding["code"], finding["phase"]) == ("NP308", "step")
    assert finding["location"] == {"file": "words.py", "line": line("torch.optim.Adam")}
    assert finding["reaches"] == ["table.weight after", "head.weight after", "head.bias after"]
    assert "Adam's update of table.weight" in finding["because"][0]


def test_an_optimiser_of_the_user_has_lines_of_its_own(folder: Path) -> None:
    ran = run(
        folder, "nanproof", "check", "words.py:training", "--phase", "step", "--optimizer", "Unit", "--format", "json"
    )
    assert ran.returncode == 1, ran.stderr
    (finding,) = [f for f in json.loads(ran.stdout)["findings"] if f["phase"] == "step"]
    assert finding["location"] == {"file": "words.py", "line": line("p.sub_(")}


def test_a_repaired_step_is_silent(folder: Path) -> None:
    ran = run(folder, "nanproof", "check", "words.py:mended", "--phase", "step")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_step_is_confirmed_by_a_real_one_and_written_as_a_test(folder: Path) -> None:
    ran = run(folder, "nanproof", "confirm", "words.py:training", "--phase", "step", "--no-proof", "-o", "found", "-q")
    assert ran.returncode == 1, ran.stderr
    assert "1 confirmed" in ran.stdout
    outcomes = [
        run(folder / "found", "pytest", "-q", "-p", "no:cacheprovider", ".", NANPROOF_TARGET=target)
        for target in ("", "../words.py:mended")
    ]
    assert "NaN or Inf after the step" in outcomes[0].stdout
    assert [done.returncode for done in outcomes] == [1, 0]


def test_a_forward_finding_of_a_training_graph_gets_a_test_with_its_loss(folder: Path) -> None:
    (folder / "logs.py").write_text(LOGS)
    command = (
        "confirm",
        "logs.py:training",
        "--phase",
        "step",
        "--range",
        "input=-999,999",
        "--range",
        "y=0,1",
        "--no-proof",
    )
    ran = run(folder, "nanproof", *command, "-o", "found", "-q")
    assert "1 confirmed" in ran.stdout, ran.stdout + ran.stderr
    outcomes = [
        run(folder / "found", "pytest", "-q", "-p", "no:cacheprovider", ".", NANPROOF_TARGET=target)
        for target in ("", "../logs.py:mended")
    ]
    assert "NaN or Inf in the loss" in outcomes[0].stdout
    assert [done.returncode for done in outcomes] == [1, 0]


def test_a_finite_step_confirms_nothing() -> None:
    found = checked("adam(eps=1e-8)", clip_norm=1.0)
    assert not found.found
    centred = checked("rmsprop(centered=True, eps=1e-8)").confirm(prove=False)
    assert [f.verdict for f in centred.found] == [Verdict.CONFIRMED]


def checked(optimizer: Any, **more: Any) -> Any:
    given = (torch.rand(4, 3), torch.tensor([0, 1, 1, 0]))
    return nanproof.check(
        Net(), inputs=given, loss=nn.functional.cross_entropy, phase="step", optimizer=optimizer, **more
    )


def test_parameters_that_are_not_trained_are_left_out() -> None:
    module = Net()
    module.fc.bias.requires_grad_(False)
    report = nanproof.check(module, inputs=torch.rand(4, 3), loss=torch.sum, phase="step", optimizer="sgd")
    assert any("SGD over 1 parameter" in note for note in report.notes)


def test_half_precision_loses_the_default_eps() -> None:
    module = Net().half()
    given = (torch.rand(4, 3).half(),)
    report = nanproof.check(module, inputs=given, loss=torch.sum, phase="step", optimizer="adam", ranges={"x": (-1, 1)})
    assert "NP308" in {f.code for f in report.found if f.phase == "step"}


@pytest.mark.parametrize(
    ("optimizer", "words"),
    [
        (None, "has no optimiser: name one, --optimizer adam"),
        ("adm", 'neither the program nor PyTorch has it: did you mean "adam"?'),
        ("adam(lr=x)", "settings are names with plain values"),
        ("adam(0.1)", "settings are names with plain values"),
        ("adam(ep=1)", 'Adam has no setting "ep": did you mean "eps"?'),
        ("adam(eps=-1)", "Adam refuses its settings: Invalid epsilon value"),
        ("lbfgs", "the step of LBFGS can't be checked: it computes the loss several times in one step"),
        ("adafactor", "the step of Adafactor decides by the values of a tensor"),
        (3, "the optimiser is a int: give a torch.optim.Optimizer"),
        (lambda parameters: 3, "what should make the optimiser gives a int"),
        (lambda parameters: torch.optim.SGD([torch.zeros(1, requires_grad=True)]), "holds no parameter of the model"),
    ],
)
def test_what_takes_no_step_is_said_in_one_sentence(optimizer: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        checked(optimizer)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
