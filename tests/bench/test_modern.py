"""The modern defects are what they say: the defective form fails on its trigger, the repaired one doesn't; some are checked."""

from __future__ import annotations

import pytest
from bench.modern import Case, cases
from bench.modern.measure import answer
from bench.modern.verify import seen

pytest.importorskip("torch")


def test_all_cases_are_there() -> None:
    found = [case.id for case in cases()]
    assert len(set(found)) == len(found) == 53
    assert all(case.trigger is not None or case.notes for case in cases())


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_form_fails_and_its_repair_holds(case: Case) -> None:
    told = seen(case)
    assert told.right, told


@pytest.mark.parametrize("case", cases(["M08", "M29", "M37", "M97"]), ids=lambda case: case.id)
def test_form_is_flagged_and_its_repair_is_not(case: Case) -> None:
    told = answer(case)
    assert told.flagged, told
    assert told.silent, told


def test_unknown_case_is_named() -> None:
    with pytest.raises(KeyError, match="no case M999"):
        cases(["M999"])
