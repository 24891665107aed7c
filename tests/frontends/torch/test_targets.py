"""PyTorch programs from the command line: what they are, where findings are, and what is said when they can't be opened."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import nanproof
from nanproof.findings.errors import InputError

ROOT = Path(__file__).parents[3]

PROGRAM = """\
import torch
from torch import nn
from losses import cross_entropy


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x, y):
        print("a program may print what it likes")
        p = torch.softmax(self.fc(x), dim=-1)
        return cross_entropy(p, y)


def pair():
    return Net(), (torch.rand(5, 4), torch.rand(5, 3))
"""
LOSSES = """\
import torch


def cross_entropy(p, y):
    return -(
        y
        * torch.log(p)
    ).sum()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(PROGRAM)
    (tmp_path / "losses.py").write_text(LOSSES)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-m", "nanproof", *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip


def test_a_file_and_a_name(folder: Path) -> None:
    ran = run(folder, "check", "net.py:pair", "--range", "x=-100,100", "--dynamic", "batch", "--format", "json")
    assert ran.returncode == 1, ran.stderr
    report = json.loads(ran.stdout)
    assert (report["target"], report["runtime"]) == ("net.py:pair", "torch")
    (finding,) = [f for f in report["findings"] if f["note"] is None]
    assert finding["code"] == "NP101"
    assert finding["location"] == {"file": "losses.py", "line": 7}
    assert finding["source"] == "* torch.log(p)"
    assert any("sizes kept open: batch" in note for note in report["notes"])


def test_a_module_and_a_class_with_described_inputs(folder: Path) -> None:
    ran = run(folder, "check", "net:Net", "--input", "x=float32[N,4]", "--input", "y=float32[N,3]", "--range", "x=-1,1")
    assert ran.returncode == 0, ran.stderr
    assert "no findings" in ran.stdout
    assert "N (size) is taken to lie in [1, 65536]" in ran.stdout


def opened(folder: Path, name: str, text: str, **options: Any) -> nanproof.Report:
    (folder / "other.py").write_text(text)
    return nanproof.check(f"{folder}/other.py:{name}", **options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import time\nNet = None\ntime.sleep(60)", "took more than 1 s to load and export: give it more time, --load-timeout"),
        ("import os\nNet = None\nos._exit(7)", "its process ended with exit code 7 before the model was there"),
        ("import sys\nNet = None\nsys.exit(3)", "ends the process when it is imported (exit code 3): keep what runs under"),
        ("Net = 1\nimport no_such_module", "other.py:2: .*other.py needs the module no_such_module, which is not installed"),
        ("Net = 1\n\nprint(undefined)", "other.py:3: importing .*other.py raised NameError: name 'undefined' is not defined"),
        ("Net = 3", "other.py:Net is a int, which is no model: name an nn.Module"),
    ],
)  # fmt: skip
def test_programs_that_do_not_load(tmp_path: Path, text: str, message: str) -> None:
    import re

    pattern = message if ".*" in message else re.escape(message)
    with pytest.raises(InputError, match=pattern):
        opened(tmp_path, "Net", text, load_timeout=1.0 if "sleep" in text else 60.0)


def test_what_a_child_wrote_last_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="exit code 1 before the model was there; it wrote: the last words"):
        opened(tmp_path, "Net", "import os\nNet = None\nprint('the last words', flush=True)\nos._exit(1)")


def test_an_exported_program(tmp_path: Path) -> None:
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.log(x)

    program = torch.export.export(Net(), (torch.rand(4, 2),), dynamic_shapes=({0: torch.export.Dim("rows")},))
    torch.export.save(program, tmp_path / "net.pt2")
    report = nanproof.check(str(tmp_path / "net.pt2"), ranges={"x": (0, 1)})
    assert [finding.code for finding in report.found] == ["NP101"]
    assert report.runtime == "torch"


def test_damaged_and_foreign_files(tmp_path: Path) -> None:
    (tmp_path / "net.pt2").write_bytes(b"nothing like it")
    with pytest.raises(InputError, match=r"net\.pt2 is no exported program, or it is damaged"):
        nanproof.check(tmp_path / "net.pt2")
    torch.save({"weight": torch.rand(3)}, tmp_path / "net.pt")
    with pytest.raises(InputError, match="can run any code when it is loaded: say --trust"):
        nanproof.check(tmp_path / "net.pt")
    with pytest.raises(InputError, match="holds weights only, no module: name a function that makes the module"):
        nanproof.check(tmp_path / "net.pt", trust=True)


def test_a_trusted_pickle(tmp_path: Path) -> None:
    torch.save(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softmax(-1)), tmp_path / "net.pt")
    report = nanproof.check(tmp_path / "net.pt", trust=True, specs={"input": "float32[N,3]"})
    assert report.exit_code == 0
