"""Orders between values: proved where they hold in floats, and only there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.facts.written import Ranges, codes, concrete

X: Ranges = {"x": (-1e4, 1e4)}
XZ: Ranges = {"x": (-1e4, 1e4), "z": (-1e4, 1e4)}
TWO = "float[3, 4] x, float[3, 4] z"
SIZES = "float[3, 4] w, float[3, 4] h, float[3, 4] v, float[3, 4] u"
BOXES: Ranges = dict.fromkeys("whvu", (0.1, 1000.0))
AREAS = """mw = Min(w, v) mh = Min(h, u) i = Mul(mw, mh) a1 = Mul(w, h) a2 = Mul(v, u) s = Add(a1, a2)
    n = Sub(s, i) """

SAFE: dict[str, tuple[str, Ranges, str]] = {
    "a size less the value": ("a = Abs(x) d = Sub(a, x) y = Sqrt(d)", X, ""),
    "a size and the value": ("a = Abs(x) d = Add(a, x) m = Neg(d) f = Sub(a, m) g = Add(f, one) y = Log(g)", {"x": (0, 9)}, ""),
    "relu less the value": ("a = Relu(x) d = Sub(a, x) y = Sqrt(d)", X, ""),
    "a value less its floor": ("a = Floor(x) d = Sub(x, a) y = Sqrt(d)", X, ""),
    "the ceiling less the value": ("a = Ceil(x) d = Sub(a, x) y = Sqrt(d)", X, ""),
    "the larger less the smaller": ("a = Min(x, z) b = Max(x, z) d = Sub(b, a) y = Sqrt(d)", XZ, TWO),
    "a sum less one of its terms": ("a = ReduceSum(x, last) d = Sub(a, x) y = Sqrt(d)", {"x": (0, 1e4)}, ""),
    "a prefix sum less its last term": ("a = CumSum(x, place) d = Sub(a, x) y = Sqrt(d)", {"x": (0, 1e4)}, ""),
    "the largest less the smallest of other rows": (
        "m = ReduceMax(x, last) n = ReduceMin(x, first) d = Sub(m, n) y = Sqrt(d)", X, "float[4, 4] x"
    ),
    "the mean less the minimum": ("m = ReduceMin(x, last) n = ReduceMean(x, last) d = Sub(n, m) e = Add(d, one) y = Log(e)", X, ""),
    "the maximum less the mean": ("m = ReduceMax(x, last) n = ReduceMean(x, last) d = Sub(m, n) e = Add(d, one) y = Log(e)", X, ""),
    "a value less its logsumexp": ("l = ReduceLogSumExp(x, last) d = Sub(x, l) y = Exp(d)", X, ""),
    "a value less a logsumexp by hand": (
        """m = ReduceMax(x, last) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, last) l = Log(s) g = Add(l, m)
        f = Sub(x, g) y = Exp(f)""", X, ""
    ),
    "two areas less what they share": (AREAS + "y = Div(i, n)", BOXES, SIZES),
    "the share of a union is at most 1": (AREAS + "q = Div(i, n) r = Sub(two, q) y = Log(r)", BOXES, SIZES),
    "the two halves of a value": ("a = Relu(x) n = Neg(x) b = Relu(n) d = Sub(a, b) f = Sub(d, x) y = Sqrt(f)", X, ""),
    "the two halves of a size": ("a = Relu(x) n = Neg(x) b = Relu(n) d = Add(a, b) f = Abs(x) g = Sub(d, f) y = Sqrt(g)", X, ""),
    "the root of a larger square": ("q = Mul(x, x) p = Add(q, one) r = Sqrt(p) d = Sub(r, x) e = Add(d, eps) y = Log(e)", X, ""),
    "what rounding takes away": ("f = Round(x) d = Sub(x, f) e = Add(d, one) y = Log(e)", X, ""),
    "an overlap of two lengths": (
        """a = Max(x, z) b = Min(p, q) c = Sub(b, a) d = Relu(c) e = Sub(p, x) f = Sub(q, z) s = Add(e, f) u = Sub(s, d)
        y = Div(d, u)""",
        {"x": (0, 1), "z": (0, 1), "p": (1.5, 2), "q": (1.5, 2)},
        "float[3, 4] x, float[3, 4] z, float[3, 4] p, float[3, 4] q",
    ),
    "one of two choices": (
        "c = Greater(x, z) a = Where(c, x, z) b = Max(x, z) d = Sub(b, a) y = Sqrt(d)", XZ, TWO
    ),
}  # fmt: skip

UNSAFE: dict[str, tuple[str, Ranges, str, str]] = {
    "two halves of different values": ("a = Relu(x) n = Neg(z) b = Relu(n) d = Sub(a, b) f = Sub(d, x) y = Sqrt(f)", XZ, TWO, "NP102"),
    "the root of a smaller square": (
        "q = Mul(x, x) h = Mul(q, half) p = Add(h, one) r = Sqrt(p) d = Sub(r, x) e = Add(d, eps) y = Log(e)", X, "", "NP101"
    ),
    "the size of another value": ("a = Abs(z) d = Sub(a, x) y = Sqrt(d)", XZ, TWO, "NP102"),
    "half of a size": ("a = Abs(x) b = Mul(a, half) d = Sub(b, x) y = Sqrt(d)", X, "", "NP102"),
    "a sum of numbers of either sign": ("a = ReduceSum(x, last) d = Sub(a, x) y = Sqrt(d)", X, "", "NP102"),
    "an exclusive prefix sum": ("a = CumSum<exclusive = 1>(x, place) d = Sub(a, x) y = Sqrt(d)", {"x": (0, 1)}, "", "NP102"),
    "what two areas share, twice": (AREAS + "t = Sub(n, i) o = Sub(t, i) y = Sqrt(o)", BOXES, SIZES, "NP102"),
    "two areas less what holds both": (AREAS.replace("Min", "Max") + "y = Sqrt(n)", BOXES, SIZES, "NP102"),
    "the mean in floats": ("m = ReduceMin(x, last) n = ReduceMean(x, last) d = Sub(n, m) y = Sqrt(d)", X, "", "NP102"),
    "the minimum of the transposed": (
        "t = Transpose(x) m = Min(x, t) d = Sub(t, x) y = Sqrt(d)", X, "float[4, 4] x", "NP102"
    ),
    "products of negative factors": ("a = Min(x, z) b = Mul(a, x) c = Mul(x, x) d = Sub(c, b) y = Sqrt(d)", XZ, TWO, "NP102"),
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
