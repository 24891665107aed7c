"""Masks of open length: every row keeps an element, or it doesn't, and softmax of a bare row is NaN."""

from __future__ import annotations

import numpy as np
import pytest
from tests.analysis.facts.written import codes, concrete

X = {"x": (-10.0, 10.0)}
SIZES = {"k": (1, 4), "t": (1, 1000)}
SQUARE = "float[k, t, t] x"
POSITIONS = (
    """sh = Shape(x) n = Gather(sh, next) r = Range(none, n, next) a = Unsqueeze(r, last) b = Unsqueeze(r, first) """
)
ONES = """at = Constant<value = int64[1] {1}>() sh = Shape(x) n = Gather(sh, at) u = Concat<axis = 0>(n, n)
    o = ConstantOfShape<value = float[1] {1.0}>(u) """
INFINITE = ONES.replace("{1.0}", "{-inf}")
ADDED = " m = Where(g, zero, minf) s = Add(x, m) y = Softmax(s)"
LONGER = """m1 = Constant<value = int64 {1}>() m2 = Constant<value = int64 {2}>() sh = Shape(x) n = Gather(sh, m1) l = Gather(sh, m2)
    r = Range(none, n, next) q = Range(none, l, next) off = Sub(l, n) p = Add(r, off) a = Unsqueeze(p, last)
    b = Unsqueeze(q, first) """

SAFE = {
    "column <= row": POSITIONS + "g = LessOrEqual(b, a)" + ADDED,
    "row >= column": POSITIONS + "g = GreaterOrEqual(a, b)" + ADDED,
    "filled where column > row": POSITIONS + "g = Greater(b, a) s = Where(g, minf, x) y = Softmax(s)",
    "filled where it isn't": POSITIONS + "g = LessOrEqual(b, a) h = Not(g) s = Where(h, minf, x) y = Softmax(s)",
    "a lower triangle of ones": ONES + "q = Trilu<upper = 0>(o) g = Cast<to = 9>(q) s = Where(g, x, minf) y = Softmax(s)",
    "where the triangle is 0": ONES + "q = Trilu<upper = 0>(o) g = Equal(q, zero) s = Where(g, minf, x) y = Softmax(s)",
    "an upper triangle of -Inf above the diagonal": INFINITE + "q = Trilu<upper = 1>(o, next) s = Add(x, q) y = Softmax(s)",
    "a window": POSITIONS + """g0 = LessOrEqual(b, a) w = Constant<value = int64 {4}>() d = Sub(a, b) v = Less(d, w)
        g = And(g0, v)""" + ADDED,
    "anything or the diagonal": POSITIONS + "g0 = Less(b, a) g1 = Equal(b, a) g = Or(g0, g1)" + ADDED,
    "the first column": POSITIONS + "g = Equal(b, none)" + ADDED,
    "log-softmax": POSITIONS + "g = LessOrEqual(b, a) m = Where(g, zero, minf) s = Add(x, m) l = LogSoftmax(s) y = Exp(l)",
    "logsumexp": POSITIONS + "g = LessOrEqual(b, a) m = Where(g, zero, minf) s = Add(x, m) l = ReduceLogSumExp(s, last) y = Exp(l)",
    "softmax by hand": POSITIONS + """g = LessOrEqual(b, a) m = Where(g, zero, minf) s = Add(x, m) top = ReduceMax(s, last)
        d = Sub(s, top) e = Exp(d) z = ReduceSum(e, last) y = Div(e, z)""",
    "in floats": POSITIONS + "f = Cast<to = 1>(a) h = Cast<to = 1>(b) g = LessOrEqual(h, f)" + ADDED,
}  # fmt: skip

UNSAFE = {
    "column < row": POSITIONS + "g = Less(b, a)" + ADDED,
    "the wrong branch": POSITIONS + "g = LessOrEqual(b, a) m = Where(g, minf, zero) s = Add(x, m) y = Softmax(s)",
    "an upper triangle of -Inf with the diagonal": INFINITE + "q = Trilu<upper = 1>(o) s = Add(x, q) y = Softmax(s)",
    "a lower triangle without the diagonal": ONES + """w = Constant<value = int64 {-1}>() q = Trilu<upper = 0>(o, w)
        g = Cast<to = 9>(q) s = Where(g, x, minf) y = Softmax(s)""",
    "a window that is shut": POSITIONS + """g0 = LessOrEqual(b, a) d = Sub(a, b) v = Greater(d, none) g = And(g0, v)""" + ADDED,
    "a triangle of halves, cast to integers": ONES.replace("{1.0}", "{0.5}")
    + "q = Trilu<upper = 0>(o) i = Cast<to = 7>(q) g = Cast<to = 9>(i) s = Where(g, x, minf) y = Softmax(s)",
    "softmax over the other axis": POSITIONS.replace("LessOrEqual", "Less") + """g0 = Less(a, b) g = Identity(g0) m = Where(g, zero, minf)
        s = Add(x, m) y = Softmax<axis = -2>(s)""",
}  # fmt: skip


