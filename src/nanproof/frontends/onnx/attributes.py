"""AttributeProto -> Python values, each checked against the type that the operator's schema asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.findings.errors import InputError
from nanproof.frontends.onnx.tensors import read_sparse, read_tensor
from nanproof.model.sources import from_array

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx import AttributeProto, NodeProto

    from nanproof.frontends.onnx.read import Frame, Reader
    from nanproof.model.graph import Attr, Source

_KINDS = (
    "nothing", "a float", "an integer", "a string", "a tensor", "a graph", "floats", "integers", "strings", "tensors", "graphs",
    "a sparse tensor", "sparse tensors", "a type", "types",
)  # fmt: skip
_FIELDS = {
    "f": 1, "i": 2, "s": 3, "t": 4, "g": 5, "floats": 6, "ints": 7, "strings": 8, "tensors": 9, "graphs": 10,
    "sparse_tensor": 11, "sparse_tensors": 12, "tp": 13, "type_protos": 14,
}  # fmt: skip
_CONSTANT_FORMS = {
    "value": 4, "value_float": 1, "value_floats": 6, "value_int": 2, "value_ints": 7, "value_string": 3, "value_strings": 8,
}  # fmt: skip


def attributes(
    protos: Iterable[AttributeProto], types: dict[str, int] | None, reader: Reader, frame: Frame, node: NodeProto | None
) -> dict[str, Attr]:
    """Decode the attributes of a node; references to attributes of the calling function are replaced by their values."""
    found: dict[str, Attr] = {}
    bindings = frame.bindings
    for proto in protos:
        name = proto.name
        kind: int = proto.type
        if bindings is not None and proto.ref_attr_name:
            bound = bindings.get(proto.ref_attr_name)
            if bound is not None:
                found[name] = bound
            continue
        if not kind:  # files older than IR 2 don't say
            kind = next(
                (_FIELDS[field.name] for field, _ in proto.ListFields() if field.name in _FIELDS),
                (types or {}).get(name, 0),
            )
        expected = kind if types is None else types.get(name)
        if type(name) is not str:
            raise InputError(
                f"{_label(node)} has an attribute whose name isn't UTF-8 ({name!r:.60}): the file is damaged, export it again"
            )
        if expected is None:
            reader.notes[
                f'{node.op_type if node else "an operator"} has no attribute "{name}" at this opset: it is ignored'
            ] = None
            continue
        if expected != kind:
            raise InputError(
                f'attribute "{name}" of {_label(node)} holds {_kind(kind)}, it has to be {_kind(expected)}: correct the node, or export the model again'
            )
        if name in found:
            raise InputError(f'attribute "{name}" of {_label(node)} is given twice: remove one of them')
        if kind == 2:
            found[name] = proto.i
        elif kind == 7:
            found[name] = tuple(proto.ints)
        elif kind == 1:
            found[name] = proto.f
        else:
            value = _other(proto, kind, reader, frame, node)
            if value is not None:
                found[name] = value
    return found


def constant_source(node: NodeProto, name: str, reader: Reader, frame: Frame) -> Source:
    """Return the value of a Constant node; a tensor isn't decoded."""
    given = [proto for proto in node.attribute if proto.name in _CONSTANT_FORMS or proto.name == "sparse_value"]
    if len(given) != 1:
        raise InputError(f'the Constant "{name}" has {len(given)} values, it needs one: export the model again')
    proto = given[0]
    if proto.name == "value" and not proto.ref_attr_name and proto.HasField("t"):
        return read_tensor(proto.t, name, reader.folder)
    if proto.name == "sparse_value" and proto.HasField("sparse_tensor"):
        return read_sparse(proto.sparse_tensor, name, reader.folder)
    value: Any = attributes([proto], _CONSTANT_FORMS, reader, frame, node).get(proto.name)
    if value is None:
        raise InputError(f'the Constant "{name}" has no value: export the model again')
    if isinstance(value, np.ndarray):
        return from_array(value)
    kind: Any = {
        "value_float": np.float32,
        "value_floats": np.float32,
        "value_int": np.int64,
        "value_ints": np.int64,
    }.get(proto.name, object)
    try:
        return from_array(np.array(value, kind))
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f'the Constant "{name}" has a "{proto.name}" of the wrong type: export the model again'
        ) from None


def _other(proto: AttributeProto, kind: int, reader: Reader, frame: Frame, node: NodeProto | None) -> Attr | None:
    if kind == 3:
        return proto.s.decode("utf-8", "replace")
    if kind == 6:
        return tuple(proto.floats)
    if kind == 8:
        return tuple([text.decode("utf-8", "replace") for text in proto.strings])
    if kind == 4:
        return read_tensor(proto.t, f"{proto.name} of {_label(node)}", reader.folder).array()
    if kind == 5:
        return reader.graph(proto.g, frame.opsets, frame)
    if kind == 9:
        return tuple(
            [read_tensor(tensor, f"{proto.name} of {_label(node)}", reader.folder).array() for tensor in proto.tensors]
        )
    if kind == 10:
        return tuple([reader.graph(graph, frame.opsets, frame) for graph in proto.graphs])
    if kind == 11:
        return read_sparse(proto.sparse_tensor, f"{proto.name} of {_label(node)}", reader.folder).array()
    return None  # a type: what it says is inferred


def _kind(code: int) -> str:
    return _KINDS[code] if 0 <= code < len(_KINDS) else f"something unknown (kind {code})"


def _label(node: NodeProto | None) -> str:
    if node is None:
        return "a function"
    if node.name:
        return f'node "{node.name}" ({node.op_type})'
    return f'the {node.op_type} node that makes "{node.output[0] if node.output else ""}"'
