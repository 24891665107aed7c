"""Findings about gradients: seen by eager autograd of the user's module, and written down as a test that fails until it is mended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import torch
from torch import Tensor, nn

import nanproof
from nanproof.findings.verdict import Verdict

PROGRAM = """\
import torch
from torch import nn


class Distances(nn.Module):
    eps = 0.0

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 3)

    def forward(self, x):
        z = self.project(x)
        apart = z[:, None] - z[None, :]
        return torch.sqrt((apart * apart).sum(-1) + self.eps)


class Mended(Distances):
    eps = 1e-6


def contrastive(distances, same):
    return (same * distances).mean()


def pair():
    return Distances(), (torch.rand(5, 4), torch.rand(5, 5))


def mended():
    return Mended()
"""


class Trap(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x)).sum()


def test_a_gradient_is_confirmed_by_autograd() -> None:
    checked = nanproof.check(Trap(), inputs=torch.rand(3), ranges={"x": (0, 4)}, phase="gradient")
    (finding,) = checked.confirm(prove=False).found
    assert (finding.code, finding.phase, finding.verdict) == ("NP302", "gradient", Verdict.CONFIRMED)
    assert finding.witness is not None
    assert (finding.witness.runtime, finding.witness.outputs) == ("torch", ("x.grad",))


def test_a_finite_gradient_confirms_nothing() -> None:
    class Safe(nn.Module):
        """The exported derivative divides by the norm and masks it, as torch's own kernel does."""

        def forward(self, x: Tensor) -> Tensor:
            return torch.linalg.vector_norm(x) * 2.0

    found = nanproof.check(Safe(), inputs=torch.rand(3), ranges={"x": (-1, 1)}, phase="gradient").confirm(prove=False)
    assert all(finding.verdict is not Verdict.CONFIRMED for finding in found.found)


def test_the_emitted_test_fails_until_the_program_is_mended(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(PROGRAM)
    command = ["confirm", "net.py:pair", "--loss", "contrastive", "--phase", "gradient", "--range", "x=0,1",
               "--range", "same=0,1", "--no-proof", "-o", "found", "-q"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "nanproof", *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    (test,) = (tmp_path / "found").glob("test_np302_*.py")
    assert "nanproof" not in test.read_text().replace("Written by nanproof", "").replace("NANPROOF_TARGET", "")
    outcomes = [passes(test, target) for target in ("", "../net.py:mended")]
    assert outcomes == [False, True]


def passes(test: Path, target: str) -> bool:
    environment = {**os.environ, "NANPROOF_TARGET": target}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    done = subprocess.run(command, cwd=test.parent, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stdout
    assert done.returncode == 0 or "NaN or Inf in the gradients" in done.stdout
    return done.returncode == 0
