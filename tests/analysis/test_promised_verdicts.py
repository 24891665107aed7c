"""The verdicts that the project promises: one small graph each, with its reason."""

from __future__ import annotations

from collections.abc import Mapping

import onnx.parser
import pytest

from nanproof.analysis import Options, analyse
from nanproof.findings.finding import Finding
from nanproof.findings.report import Report
from nanproof.frontends.onnx.load import load

HEADER = '<ir_version: 10, opset_import: ["" : 26]>\n'
Ranges = Mapping[str, tuple[float, float]]


def check(text: str, ranges: Ranges, runtime: str = "onnxruntime") -> Report:
    model = load(onnx.parser.parse_model(HEADER + text))
    return analyse(model, Options(ranges=ranges, runtime=runtime))


def at(report: Report, op: str) -> list[Finding]:
    return [f for f in report.found if f.op == op]


LOG_SIGMOID = "g (float[4] x) => (float[4] y) { s = Sigmoid(x)\n y = Log(s) }"


def test_log_of_sigmoid_is_safe_in_torch() -> None:
    assert not check(LOG_SIGMOID, {"x": (-30, 30)}, "torch").found


def test_log_of_sigmoid_fails_in_onnxruntime_whose_sigmoid_is_0_below_minus_18() -> None:
    (finding,) = check(LOG_SIGMOID, {"x": (-30, 30)}).found
    assert finding.code == "NP101"
    assert finding.interval[0] == 0.0


def test_log_of_softmax_is_flagged() -> None:
    text = "g (float[2, 4] x) => (float[2, 4] y) { s = Softmax(x)\n y = Log(s) }"
    (finding,) = check(text, {"x": (-100, 100)}).found
    assert finding.code == "NP101"


def test_log_of_softmax_of_close_inputs_is_safe() -> None:
    text = "g (float[2, 4] x) => (float[2, 4] y) { s = Softmax(x)\n y = Log(s) }"
    assert not check(text, {"x": (-10, 10)}).found


@pytest.mark.parametrize("bound", [10.0, 1e4, 3e38])
def test_log_softmax_is_safe(bound: float) -> None:
    text = "g (float[2, 4] x) => (float[2, 4] y) { y = LogSoftmax(x) }"
    report = check(text, {"x": (-bound, bound)})
    assert not [f for f in report.found if f.code != "NP214"]


GUARDED = """g ({0}[4] x) => ({0}[4] y) {{
    e = Constant<value = {0}[1] {{1e-10}}>()
    o = Constant<value = {0}[1] {{1}}>()
    s = Sigmoid(x)
    a = Add(e, o)
    b = Sub(a, s)
    y = Log(b) }}"""


@pytest.mark.parametrize("runtime", ["torch", "onnxruntime"])
def test_an_absorbed_epsilon_is_flagged_in_float32(runtime: str) -> None:
    report = check(GUARDED.format("float"), {"x": (-30, 30)}, runtime)
    assert [f.code for f in at(report, "Log")] == ["NP101"]


def test_the_absorbed_epsilon_is_named_as_the_cause() -> None:
    report = check(GUARDED.format("float"), {"x": (-30, 30)}, "torch")
    assert {"NP101", "NP401"} == {f.code for f in report.found}


@pytest.mark.parametrize("runtime", ["torch", "ieee", "onnxruntime"])
def test_the_same_epsilon_is_safe_in_float64(runtime: str) -> None:
    assert not check(GUARDED.format("double"), {"x": (-30, 30)}, runtime).found


STANDARDISED = """g ({0}[4] x, {0}[4] std) => ({0}[4] y) {{
    e = Constant<value = {0}[1] {{1e-8}}>()
    d = Add(std, e)
    y = Div(x, d) }}"""


def test_a_standard_deviation_of_0_is_guarded_in_float32() -> None:
    assert not check(STANDARDISED.format("float"), {"x": (-10, 10), "std": (0, 10)}).found


def test_the_same_guard_vanishes_in_float16() -> None:
    text = """g (float16[4] x, float16[4] std) => (float16[4] y) {
        e = Constant<value = float[1] {1e-8}>()
        h = Cast<to = 10>(e)
        d = Add(std, h)
        y = Div(x, d) }"""
    report = check(text, {"x": (-10, 10), "std": (0, 10)})
    assert [f.code for f in at(report, "Div")] == ["NP103"]


RECTANGLE = """g (float[5, 2] centre, float[5, 2] offset) => (float[5, 1] y) {
    a = Sub(centre, offset)
    b = Add(centre, offset)
    corners = Concat<axis = 1>(a, b)
    x1, y1, x2, y2 = Split<axis = 1, num_outputs = 4>(corners)
    w = Sub(x2, x1)
    h = Sub(y2, y1)
    area = Mul(w, h)
    y = Reciprocal(area) }"""


