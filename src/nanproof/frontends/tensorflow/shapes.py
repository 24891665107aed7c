"""The shape and type of what a node makes: ONNX's own inference, and more where open sizes can be followed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import onnx
from onnx import TensorProto, helper

from nanproof.dims import ShapeError, broadcast_all, reshape, slice_length
from nanproof.frontends.tensorflow.known import MOST, all_known, as_sizes, follow
from nanproof.frontends.tensorflow.shared import Shared
from nanproof.frontends.tensorflow.values import Shape, Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

Operands: TypeAlias = "Sequence[Tensor | None]"
Attributes: TypeAlias = Mapping[str, Any]

OPSET = 21
"""The operators' version: the newest of which ONNX Runtime runs the random ones."""
NEWER = {"CumProd": 26}
"""Operators that came later: a model with one of them is of that version."""
INTEGERS = frozenset({TensorProto.INT32, TensorProto.INT64})
_BROADCAST = frozenset(
    {"Add", "Sub", "Mul", "Div", "Where", "Equal", "Less", "Greater", "And", "Or", "Pow", "Max", "Min"}
)


def sizes_of(tensor: Tensor) -> NDArray[Any] | None:
    """The elements of an integer tensor as sizes, if they are known."""
    if tensor.sizes is None and tensor.held is not None and tensor.kind in INTEGERS | {TensorProto.BOOL}:
        if tensor.held.size > MOST:
            return None
        tensor.sizes = as_sizes(tensor.held.ravel().tolist(), tensor.held.shape)
    return tensor.sizes


def followed(kind: str, operands: Operands, attrs: Attributes) -> NDArray[Any] | None:
    """The elements of an integer result as sizes, where they follow from shapes."""
    if kind == "Shape":
        operand = operands[0]
        return None if operand is None or operand.shape is None else as_sizes(operand.shape)
    if kind == "Cast" and attrs["to"] not in INTEGERS:
        return None
    data = operands[1 if kind == "Where" and len(operands) > 1 else 0] if operands else None
    if data is None or data.kind not in INTEGERS:
        return None
    return follow(kind, [None if operand is None else sizes_of(operand) for operand in operands], attrs)


def integer_kind(kind: str, operands: Operands, attrs: Attributes) -> int:
    """The type of a result whose elements were followed."""
    if kind == "Cast":
        return int(attrs["to"])
    if kind == "Shape":
        return TensorProto.INT64
    if kind == "Equal":
        return TensorProto.BOOL
    if kind == "ConstantOfShape":
        return int(attrs["value"].data_type)
    first = operands[1 if kind == "Where" else 0]
    return first.kind if first is not None else TensorProto.INT64


def inferred(shared: Shared, node: onnx.NodeProto, operands: Operands, attrs: Attributes) -> list[Tensor]:
    """The results of a node of ONNX's own."""
    types = _types(shared, node, operands)
    better = _followed_shape(node.op_type, operands, attrs)
    first = next((operand.kind for operand in operands if operand is not None), TensorProto.FLOAT)
    found = []
    for name in node.output:
        told = types.get(name)
        shape = better
        if shape is None and told is not None and told.tensor_type.HasField("shape"):
            shape = tuple(shared.size(dim) for dim in told.tensor_type.shape.dim)
        number = told.tensor_type.elem_type if told is not None else 0
        found.append(Tensor(name, number or first, shape))
    return found


def _types(shared: Shared, node: onnx.NodeProto, operands: Operands) -> Mapping[str, Any]:
    given = [operand for operand in operands if operand is not None]
    stored = {}
    for operand in given:
        sizes = sizes_of(operand)
        if sizes is not None and all_known(sizes):
            stored[operand.name] = helper.make_tensor("", operand.kind, sizes.shape, [int(x) for x in sizes.flat])
    try:
        return onnx.shape_inference.infer_node_outputs(
            onnx.defs.get_schema(node.op_type, opset_of(node.op_type)), node,
            {operand.name: _type(shared, operand) for operand in given}, stored,
            opset_imports=[helper.make_opsetid("", opset_of(node.op_type))],
        )  # fmt: skip
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError):
        return {}


def opset_of(kind: str) -> int:
    """The version of an operator that is written."""
    return NEWER.get(kind, OPSET)


def _type(shared: Shared, tensor: Tensor) -> onnx.TypeProto:
    for size in tensor.shape or ():
        if not isinstance(size, int):
            shared.dims.setdefault(str(size), size)
    return helper.make_tensor_type_proto(tensor.kind, written(tensor.shape))


def written(shape: Shape | None) -> list[int | str | None] | None:
    """A shape as ONNX's helpers take it."""
    return None if shape is None else [size if isinstance(size, int) else str(size) for size in shape]


def _followed_shape(kind: str, operands: Operands, attrs: Attributes) -> Shape | None:
    try:
        if kind in _BROADCAST:
            shapes = [operand.shape for operand in operands if operand is not None]
            known = [shape for shape in shapes if shape is not None]
            return broadcast_all(known) if len(known) == len(shapes) else None
        if kind == "Reshape":
            return _reshaped(operands, attrs)
        if kind == "Slice":
            return _sliced(operands)
        if kind in {"Expand", "ConstantOfShape"}:
            return _filled(kind, operands)
    except ShapeError:
        return None
    return None


def _reshaped(operands: Operands, attrs: Attributes) -> Shape | None:
    data, target = operands[:2]
    wanted = None if target is None else sizes_of(target)
    if data is None or wanted is None:
        return None
    if data.shape is None:
        return None if any(isinstance(size, int) and size < 1 for size in wanted.flat) else tuple(wanted.flat)
    return reshape(data.shape, tuple(wanted.flat), allow_zero=bool(attrs.get("allowzero")))


def _sliced(operands: Operands) -> Shape | None:
    """The shape of a slice whose places are all known."""
    data, *rest = operands
    numbers = [None if one is None else sizes_of(one) for one in rest]
    if data is None or data.shape is None or len(rest) < 3 or any(one is None for one in numbers):
        return None
    starts, stops, axes, steps = ([*one.flat] for one in (*numbers, as_sizes([1] * MOST))[:4] if one is not None)
    shape = list(data.shape)
    for start, stop, axis, step in zip(starts, stops, axes, steps, strict=False):
        shape[axis] = slice_length(shape[axis], start, stop, int(step))
    return tuple(shape)


def _filled(kind: str, operands: Operands) -> Shape | None:
    target, data = operands[-1], operands[0]
    wanted = None if target is None else sizes_of(target)
    if wanted is None:
        return None
    if kind == "ConstantOfShape":
        return tuple(wanted.flat)
    return None if data is None or data.shape is None else broadcast_all([data.shape, tuple(np.asarray(wanted).flat)])
