"""What high effort settles, what it must leave open, and what it says of both."""

from __future__ import annotations

from collections.abc import Mapping

import onnx.parser
import pytest

import nanproof
from nanproof.findings.errors import InputError
from nanproof.findings.report import Report

HEADER = '<ir_version: 10, opset_import: ["" : 26]>\n'
Ranges = Mapping[str, tuple[float, float]]


def check(text: str, ranges: Ranges, effort: str = "high", **options: float) -> Report:
    return nanproof.check(onnx.parser.parse_model(HEADER + text), ranges=ranges, effort=effort, **options)  # type: ignore[arg-type]


PARABOLA = """g (float[N, 4] x) => (float[N, 4] y) {{
    c = Constant<value = float {{{0}}}>()
    q = Mul(x, x)
    d = Sub(q, x)
    e = Add(d, c)
    y = {1}(e) }}"""

CHAIN = """g (float[N, 4] x) => (float[N, 4] y) {
    one = Constant<value = float {1.0}>()
    q = Mul(x, x)
    d = Add(q, one)
    r = Div(x, d)
    s = Add(r, one)
    t = Div(one, s)
    y = Log(t) }"""

TWO = """g (float[N, 4] x, float[4] z) => (float[N, 4] y) {
    c = Constant<value = float {0.1}>()
    a = Mul(x, x)
    b = Mul(z, z)
    m = Mul(x, z)
    d = Add(a, b)
    e = Sub(d, m)
    f = Add(e, c)
    y = Log(f) }"""

HOLE = """g (float[N, 4] x, bool[4] c) => (float[N, 4] y) {
    one = Constant<value = float {1.0}>()
    less = Constant<value = float {-1.0}>()
    w = Where(c, one, less)
    half = Constant<value = float {0.5}>()
    v = Sub(w, half)
    y = Div(x, v) }"""

SIGN = """g (float[N, 4] x) => (float[N, 4] y) {
    s = Sign(x)
    half = Constant<value = float {0.5}>()
    w = Add(s, half)
    y = Div(x, w) }"""

LOGISTIC = """g (float[N, 4] x) => (float[N, 4] y) {
    one = Constant<value = float {1.0}>()
    s = Sigmoid(x)
    t = Sub(one, s)
    v = Mul(s, t)
    u = Sub(one, v)
    w = Sub(u, s)
    eps = Constant<value = float {1e-3}>()
    p = Add(w, eps)
    y = Log(p) }"""

SCALAR = """g (float[3, 3] x, float[1] t) => (float[3, 3] y) {
    one = Constant<value = float {1.0}>()
    q = Mul(t, t)
    v = Concat<axis = 0>(q, t)
    k = Constant<value = float[2] {1.0, -1.0}>()
    r = MatMul(v, k)
    e = Add(r, one)
    s = MatMul(x, x)
    y = Div(s, e) }"""

SLICED = """g (float[3, 4] x) => (float[4, 3] y) {
    one = Constant<value = float {1.0}>()
    t = Transpose(x)
    q = Mul(t, t)
    d = Sub(q, t)
    e = Add(d, one)
    y = Log(e) }"""

ROOTS = """g (float[3] x) => (float y) {
    q = Mul(x, x)
    d = Sub(q, x)
    axis = Constant<value = int64[1] {0}>()
    s = ReduceSum<keepdims = 0>(d, axis)
    one = Constant<value = float {0.9}>()
    e = Add(s, one)
    y = Log(e) }"""


@pytest.mark.parametrize(
    ("text", "ranges", "how"),
    [
        (PARABOLA.format(1.0, "Log"), {"x": (-10, 10)}, "x"),
        (PARABOLA.format(0.3, "Log"), {"x": (-100, 100)}, "x"),
        (PARABOLA.format(1.0, "Sqrt"), {"x": (-1e18, 1e18)}, "x"),
        (CHAIN, {"x": (-10, 10)}, "x"),
        (TWO, {"x": (-2, 2), "z": (-2, 2)}, "x"),
        (HOLE, {"x": (-10, 10)}, "c into 2 parts"),
        (SIGN, {"x": (-10, 10)}, "x"),
        (LOGISTIC, {"x": (-15, 15)}, "s"),
        (SCALAR, {"x": (-10, 10), "t": (0.1, 10)}, "t"),
        (SLICED, {"x": (-10, 10)}, "t"),
    ],
)
def test_splitting_proves_what_one_pass_leaves_open(text: str, ranges: Ranges, how: str) -> None:
    assert check(text, ranges, "normal").found
    report = check(text, ranges)
    assert not report.found
    assert report.sites.possible == report.sites.inevitable == 0
    assert any(f"proved by splitting {how}" in note for note in report.notes)


