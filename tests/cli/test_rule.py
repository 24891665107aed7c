from __future__ import annotations

from typing import Any

from nanproof.findings.rules import RULES


def test_a_page(run: Any) -> None:
    code, out, _ = run("rule", "np101")
    assert code == 0
    assert out.startswith("# NP101: log of a value that can be 0 or negative\n")
    assert run("rule", "log-domain")[1] == out


def test_lists(run: Any) -> None:
    assert len(run("rule")[1].splitlines()) == len(RULES)
    assert run("rule", "--list") == run("rule")
    assert len(run("rule", "NP4")[1].splitlines()) == 4


def test_colours(run: Any, monkeypatch: Any) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" in run("rule", "NP101")[1]
    assert "\x1b" not in run("rule", "NP101", "--no-color")[1]
