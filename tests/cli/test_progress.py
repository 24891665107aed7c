from __future__ import annotations

import io
import sys
import time

import pytest

from nanproof.cli import progress as module
from nanproof.cli.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, seconds: float) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(module, "AFTER", 0.05)
    monkeypatch.setattr(module, "EVERY", 0.01)
    with progress("checking m.onnx", show=True):
        time.sleep(seconds)
    return stream.getvalue()


def test_only_after_a_while_and_wiped_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not shown(monkeypatch, Terminal(), 0.0)
    text = shown(monkeypatch, Terminal(), 0.3)
    assert "| checking m.onnx, 0 s" in text
    assert text.endswith("\r\x1b[K")


def test_never_into_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not shown(monkeypatch, io.StringIO(), 0.2)
