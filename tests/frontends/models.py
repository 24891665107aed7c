"""Small protobuf models for the tests of the front end."""

from __future__ import annotations

from typing import Any

import onnx
from onnx import TensorProto, helper


def model(
    nodes: list[onnx.NodeProto],
    *,
    inputs: dict[str, Any] | None = None,
    outputs: tuple[str, ...] = ("y",),
    constants: list[onnx.TensorProto] | None = None,
    opset: int = 26,
) -> onnx.ModelProto:
    infos = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (inputs or {"x": [2]}).items()
    ]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(nodes, "g", infos, results, constants or [])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def relu(source: str = "x", target: str = "y", **more: Any) -> onnx.NodeProto:
    return helper.make_node("Relu", [source], [target], **more)


def tensor(name: str, shape: list[int], data: bytes | None = None, kind: int = TensorProto.FLOAT) -> onnx.TensorProto:
    result = onnx.TensorProto(name=name, data_type=kind, dims=shape)
    if data is not None:
        result.raw_data = data
    return result


def external(name: str, shape: list[int], **entries: Any) -> onnx.TensorProto:
    result = onnx.TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        result.external_data.add(key=key, value=str(value))
    return result
