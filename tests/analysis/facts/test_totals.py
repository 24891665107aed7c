"""Rows with a known total: their sums, prefix sums, maxima, squares, and averages that they weigh."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.facts.written import Ranges, codes, concrete

X: Ranges = {"x": (-1e4, 1e4)}
XV: Ranges = {"x": (-1e4, 1e4), "v": (-1.0, 1.0)}
TWO = "float[3, 4] x, float[3, 4] v"
MATRIX = "float[3, 4] x, float[4, 5] v"
LSE = "l = ReduceLogSumExp(x, last) d = Sub(x, l) p = Exp(d) "
HAND = "m = ReduceMax(x, last) d = Sub(x, m) e = Exp(d) t = ReduceSum(e, last) p = Div(e, t) "
MOST = " w = Constant<value = float {1.01}>() r = Sub(w, s) y = Log(r)"

SAFE: dict[str, tuple[str, Ranges, str]] = {
    "the sum of exp(log-softmax)": ("l = LogSoftmax(x) p = Exp(l) s = ReduceSum(p, last) y = Log(s)", X, ""),
    "the sum of exp(x - logsumexp(x))": (LSE + "s = ReduceSum(p, last) y = Log(s)", X, ""),
    "the sum of a softmax by hand": (HAND + "s = ReduceSum(p, last) y = Log(s)", X, ""),
    "the sum of shares": ("a = Add(x, one) t = ReduceSum(a, last) p = Div(a, t) s = ReduceSum(p, last) y = Log(s)", {"x": (0, 1e4)}, ""),
    "shares by the inverse": ("a = Add(x, one) t = ReduceSum(a, last) i = Reciprocal(t) p = Mul(a, i) s = ReduceSum(p, last) y = Log(s)",
                              {"x": (0, 1e4)}, ""),
    "prefix sums": ("p = Softmax(x) s = CumSum(p, place)" + MOST, X, ""),
    "prefix sums of shares of something larger": (
        "a = Relu(x) t = ReduceSum(a, last) u = Add(t, eps) p = Div(a, u) s = CumSum(p, place)" + MOST, X, ""
    ),
    "the maximum": ("p = Softmax(x) s = ReduceMax(p, last) y = Log(s)", X, ""),
    "the maximum of exp(x - max(x))": ("m = ReduceMax(x, last) d = Sub(x, m) e = Exp(d) s = ReduceMax(e, last) y = Log(s)", X, ""),
    "the sum of squares": ("p = Softmax(x) q = Mul(p, p) s = ReduceSum(q, last) y = Log(s)", X, ""),
    "the sum of squares by its operator": ("p = Softmax(x) s = ReduceSumSquare(p, last) y = Log(s)", X, ""),
    "an average": ("p = Softmax(x) q = Mul(p, v) s = ReduceSum(q, last)" + MOST, XV, TWO),
    "an average by a product of matrices": ("p = Softmax(x) s = MatMul(p, v)" + MOST, XV, MATRIX),
    "an average with part of the weights": (
        "g = Greater(x, zero) p0 = Softmax(x) p = Where(g, p0, zero) s = MatMul(p, v)" + MOST, XV, MATRIX
    ),
    "logaddexp": ("m = Max(x, v) a = Sub(x, m) b = Sub(v, m) c = Exp(a) d = Exp(b) s = Add(c, d) y = Log(s)", XV, TWO),
}  # fmt: skip

UNSAFE: dict[str, tuple[str, Ranges, str, str]] = {
    "the sum over the other axis": ("p = Softmax(x) s = ReduceSum(p, first) y = Log(s)", X, "", "NP101"),
    "prefix sums over the other axis": ("p = Softmax(x) z = Constant<value = int64 {0}>() s = CumSum(p, z)" + MOST, X, "", "NP101"),
    "the maximum over the other axis": ("p = Softmax(x) s = ReduceMax(p, first) y = Log(s)", X, "", "NP101"),
    "the minimum": ("p = Softmax(x) s = ReduceMin(p, last) y = Log(s)", X, "", "NP101"),
    "part of the weights": ("g = Greater(x, zero) p0 = Softmax(x) p = Where(g, p0, zero) s = ReduceSum(p, last) y = Log(s)", X, "", "NP101"),
    "shares of something larger": ("a = Relu(x) t = ReduceSum(a, last) u = Add(t, one) p = Div(a, u) s = ReduceSum(p, last) y = Log(s)",
                                   X, "", "NP101"),
    "an average along the wrong axis": ("p = Softmax<axis = 0>(x) s = MatMul(p, v)" + MOST, XV, MATRIX, "NP101"),
    "twice an average": ("p = Softmax(x) q = Mul(p, two) s = MatMul(q, v)" + MOST, XV, MATRIX, "NP101"),
    "a sum of exponentials of other differences": (
        "m = Max(x, v) a = Sub(x, m) b = Sub(x, m) c = Exp(a) d = Exp(b) s = Add(c, d) y = Log(s)", XV, TWO, "NP101"
    ),
    "a sum that reaches 1 only in the reals": ("p = Softmax(x) s = ReduceSum(p, last) r = Sub(one, s) y = Sqrt(r)", X, "", "NP102"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAFE)
def test_proved(name: str) -> None:
    body, ranges, inputs = SAFE[name]
    assert not codes(body, ranges, inputs or "float[3, 4] x")


@pytest.mark.parametrize("name", UNSAFE)
def test_not_proved(name: str) -> None:
    body, ranges, inputs, code = UNSAFE[name]
    assert code in codes(body, ranges, inputs or "float[3, 4] x")


@pytest.mark.parametrize(("name", "width"), [(name, width) for name in SAFE for width in (4, 33)])
@given(st.data())
def test_what_the_runtime_computes_lies_in_the_boxes(name: str, width: int, data: st.DataObject) -> None:
    body, ranges, inputs = SAFE[name]
    shapes = (inputs or "float[3, 4] x").replace("4", str(width))
    graph = concrete(body, ranges, shapes)
    graph.hold(data.draw(graph.feeds))


def test_prefix_sums_of_open_length() -> None:
    body = "p = Softmax(x) s = CumSum(p, place)" + MOST
    assert not codes(body, X, "float[n, m] x", {"n": (1, 10), "m": (1, 50_000)})
