"""Write a loaded model back to ONNX, so that a runtime can say whether it still computes the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper, numpy_helper

from nanproof.model.graph import Graph

if TYPE_CHECKING:
    import onnx

    from nanproof.model.graph import Declared, Model


def to_onnx(model: Model) -> onnx.ModelProto:
    domains = {node.domain for node in model.graph.nodes} - {""}
    imports = [helper.make_opsetid("", model.opset), *(helper.make_opsetid(domain, 1) for domain in sorted(domains))]
    return helper.make_model(_graph(model.graph, outermost=True), opset_imports=imports, ir_version=13)


def _graph(graph: Graph, *, outermost: bool) -> onnx.GraphProto:
    nodes = []
    for index, node in enumerate(graph.nodes):
        attrs: dict[str, Any] = {key: _value(value) for key, value in node.attrs.items()}
        nodes.append(
            helper.make_node(node.op, node.inputs, node.outputs, f"{node.name}:{index}", domain=node.domain, **attrs)
        )
    outputs = [
        _info(graph.declared[name]) if outermost else helper.make_empty_tensor_value_info(name)
        for name in graph.outputs
    ]
    constants = [numpy_helper.from_array(np.array(source.array()), name) for name, source in graph.constants.items()]
    return helper.make_graph(nodes, graph.name or "g", [_info(item) for item in graph.inputs], outputs, constants)


def _value(value: object) -> Any:
    if isinstance(value, np.ndarray):
        return numpy_helper.from_array(value)
    return _graph(value, outermost=False) if isinstance(value, Graph) else value


def _info(declared: Declared) -> onnx.ValueInfoProto:
    if declared.dtype is None:
        return helper.make_empty_tensor_value_info(declared.name)
    shape = (
        None if declared.shape is None else [size if isinstance(size, int) else str(size) for size in declared.shape]
    )
    return helper.make_tensor_value_info(declared.name, declared.dtype.onnx, shape)
