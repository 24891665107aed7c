"""What only looks like a pattern stays as it is; what is used elsewhere stays in the graph."""

from __future__ import annotations

import onnx
import pytest
from tests.fix.changing import model

from nanproof.fix.candidates import Candidates
from nanproof.fix.changes import Rewriting, changed
from nanproof.fix.rewrites import REWRITES
from nanproof.fix.sheet import Sheet

AXIS = "a = Constant<value = int64[1] {{{0}}}>()\n"


def fitting(proto: onnx.ModelProto, value: str = "y", varying: frozenset[str] = frozenset()) -> set[str]:
    sheet = Sheet(proto, proto.graph, varying)
    return {rewrite.name for rewrite in REWRITES if rewrite.first(sheet, value) is not None}


LOOK_ALIKES = {
    "another operand below": (
        "g (float[2,5] x, float[2,5] z) => (float[2,5] y) {"
        + AXIS.format(-1)
        + """
        e = Exp(x)\n f = Exp(z)\n s = ReduceSum<keepdims=1>(f, a)\n y = Div(e, s) }""",
        "softmax",
    ),
    "a sum over two axes": (
        """g (float[2,5,3] x) => (float[2,5,3] y) {
        a = Constant<value = int64[2] {1, 2}>()\n e = Exp(x)\n s = ReduceSum<keepdims=1>(e, a)\n y = Div(e, s) }""",
        "softmax",
    ),
    "a sum without its axis": (
        "g (float[5,5] x) => (float[5,5] y) {"
        + AXIS.format(-1)
        + """
        e = Exp(x)\n s = ReduceSum<keepdims=0>(e, a)\n y = Div(e, s) }""",
        "softmax",
    ),
    "2 - p": (
        "g (float[4] x) => (float[4] y) { two = Constant<value = float {2}>()\n s = Sigmoid(x)\n r = Sub(two, s)\n y = Log(r) }",
        "log-one-minus-sigmoid",
    ),
    "p - 1": (
        "g (float[4] x) => (float[4] y) { one = Constant<value = float {1}>()\n s = Sigmoid(x)\n r = Sub(s, one)\n y = Log(r) }",
        "log-one-minus-sigmoid",
    ),
    "an epsilon of a half": (
        "g (float[4] x) => (float[4] y) { e = Constant<value = float {0.5}>()\n s = Sigmoid(x)\n r = Add(s, e)\n y = Log(r) }",
        "log-sigmoid-without-epsilon",
    ),
    "2 + exp(x)": (
        "g (float[4] x) => (float[4] y) { two = Constant<value = float {2}>()\n e = Exp(x)\n r = Add(e, two)\n y = Log(r) }",
        "softplus",
    ),
    "two means of different axes": (
        """g (float[4,4] x) => (float[4] y) {
        a = Constant<value = int64[1] {0}>()\n b = Constant<value = int64[1] {1}>()\n q = Mul(x, x)
        m = ReduceMean<keepdims=0>(q, a)\n n = ReduceMean<keepdims=0>(x, b)\n s = Mul(n, n)\n y = Sub(m, s) }""",
        "centred-variance",
    ),
    "the mean of another value": (
        "g (float[4,4] x, float[4,4] z) => (float[4] y) {"
        + AXIS.format(1)
        + """
        q = Mul(x, x)\n m = ReduceMean<keepdims=0>(q, a)\n n = ReduceMean<keepdims=0>(z, a)\n s = Mul(n, n)\n y = Sub(m, s) }""",
        "centred-variance",
    ),
    "labels that need not be one-hot": (
        "g (float[3,5] x, float[3,5] h) => (float[3] y) {"
        + AXIS.format(1)
        + """
        p = Softmax<axis=-1>(x)\n m = Mul(h, p)\n s = ReduceSum<keepdims=0>(m, a)\n y = Log(s) }""",
        "cross-entropy",
    ),
    "a vector over the length of another": (
        "g (float[3,5] x, float[3,5] z) => (float[3,5] y) {"
        + AXIS.format(1)
        + """
        n = ReduceL2<keepdims=1>(z, a)\n y = Div(x, n) }""",
        "normalize",
    ),
    "a sum of weights, no count": (
        "g (float[3,5] x, float[3,5] w) => (float[3] y) {"
        + AXIS.format(1)
        + """
        t = ReduceSum<keepdims=0>(x, a)\n n = ReduceSum<keepdims=0>(w, a)\n y = Div(t, n) }""",
        "count-of-one",
    ),
    "two draws of one distribution": (
        """g () => (float[2,5] y) {
        a = Constant<value = int64[1] {-1}>()\n s = Constant<value = int64[2] {2, 5}>()
        u = RandomUniform<shape = [2, 5]>()\n v = RandomUniform<shape = [2, 5]>()
        e = Exp(u)\n f = Exp(v)\n t = ReduceSum<keepdims=1>(f, a)\n y = Div(e, t) }""",
        "softmax",
    ),
}


