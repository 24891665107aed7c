"""The precision suite is what it says it is, and the tool's answers to it are as good as they were."""

from __future__ import annotations

from collections import Counter

import pytest
from bench.precision import FAMILIES
from bench.precision.judging import births, holds, judged
from bench.precision.pairs import FACTS, FORMS, Pair
from bench.precision.unproved import UNPROVED

PAIRS = [(family, pair) for family, pairs in FAMILIES.items() for pair in pairs]
NAMES = [pair.name for _, pair in PAIRS]


def test_every_fact_and_every_form_is_there_more_than_once() -> None:
    assert len(PAIRS) >= 60
    assert len(set(NAMES)) == len(NAMES)
    assert min(Counter(fact for _, pair in PAIRS for fact in pair.facts)[fact] for fact in FACTS) >= 4
    assert min(Counter(pair.form for _, pair in PAIRS)[form] for form in FORMS) >= 10


def test_reasons_belong_to_pairs() -> None:
    assert not set(UNPROVED) - set(NAMES)
    assert all(UNPROVED.values())


@pytest.mark.parametrize(("family", "pair"), PAIRS, ids=NAMES)
def test_pair(family: str, pair: Pair) -> None:
    row = judged(family, pair)
    assert row["fails"], f"{pair.breaks} gives no NaN or Inf at {pair.fails_at}"
    assert row["holds"], "an input in range breaks the repaired graph"
    assert row["flagged"]
    if pair.name in UNPROVED:
        assert not row["proved"], "proved now: take it off the list in bench/precision/unproved.py"
    else:
        assert row["proved"], row["open"]


def planted(**changes: object) -> Pair:
    fields = {
        "name": "planted",
        "facts": ("x * x",),
        "form": "JAX",
        "source": ("log(x)", "log(x * x + 1)"),
        "why": "planted",
        "ranges": {"x": (-1, 1)},
        "fails_at": "y",
        "breaks": {"x": 0},
        "defective": "g (float[3] x) => (float[3] y) { y = Log(x) }",
        "repaired": "g (float[3] x) => (float[3] y) { q = Mul(x, x)\n one = Constant<value = float {1}>()\n"
        " s = Add(q, one)\n y = Log(s) }",
    }
    return Pair(**{**fields, **changes})  # type: ignore[arg-type]


def test_a_repair_that_does_not_hold_is_seen() -> None:
    assert holds(planted())
    assert not holds(planted(repaired="g (float[3] x) => (float[3] y) { q = Mul(x, x)\n y = Log(q) }"))


def test_a_defect_that_is_none_is_seen() -> None:
    pair = planted(breaks={"x": 0.5})
    assert births(pair.model(pair.defective), pair.failing())[0] == []
    with pytest.raises(ValueError, match="is not in"):
        planted(breaks={"x": 2}).failing()


def test_nan_of_a_branch_that_is_not_chosen_is_no_defect() -> None:
    text = """g (float[3] x) => (float[3] y) {
        zero = Constant<value = float {0}>()
        c = Greater(x, zero)
        l = Log(x)
        y = Where(c, l, zero) }"""
    pair = planted(defective=text, breaks={"x": -1})
    assert births(pair.model(text), pair.failing())[0] == []


def test_an_unknown_fact_is_refused() -> None:
    with pytest.raises(ValueError, match="facts of the list"):
        planted(facts=("magic",))
