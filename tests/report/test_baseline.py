from __future__ import annotations

import json

import pytest
from tests.report.samples import FINDING, note, report

from nanproof.findings import InputError
from nanproof.report import baseline


def test_round_trip() -> None:
    text = baseline.text(report(FINDING, note()))
    assert json.loads(text) == {
        "nanproof_baseline": 1,
        "findings": {FINDING.id: "model.py:43: p is in [0, 1]; Log needs more than 0"},
    }
    assert baseline.read(text, "b.json") == {FINDING.id}


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"nanproof_baseline": 2, "findings": {}}', "[" * 100_000])
def test_anything_else_is_refused(content: str) -> None:
    with pytest.raises(InputError, match=r"^b.json is not a baseline file: write one with --write-baseline b.json$"):
        baseline.read(content, "b.json")
