"""Each message, word for word."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.samples import FINDING, finding, note, report

from nanproof.findings import EMPTY, AssumedRange, Verdict, Witness, wording

F32 = 3.4028234663852886e38


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((0, 1), "[0, 1]"),
        ((-0.0, 0.0), "[0, 0]"),
        ((-F32, F32), "[-3.403e38, 3.403e38]"),
        ((1e-45, 0.99999999), "[1e-45, 0.99999999]"),
        ((0.99999994, 1.0000001192), "[0.99999994, 1.0000002]"),
        ((-1.0000001, 1), "[-1.0000002, 1]"),
        ((0.0001, float(np.float32(0.1))), "[0.0001, 0.1]"),
        ((-88.72283, 103.97), "[-88.73, 103.97]"),
        ((-math.inf, math.inf), "[-inf, inf]"),
        ((999999.5, 1234567.0), "[999900, 1.235e6]"),
        ((1e-10, 123456), "[1e-10, 123456]"),
        ((-5e-324, 5e-324), "[-4.941e-324, 4.941e-324]"),
    ],
)
def test_interval(ends: tuple[float, float], text: str) -> None:
    assert wording.interval(*ends) == text


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_interval_is_rounded_outward(a: float, b: float) -> None:
    lo, hi = sorted((a, b))
    low, high = (Decimal(end) for end in wording.interval(lo, hi)[1:-1].split(", "))
    # Up to the noise of a float32 the text may be tighter, but never across a whole number.
    assert low <= Decimal(lo) + abs(Decimal(lo)) * wording.NOISE
    assert high >= Decimal(hi) - abs(Decimal(hi)) * wording.NOISE
    for whole in (-1, 0, 1):
        assert (low >= whole) <= (lo >= whole)
        assert (high <= whole) <= (hi <= whole)
        assert (low > whole) <= (lo > whole)
        assert (high < whole) <= (hi < whole)


def test_counts_and_lists() -> None:
    assert wording.plural(1, "node") == "1 node"
    assert wording.plural(1200, "node") == "1,200 nodes"
    assert wording.listing(["a", "b"]) == "a, b"
    assert wording.listing(list("abcdef")) == "a, b, c, d and 2 more"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "p is in [0, 1]; Log needs more than 0"),
        ({"interval": (0.0, 0.0)}, "p is 0; Log needs more than 0"),
        ({"interval": (0.1, 0.1)}, "p is 0.1; Log needs more than 0"),
        ({"interval": (1 / 3, 1 / 3)}, "p is in [0.3333, 0.3334]; Log needs more than 0"),
        ({"interval": EMPTY}, "p has no finite element; Log needs more than 0"),
        ({"operand_name": ""}, "operand 0 of Log is in [0, 1]; Log needs more than 0"),
        ({"operand": -1, "needs": "at most 65504"}, "the result of Log is in [0, 1]; needed: at most 65504"),
    ],
)
def test_seen(changes: dict[str, object], text: str) -> None:
    assert wording.seen(finding(**changes)) == text


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "could not rule out -Inf"),
        ({"may": ("nan", "-inf")}, "could not rule out NaN or -Inf"),
        ({"may": ()}, None),
        ({"may": (), "verdict": Verdict.INEVITABLE}, "will give a wrong result for every input in range"),
        ({"verdict": Verdict.INEVITABLE}, "will give -Inf for every input in range"),
        ({"verdict": Verdict.CONFIRMED}, "can give -Inf, confirmed"),
        (
            {"verdict": Verdict.CONFIRMED, "witness": Witness("x = 0 gives -inf", "onnxruntime")},
            "confirmed: x = 0 gives -inf, seen in ONNX Runtime",
        ),
        (
            {"verdict": Verdict.REPRODUCED, "witness": Witness("x = 0 gives -inf", "torch", test="test_a.py")},
            "reproduced: test_a.py (x = 0 gives -inf)",
        ),
        (
            {"verdict": Verdict.INEVITABLE, "witness": Witness("any input gives nan", "reference")},
            "will give -Inf for every input in range; any input gives nan, seen in the ONNX reference evaluator",
        ),
    ],
)
def test_certainty(changes: dict[str, object], text: str | None) -> None:
    assert wording.certainty(finding(**changes)) == text


def test_the_rest_of_a_finding() -> None:
    assert wording.place(FINDING) == "model.py:43"
    assert wording.place(finding(location=None)) == "node /loss/Log"
    assert wording.reaches(FINDING) == "reaches loss"
    assert wording.reaches(finding(reaches=())) is None
    assert wording.also(finding(also=("a", "b"))) == "the same cause at a, b"
    assert wording.also(FINDING) is None
    assert wording.note(note()) == (
        "NP103 at node /n/Div: std is in [0, 1]; Div needs anything but 0 (follows only from an assumed range)"
    )


@pytest.mark.parametrize(
    ("ops", "weaker", "text"),
    [
        ({}, 0, None),
        (
            {"DeformConv": 1},
            1,
            "DeformConv has no bound yet; its output is taken as any value of the dtype. It is itself unchecked and may give NaN or Inf; 1 verdict is weaker (marked ~)",
        ),
        (
            {"DeformConv": 3},
            0,
            "DeformConv (x3) has no bound yet; its outputs are taken as any value of the dtype. It is itself unchecked and may give NaN or Inf",
        ),
        (
            {"Foo": 1, "Bar": 2},
            7,
            "Bar (x2), Foo have no bound yet; their outputs are taken as any value of the dtype. They are themselves unchecked and may give NaN or Inf; 7 verdicts are weaker (marked ~)",
        ),
    ],
)
def test_unknown_operators(ops: dict[str, int], weaker: int, text: str | None) -> None:
    assert wording.unknown_operators(ops, weaker) == text


def test_assumed_range() -> None:
    assumed = AssumedRange("x", -F32, F32, "input", "no range was given")
    assert wording.assumed_range(assumed) == "x (input) is taken to lie in [-3.403e38, 3.403e38]: no range was given"


def test_summary() -> None:
    end = "in 25 nodes, 0.12 s, for runtime onnxruntime"
    assert wording.summary(report()) == f"model.onnx: no findings; 10 sites (10 safe) {end}"
    assert wording.summary(report(FINDING, FINDING)) == f"model.onnx: 2 findings; 12 sites (10 safe, 2 possible) {end}"
