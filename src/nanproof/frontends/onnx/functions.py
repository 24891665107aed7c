"""The bodies of function operators: those that a schema writes down, and those it makes from the types of the operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanproof.frontends.onnx.adapters import TARGET
from nanproof.frontends.onnx.signatures import NEWEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onnx import AttributeProto, FunctionProto, NodeProto

    from nanproof.frontends.onnx.read import Frame
    from nanproof.model.graph import Node
    from nanproof.numerics.dtypes import DType


def expanded_size(
    function: FunctionProto, functions: Mapping[tuple[str, str, str], FunctionProto], sizes: dict[str, int]
) -> int:
    """Return how many nodes a call of a local function becomes, the functions that it calls included; `sizes` remembers."""
    key = f"{function.domain}:{function.name}:{function.overload}"
    if key not in sizes:
        sizes[key] = 0  # a function that calls itself is told elsewhere
        sizes[key] = _nodes_size(function.node, functions, sizes)
    return sizes[key]


def _nodes_size(
    nodes: Iterable[NodeProto], functions: Mapping[tuple[str, str, str], FunctionProto], sizes: dict[str, int]
) -> int:
    total = 0
    for node in nodes:
        total += 1
        called = functions.get(("" if node.domain == "ai.onnx" else node.domain, node.op_type, node.overload))
        if called is not None:
            total += expanded_size(called, functions, sizes)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                total += _nodes_size(attribute.g.node, functions, sizes)
    return total


def plain_body(op: str, opset: int) -> tuple[FunctionProto | None, bool]:
    """Return the function body of an operator, and whether there is one that depends on the types of the operands instead."""
    from onnx import defs

    try:
        schema: Any = defs.get_schema(op, min(opset, NEWEST), "")
    except defs.SchemaError:
        return None, False
    if schema.has_function:
        return schema.function_body, False
    return None, schema.has_context_dependent_function


def schema_defaults(op: str, domain: str, opsets: Mapping[str, int]) -> list[AttributeProto]:
    """Return the default attributes of an operator: what its function body may refer to."""
    from onnx import defs

    try:
        schema: Any = defs.get_schema(op, min(max(opsets.get(domain, 1), 1 if domain else TARGET), NEWEST), domain)
    except defs.SchemaError:
        return []
    return [item.default_value for item in schema.attributes.values() if item.default_value.name]


def typed_body(
    node: Node, proto: NodeProto | None, frame: Frame, dtype_of: Callable[[str, Frame], DType | None]
) -> FunctionProto | None:
    """Ask the schema for the body of this call; None where a type that it needs isn't known."""
    import onnx
    from onnx import defs, helper

    if proto is None:
        attrs: dict[str, Any] = dict(node.attrs)
        proto = helper.make_node(node.op, node.inputs, node.outputs, **attrs)
    types = []
    for name in node.inputs:
        dtype = dtype_of(name, frame) if name else None
        kind = onnx.TypeProto()
        if dtype is not None:
            kind.tensor_type.elem_type = dtype.onnx
        elif name:
            return None
        types.append(kind.SerializeToString())
    schema: Any = defs.get_schema(node.op, min(max(frame.opsets.get("", TARGET), TARGET), NEWEST), "")
    text = schema.get_context_dependent_function(proto.SerializeToString(), types)
    if not text:
        return None
    function = onnx.FunctionProto()
    function.ParseFromString(text)
    return function
