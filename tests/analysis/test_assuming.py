"""What a condition says inside: in the branches of an If, and in the next iteration of a loop."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanproof.analysis import Options, analyse
from nanproof.analysis.analyse import run
from nanproof.execution import onnx_runtime
from nanproof.findings.report import Report
from nanproof.frontends.onnx.load import load
from nanproof.model.lower import lower
from nanproof.model.ranges import decide
from nanproof.ops import lookup
from nanproof.ops.call import Setting

HEADER = '<ir_version: 10, opset_import: ["" : 26]>\n'

IF = """g (float[4] x, float s) => (float[4] y) {{
    zero = Constant<value = float {{0}}>()
    {condition}
    y = If (c) <
        then_branch = t () => (float[4] a) {{ {then} }},
        else_branch = e () => (float[4] b) {{ {other} }}
    > }}"""


def check(text: str, ranges: dict[str, tuple[float, float]]) -> Report:
    return analyse(load(onnx.parser.parse_model(HEADER + text)), Options(ranges=ranges))


def branches(condition: str, then: str = "a = Log(x)", other: str = "b = Neg(x)") -> list[str]:
    report = check(IF.format(condition=condition, then=then, other=other), {"x": (-4, 4), "s": (-4, 4)})
    return [f.code for f in report.found]


LEAST = "m = ReduceMin<keepdims = 0>(x)\n"
MOST = "m = ReduceMax<keepdims = 0>(x)\n"
EVERY = """e = Greater(x, zero)
    i = Cast<to = 6>(e)
    w = {}<keepdims = 0>(i)
    c = Cast<to = 9>(w)"""


@pytest.mark.parametrize(
    "condition",
    [
        LEAST + "c = Greater(m, zero)",
        LEAST + "c = Less(zero, m)",
        LEAST + "n = LessOrEqual(m, zero)\n c = Not(n)",
        LEAST + "p = Greater(m, zero)\n q = Greater(s, zero)\n c = And(p, q)",
        LEAST + "one = Constant<value = int64[1] {1}>()\n f = Reshape(m, one)\n c = Greater(f, zero)",
        EVERY.format("ReduceMin"),
    ],
)
def test_a_condition_on_the_least_element_holds_for_every_element(condition: str) -> None:
    assert branches(condition) == []


@pytest.mark.parametrize(
    "condition",
    [
        LEAST + "c = GreaterOrEqual(m, zero)",
        LEAST + "c = Less(m, zero)",
        MOST + "c = Greater(m, zero)",
        LEAST + "p = Greater(m, zero)\n q = Greater(s, zero)\n c = Or(p, q)",
        "m = ReduceMean<keepdims = 0>(x)\n c = Greater(m, zero)",
        EVERY.format("ReduceMax"),
    ],
)
def test_a_condition_that_says_too_little_helps_nobody(condition: str) -> None:
    assert branches(condition) == ["NP101"]


def test_the_other_branch_has_the_opposite() -> None:
    condition = MOST + "c = LessOrEqual(m, zero)"
    # not (max <= 0) says nothing of the least element
    assert branches(condition, "a = Neg(x)", "b = Log(x)") == ["NP101"]
    condition = "c = Less(s, zero)"
    assert branches(condition, "a = Neg(x)", "r = Sqrt(s)\n b = Add(x, r)") == []
    assert branches(condition, "r = Sqrt(s)\n a = Add(x, r)", "b = Neg(x)") == ["NP102"]


def test_what_follows_the_if_has_the_whole_range_again() -> None:
    text = IF.format(condition="c = Greater(s, zero)", then="r = Log(s)\n a = Add(x, r)", other="b = Neg(x)")
    text = text.replace("(float[4] y)", "(float[4] z)").rstrip(" }") + "\n l = Log(s)\n z = Add(y, l) }"
    assert [f.node for f in check(text, {"x": (-4, 4), "s": (-4, 4)}).found] == ["l"]


@given(
    st.sampled_from(["Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal"]),
    st.sampled_from(["ReduceMin", "ReduceMax", "ReduceMean"]),
    st.lists(st.floats(-4, 4, width=32), min_size=4, max_size=4),
    st.floats(-4, 4, width=32),
)
def test_sound(comparison: str, reduction: str, x: list[float], s: float) -> None:
    condition = f"m = {reduction}<keepdims = 0>(x)\n c = {comparison}(m, s)"
    text = HEADER + IF.format(condition=condition, then="a = Add(x, s)", other="b = Sub(x, s)")
    model = load(onnx.parser.parse_model(text))
    ranges = decide(model, {"x": (-4, 4), "s": (-4, 4)})
    state = run(model, lower(model, lookup), ranges, Setting())
    feeds = {"x": np.array(x, np.float32), "s": np.array(s, np.float32)}
    (real,) = onnx_runtime.run(onnx.parser.parse_model(text).SerializeToString(), feeds)
    box = state.hulls[state.program.outputs[0]]
    assert box is not None
    lo, hi = box.hull()
    assert lo <= real.min()
    assert real.max() <= hi


COUNTED = """g (int64 n, float[2] x) => (float[2] y) {{
    zero = Constant<value = int64 {{0}}>()
    one = Constant<value = int64 {{1}}>()
    go = Less(zero, n)
    i, y = Loop ("", go, zero, x) <
        body = b (int64 t, bool c, int64 at, float[2] v) => (bool d, int64 next, float[2] w) {{
            f = Cast<to = 1>(at)
            limit = Constant<value = float {{{limit}}}>()
            left = Sub(limit, f)
            w = Div(v, left)
            after = Add(at, one)
            d = Less(after, n)
            next = Identity(after)
        }}
    > }}"""


def test_a_counter_stays_below_what_the_loop_goes_on_to() -> None:
    ranges = {"n": (0, 100_000), "x": (-1.0, 1.0)}
    assert not check(COUNTED.format(limit="100000"), ranges).found
    assert [f.code for f in check(COUNTED.format(limit="99999"), ranges).found] == ["NP103"]
    # the last value of the counter is the limit itself, after the loop
    text = (
        COUNTED.format(limit="100000").replace("(float[2] y)", "(float[2] z)").rstrip(" }")
        + """
        end = Cast<to = 1>(i)
        limit = Constant<value = float {100000}>()
        rest = Sub(limit, end)
        z = Div(y, rest) }"""
    )
    assert [(f.code, f.node) for f in check(text, ranges).found] == [("NP103", "z")]


WHILE = """g (int64 n, float[2] x) => (float[2] y) {{
    go = Constant<value = bool {{1}}>()
    y = Loop (n, go, x) <
        body = b (int64 t, bool c, float[2] v) => (bool d, float[2] w) {{
            {line}
            m = {reduction}<keepdims = 0>(w)
            limit = Constant<value = float {{{limit}}}>()
            d = {comparison}(m, limit)
        }}
    > }}"""


@given(
    st.sampled_from(["w = Add(v, v)", "w = Mul(v, v)", "w = Neg(v)", "h = Relu(v)\n w = Sub(h, x)", "w = Exp(v)"]),
    st.sampled_from(["ReduceMin", "ReduceMax", "ReduceSum"]),
    st.sampled_from(["Greater", "GreaterOrEqual", "Less", "LessOrEqual"]),
    st.sampled_from(["-2", "0", "0.5", "3", "100"]),
    st.tuples(st.floats(-4, 4, width=32), st.floats(-4, 4, width=32)),
)
def test_loops_that_end_by_a_comparison_are_sound(
    line: str, reduction: str, comparison: str, limit: str, at: tuple[float, float]
) -> None:
    text = HEADER + WHILE.format(line=line, reduction=reduction, comparison=comparison, limit=limit)
    model = load(onnx.parser.parse_model(text))
    low, high = min(at), max(at)
    state = run(model, lower(model, lookup), decide(model, {"x": (low, high), "n": (0, 200)}), Setting())
    box = state.hulls[state.program.outputs[0]]
    assert box is not None
    lo, hi = box.hull()
    for trips in (0, 1, 2, 7, 200):
        feeds = {"x": np.array(at, np.float32), "n": np.array(trips)}
        (real,) = onnx_runtime.run(onnx.parser.parse_model(text).SerializeToString(), feeds)
        usual = real[np.isfinite(real)]
        assert usual.size == 0 or (lo <= usual.min() and usual.max() <= hi)
        assert np.isfinite(real).all() or box.flags