def test_debars_rectangle_is_safe_with_a_positive_offset() -> None:
    assert not check(RECTANGLE, {"centre": (-1, 1), "offset": (1, 2)}).found


def test_debars_rectangle_is_flagged_when_the_offset_may_be_0() -> None:
    (finding,) = check(RECTANGLE, {"centre": (-1, 1), "offset": (0, 2)}).found
    assert finding.code == "NP104"
    lo, hi = finding.interval
    assert -1e-5 < lo <= 0
    assert 16 <= hi < 16.0001


def test_a_tensor_minus_its_transpose_is_not_proved_0() -> None:
    text = """g (float[3, 3] x) => (float[3, 3] y) {
        t = Transpose<perm = [1, 0]>(x)
        d = Sub(x, t)
        one = Constant<value = float {1.0}>()
        a = Add(one, d)
        y = Reciprocal(a) }"""
    (finding,) = check(text, {"x": (-1, 1)}).found
    assert finding.interval[0] <= -1
    assert finding.interval[1] >= 3


def test_cancellation_is_proved_where_rounding_allows_it() -> None:
    text = """g (float[3] c, float[3] o) => (float[3] y) {
        a = Add(c, o)
        b = Sub(c, o)
        d = Sub(a, b)
        y = Log(d) }"""
    assert not check(text, {"c": (-10, 10), "o": (1, 2)}).found
    assert check(text, {"c": (-1e9, 1e9), "o": (1, 2)}).found


MASKED_SOFTMAX = """g (float[2, 3] x) => (float[2, 3] y) {{
    mask = Constant<value = float[3] {{{0}}}>()
    s = Add(x, mask)
    y = Softmax<axis = -1>(s) }}"""


def masked_softmax(mask: list[float], infinite_rows: str = "") -> Report:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    node_add = helper.make_node("Add", ["x", "mask"], ["s"])
    node_softmax = helper.make_node("Softmax", ["s"], ["y"], axis=-1)
    graph = helper.make_graph(
        [node_add, node_softmax],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
        [numpy_helper.from_array(np.array(mask, np.float32), "mask")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 26)], ir_version=10)
    return analyse(load(model), Options(ranges={"x": (-5, 5)}))


def test_softmax_of_a_masked_row_is_safe_when_one_entry_is_finite() -> None:
    inf = float("inf")
    assert not masked_softmax([0.0, -inf, -inf]).found


def test_softmax_of_a_row_that_is_masked_away_is_flagged() -> None:
    inf = float("inf")
    (finding,) = masked_softmax([-inf, -inf, -inf]).found
    assert finding.code == "NP117"


def test_exp_overflows_in_float32_and_not_in_float64() -> None:
    text = "g ({0}[3] x) => ({0}[3] y) {{ y = Exp(x) }}"
    (finding,) = check(text.format("float"), {"x": (0, 100)}).found
    assert finding.code == "NP201"
    assert not check(text.format("double"), {"x": (0, 100)}).found


def test_a_float16_sum_of_70000_ones_overflows() -> None:
    text = """g (float16[70000] x) => (float16[1] y) { y = ReduceSum<keepdims = 1>(x) }"""
    (finding,) = check(text, {"x": (1, 1)}).found
    assert finding.code == "NP207"
    assert finding.verdict.value == "inevitable"


def test_a_log_that_a_where_masks_is_a_note() -> None:
    text = """g (float[3] x) => (float[3] y) {
        zero = Constant<value = float {0.0}>()
        c = Greater(x, zero)
        l = Log(x)
        y = Where(c, l, zero) }"""
    report = check(text, {"x": (-1, 1)})
    assert not report.found
    (note,) = report.findings
    assert note.note is not None
    assert "masked" in note.note


def test_a_log_that_the_wrong_where_lets_through_is_flagged() -> None:
    text = """g (float[3] x) => (float[3] y) {
        zero = Constant<value = float {0.0}>()
        c = GreaterOrEqual(x, zero)
        l = Log(x)
        y = Where(c, l, zero) }"""
    assert check(text, {"x": (-1, 1)}).found


def test_nan_to_num_masks_a_nan() -> None:
    text = """g (float[3] x) => (float[3] y) {
        zero = Constant<value = float {0.0}>()
        l = Sqrt(x)
        n = IsNaN(l)
        y = Where(n, zero, l) }"""
    report = check(text, {"x": (-1, 1)})
    assert not report.found
    assert report.findings
