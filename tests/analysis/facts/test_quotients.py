"""Quotients that are bounded whatever their operands: exp of 80 times them can't overflow, or what they leave of 1 has a root."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.facts.written import Ranges, codes, concrete

X: Ranges = {"x": (-1e4, 1e4)}
PQ: Ranges = {"p": (0, 1e6), "q": (0, 1e6)}
TWO = "float[3, 4] p, float[3, 4] q"
EXP = " big = Mul(n, k) y = Exp(big)"
REST = " left = Sub(one, n) y = Sqrt(left)"

SAFE: dict[str, tuple[str, Ranges, str]] = {
    "a share of two": ("s = Add(p, q) t = Add(s, eps) n = Div(p, t)" + REST, PQ, TWO),
    "a share of a positive sum": ("s = Add(p, q) n = Div(p, s)" + REST, {"p": (0, 1e6), "q": (1, 1e6)}, TWO),
    "odds": ("e = Exp(x) s = Add(e, one) n = Div(e, s)" + REST, {"x": (-80, 80)}, ""),
    "softsign": ("a = Abs(x) s = Add(a, one) n = Div(x, s)" + EXP, X, ""),
    "a share of a row": ("a = Relu(x) s = ReduceSum(a, last) t = Add(s, eps) n = Div(a, t)" + REST, X, ""),
    "a share of a clipped sum": ("s = ReduceSum(x, last) t = Clip(s, eps) n = Div(x, t)" + REST, {"x": (0, 1e6)}, ""),
    "over the sum of the sizes": ("a = Abs(x) s = ReduceSum(a, last) t = Add(s, eps) n = Div(x, t)" + EXP, X, ""),
    "over the norm of sizes": ("s = ReduceL1(x, last) t = Clip(s, eps) n = Div(x, t)" + EXP, X, ""),
    "over the largest size": ("a = Abs(x) s = ReduceMax(a, last) t = Max(s, eps) n = Div(x, t)" + EXP, X, ""),
    "times the inverse": ("a = Abs(x) s = ReduceMax(a, last) t = Max(s, eps) i = Reciprocal(t) n = Mul(x, i)" + EXP, X, ""),
    "between the minimum and the maximum": (
        """m = ReduceMin(x, last) b = ReduceMax(x, last) d = Sub(x, m) w = Sub(b, m) t = Add(w, eps) n = Div(d, t)"""
        + REST, X, ""
    ),
    "a leg over the hypotenuse": (
        "a = Mul(p, p) b = Mul(q, q) s = Add(a, b) t = Add(s, eps) r = Sqrt(t) n = Div(p, r)" + EXP, PQ, TWO
    ),
    "x over the root of 1 + x * x": ("a = Mul(x, x) s = Add(a, one) r = Sqrt(s) n = Div(x, r)" + EXP, X, ""),
}  # fmt: skip

UNSAFE: dict[str, tuple[str, Ranges, str, str]] = {
    "a share of other numbers": ("s = Add(q, q) t = Add(s, eps) n = Div(p, t)" + EXP, PQ, TWO, "NP201"),
    "a share of numbers of either sign": ("s = Add(x, two) t = Clip(s, eps) n = Div(x, t)" + EXP, X, "", "NP201"),
    "a share of the other rows": (
        "a = Relu(x) b = Neg(x) c = Relu(b) s = ReduceSum(c, last) t = Add(s, eps) n = Div(a, t)" + EXP, X, "", "NP201"
    ),
    "a share that isn't below 1": ("s = Add(p, q) t = Add(s, eps) n = Div(p, t) r = Sub(half, n) y = Sqrt(r)", PQ, TWO, "NP102"),
    "a leg over half the hypotenuse": (
        """a = Mul(p, p) b = Mul(q, q) s = Add(a, b) t = Add(s, eps) r = Sqrt(t) h = Mul(r, half) n = Div(p, h)"""
        + EXP, PQ, TWO, "NP201"
    ),
    "the maximum of numbers of either sign": (
        "s = ReduceMax(x, last) t = Max(s, eps) n = Div(x, t)" + EXP.replace("Exp", "Log"), X, "", "NP101"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAFE)
def test_proved(name: str) -> None:
    body, ranges, inputs = SAFE[name]
    assert not codes(body, ranges, inputs or "float[3, 4] x")


@pytest.mark.parametrize("name", UNSAFE)
def test_not_proved(name: str) -> None:
    body, ranges, inputs, code = UNSAFE[name]
    assert code in codes(body, ranges, inputs or "float[3, 4] x")


@pytest.mark.parametrize("name", [*SAFE, *UNSAFE])
@given(st.data())
def test_what_the_runtime_computes_lies_in_the_boxes(name: str, data: st.DataObject) -> None:
    body, ranges, inputs = (SAFE | UNSAFE)[name][:3]
    graph = concrete(body, ranges, inputs or "float[3, 4] x")
    graph.hold(data.draw(graph.feeds))
