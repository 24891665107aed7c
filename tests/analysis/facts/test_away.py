"""Guards that keep a value away from 0 on both sides, which no interval can say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.facts.written import Ranges, codes, concrete

X: Ranges = {"x": (-1e4, 1e4)}
XZ: Ranges = {"x": (-1e4, 1e4), "z": (-1e4, 1e4)}
TWO = "float[3, 4] x, float[3, 4] z"
GUARD = "a = Abs(x) g = Greater(a, eps) "
BOTH = "e = Neg(eps) g = Greater(x, eps) h = Less(x, e) o = Or(g, h) "

SAFE: dict[str, tuple[str, Ranges, str]] = {
    "a divisor of a safe size": (GUARD + "s = Where(g, x, one) y = Div(one, s)", X, ""),
    "a quotient that counts where the divisor is": (GUARD + "q = Div(one, x) y = Where(g, q, zero)", X, ""),
    "by the square": ("a = Mul(x, x) g = Greater(a, eps) s = Where(g, x, one) y = Reciprocal(s)", X, ""),
    "by the power": ("a = Pow(x, two) g = Greater(a, eps) s = Where(g, x, one) y = Reciprocal(s)", X, ""),
    "by what it isn't": ("a = Abs(x) g = LessOrEqual(a, eps) n = Not(g) s = Where(n, x, one) y = Div(one, s)", X, ""),
    "above or below": (BOTH + "s = Where(o, x, one) y = Div(one, s)", X, ""),
    "neither above nor below": (
        "e = Neg(eps) g = LessOrEqual(x, eps) h = GreaterOrEqual(x, e) o = And(g, h) s = Where(o, one, x) y = Div(one, s)", X, ""
    ),
    "a quotient under two conditions": (BOTH + "q = Reciprocal(x) y = Where(o, q, zero)", X, ""),
    "the sign times a size": (
        """s = Sign(x) a = Abs(x) m = Max(a, eps) d = Mul(s, m) z = Equal(s, zero) w = Where(z, eps, d)
        y = Reciprocal(w)""", X, ""
    ),
    "the logarithm of the size of what isn't 0": ("g = Equal(x, zero) s = Where(g, one, x) a = Abs(s) y = Log(a)", X, ""),
    "moved on the way": (GUARD + "s = Where(g, x, one) t = Transpose(s) y = Div(one, t)", X, ""),
    "a size that is small": ("a = Abs(x) g = Less(a, one) q = Asin(x) y = Where(g, q, zero)", X, ""),
    "the difference of what is larger": ("g = Greater(x, z) d = Sub(x, z) l = Log(d) y = Where(g, l, zero)", XZ, TWO),
    "the difference of what isn't smaller": ("g = Less(x, z) d = Sub(x, z) l = Sqrt(d) y = Where(g, zero, l)", XZ, TWO),
}  # fmt: skip

UNSAFE: dict[str, tuple[str, Ranges, str, str]] = {
    "a guard of another value": ("a = Abs(z) g = Greater(a, eps) s = Where(g, x, one) y = Div(one, s)", XZ, TWO, "NP103"),
    "a guard of the wrong branch": (GUARD + "s = Where(g, one, x) y = Div(one, s)", X, "", "NP103"),
    "a guard of the moved": (
        GUARD + "t = Transpose(x) s = Where(g, t, one) y = Div(one, s)", X, "float[4, 4] x", "NP103"
    ),
    "a guard of what is moved back elsewhere": (
        GUARD + "s = Where(g, x, one) t = Transpose(x) u = Where(g, t, one) v = Mul(s, u) y = Div(one, v)",
        X, "float[4, 4] x", "NP103"
    ),
    "above and not below": (BOTH.replace("Or", "And") + "n = Not(o) s = Where(n, x, one) y = Div(one, s)", X, "", "NP103"),
    "a bound below 0": ("a = Abs(x) n = Neg(a) g = Greater(n, eps) i = Not(g) s = Where(i, x, one) y = Div(one, s)", X, "", "NP103"),
    "a quotient that overflows beside 0": ("g = Equal(x, zero) s = Where(g, one, x) y = Reciprocal(s)", X, "", "NP205"),
    "a square that underflows": ("a = Mul(x, x) g = Equal(a, zero) s = Where(g, one, x) t = Mul(s, s) u = Mul(t, half) y = Log(u)",
                                 X, "", "NP101"),
    "the difference of what isn't larger": ("g = Greater(x, z) d = Sub(x, z) l = Log(d) y = Where(g, zero, l)", XZ, TWO, "NP101"),
    "the logarithm of a difference that may be 0": (
        "g = GreaterOrEqual(x, z) d = Sub(x, z) l = Log(d) y = Where(g, l, zero)", XZ, TWO, "NP101"
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