def test_narrowing_what_leads_to_a_site_proves_it() -> None:
    """The sum mixes elements, but x * x - x >= -1/4 is found for each before it."""
    assert check(ROOTS, {"x": (-1, 2)}, "normal").found
    report = check(ROOTS, {"x": (-1, 2)})
    assert not report.found
    assert report.notes == ("NP101 at y: proved by narrowing d part by part",)


TURNED = """g (float[3, 3] x) => (float[3, 3] y) {
    one = Constant<value = float {1.0}>()
    t = Transpose(x)
    q = Mul(x, t)
    d = Sub(q, x)
    e = Add(d, one)
    y = Log(e) }"""

HALVES = """g (float[2, 4] x) => (float[2, 2] y) {
    a, b = Split<axis = 1, num_outputs = 2>(x)
    q = Mul(a, b)
    one = Constant<value = float {1.0}>()
    e = Add(q, one)
    y = Log(e) }"""


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        (PARABOLA.format(0.25, "Log"), {"x": (-10, 10)}),  # 0 at 0.5
        (PARABOLA.format(0.25, "Log"), {"x": (-1e9, 1e9)}),
        (TURNED, {"x": (-10, 10)}),  # x and its transpose are different elements
        (HALVES, {"x": (-10, 10)}),
        (TWO, {"x": (-1e20, 1e20), "z": (-2, 2)}),  # x * x overflows
        (SIGN.replace("0.5", "1.0"), {"x": (-10, 10)}),
        (ROOTS.replace("0.9", "0.7"), {"x": (-1, 2)}),  # three times -1/4
    ],
)
def test_a_true_defect_stays(text: str, ranges: Ranges) -> None:
    report = check(text, ranges)
    assert [f.code for f in report.found] == [f.code for f in check(text, ranges, "normal").found]


def test_what_is_left_open_says_where() -> None:
    (finding,) = check(PARABOLA.format(0.25, "Log"), {"x": (-10, 10)}).found
    assert finding.because[0].startswith("splitting x into")
    assert finding.because[0].endswith("leaves x = 0.5 open")


def test_what_was_proved_helps_further_on() -> None:
    """The quotient is in [-1, 1] only because its divisor was looked at."""
    text = PARABOLA.format(1.0, "Reciprocal").replace("=> (float[N, 4] y)", "=> (float[N, 4] w)")
    text = text.removesuffix("}") + "two = Constant<value = float {2.0}>()\n r = Sub(two, y)\n w = Log(r) }"
    assert len(check(text, {"x": (-10, 10)}, "normal").found) == 2
    assert not check(text, {"x": (-10, 10)}).found


def test_longer_relations_are_kept() -> None:
    """(x0 + ... + x11) - x11 - ... - x0 + 1: more terms than a relation usually has."""
    names = [f"x{i}" for i in range(12)]
    lines = [f"s{i} = Add({'x0' if i == 1 else f's{i - 1}'}, x{i})" for i in range(1, 12)]
    last = "s11"
    for i in range(11):
        lines.append(f"d{i} = Sub({last}, x{i})")
        last = f"d{i}"
    inputs = ", ".join(f"float[4] {n}" for n in names)
    body = "\n ".join(lines)
    text = f"""g ({inputs}) => (float[4] y) {{ {body}
        e = Sub({last}, x11)
        one = Constant<value = float {{1.0}}>()
        f = Add(e, one)
        y = Log(f) }}"""
    ranges = dict.fromkeys(names, (-1.0, 1.0))
    assert check(text, ranges, "normal").found
    assert not check(text, ranges).found


def test_the_same_input_gives_the_same_output() -> None:
    one, two = (check(TWO, {"x": (-2, 2), "z": (-2, 2)}) for _ in range(2))
    assert one.notes == two.notes
    assert one.findings == two.findings


def test_the_time_limit_ends_the_search() -> None:
    report = check(PARABOLA.format(1.0, "Log"), {"x": (-10, 10)}, time_limit=0.0)
    assert [f.code for f in report.found] == ["NP101"]
    assert any("time limit of 0 s" in note for note in report.notes)


def test_low_effort_is_one_coarse_pass() -> None:
    text = """g (float[1, 2] x) => (float[1, 2] y) {
        w = Constant<value = float[2, 2] {1.0, -1.0, 0.0, 2.0}>()
        o = Constant<value = float[2] {0.5, 5.0}>()
        p = MatMul(x, w)
        q = Add(p, o)
        y = Log(q) }"""
    ranges = {"x": (0.0, 1.0)}
    assert check(text, ranges, "low").found
    assert not check(text, ranges, "normal").found


@pytest.mark.parametrize(("effort", "limit"), [("hihg", 1.0), ("high", -1.0), ("high", float("nan"))])
def test_nonsense_is_refused(effort: str, limit: float) -> None:
    with pytest.raises(InputError):
        check(PARABOLA.format(1.0, "Log"), {"x": (-1, 1)}, effort, time_limit=limit)
