"""Each way to search on small graphs whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from tests.confirm.graphs import FAR_SUM, LOG_SIGMOID, LOG_SOFTMAX, NARROW, checked, problem, searched

from nanproof.confirm.gradient import jumps, slopes
from nanproof.confirm.looking import Look
from nanproof.confirm.narrow import bracket, halved
from nanproof.confirm.problem import Problem
from nanproof.confirm.variables import FLOAT, ONE_HOT, WHOLE, Sample, fault


@pytest.mark.parametrize("mode", ["combined", "random", "gradient"])
@pytest.mark.parametrize(
    ("text", "ranges", "gives"),
    [
        (LOG_SIGMOID, {"x": (-30, 30)}, "-inf"),
        (LOG_SOFTMAX, {"x": (-90, 90)}, "-inf"),
        ("g (float[3] x) => (float[3] y) { y = Exp(x) }", {"x": (0, 100)}, "inf"),
        ("g (float[3] x) => (float[3] y) { y = Sqrt(x) }", {"x": (-1, 100)}, "nan"),
    ],
)
def test_what_every_way_finds(mode: str, text: str, ranges: dict[str, tuple[float, float]], gives: str) -> None:
    outcome = searched(problem(text, ranges), mode=mode)
    assert outcome.ended == "found"
    assert [hit.gives for _, hit in outcome.hits.values()] == [gives]


def test_the_gradient_finds_what_random_samples_do_not() -> None:
    posed = problem(FAR_SUM, {"x": (-20, 20)})
    assert searched(posed, mode="random", looks=1500).ended == "work"
    outcome = searched(posed, mode="gradient", looks=1500)
    assert [hit.gives for _, hit in outcome.hits.values()] == ["nan"]


def test_a_divisor_is_brought_to_exactly_0() -> None:
    posed = problem(NARROW, {"x": (1, 10), "z": (-5, 3)})
    assert searched(posed, mode="random", looks=1500).ended == "work"
    for seed in range(3):
        outcome = searched(posed, mode="combined", seed=seed)
        assert [hit.gives for _, hit in outcome.hits.values()] == ["inf"], seed


def test_halving_ends_at_neighbours_of_0() -> None:
    text = "g (float[1] x) => (float[1] y) { a = Sin(x)\n y = Reciprocal(a) }"
    posed = problem(text, {"x": (3, 4)})
    seen = [(s, posed.look([s])[0].signed[0]) for s in ({"x": np.float32([3])}, {"x": np.float32([4])})]
    found = bracket(seen)
    assert found is not None
    (x,) = halved(posed, 0, found, lambda sample: posed.look([sample])[0])["x"]
    assert abs(float(x) - np.pi) < 1e-6


def test_a_linear_jump_lands_where_the_margin_is_0() -> None:
    text = """g (float[2] x) => (float[2] y) {
        c = Constant<value = float[2] {10.0, 8.0}>()
        d = Sub(c, x)
        y = Sqrt(d) }"""
    posed = problem(text, {"x": (0, 100)})
    start = {"x": np.float32([0, 0])}
    (slope,) = slopes(posed, [start], 0)
    assert slope["x"].tolist() == [0, -1]
    first = next(jumps(posed, start, slope, float(posed.look([start])[0].margins[0])))
    assert first["x"].tolist() == [0, 8]


def test_the_same_seed_finds_the_same() -> None:
    posed = problem(NARROW, {"x": (1, 10), "z": (-5, 3)})
    one, other, third = (searched(posed, seed=seed) for seed in (5, 5, 6))
    assert one.looks == other.looks
    for name in ("x", "z"):
        assert np.array_equal(one.hits[0][0][name], other.hits[0][0][name])
    assert not all(np.array_equal(one.hits[0][0][name], third.hits[0][0][name]) for name in ("x", "z"))


@pytest.mark.parametrize("seed", range(3))
def test_samples_are_valid(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """g (float[2, 3] x, float[2, 3] label, int64[4] i, bool[2] b) => (float[2, 3] y, int64[4] j, bool[2] k) {
        two = Constant<value = float {2.0}>()
        c = Constant<value = float {1.5}>()
        s = Mul(x, x)
        t = Mul(two, x)
        d = Sub(s, t)
        e = Add(d, c)
        f = Add(e, label)
        y = Log(f)
        j = Identity(i)
        k = Not(b) }"""
    posed = problem(text, {"x": (-5, 5), "label": (0, 1), "i": (-3, 7)}, roles={"label": "label"})
    taken = []
    look = Problem.look

    def noted(self: Problem, samples: list[Sample]) -> list[Look]:
        taken.extend(samples)
        return look(self, samples)

    monkeypatch.setattr(Problem, "look", noted)
    searched(posed, seed=seed, looks=300)
    assert taken
    assert {v.name: v.kind for v in posed.variables} == {"x": FLOAT, "label": ONE_HOT, "i": WHOLE, "b": WHOLE}
    assert all(fault(posed.variables, sample) is None for sample in taken)


def test_safe_sites_are_never_searched() -> None:
    report = checked(LOG_SIGMOID, {"x": (-10, 10)})
    assert not report.found
    assert report.confirm().sites == report.sites
