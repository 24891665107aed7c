from __future__ import annotations

import pytest

from nanproof.findings.errors import InputError
from nanproof.frontends.onnx import load_text
from nanproof.model.graph import Declared, Graph, Model, Node
from nanproof.model.lower import Program, lower
from nanproof.numerics.dtypes import FLOAT32

HEAD = '<ir_version: 10, opset_import: ["" : 26]> '


def lowered(text: str) -> Program:
    return lower(load_text(HEAD + text), lambda domain, op: None)


def uses(program: Program) -> list[tuple[str, list[str], list[str], list[str]]]:
    """Show (operator, inputs, outputs, values that die) of each step by name."""
    name = lambda slot: program.names[slot] if slot >= 0 else ""  # noqa: E731
    return [
        (step.node.op, [*map(name, step.inputs)], [*map(name, step.outputs)], sorted(map(name, last)))
        for step, last in zip(program.steps, program.last_use, strict=True)
    ]


def test_slots_and_last_uses() -> None:
    program = lowered(
        "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { a = Add(x, w) b = Relu(a) y = Mul(a, b) }"
    )
    assert uses(program) == [
        ("Add", ["x", "w"], ["a"], ["w", "x"]),
        ("Relu", ["a"], ["b"], []),
        ("Mul", ["a", "b"], ["y"], ["a", "b"]),
    ]
    assert program.size == 5
    assert {program.names[slot]: name for slot, name in program.initial.items()} == {"x": "x", "w": "w"}
    assert [program.names[slot] for slot in program.constants] == ["w"]
    assert [program.names[slot] for slot in program.outputs] == ["y"]


def test_unused_and_absent_values() -> None:
    program = lowered(
        "g (float[4] x, bool t) => (float[n] y) { mean = Relu(x) y, unused = Dropout(x, , t) lonely = Neg(x) }"
    )
    assert uses(program)[1] == ("Dropout", ["x", "", "t"], ["y", "unused"], ["t", "unused"])
    assert uses(program)[2] == ("Neg", ["x"], ["lonely"], ["lonely", "x"])


def test_an_output_never_dies() -> None:
    program = lowered("g (float[4] x) => (float[4] a, float[4] b, float[4] x) { a = Relu(x) b = Relu(a) }")
    assert program.last_use == [(), ()]


BRANCHES = """g (float[4] x, bool c) => (float[4] y) <float[1] k = {2}> {
    a = Relu(x)
    y = If(c) <
        then_branch = t () => (float[4] r) { one = Constant<value_float = 1.0>() r = Add(a, one) },
        else_branch = e () => (float[4] r) { one = Constant<value_float = 2.0>() s = Mul(x, one) r = Mul(s, k) }>
}"""


def test_branches_share_the_numbering_and_capture_slots() -> None:
    program = lowered(BRANCHES)
    assert [(entry[0], entry[3]) for entry in uses(program)] == [("Relu", []), ("If", ["a", "c", "k", "x"])]
    other, then = program.steps[1].branches
    assert uses(then)[0][1][0] == "a"
    assert then.steps[0].inputs[0] == program.steps[0].outputs[0]
    assert other.last_use[0] == (other.steps[0].inputs[1],)  # the outer x isn't the branch's to drop
    slots = [slot for level in (program, other, then) for step in level.steps for slot in step.outputs]
    assert len(set(slots)) == len(slots)
    assert program.size == len(program.names) == len(set(program.names))
    values = sorted(float(source.array().reshape(-1)[0]) for source in program.constants.values())
    assert values == [1, 2, 2]


def test_the_body_of_a_loop_has_parameters() -> None:
    program = lowered("""g (int64 n, bool c, float[2] x) => (float[2] y) {
        y = Loop(n, c, x) <body = b (int64 i, bool go, float[2] v) => (bool go2, float[2] v2) { go2 = Identity(go) v2 = Add(v, x) }> }""")
    (body,) = program.steps[0].branches
    assert [body.names[slot] for slot in body.inputs] == ["i", "go", "v"]
    assert [body.names[slot] for slot in body.outputs] == ["go2", "v2"]
    assert "x" in uses(program)[0][3]


def test_file_order_is_kept_where_it_is_an_order() -> None:
    model = load_text(HEAD + "g (float[2] x) => (float[2] y) { c = Relu(x) a = Neg(x) y = Add(a, c) }")
    assert [node.outputs[0] for node in model.graph.nodes] == ["c", "a", "y"]


def test_nodes_are_sorted_by_what_they_and_their_branches_read() -> None:
    model = load_text(
        HEAD
        + """g (float[2] x, bool c) => (float[2] y) {
        y = If(c) <then_branch = t () => (float[2] r) { r = Relu(late) }, else_branch = e () => (float[2] q) { q = Neg(x) }>
        late = Add(first, x)
        first = Neg(x) }"""
    )
    assert [node.op for node in model.graph.nodes] == ["Neg", "Add", "If"]


def test_a_model_built_by_hand_is_sorted_or_told() -> None:
    def model(*nodes: Node) -> Model:
        return Model(Graph("g", list(nodes), (Declared("x", FLOAT32, (2,)),), ("y",)), 26, "by hand")

    relu, neg = Node("Relu", "", ("a",), ("y",), {}, "r"), Node("Neg", "", ("x",), ("a",), {}, "n")
    assert [step.node.op for step in lower(model(relu, neg), lambda domain, op: None).steps] == ["Neg", "Relu"]
    with pytest.raises(InputError, match=r'"r".*"a"'):
        lower(model(relu), lambda domain, op: None)


def test_lookup_is_asked_once_an_operator() -> None:
    asked: list[tuple[str, str]] = []

    def lookup(domain: str, op: str) -> None:
        asked.append((domain, op))

    model = load_text(
        '<ir_version: 10, opset_import: ["" : 26, "own" : 1]> g (float[2] x) => (float[2] y) { a = Relu(x) b = own.Relu(a) y = Relu(b) }'
    )
    lower(model, lookup)
    assert asked == [("", "Relu"), ("own", "Relu")]
