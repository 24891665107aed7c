"""Changes of a program: tried before they are shown, and written only where nothing is lost."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from torch import nn

import nanproof
from nanproof.cli import main
from nanproof.findings import InputError
from nanproof.fix.python import applying

PROGRAM = '''import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    """A classifier."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x, y):
        p = torch.softmax(self.layer(x), dim=1)
        loss = -(y * torch.log(p)).sum(1)
        return loss.mean(), p


model = (Model(), (torch.ones(3, 8), torch.ones(3, 4)))
'''
ASKED = ["--range", "x=-100,100", "--range", "y=0,1", "--samples", "50"]


class Scores(nn.Module):
    """A live one, of this very file."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.sigmoid(x * 2)
        return torch.log(1 - h)


def test_a_program_is_changed_in_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.py"
    path.write_text(PROGRAM)
    assert main(["fix", f"{path}:model", *ASKED, "--apply"]) == 0
    shown = capsys.readouterr().out
    assert "\n-        loss = -(y * torch.log(p)).sum(1)\n" in shown
    assert "\n+        loss = -(y * F.log_softmax(logits, dim=1)).sum(1)\n" in shown
    assert (tmp_path / "model.py.orig").read_text() == PROGRAM
    assert "F.log_softmax(logits, dim=1)" in path.read_text()


def test_a_live_module_gets_a_diff_of_its_file() -> None:
    module = Scores()
    before = Scores.forward.__code__
    fixed = nanproof.fix(module, inputs=(torch.ones(3, 4),), ranges={"x": (-30, 30)}, samples=50)
    assert Scores.forward.__code__ is before  # it ran changed only while it was tried
    lines = [line[1:].strip() for line in fixed.diff.splitlines() if line.startswith("+") and "+++" not in line]
    assert lines == ["logits = x * 2", "return nn.functional.logsigmoid(-logits)"]
    (finding,) = fixed.report.found
    assert finding.fixes[0].diff == fixed.diff


def test_a_change_that_does_not_hold_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted one: right in the graph, wrong in the words of Python."""
    from dataclasses import replace

    from nanproof.fix import candidates
    from nanproof.fix.rewrite import Words

    def planted(name: str, text: str) -> None:
        known = candidates.REWRITES
        wrong = [replace(r, python={"torch": Words(text)}) if r.name == name else r for r in known]
        monkeypatch.setattr(candidates, "REWRITES", tuple(wrong))

    question = {"inputs": (torch.ones(3, 4),), "ranges": {"x": (-30.0, 30.0)}, "samples": 50}
    planted("log-one-minus-sigmoid", "F.logsigmoid({x})")  # the sign is lost
    fixed = nanproof.fix(Scores(), **question)
    assert not fixed.diff
    assert any("ordinary outputs change by more than 1 %" in note for note in fixed.report.notes)
    planted("log-one-minus-sigmoid", "torch.log(torch.sigmoid(-20 * {x}))")  # fails as before, and more often
    fixed = nanproof.fix(Scores(), **question)
    assert not fixed.diff
    planted("log-one-minus-sigmoid", "F.no_such_function({x})")
    fixed = nanproof.fix(Scores(), **question)
    assert not fixed.diff
    assert any("no_such_function" in note for note in fixed.report.notes)


# -- writing ---------------------------------------------------------------------------------------


def _git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_file_that_git_has_needs_no_copy(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("old\n")
    _git(tmp_path, "init")
    _git(tmp_path, "add", "a.py")
    _git(tmp_path, "commit", "-m", "a")
    assert applying.applied({path: b"new\n"}, {path: b"old\n"}) == {path: None}
    assert path.read_text() == "new\n"
    assert applying.applied({path: b"newer\n"}, {path: b"new\n"}) == {path: tmp_path / "a.py.orig"}
    assert (tmp_path / "a.py.orig").read_text() == "new\n"


def test_nothing_is_written_over_a_copy_or_over_what_changed_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("old\n")
    with pytest.raises(InputError, match="changed meanwhile"):
        applying.applied({path: b"new\n"}, {path: b"older\n"})
    (tmp_path / "a.py.orig").write_text("precious")
    with pytest.raises(InputError, match="exists: move that away first"):
        applying.applied({path: b"new\n"}, {path: b"old\n"})
    assert path.read_text() == "old\n"


def test_installed_packages_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "site-packages" / "a.py"
    path.parent.mkdir()
    path.write_text("old\n")
    with pytest.raises(InputError, match="installed package"):
        applying.applied({path: b"new\n"}, {path: b"old\n"})
