"""Loops and Scans: unrolled or iterated, what the runtime computes lies in the Boxes, and they end."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import onnxruntime as ort
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanproof.analysis import Options, analyse
from nanproof.analysis.analyse import run
from nanproof.analysis.state import State
from nanproof.frontends.onnx.load import load
from nanproof.model.lower import lower
from nanproof.model.ranges import decide
from nanproof.ops import lookup
from nanproof.ops.call import Setting

HEADER = '<ir_version: 10, opset_import: ["" : 26]>\n'

LOOP = """g ({inputs}) => (float[2] y, float[k, 2] all) {{
    {first}
    y, all = Loop (n, go, x) <
        body = b (int64 i, bool c, float[2] v) => (bool d, float[2] w, float[2] s) {{
            {body}
            d = Identity(c)
            s = Identity(w)
        }}
    > }}"""


def analysed(text: str, ranges: dict[str, tuple[float, float]]) -> State:
    model = load(onnx.parser.parse_model(HEADER + text))
    return run(model, lower(model, lookup), decide(model, ranges), Setting())


def contained(state: State, feeds: dict[str, Any], text: str) -> None:
    session = ort.InferenceSession(onnx.parser.parse_model(HEADER + text).SerializeToString())
    real = session.run(None, feeds)
    for slot, value in zip(state.program.outputs, real, strict=True):
        box = state.hulls[slot]
        assert box is not None
        lo, hi = box.hull()
        finite = value[np.isfinite(value)].astype(np.float64)
        assert finite.size == 0 or (lo <= finite.min() and finite.max() <= hi)
        assert np.isfinite(value).all() or box.flags


def loop(body: str, trips: int | None, inputs: str = "float[2] x") -> str:
    first = "go = Constant<value = bool {1}>()"
    if trips is not None:
        first += f"\n n = Constant<value = int64 {{{trips}}}>()"
    return LOOP.format(inputs=inputs, first=first, body=body)


@pytest.mark.parametrize("trips", [0, 1, 5, 64, 65, 300])
def test_a_known_trip_count(trips: int) -> None:
    text = loop("h = Constant<value = float {0.5}>()\n w = Mul(v, h)", trips)
    state = analysed(text, {"x": (-4, 4)})
    assert not state.sites
    contained(state, {"x": np.array([-4, 4], np.float32)}, text)


def test_few_iterations_are_exact() -> None:
    state = analysed(loop("w = Add(v, v)", 3), {"x": (1, 1)})
    box = state.hulls[state.program.outputs[0]]
    assert box is not None
    assert box.hull() == (8.0, 8.0)


def test_an_overflow_after_many_iterations_is_found_once() -> None:
    text = loop("w = Add(v, v)", 1000)
    report = analyse(load(onnx.parser.parse_model(HEADER + text)), Options(ranges={"x": (1, 1)}))
    assert [f.code for f in report.found] == ["NP203"]


def test_an_open_trip_count_is_iterated_to_a_fixpoint() -> None:
    text = loop("h = Constant<value = float {0.5}>()\n w = Mul(v, h)", None, "float[2] x, int64 n")
    state = analysed(text, {"x": (-4, 4), "n": (0, 10**6)})
    assert not state.sites
    for trips in (0, 1, 7):
        contained(state, {"x": np.array([-4, 3], np.float32), "n": np.array(trips)}, text)


def test_what_the_second_iteration_breaks_is_found() -> None:
    # 1 - x is 0 only for what the first iteration made of x = 0.5
    text = loop(
        "w = Add(v, v)\n o = Constant<value = float {1.0}>()\n q = Sub(o, v)\n r = Log(q)", None, "float[2] x, int64 n"
    )
    report = analyse(load(onnx.parser.parse_model(HEADER + text)), Options(ranges={"x": (0.1, 0.5), "n": (0, 9)}))
    assert "NP101" in {f.code for f in report.findings}


SCAN = """g (float[4, 2] x) => (float[2] total, float[4, 2] sums) {
    zero = Constant<value = float[2] {0.0, 0.0}>()
    total, sums = Scan <num_scan_inputs = 1,
        body = b (float[2] acc, float[2] row) => (float[2] next, float[2] out) {
            next = Add(acc, row)
            out = Identity(next)
        }
    > (zero, x) }"""


def test_scan_walks_through_its_input() -> None:
    state = analysed(SCAN, {"x": (-1, 2)})
    assert not state.sites
    box = state.hulls[state.program.outputs[0]]
    assert box is not None
    assert box.hull() == (-4.0, 8.0)
    contained(state, {"x": np.array([[-1, 2], [2, -1], [0, 0], [2, 2]], np.float32)}, SCAN)


@given(
    st.lists(
        st.sampled_from(["Add(v, v)", "Mul(v, v)", "Neg(v)", "Exp(v)", "Sub(v, x)", "Reciprocal(v)", "Sqrt(v)"]),
        min_size=1,
        max_size=4,
    ),
    st.one_of(st.none(), st.integers(0, 100)),
    st.tuples(st.floats(-100, 100, width=32), st.floats(0, 50, width=32)),
)
def test_every_loop_terminates_and_is_sound(lines: list[str], trips: int | None, at: tuple[float, float]) -> None:
    lines = [f"t{i} = {line.replace('(v', f'(t{i - 1}' if i else '(v', 1)}" for i, line in enumerate(lines)]
    body = "\n".join([*lines, f"w = Identity(t{len(lines) - 1})"])
    text = loop(body, trips, "float[2] x" if trips is not None else "float[2] x, int64 n")
    low, high = at[0], float(np.float32(at[0] + at[1]))
    state = analysed(text, {"x": (low, high)} | ({} if trips is not None else {"n": (0, 50)}))
    feeds: dict[str, Any] = {"x": np.array([low, high], np.float32)}
    for count in [None] if trips is not None else [0, 1, 3, 50]:
        contained(state, feeds if count is None else feeds | {"n": np.array(count)}, text)


STOPPING = """g (float[1] x) => (float r) {{
    n = Constant<value = int64 {{10}}>()
    go = Constant<value = bool {{1}}>()
    last, rows = Loop (n, go, x) <
        body = b (int64 i, bool c, float[1] v) => (bool d, float[1] w, float[1] s) {{
            one = Constant<value = float {{1.0}}>()
            w = Sub(v, one)
            s = Identity(v)
            d = Greater(w, one)
        }}
    >
    size = Shape<start = 0, end = 1>(rows)
    count = Cast<to = 1>(size)
    three = Constant<value = float {{3.0}}>()
    left = Sub(count, three)
    q = Reciprocal(left)
    r = Squeeze(q) }}"""


def test_a_body_that_stops_early_leaves_the_length_open() -> None:
    report = analyse(load(onnx.parser.parse_model(HEADER + STOPPING.format())), Options(ranges={"x": (2, 9)}))
    assert "NP104" in {f.code for f in report.found}


def test_a_nan_that_is_carried_round_reaches_the_stacked_result() -> None:
    text = """g (float[1] x, int64 n) => (float[k, 1] rows) {
        go = Constant<value = bool {1}>()
        last, rows = Loop (n, go, x) <
            body = b (int64 i, bool c, float[1] v) => (bool d, float[1] w, float[1] s) {
                d = Identity(c)
                s = Identity(v)
                one = Constant<value = float {1.0}>()
                u = Sub(v, one)
                w = Log(u)
            }
        > }"""
    report = analyse(load(onnx.parser.parse_model(HEADER + text)), Options(ranges={"x": (2, 3), "n": (0, 50)}))
    assert [(f.code, f.reaches) for f in report.found if f.code == "NP101"] == [("NP101", ("rows",))]
