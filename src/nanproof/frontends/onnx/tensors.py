"""TensorProto -> Source, with every claim checked against the bytes that are really there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nanproof.findings.errors import InputError
from nanproof.model.sources import ArraySource, RawSource, byte_count, unpack
from nanproof.numerics.dtypes import by_onnx, to_numpy

if TYPE_CHECKING:
    from onnx import SparseTensorProto, TensorProto

    from nanproof.frontends.onnx.external import DataFolder
    from nanproof.model.graph import Array, Source
    from nanproof.numerics.dtypes import DType

MAX_RANK = 64
"""NumPy's limit, and far above any model's."""
MAX_SPARSE = 1 << 26
"""A sparse tensor is spread out in memory up to this many elements."""
_EXTERNAL = 1

_TYPED = {
    "float32": "float_data", "complex64": "float_data", "float64": "double_data", "complex128": "double_data",
    "int64": "int64_data", "uint64": "uint64_data", "uint32": "uint64_data",
}  # fmt: skip


def read_tensor(tensor: TensorProto, name: str, folder: DataFolder, left: tuple[int, int] | None = None) -> Source:
    """Return where the elements of a tensor are; nothing large is decoded. `left`: its raw data was left there in the model file."""
    dtype = data_type(tensor.data_type, f'tensor "{name}"')
    shape = tuple(tensor.dims)
    count = _count(shape, name)
    if left is not None and dtype.kind != "string" and tensor.data_location != _EXTERNAL:
        return folder.inside(name, left, dtype, shape)
    if tensor.data_location == _EXTERNAL:
        if dtype.kind == "string":
            raise InputError(
                f'tensor "{name}" holds strings in external data, which ONNX doesn\'t allow: export the model again'
            )
        return folder.source(name, ((entry.key, entry.value) for entry in tensor.external_data), dtype, shape)
    if dtype.kind == "string":
        return ArraySource(_strings(tensor, name, shape, count), dtype)
    if tensor.HasField("raw_data"):
        raw = tensor.raw_data
        needed = byte_count(count, dtype)
        if len(raw) == needed:
            return RawSource(raw, dtype, shape)
        if raw:
            raise InputError(_mismatch(name, shape, dtype, f"{needed} bytes", f"{len(raw)}"))
    return ArraySource(_typed(tensor, name, dtype, shape), dtype)


def data_type(code: int, what: str) -> DType:
    """Return the dtype of an ONNX code, or say that there is none."""
    try:
        return by_onnx(code)
    except KeyError:
        raise InputError(
            f"{what} has the data type code {code}, which this version doesn't know: the file is damaged, or newer than nanproof"
        ) from None


def read_sparse(tensor: SparseTensorProto, name: str, folder: DataFolder) -> Source:
    """Spread a sparse tensor out, if it is of a size that this is sensible for."""
    shape = tuple(tensor.dims)
    count = _count(shape, name)
    if count > MAX_SPARSE:
        raise InputError(
            f'sparse tensor "{name}" has {count} elements, more than the {MAX_SPARSE} that nanproof spreads out: store it densely as external data'
        )
    values = read_tensor(tensor.values, name, folder)
    indices = read_tensor(tensor.indices, name + " (indices)", folder).array()
    stored = values.array().reshape(-1)
    if indices.dtype != np.int64 or indices.ndim not in {1, 2} or indices.shape[0] != stored.size:
        raise InputError(
            f'sparse tensor "{name}" has indices that don\'t fit its {stored.size} values: export the model again'
        )
    if indices.ndim == 2 and indices.shape[1] != len(shape):
        raise InputError(
            f'sparse tensor "{name}" has {indices.shape[1]} indices a value for {len(shape)} axes: export the model again'
        )
    limits = np.array(shape if indices.ndim == 2 else [count], np.int64)
    if indices.size and (indices.min() < 0 or (indices >= limits).any()):
        raise InputError(f'sparse tensor "{name}" has an index outside its shape {list(shape)}: export the model again')
    dense = np.zeros(count, stored.dtype)
    if stored.size:
        flat = np.ravel_multi_index(tuple(indices.T), shape) if indices.ndim == 2 else indices
        dense[flat] = stored
    return ArraySource(dense.reshape(shape), values.dtype)


def _count(shape: tuple[int, ...], name: str) -> int:
    if len(shape) > MAX_RANK:
        raise InputError(
            f'tensor "{name}" claims {len(shape)} axes, more than the {MAX_RANK} that any runtime takes: the file is damaged'
        )
    count = extent = 1
    for size in shape:
        if size < 0:
            raise InputError(
                f'tensor "{name}" has the size {size} in its shape, sizes are 0 or more: export the model again'
            )
        count *= size
        extent *= size or 1
    if extent >= 1 << 60:
        raise InputError(f'tensor "{name}" claims {extent} elements, more than any memory holds: the file is damaged')
    return count


def _typed(tensor: TensorProto, name: str, dtype: DType, shape: tuple[int, ...]) -> Array:
    count = _count(shape, name)
    data = getattr(tensor, _TYPED.get(dtype.name, "int32_data"))
    per_entry = 8 // dtype.bits if dtype.bits < 8 else 1
    needed = 2 * count if dtype.kind == "complex" else -(-count // per_entry)
    if len(data) != needed:
        raise InputError(_mismatch(name, shape, dtype, f"{needed} values", str(len(data))))
    kind = to_numpy(dtype)
    if dtype.kind == "complex":
        half = np.float32 if dtype.bits == 64 else np.float64
        return np.array(data, half).view(kind).reshape(shape)
    if dtype.name in _TYPED:
        return np.array(data, kind).reshape(shape)
    entries: Array = np.array(data, np.int64)
    if dtype.bits < 8:
        return unpack((entries & 255).astype(np.uint8), dtype, count).reshape(shape)
    if dtype.is_float:  # the bits of the float, as an integer
        bits: np.dtype[np.unsignedinteger] = np.dtype(np.uint16 if dtype.bits == 16 else np.uint8)
        return (entries & ((1 << dtype.bits) - 1)).astype(bits).view(kind).reshape(shape)
    if dtype.is_bool:
        entries = entries != 0
    return entries.astype(kind).reshape(shape)


def _strings(tensor: TensorProto, name: str, shape: tuple[int, ...], count: int) -> Array:
    if len(tensor.string_data) != count:
        raise InputError(
            f'tensor "{name}" of shape {list(shape)} holds {len(tensor.string_data)} strings instead of {count}: export the model again'
        )
    values = np.empty(count, object)
    for index, text in enumerate(tensor.string_data):
        values[index] = text.decode("utf-8", "replace")
    return values.reshape(shape)


def _mismatch(name: str, shape: tuple[int, ...], dtype: DType, needed: str, seen: str) -> str:
    sizes = "x".join(str(size) for size in shape[:8]) + ("x..." if len(shape) > 8 else "") if shape else "scalar"
    return f'tensor "{name}" ({dtype.name}, {sizes}) needs {needed} and holds {seen}: the file is damaged or cut short, export or download it again'
