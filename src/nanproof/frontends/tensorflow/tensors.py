"""TensorFlow's element types and stored tensors as NumPy's and ONNX's."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from nanproof.findings.errors import InputError
from nanproof.frontends.tensorflow.messages import REFERENCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kinds = onnx.TensorProto

FLOAT, DOUBLE, INT32, STRING, INT64, BOOL, RESOURCE, VARIANT = 1, 2, 3, 7, 9, 10, 20, 21
"""TensorFlow's numbers of some element types."""

# TensorFlow's number -> (ONNX's number, NumPy's name, field of a TensorProto that holds the elements one by one)
_KINDS: dict[int, tuple[int, str, str]] = {
    1: (Kinds.FLOAT, "float32", "float_val"),
    2: (Kinds.DOUBLE, "float64", "double_val"),
    3: (Kinds.INT32, "int32", "int_val"),
    4: (Kinds.UINT8, "uint8", "int_val"),
    5: (Kinds.INT16, "int16", "int_val"),
    6: (Kinds.INT8, "int8", "int_val"),
    7: (Kinds.STRING, "object", "string_val"),
    9: (Kinds.INT64, "int64", "int64_val"),
    10: (Kinds.BOOL, "bool", "bool_val"),
    11: (Kinds.INT8, "int8", "int_val"),
    12: (Kinds.UINT8, "uint8", "int_val"),
    13: (Kinds.INT32, "int32", "int_val"),
    14: (Kinds.BFLOAT16, "bfloat16", "half_val"),
    15: (Kinds.INT16, "int16", "int_val"),
    16: (Kinds.UINT16, "uint16", "int_val"),
    17: (Kinds.UINT16, "uint16", "int_val"),
    19: (Kinds.FLOAT16, "float16", "half_val"),
    22: (Kinds.UINT32, "uint32", "uint32_val"),
    23: (Kinds.UINT64, "uint64", "uint64_val"),
    24: (Kinds.FLOAT8E5M2, "float8_e5m2", "float8_val"),
    25: (Kinds.FLOAT8E4M3FN, "float8_e4m3fn", "float8_val"),
}

LARGEST = 1 << 31
"""Elements beyond which a stored tensor is refused: no file of a graph can hold them."""


def onnx_kind(kind: int) -> int | None:
    """ONNX's number of an element type; None where ONNX has none that we read (complex, resources)."""
    found = _KINDS.get(_plain(kind))
    return None if found is None else found[0]


def numpy_kind(kind: int) -> np.dtype[Any]:
    """NumPy's type of elements; a KeyError where there is none."""
    name = _KINDS[_plain(kind)][1]
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        special: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return special


def shape_of(message: Any) -> tuple[int, ...] | None:
    """The shape in a message, -1 for an unknown size; None where the rank is unknown."""
    return None if message.unknown_rank else tuple(dim.size for dim in message.dim)


def array_of(message: Any, where: str) -> NDArray[Any]:
    """The elements of a stored tensor. Raises InputError for a type that we don't read, or a size that can't be."""
    kind = _plain(message.dtype)
    if kind not in _KINDS:
        raise InputError(f"the constant {where} has elements of a type that can't be read (DataType {kind})")
    shape = shape_of(message.tensor_shape) or ()
    count = prod(shape)
    if any(size < 0 for size in shape) or count > LARGEST:
        raise InputError(f"the constant {where} has the shape {list(shape)}, which no stored tensor can have")
    dtype = numpy_kind(kind)
    content = message.tensor_content
    if content:
        if len(content) != count * dtype.itemsize or kind == STRING:
            raise InputError(f"the constant {where} holds {len(content)} bytes for the shape {list(shape)}")
        return np.frombuffer(content, dtype).reshape(shape)
    return _spread(_listed(message, kind, dtype), shape, count, where)


def _listed(message: Any, kind: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    field = _KINDS[kind][2]
    values = getattr(message, field)
    if field == "half_val":
        return np.array(values, np.uint16).view(dtype)
    if field == "float8_val":
        return np.frombuffer(values, dtype)
    return np.array(list(values), dtype)


def _spread(values: NDArray[Any], shape: tuple[int, ...], count: int, where: str) -> NDArray[Any]:
    """TensorFlow leaves out what repeats the last element, and zeros altogether."""
    if len(values) > count:
        raise InputError(f"the constant {where} holds {len(values)} elements for the shape {list(shape)}")
    if not len(values):
        values = np.zeros(1, values.dtype)
    if len(values) <= 1:
        return np.broadcast_to(values[0] if count else values[:0].sum(), shape)
    rest = np.broadcast_to(values[-1], (count - len(values),))
    return np.concatenate([values, rest]).reshape(shape)


def _plain(kind: int) -> int:
    return kind - REFERENCE if kind > REFERENCE else kind
