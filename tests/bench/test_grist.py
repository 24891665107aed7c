"""The GRIST benchmark is what it says: all cases are there, their sites are found by their lines, and they fail and hold."""

from __future__ import annotations

import re

import numpy as np
import onnx
import pytest
from bench.grist import RANGE_SETS, Case, cases
from bench.grist.examples import example
from bench.grist.export import exported, marks, nodes_of
from bench.grist.measure import answer
from bench.grist.verify import seen

pytest.importorskip("torch")

SMALL = ("2a", "4", "26", "28a", "53")
"""Cases of each kind that take a moment only; the bench runs all of them."""
QUICK = ("3", "5", "9a", "11b", "13", "15", "16c", "22", "28b", "31", "35b", "38", "40", "57")


def test_all_programs_and_defects_are_there() -> None:
    found = [case.id for case in cases()]
    assert len(set(found)) == len(found) == 79
    assert {int(re.sub(r"\D", "", name)) for name in found} == set(range(1, 64))
    assert sum(case.debar for case in cases()) == 48


def test_marks_are_known_to_their_cases() -> None:
    marked = {mark for line in marks().values() for mark in line}
    named = {site.mark for case in cases() for site in case.sites}
    assert named == marked


@pytest.mark.parametrize("case", cases(SMALL), ids=lambda case: case.id)
def test_case_is_answered_right(case: Case) -> None:
    proto = onnx.load(exported(case))
    assert [node.name for node in proto.graph.input] == [item.name for item in case.inputs]
    stored = {tensor.name for tensor in proto.graph.initializer}
    assert stored >= set(case.weights)
    for site in case.sites:
        assert nodes_of(site, proto), site
    for kind in RANGE_SETS:
        told = answer(case, kind)
        assert told.right, told


@pytest.mark.parametrize("case", cases((*SMALL, *QUICK)), ids=lambda case: case.id)
def test_case_fails_and_its_repair_holds(case: Case) -> None:
    told = seen(case)
    assert told.right, told


def test_ordinary_inputs_lie_in_natural_ranges() -> None:
    for case in cases():
        drawn = example(case)
        for item in case.inputs:
            low, high = np.float32(item.valid)
            assert tuple(drawn[item.name].shape) == item.shape, (case.id, item.name)
            assert low <= float(drawn[item.name].min()) <= float(drawn[item.name].max()) <= high, (case.id, item.name)


def test_unknown_case_is_named() -> None:
    with pytest.raises(KeyError, match="no case 99"):
        cases(["99"])
