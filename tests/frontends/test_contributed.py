"""The schemas of ONNX Runtime's own operators, as written down, against the installed ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tests.frontends.contributed_table import lines

from nanproof.findings.errors import InputError
from nanproof.frontends.onnx import load
from nanproof.frontends.onnx.contributed import TABLE, contributed
from nanproof.frontends.onnx.signatures import signature


def test_the_table_is_that_of_the_installed_runtime() -> None:
    assert TABLE.read_text().splitlines() == lines(), (
        f"{Path(__file__).with_name('contributed_table.py').name} makes it"
    )


def test_every_line_can_be_read() -> None:
    for line in TABLE.read_text().splitlines():
        domain, op = line.split(" | ")[0].split()
        schema = contributed("" if domain == "ai.onnx" else domain, op)
        assert schema is not None
        assert 0 <= schema.min_input <= schema.max_input
        assert schema.outputs
        named = {c.type_param_str for c in schema.type_constraints}
        for formal in (*schema.inputs, *schema.outputs):
            assert formal.type_str in named or formal.type_str.startswith("tensor(")


def test_a_signature() -> None:
    found = signature("com.microsoft", "SkipLayerNormalization", 1)
    assert found is not None
    assert found.inputs == (3, 5)
    assert found.outputs == (1, 4)
    assert found.needed == (True, True, True, False, False)
    assert signature("com.microsoft", "NoSuchThing", 1) is None
    assert signature("my.own", "Attention", 1) is None


def node(op: str, shapes: list[list[int]], kinds: list[int] | None = None, **attrs: object) -> onnx.ModelProto:
    kinds = kinds or [TensorProto.FLOAT] * len(shapes)
    inputs = [helper.make_tensor_value_info(f"x{i}", k, s) for i, (s, k) in enumerate(zip(shapes, kinds, strict=True))]
    made = helper.make_node(op, [i.name for i in inputs], ["y"], "bad", domain="com.microsoft", **attrs)
    graph = helper.make_graph([made], "g", inputs, [helper.make_empty_tensor_value_info("y")])
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (node("BiasGelu", [[2, 3]]), "has 1 inputs, 2 are needed"),
        (node("Attention", [[1, 2, 4], [4, 12], [12]]), 'lacks the attribute "num_heads"'),
        (node("Attention", [[1, 2, 4], [4, 12], [12]], num_heads=1.5), "holds a float, it has to be an integer"),
        (node("QuickGelu", [[2, 3]], [TensorProto.INT32]), "gets int32 for its input 0, which takes float"),
        (node("BiasGelu", [[2], [2]], [TensorProto.FLOAT, TensorProto.FLOAT16]), "inputs 0 and 1 of one type"),
    ],
)
def test_a_wrong_node_is_told(model: onnx.ModelProto, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(model)


def test_an_unknown_attribute_is_a_note() -> None:
    assert any('no attribute "odd"' in note for note in load(node("QuickGelu", [[2]], odd=np.int64(1))).notes)
