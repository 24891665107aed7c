"""Products that are never negative, mixtures, and values that are handed on as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.facts.written import Ranges, codes, concrete

X: Ranges = {"x": (-1e3, 1e3)}
XZ: Ranges = {"x": (-1e3, 1e3), "z": (-1e3, 1e3)}
TWO = "float[3, 4] x, float[3, 4] z"
PAB: Ranges = {"p": (0.0, 1.0), "a": (0.1, 9.0), "b": (0.1, 9.0)}
THREE = "float[3, 4] p, float[3, 4] a, float[3, 4] b"
REST = "q = Sub(one, p) "

SAFE: dict[str, tuple[str, Ranges, str]] = {
    "the same sum twice": ("a = Add(x, z) b = Add(z, x) p = Mul(a, b) y = Sqrt(p)", XZ, TWO),
    "a weighted square": ("h = Mul(x, half) p = Mul(h, x) y = Sqrt(p)", X, ""),
    "two pairs": ("a = Mul(x, z) b = Mul(z, x) p = Mul(a, b) y = Sqrt(p)", {"x": (-1e2, 1e2), "z": (-1e2, 1e2)}, TWO),
    "a row with itself": ("t = Transpose(x) p = MatMul(x, t) y = Sqrt(p)", X, "float[1, 4] x"),
    "an einsum of a value with itself": ('s = Einsum<equation = "ij,ij->i">(x, x) y = Sqrt(s)', X, ""),
    "a mixture": (REST + "s = Mul(p, a) t = Mul(b, q) m = Add(s, t) y = Log(m)", PAB, THREE),
    "a maximum with -Inf": ("m0 = ReduceMax(x, last) m = Max(m0, minf) d = Sub(x, m) y = Exp(d)", X, ""),
    "a maximum that is finite": (
        """m0 = ReduceMax(x, last) i = IsInf(m0) n = IsNaN(m0) o = Or(i, n) f = Not(o) m = Where(f, m0, zero) d = Sub(x, m)
        y = Exp(d)""", X, ""
    ),
    "times 1": ("s = Mul(x, one) g = Greater(s, zero) l = Log(x) y = Where(g, l, zero)", X, ""),
    "plus 0": ("s = Add(x, zero) a = Abs(s) d = Sub(a, x) y = Sqrt(d)", X, ""),
    "the two best": (
        """two_best = Constant<value = int64[1] {2}>() v, i = TopK(x, two_best) a = Gather<axis = 1>(v, none)
        b = Gather<axis = 1>(v, next) d = Sub(a, b) y = Sqrt(d)""", X, ""
    ),
    "shares of the best": (
        """two_best = Constant<value = int64[1] {2}>() p = Softmax(x) v, i = TopK(p, two_best) s = ReduceSum(v, last)
        y = Div(v, s)""", X, ""
    ),
    "a mean of exp(x - max(x))": ("m = ReduceMax(x, last) d = Sub(x, m) e = Exp(d) s = ReduceMean(e, last) y = Log(s)", X, ""),
    "over a norm that isn't 0": (
        "s = ReduceSumSquare(x, last) n = Sqrt(s) z = Equal(n, zero) w = Where(z, one, n) y = Div(x, w)", X, ""
    ),
    "over the root of a mean that isn't 0": (
        "q = Mul(x, x) s = ReduceMean(q, last) n = Sqrt(s) z = Equal(n, zero) w = Where(z, one, n) y = Div(x, w)", X, ""
    ),
    "a count that isn't 0": (
        """g = Greater(x, zero) i = Cast<to = 6>(g) c = ReduceSum(i, last) f = Cast<to = 1>(c) q = Div(x, f) e = Equal(f, zero)
        y = Where(e, zero, q)""", X, ""
    ),
    "stable logistic": ("r = Relu(x) n = Neg(r) a = Exp(n) d = Sub(x, r) b = Exp(d) s = Add(a, b) y = Log(s)", X, ""),
    "a remainder as an index": (
        """t = Constant<value = float[4] {1.0, 2.0, 3.0, 0.0}>() f = Floor(x) i = Cast<to = 7>(f) n = Constant<value = int64 {3}>()
        r = Mod(i, n) v = Gather(t, r) y = Log(v)""", X, ""
    ),
    "a branch that its condition guards": (
        """m = ReduceMin<keepdims = 0>(x) g = Greater(m, zero) y = If(g) <
        then_branch = t () => (float[3, 4] u) { u = Log(x) }, else_branch = e () => (float[3, 4] v) { v = Identity(x) }>""", X, ""
    ),
    "a branch that its condition keeps out of": (
        """m = ReduceMax<keepdims = 0>(x) g = GreaterOrEqual(m, zero) y = If(g) <
        then_branch = t () => (float[3, 4] u) { u = Identity(x) }, else_branch = e () => (float[3, 4] v) { w = Neg(x) v = Log(w) }>""",
        X, ""
    ),
}  # fmt: skip

UNSAFE: dict[str, tuple[str, Ranges, str, str]] = {
    "different sums": ("a = Add(x, z) b = Sub(z, x) p = Mul(a, b) y = Sqrt(p)", XZ, TWO, "NP102"),
    "three times": ("a = Mul(x, x) p = Mul(a, x) y = Sqrt(p)", X, "", "NP102"),
    "rows with each other": ("t = Transpose(x) p = MatMul(x, t) y = Sqrt(p)", X, "float[3, 4] x", "NP102"),
    "an einsum of different indices": ('s = Einsum<equation = "ij,kj->ik">(x, x) y = Sqrt(s)', X, "", "NP102"),
    "a mixture with other weights": (
        "q = Sub(one, a) s = Mul(p, a) t = Mul(b, q) m = Add(s, t) y = Log(m)", PAB, THREE, "NP101"
    ),
    "a mixture that overshoots": (
        REST + "s = Mul(p, a) t = Mul(b, q) m = Add(s, t) y = Log(m)", PAB | {"p": (0.0, 1.5)}, THREE, "NP101"
    ),
    "a maximum with 0": ("m0 = ReduceMin(x, last) m = Max(m0, zero) d = Sub(x, m) y = Exp(d)", X, "", "NP201"),
    "times 2": ("s = Mul(x, two) e = Add(s, one) g = Greater(e, zero) l = Log(x) y = Where(g, l, zero)", X, "", "NP101"),
    "the second best less the best": (
        """two_best = Constant<value = int64[1] {2}>() v, i = TopK(x, two_best) a = Gather<axis = 1>(v, none)
        b = Gather<axis = 1>(v, next) d = Sub(b, a) y = Sqrt(d)""", X, "", "NP102"
    ),
    "unsorted": (
        """two_best = Constant<value = int64[1] {2}>() v, i = TopK<sorted = 0>(x, two_best) a = Gather<axis = 1>(v, none)
        b = Gather<axis = 1>(v, next) d = Sub(a, b) y = Sqrt(d)""", X, "", "NP102"
    ),
    "shares of the worst": (
        """two_best = Constant<value = int64[1] {2}>() p = Softmax(x) v, i = TopK<largest = 0>(p, two_best) s = ReduceSum(v, last)
        y = Div(v, s)""", X, "", "NP103"
    ),
    "a branch that its condition doesn't guard": (
        """m = ReduceMax<keepdims = 0>(x) g = Greater(m, zero) y = If(g) <
        then_branch = t () => (float[3, 4] u) { u = Log(x) }, else_branch = e () => (float[3, 4] v) { v = Identity(x) }>""",
        X, "", "NP101"
    ),
    "a value after the branch that guarded it": (
        """m = ReduceMin<keepdims = 0>(x) g = Greater(m, zero) b = If(g) <
        then_branch = t () => (float[3, 4] u) { u = Log(x) }, else_branch = e () => (float[3, 4] v) { v = Identity(x) }>
        l = Log(x) y = Add(b, l)""", X, "", "NP101"
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
