from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.report.samples import FINDING, report

import nanproof
from nanproof.cli.main import main
from nanproof.findings import Report


class Fake:
    """Stands in for the analysis: remembers what it was asked, and answers with a fixed report."""

    def __init__(self) -> None:
        self.answer: Report | Exception | type[BaseException] = report(FINDING)
        self.asked: dict[str, Any] = {}

    def __call__(self, model: object, **options: Any) -> Report:
        self.asked = {"model": model, **options}
        if not isinstance(self.answer, Report):
            raise self.answer
        return self.answer


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake()
    monkeypatch.setattr(nanproof, "check", made)
    return made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a repository with an (empty) model in it."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "model.onnx").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return tmp_path


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line: (exit code, stdout, stderr)."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
