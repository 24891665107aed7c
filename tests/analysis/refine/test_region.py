"""Which operators treat elements by themselves is measured, not believed."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.defs
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from nanproof.analysis.refine.region import MOVING, POINTWISE

SHAPE = (2, 3)
BOOLS = {"And", "Or", "Xor", "Not"}
ATTRS: dict[str, dict[str, Any]] = {
    "Cast": {"to": TensorProto.FLOAT16},
    "DepthToSpace": {"blocksize": 2},
    "SpaceToDepth": {"blocksize": 2},
    "Mod": {"fmod": 1},
    "Split": {"num_outputs": 2},
}
INDICES: dict[str, list[Any]] = {
    "Expand": [np.array([4, 2, 3])],
    "Reshape": [np.array([3, 2])],
    "Slice": [np.array([1]), np.array([3]), np.array([1])],
    "Squeeze": [],
    "Unsqueeze": [np.array([1])],
    "Tile": [np.array([2, 1])],
    "Gather": [np.array([1, 0, 1])],
    "GatherElements": [np.array([[1, 0, 1]])],
    "GatherND": [np.array([[1, 0], [0, 2]])],
}


def operands(name: str, rng: np.random.Generator) -> list[Any]:
    if name in BOOLS:
        return [rng.random(SHAPE) < 0.5 for _ in range(1 if name == "Not" else 2)]
    shape = (1, 4, 2, 2) if name in {"DepthToSpace", "SpaceToDepth"} else SHAPE
    first = rng.permutation(np.linspace(0.1, 0.9, int(np.prod(shape)))).reshape(shape).astype(np.float32)
    if name in INDICES:
        return [first, *INDICES[name]]
    if name == "Clip":
        return [first, np.float32(0.3), np.float32(0.6)]
    second = rng.uniform(0.1, 0.9, SHAPE).astype(np.float32)
    if name == "Where":
        return [rng.random(SHAPE) < 0.5, first, second]
    count = 2 if name in {"Sum", "Max", "Min", "Mean"} else onnx.defs.get_schema(name).min_input
    return [first, second][:count]


def run(name: str, values: list[Any]) -> list[Any]:
    outputs = [f"y{i}" for i in range(2 if name == "Split" else 1)]
    inputs = [f"x{i}" for i in range(len(values))]
    node = helper.make_node(name, inputs, outputs, **ATTRS.get(name, {}))
    kinds = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
             for n, v in zip(inputs, values, strict=True)]  # fmt: skip
    graph = helper.make_graph([node], "g", kinds, [helper.make_empty_tensor_value_info(n) for n in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)])
    with np.errstate(all="ignore"):
        return ReferenceEvaluator(model).run(outputs, dict(zip(inputs, values, strict=True)))  # type: ignore[return-value]


@pytest.mark.parametrize("name", sorted(POINTWISE))
def test_a_result_changes_only_where_its_operand_does(name: str) -> None:
    rng = np.random.default_rng(0)
    values = operands(name, rng)
    before = run(name, values)[0]
    for position, value in enumerate(values):
        if value.shape != SHAPE:
            continue
        for place in np.ndindex(SHAPE):
            other = value.copy()
            other[place] = not value[place] if value.dtype == bool else 0.95 - value[place]
            after = run(name, [*values[:position], other, *values[position + 1 :]])[0]
            changed = ~((before == after) | ((before != before) & (after != after)))
            changed[(..., *place)] = False
            assert not changed.any()


@pytest.mark.parametrize("name", sorted(MOVING))
def test_a_result_element_is_an_element_of_the_operand(name: str) -> None:
    values = operands(name, np.random.default_rng(0))
    for result in run(name, values):
        assert np.isin(result, values[0]).all()
