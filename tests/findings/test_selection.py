from __future__ import annotations

import pytest
from tests.report.samples import FINDING, finding, note, report

from nanproof.findings.selection import keep, silenced, wanted, without


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        ((), (), True),
        (("NP1",), (), True),
        (("NP2",), (), False),
        ((), ("NP101",), False),
        ((), ("NP2",), True),
        (("NP101",), ("NP1",), True),
        (("NP1",), ("NP101",), False),
        (("NP1",), ("NP1",), False),
        (("NP",), ("NP1",), False),
        (("NP2", "NP101"), ("NP",), True),
    ],
)
def test_the_longest_prefix_decides(select: tuple[str, ...], ignore: tuple[str, ...], expected: bool) -> None:
    assert wanted("NP101", select, ignore) is expected


def test_keep_filters_findings_and_notes() -> None:
    both = report(FINDING, note())
    assert keep(both, ("NP101",)).findings == (FINDING,)
    assert keep(both, (), ("NP1",)).findings == ()
    assert keep(both) is both
    assert keep(both, ("NP2",)).sites == both.sites


def test_a_baseline_leaves_out_what_it_knows_and_says_so() -> None:
    other = finding(id="NP101-other")
    left = without(report(FINDING, other, note()), {FINDING.id})
    assert left.findings == (other, note())
    assert left.notes == ("1 finding is in the baseline and not shown",)
    assert without(report(FINDING, other), {FINDING.id, other.id}).notes == (
        "2 findings are in the baseline and not shown",
    )
    assert without(report(FINDING), {"NP101-else"}) == report(FINDING)


@pytest.mark.parametrize(
    ("source", "silent"),
    [
        (None, False),
        ("y = torch.log(p)", False),
        ("y = torch.log(p)  # nanproof is right", False),
        ("y = torch.log(p)  # nanproof: ignore", True),
        ("y = torch.log(p)  #nanproof:ignore[NP101] p is never 0", True),
        ("y = torch.log(p)  # nanproof: ignore[NP2, np1]", True),
        ("y = torch.log(p)  # nanproof: ignore[NP2]", False),
        ("y = torch.log(p)  # nanproof: ignore[]", False),
    ],
)
def test_a_comment_on_the_source_line_silences(source: str | None, silent: bool) -> None:
    assert silenced("NP101", source) is silent
    assert (keep(report(finding(source=source))).findings == ()) is silent