@pytest.mark.parametrize("what", LOOK_ALIKES)
def test_a_look_alike_does_not_match(what: str) -> None:
    text, name = LOOK_ALIKES[what]
    assert name not in fitting(model(text))


def test_a_softmax_over_several_axes_before_opset_13_does_not_match() -> None:
    text = "g (float[2,5,3] x) => (float[2,5,3] y) { p = Softmax<axis=1>(x)\n y = Log(p) }"
    assert "log-softmax" in fitting(model(text, 13))
    assert "log-softmax" not in fitting(model(text, 11))


ONE_MINUS = (
    "g (float[4] x, float o) => (float[4] y) <float one = {1}> { s = Sigmoid(x)\n r = Sub(one, s)\n y = Log(r) }"
)


def test_a_stored_value_that_may_change_is_no_constant() -> None:
    proto = model(ONE_MINUS)
    assert "log-one-minus-sigmoid" in fitting(proto)
    assert "log-one-minus-sigmoid" not in fitting(proto, varying=frozenset({"one"}))


def test_a_value_that_is_used_elsewhere_stays() -> None:
    proto = model("g (float[2,5] x) => (float[2,5] y, float[2,5] p) { p = Softmax<axis=-1>(x)\n y = Log(p) }")
    rewrite = next(rewrite for rewrite in REWRITES if rewrite.name == "log-softmax")
    after, touched = changed(proto, Rewriting(rewrite, (((), "y"),)))
    assert [node.op_type for node in after.graph.node] == ["Softmax", "LogSoftmax"]
    assert touched.changed == ("y",)
    assert touched.free == ("x",)
    assert [node.op_type for node in proto.graph.node] == ["Softmax", "Log"]


def test_what_only_the_old_nodes_used_goes() -> None:
    proto = model(ONE_MINUS)
    rewrite = next(rewrite for rewrite in REWRITES if rewrite.name == "log-one-minus-sigmoid")
    after, _ = changed(proto, Rewriting(rewrite, (((), "y"),)))
    assert [node.op_type for node in after.graph.node] == ["Softplus", "Neg"]
    assert [node.output[0] for node in after.graph.node][-1] == "y"


def test_source_lines_of_a_replaced_node_stay_with_its_successors() -> None:
    proto = model("g (float[4] x) => (float[4] y) { s = Sigmoid(x)\n y = Log(s) }")
    proto.graph.node[1].metadata_props.add(key="pkg.torch.onnx.stack_trace", value='File "m.py", line 7')
    rewrite = next(rewrite for rewrite in REWRITES if rewrite.name == "log-sigmoid")
    after, _ = changed(proto, Rewriting(rewrite, (((), "y"),)))
    assert {prop.value for node in after.graph.node for prop in node.metadata_props} == {'File "m.py", line 7'}


def test_a_pattern_in_a_branch_is_found_there() -> None:
    text = """g (float[4] x, bool c) => (float[4] y) {
        y = If(c) <
            then_branch = t () => (float[4] u) { s = Sigmoid(x)\n u = Log(s) },
            else_branch = e () => (float[4] v) { v = Neg(x) }
        > }"""
    from tests.fix.changing import found, judge, rewritings

    proto = model(text)
    ranges = {"x": (-50.0, 50.0)}
    report = found(proto, ranges)
    (finding,) = report.found
    rewriting, *_ = rewritings(proto, finding, "log-sigmoid")
    after, _ = changed(proto, rewriting)
    onnx.checker.check_model(after, full_check=True)
    assert judge(ranges).rule(after, report, finding).accepted


def test_candidates_name_the_node_by_its_result_where_it_has_no_name() -> None:
    proto = model("g (float[4] x) => (float[4] y) { s = Sigmoid(x)\n y = Log(s) }")
    from tests.fix.changing import found

    (finding,) = found(proto, {"x": (-50.0, 50.0)}).found
    (place,) = Candidates(proto).places(finding)
    assert place.sheet.nodes[place.index].op_type == "Log"
