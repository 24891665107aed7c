from __future__ import annotations

import pytest

from nanproof.findings.errors import InputError
from nanproof.frontends.onnx import load_text
from nanproof.model.roles import Role, infer

HEAD = '<ir_version: 10, opset_import: ["" : 26]> '

MODEL = """g (float[N, 4] x, int64[N] y, int64[N] label, float[N] target, float[1] old) => (float z, float[N] s, int64[N] t)
<float[4, 3] w = {1,2,3,4,5,6,7,8,9,10,11,12}, float[3] b = {1,2,3}, float eps = {0.1}, float[20] table, int64[20] ints, float[1] old = {1}> {
    wt = Transpose(w)
    a = Gemm<transB = 1>(x, wt, b)
    a2 = Add(a, eps)
    p = LogSoftmax(a2)
    y64 = Cast<to = 7>(y)
    z = NegativeLogLikelihoodLoss(p, y64)
    s = Mul(target, old)
    t = Identity(label)
    u = Add(table, eps)
    v = Identity(ints)
}"""


def test_roles_are_inferred_from_use() -> None:
    text = MODEL.replace("float[20] table", "float[20] table = {" + ",".join("1" * 20) + "}").replace(
        "int64[20] ints", "int64[20] ints = {" + ",".join("1" * 20) + "}"
    )
    roles = load_text(HEAD + text).roles
    assert {name: role.value for name, role in roles.items()} == {
        "x": "input", "y": "label", "label": "label", "target": "input",
        "w": "weight", "b": "weight", "eps": "constant", "table": "weight", "ints": "constant", "old": "weight",
    }  # fmt: skip


def test_roles_can_be_overridden() -> None:
    graph = load_text(HEAD + "g (float[2] x) => (float[2] y) { y = Relu(x) }").graph
    assert infer(graph, {"x": Role.RANDOM}) == {"x": Role.RANDOM}
    with pytest.raises(InputError, match="nowhere"):
        infer(graph, {"nowhere": Role.WEIGHT})


def test_stored_tensors_of_branches_have_roles() -> None:
    model = load_text(
        HEAD
        + """g (bool c, float[2] x) => (float[2] y) { y = If(c) <
        then_branch = t () => (float[2] r) { k = Constant<value_float = 1.0>() r = Add(x, k) },
        else_branch = e () => (float[2] q) { k = Constant<value_float = 2.0>() q = Add(x, k) }> }"""
    )
    names = sorted(model.roles)
    assert len(names) == 4  # two different k
    assert [model.roles[name] for name in names] == [Role.INPUT, Role.CONSTANT, Role.CONSTANT, Role.INPUT]
