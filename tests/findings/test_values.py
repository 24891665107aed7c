"""The values can't be built wrong, and identities are stable."""

from __future__ import annotations

import pytest
from tests.report.samples import FINDING, finding, note, report

from nanproof.findings import EMPTY, Example, Location, SiteCounts, Verdict, stable_id


@pytest.mark.parametrize(
    "changes",
    [
        {"interval": (1.0, 0.0)},
        {"interval": (float("nan"), 0.0)},
        {"phase": "backward"},
        {"may": ("inf",)},
        {"verdict": Verdict.SAFE},
    ],
)
def test_a_wrong_finding_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        finding(**changes)


def test_the_interval_of_nothing_is_allowed() -> None:
    assert finding(interval=EMPTY).interval == EMPTY


def test_other_wrong_values_are_refused() -> None:
    with pytest.raises(ValueError, match="line"):
        Location("a.py", 0)
    with pytest.raises(ValueError, match="add up"):
        SiteCounts(total=3, safe=1)
    with pytest.raises(ValueError, match="ordered"):
        Example("", {"x": (1, 0)})


def test_an_id_depends_on_the_names_only() -> None:
    assert stable_id("NP101", "/loss/Log", "p") == "NP101-" + FINDING.id.removeprefix("NP101-")
    assert stable_id("NP101", "a", "bc") != stable_id("NP101", "ab", "c")
    # Baselines hold these ids: a change here breaks every baseline there is.
    assert stable_id("NP101", "/loss/Log", "p") == "NP101-6308822760"


def test_notes_are_not_found() -> None:
    assert report(note()).found == ()
    assert report(note()).exit_code == 0
    assert report(note(), FINDING).found == (FINDING,)
    assert report(FINDING).exit_code == 1


def test_str_is_short_and_plain() -> None:
    assert str(report(FINDING)) == (
        "NP101 model.py:43: p is in [0, 1]; Log needs more than 0\n"
        "model.onnx: 1 finding; 11 sites (10 safe, 1 possible) in 25 nodes, 0.12 s, for runtime onnxruntime"
    )
    assert "<pre>" in report(FINDING)._repr_html_()