@pytest.mark.parametrize("name", SAFE)
def test_proved(name: str) -> None:
    assert not codes(SAFE[name], X, SQUARE, SIZES)


@pytest.mark.parametrize("name", UNSAFE)
def test_not_proved(name: str) -> None:
    assert "NP117" in codes(UNSAFE[name], X, SQUARE, SIZES)


def test_earlier_keys_of_a_cache() -> None:
    body = LONGER + "g = LessOrEqual(b, a)" + ADDED
    longer = {"k": (1, 2), "t": (1, 10), "u": (20, 100)}
    assert not codes(body, X, "float[k, t, u] x", longer)
    # where there may be fewer keys than queries, the first of these see none
    assert "NP117" in codes(body, X, "float[k, t, u] x", longer | {"u": (1, 100)})


LENGTHS = (
    """w = Constant<value = int64 {6}>() r = Range(none, w, next) a = Unsqueeze(r, first) c = Unsqueeze(n, last) """
)


def test_a_length_that_an_input_gives() -> None:
    inputs, ranges = "float[3, 6] x, int64[3] n", X | {"n": (0.0, 6.0)}
    assert not codes(LENGTHS + "g = LessOrEqual(a, c)" + ADDED, ranges, inputs)
    assert "NP117" in codes(LENGTHS + "g = Less(a, c)" + ADDED, ranges, inputs)
    assert not codes(LENGTHS + "d = Max(c, next) g = Less(a, d)" + ADDED, ranges, inputs)


def test_an_entry_behind_a_cache_of_open_length() -> None:
    inputs, dims = "float[1, q] x, float[1, p] m, float[1, 1] o", {"p": (1, 512), "q": (1, 512)}
    body = "c = Concat<axis = 1>(m, {last}) g = Equal(c, zero) s0 = Concat<axis = 1>(m, o) s = Where(g, minf, s0) y = Softmax(s)"
    shown = "e = Constant<value = float[1, 1] {1.0}>() " + body.replace("{last}", "e")
    ranges = X | {"m": (0.0, 1.0), "o": (0.0, 1.0)}
    assert not codes(shown, ranges, inputs, dims)
    assert "NP117" in codes(body.replace("{last}", "o"), ranges, inputs, dims)


def test_positions_through_a_slice() -> None:
    cut = """z = Constant<value = int64[1] {0}>() e = Constant<value = int64[1] {9223372036854775807}>() b0 = Slice(r, z, e, z) """
    body = POSITIONS + cut + "b1 = Unsqueeze(b0, first) g = LessOrEqual(b1, a)" + ADDED
    assert not codes(body, X, SQUARE, SIZES)
    assert "NP117" in codes(body.replace("Slice(r, z, e, z)", "Add(r, next)"), X, SQUARE, SIZES)


def test_a_condition_that_an_input_takes_part_in_stays_open() -> None:
    body = POSITIONS + "g0 = LessOrEqual(b, a) g = And(g0, c)" + ADDED
    assert "NP117" in codes(body, X, SQUARE + ", bool[k, 1, t] c", SIZES)
    either = POSITIONS + "g0 = LessOrEqual(b, a) g = Or(g0, c)" + ADDED
    assert not codes(either, X, SQUARE + ", bool[k, 1, t] c", SIZES)


def test_finite_masks_that_add_up_to_minus_infinity() -> None:
    body = (
        POSITIONS
        + """low = Constant<value = float {-3.4e38}>() g = LessOrEqual(b, a) m = Where(g, low, minf) s = Add(x, m)
        q = Add(s, m) y = Softmax(q)"""
    )
    assert "NP117" in codes(body, X, SQUARE, SIZES)


@pytest.mark.parametrize("name", [*SAFE, *UNSAFE])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_what_the_runtime_computes_lies_in_the_boxes(name: str, length: int) -> None:
    graph = concrete((SAFE | UNSAFE)[name], X, SQUARE)
    rng = np.random.default_rng(length)
    graph.hold({"x": rng.choice(np.float32([-10, 0, 10, 3]), (2, length, length))})
