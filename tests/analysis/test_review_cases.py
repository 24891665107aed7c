"""Defects that a hostile review once got past the analysis; each really gives NaN or Inf in ONNX Runtime."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper

from nanproof.analysis import Options, analyse
from nanproof.findings.finding import Finding
from nanproof.frontends.onnx.load import load

HEADER = '<ir_version: 10, opset_import: ["" : 21]>\n'
Ranges = dict[str, tuple[float, float]]

CASES: dict[str, tuple[str, Ranges, str]] = {
    "the loop's carried value is related to its entry only once": (
        """g (float[1] a, int64 n) => (float[1] f) <bool go = {1}, float[1] three = {3}>
        { f = Loop <body = b (int64 i, bool c, float[1] x) => (bool d, float[1] y)
            { e = Sub(a, x) y = Mul(e, three) d = Identity(c) }> (n, go, a) }""",
        {"a": (-1, 1), "n": (0, 1000)},
        "NP204",
    ),
    "a reversed slice of a concatenation takes the other piece": (
        """g (float[3] x, float[3] y, float[3] z) => (float[3] o)
        <int64[1] s = {5}, int64[1] e = {2}, int64[1] ax = {0}, int64[1] st = {-1}, float one = {1}>
        { c = Concat<axis = 0>(x, y) d = Concat<axis = 0>(x, z) p = Slice(c, s, e, ax, st) q = Slice(d, s, e, ax, st)
          u = Sub(p, q) v = Add(u, one) o = Reciprocal(v) }""",
        {"x": (-4, 4), "y": (-4, 4), "z": (-4, 4)},
        "NP104",
    ),
    "finer blocks prove the first site and so make the second a cause of its own": (
        """g (float[1] p, float[1] q, float[1] r, float[1] t) => (float[2] v) <float i = {inf}>
        { a = Concat<axis = 0>(p, q) c = Neg(a) e = Concat<axis = 0>(r, t) s = Sub(e, c) y = Sqrt(s) u = Add(y, i)
          v = Sub(u, i) }""",
        {"p": (1, 2), "q": (-5, -4), "r": (0.1, 0.5), "t": (5.5, 6)},
        "NP212",
    ),
    "the same operand once under a mask and once not": (
        """g (float[2] x) => (float[2] o, bool[2] b) <float one = {1}, float zero = {0}>
        { a = Log(x) c = Greater(x, zero) m = Where(c, a, zero) b = Greater(m, one) o = Log(x) }""",
        {"x": (-1, 1)},
        "NP101",
    ),
    "the absolute value of the lowest int64 is negative": (
        "g (int64[1] x) => (float[1] y) { a = Abs(x) f = Cast<to = 1>(a) y = Sqrt(f) }",
        {"x": (-(2.0**63), 5)},
        "NP102",
    ),
    "a stack of no slices has the dtype of its slices": (
        """g (float[1] x, float[1, 1] z) => (float[k, 1] y) <bool go = {0}, int64 n = {5}>
        { last, s = Loop <body = b (int64 i, bool c, float[1] a) => (bool d, float[1] e, float[1] o)
            { e = Neg(a) o = Identity(a) d = Identity(c) }> (n, go, x)
          q = Concat<axis = 0>(s, z) y = Exp(q) }""",
        {"x": (-1, 1), "z": (0, 100)},
        "NP201",
    ),
    "NaN enters a Scan by what is walked through": (
        """g (float[3, 4] x) => (float[3, 4] y) <float[4] z = {0, 0, 0, 0}>
        { l = Log(x) s, y = Scan <num_scan_inputs = 1, body = b (float[4] a, float[4] r) => (float[4] e, float[4] o)
            { e = Identity(a) o = Neg(r) }> (z, l) }""",
        {"x": (-1, 1)},
        "NP101",
    ),
}


def found(model: onnx.ModelProto, ranges: Ranges) -> list[Finding]:
    return list(analyse(load(model), Options(ranges=ranges)).found)


@pytest.mark.parametrize("name", CASES)
def test_found(name: str) -> None:
    text, ranges, code = CASES[name]
    findings = found(onnx.parser.parse_model(HEADER + text), ranges)
    assert code in {f.code for f in findings}
    assert all(f.reaches for f in findings if f.code == code)


@pytest.mark.parametrize("op", ["Transpose", "Squeeze"])
def test_a_value_of_unknown_rank_minus_itself_moved_is_not_0(op: str) -> None:
    nodes = [
        helper.make_node(op, ["x"], ["t"]),
        helper.make_node("Sub", ["x", "t"], ["d"]),
        helper.make_node("Add", ["d", "one"], ["e"]),
        helper.make_node("Reciprocal", ["e"], ["y"]),
    ]
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(np.float32(1), "one")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    assert [f.code for f in found(model, {"x": (-1, 1)})] == ["NP104"]


def test_a_float16_chain_that_the_runtime_keeps_in_float32() -> None:
    # x * x is just below its float16, so x * x - float16(x * x) is negative unless the product is rounded
    x = 1.0224609375
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["p"]),
        helper.make_node("Sub", ["p", "d"], ["q"]),
        helper.make_node("Sqrt", ["q"], ["y"]),
    ]
    ends = (helper.make_tensor_value_info(n, TensorProto.FLOAT16, [1]) for n in "xy")
    constant = numpy_helper.from_array(np.float16(x * x).reshape(()), "d")
    graph = helper.make_graph(nodes, "g", [next(ends)], [next(ends)], [constant])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    assert [f.code for f in found(model, {"x": (x, x)})] == ["NP102"]
    assert not analyse(load(model), Options(ranges={"x": (x, x)}, runtime="torch")).found


def test_a_float16_softmax_goes_on_unrounded() -> None:
    text = """g (float16[3] x) => (float16[3] y) {
        k = Constant<value = float[3] {0.33325195, 0.33325195, 0.33325195}>()
        c = Cast<to = 10>(k)
        s = Softmax(x)
        q = Sub(c, s)
        y = Sqrt(q) }"""
    assert "NP102" in {f.code for f in found(onnx.parser.parse_model(HEADER + text), {"x": (1, 1)})}


def test_a_scan_over_an_open_axis_is_bounded() -> None:
    text = """g (float[n, 4] x) => (float[4] y, float[n, 4] s) <float[4] z = {0, 0, 0, 0}>
        { y, s = Scan <num_scan_inputs = 1, body = b (float[4] a, float[4] r) => (float[4] e, float[4] o)
            { e = Max(a, r) o = Neg(r) }> (z, x) }"""
    assert not found(onnx.parser.parse_model(HEADER + text), {"x": (-1, 1)})


def test_a_mask_that_empties_a_block_is_no_crash() -> None:
    text = """g (float[1] p, float[1] q) => (float[2] y) <float two = {2}>
        { c = Concat<axis = 0>(p, q) t = Greater(c, two) s = Sin(c) y = Where(t, s, c) }"""
    assert not found(onnx.parser.parse_model(HEADER + text), {"p": (0, 1), "q": (5, 6)})


def test_a_stored_nan_that_reaches_an_output_is_a_finding_and_a_stored_infinity_a_note() -> None:
    text = "g (float[2] x) => (float[2] y) <float[2] w = {{1, {0}}}> {{ y = Add(x, w) }}"
    (finding,) = found(onnx.parser.parse_model(HEADER + text.format("nan")), {"x": (0, 1)})
    assert (finding.code, finding.operand_name, finding.reaches) == ("NP215", "w", ("y",))
    report = analyse(load(onnx.parser.parse_model(HEADER + text.format("-inf"))), Options(ranges={"x": (0, 1)}))
    assert [(f.code, f.is_note) for f in report.findings] == [("NP215", True)]


def test_many_findings_that_flow_on_are_kept_apart() -> None:
    # each Log is a site of its own and flows to the output; thousands of them must not be copied at every node
    count = 300
    nodes = []
    for i in range(count):
        nodes += [
            helper.make_node("Log", [f"x{i}" if i else "x"], [f"l{i}"]),
            helper.make_node("Sub", [f"l{i}", "x"], [f"x{i + 1}"]),
        ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in ("x", f"x{count}")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    findings = [f for f in found(model, {"x": (-1, 1)}) if f.code == "NP101"]
    assert len(findings) == count
    assert all(f.reaches == (f"x{count}",) for f in findings)


def test_a_wildcard_range_leaves_stored_tensors_alone() -> None:
    text = "g (float[1] x) => (float[1] y) <float[1] c = {-5}> { s = Add(x, c) y = Log(s) }"
    assert [f.code for f in found(onnx.parser.parse_model(HEADER + text), {"*": (1, 2)})] == ["NP101"]
