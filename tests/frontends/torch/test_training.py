"""Training graphs from programs: what the gradients are of, where findings on the way back point, and what is said if there are none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import nanproof
from nanproof.findings.errors import InputError
from nanproof.frontends.opening import open_target
from nanproof.frontends.request import Request

ROOT = Path(__file__).parents[3]

PROGRAM = """\
import torch
from torch import nn


class Distances(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 3)

    def forward(self, x):
        z = self.project(x)
        apart = z[:, None] - z[None, :]
        return torch.sqrt((apart * apart).sum(-1))


def contrastive(distances, same):
    return (same * distances).mean()


def pair():
    return Distances(), (torch.rand(5, 4), torch.rand(5, 5))
"""


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 5), nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(torch.tanh(self.first(x)))


def outputs(module: nn.Module, inputs: Any, **request: Any) -> tuple[str, ...]:
    return open_target(module, Request(inputs=inputs, phase="gradient", **request)).model.graph.outputs


def test_a_program_is_checked_with_its_loss(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "nanproof", "check", "net.py:pair", "--loss", "contrastive", "--phase", "gradient",
               "--range", "x=0,1", "--range", "same=0,1", "--format", "json"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["code"], finding["phase"]) == ("NP302", "gradient")
    assert (finding["location"]["file"], finding["location"]["line"]) == ("net.py", 13)
    assert set(finding["reaches"]) == {"project.weight.grad", "project.bias.grad"}


def test_outputs_are_the_loss_the_outputs_and_the_gradients() -> None:
    found = outputs(Net(), (torch.rand(2, 4), torch.tensor([0, 1])), loss=functional.cross_entropy)
    assert found == ("loss", "output", "first.weight.grad", "first.bias.grad", "second.weight.grad", "second.bias.grad")


def test_gradients_of_inputs_are_checked_where_nothing_is_trained_or_they_ask_for_it() -> None:
    assert outputs(nn.Softplus(), (torch.rand(3),), loss=torch.sum) == ("loss", "output", "input.grad")
    module = Net()
    x = torch.rand(2, 4)
    assert "x.grad" not in outputs(module, (x,), loss=torch.sum)
    assert "x.grad" in outputs(module, (x.clone().requires_grad_(),), loss=torch.sum)
    module.first.requires_grad_(False)
    assert "first.weight.grad" not in outputs(module, (x,), loss=torch.sum)


def test_a_model_may_return_its_loss() -> None:
    class WithLoss(Net):
        def forward(self, x: Tensor, y: Tensor) -> dict[str, Tensor]:
            logits = super().forward(x)
            return {"loss": functional.cross_entropy(logits, y), "logits": logits}

    found = outputs(WithLoss(), (torch.rand(2, 4), torch.tensor([0, 1])))
    assert found[:2] == ("loss", "output")
    assert len(found) == 6


@pytest.mark.parametrize(
    ("inputs", "request_", "words"),
    [
        ((torch.rand(2, 4),), {}, ("sizes [2, 3]", "--loss NAME")),
        ((torch.rand(2, 4),), {"loss": lambda y: y.argmax()}, ("int64", "return the mean or the sum")),
        ((torch.rand(2, 4),), {"loss": lambda y: y.detach().sum()}, ("nothing that has a gradient",)),
        ((torch.rand(2, 4),), {"loss": functional.cross_entropy}, ("0 inputs left over", "target")),
    ],
)
def test_what_has_no_gradient_is_said_in_one_sentence(inputs: Any, request_: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        outputs(Net(), inputs, **request_)
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


class Trap(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x)).sum()


def test_a_derivative_points_to_the_line_it_belongs_to() -> None:
    report = nanproof.check(Trap(), inputs=torch.rand(3), ranges={"x": (0, 4)}, phase="gradient")
    (finding,) = report.found
    assert (finding.code, finding.phase, finding.reaches) == ("NP302", "gradient", ("x.grad",))
    assert finding.location is not None
    assert "torch.sqrt(x)" in str(finding.source)
    assert "derivative of sqrt" in finding.because[0]


def test_what_fails_on_the_way_forward_is_said_once() -> None:
    class Logs(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.log(x).sum()

    found = nanproof.check(Logs(), inputs=torch.rand(3), ranges={"x": (0, 1)}, phase="gradient").found
    assert [(f.code, f.phase) for f in found] == [("NP101", "forward")]
