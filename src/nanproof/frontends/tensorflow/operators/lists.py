"""Lists of tensors, which loops read from and write to, as one tensor with an axis in front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto

from nanproof.dims import same
from nanproof.frontends.tensorflow.context import Context, Translation, UntranslatableError
from nanproof.frontends.tensorflow.shapes import sizes_of
from nanproof.frontends.tensorflow.tensors import onnx_kind
from nanproof.frontends.tensorflow.values import Opaque, Tensor, TensorList, Value

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call


def _list(value: Value) -> TensorList:
    if not isinstance(value, TensorList):
        raise UntranslatableError("a list that isn't known")
    return value


def _kind(call: Call, name: str = "element_dtype") -> int:
    kind = onnx_kind(call.get(name))
    if kind is None:
        raise UntranslatableError("a list of what ONNX has no type for")
    return kind


def _items(held: TensorList) -> Tensor:
    if held.items is None:
        raise UntranslatableError("a list that is read before anything is in it")
    return held.items


def _zeros(c: Context, kind: int, length: Tensor, shape: Tensor) -> Tensor:
    return c.op("Expand", c.const(0, kind), c.op("Concat", c.vector(length), c.vector(shape), axis=0))


def _reserve(c: Context, call: Call, shape: Value, count: Value) -> TensorList:
    """So many elements of zeros; where their shape is left open, the first one that is written says it."""
    kind, length = _kind(call), c.tensor(count)
    element = c.tensor(shape)
    sizes = sizes_of(element)
    if sizes is None or element.rank != 1 or any(isinstance(size, int) and size < 0 for size in sizes.flat):
        return TensorList(kind, None, length)
    return TensorList(kind, _zeros(c, kind, length, element), length)


def _empty(c: Context, call: Call, *about: Value) -> TensorList:
    return TensorList(_kind(call), None, c.const(0, TensorProto.INT32))


def _set(c: Context, call: Call, held: Value, index: Value, item: Value) -> TensorList:
    return _written(c, _list(held), c.tensor(index), c.tensor(item))


def _written(c: Context, held: TensorList, index: Tensor, item: Tensor) -> TensorList:
    items = held.items
    if items is None:
        assert held.length is not None
        items = _zeros(c, item.kind, held.length, c.shape_vector(item))
    place = c.op("Reshape", c.int64(index), c.ints([1, 1]))
    made = c.op("ScatterND", items, place, c.op("Unsqueeze", item, c.ints([0])))
    return TensorList(held.kind, made, held.length)


def _get(c: Context, call: Call, held: Value, index: Value, *about: Value) -> Tensor:
    return c.op("Gather", _items(_list(held)), c.int64(c.tensor(index)), axis=0)


def _stack(c: Context, call: Call, held: Value, *about: Value) -> Tensor:
    return _items(_list(held))


def _from(c: Context, call: Call, tensor: Value, *about: Value) -> TensorList:
    items = c.tensor(tensor)
    return TensorList(items.kind, items, _length_of(c, items))


def _length_of(c: Context, items: Tensor) -> Tensor:
    return c.op("Gather", c.shape_vector(items), c.ints(0))


def _length(c: Context, call: Call, held: Value) -> Tensor:
    found = _list(held)
    length = found.length if found.items is None else _length_of(c, found.items)
    assert length is not None
    return c.cast(length, TensorProto.INT32)


def _push(c: Context, call: Call, held: Value, item: Value) -> TensorList:
    found, last = _list(held), c.op("Unsqueeze", c.tensor(item), c.ints([0]))
    items = last if found.items is None else c.op("Concat", found.items, last, axis=0)
    return TensorList(found.kind, items, _length_of(c, items))


def _pop(c: Context, call: Call, held: Value, *about: Value) -> list[Value]:
    items = _items(_list(held))
    rest = c.op("Slice", items, c.ints([0]), c.ints([-1]), c.ints([0]))
    return [TensorList(items.kind, rest, _length_of(c, rest)), c.op("Gather", items, c.ints(-1), axis=0)]


def _element_shape(c: Context, call: Call, held: Value) -> Tensor:
    items = _items(_list(held))
    shape = c.op("Slice", c.shape_vector(items), c.ints([1]), c.ints([1 << 30]))
    return c.cast(shape, onnx_kind(call.get("shape_type", 3)) or TensorProto.INT32)


def _pick(c: Context, call: Call, held: Value, indices: Value, *about: Value) -> Tensor:
    return c.op("Gather", _items(_list(held)), c.int64(c.tensor(indices)), axis=0)


# ------------------------------------------------------------------- TensorFlow 1's arrays, which a number stands for


def _array(c: Context, call: Call, size: Value) -> list[Value]:
    """The handle means nothing here: what is read and written goes along with the second result."""
    kind = _kind(call, "dtype")
    shape = call.get("element_shape")
    length = c.tensor(size)
    if shape is not None and all(one >= 0 for one in shape):
        return [Opaque("array"), TensorList(kind, _zeros(c, kind, length, c.ints(list(shape))), length)]
    return [Opaque("array"), TensorList(kind, None, length)]


def _array_write(c: Context, call: Call, handle: Value, *operands: Value) -> TensorList:
    index, item, flow = operands
    return _written(c, _list(flow), c.tensor(index), c.tensor(item))


def _array_read(c: Context, call: Call, handle: Value, index: Value, flow: Value) -> Tensor:
    return c.op("Gather", _items(_list(flow)), c.int64(c.tensor(index)), axis=0)


def _array_gather(c: Context, call: Call, handle: Value, indices: Value, flow: Value) -> Tensor:
    items, places = _items(_list(flow)), c.tensor(indices)
    if _is_all(c, places, items):
        return items
    return c.op("Gather", items, c.int64(places), axis=0)


def _array_scatter(c: Context, call: Call, handle: Value, *operands: Value) -> TensorList:
    indices, items, flow = operands
    found, places, values = _list(flow), c.tensor(indices), c.tensor(items)
    if found.items is None:
        length = None if found.length is None else sizes_of(found.length)
        if length is not None and values.shape is not None and same(length.item(), values.shape[0]) is True:
            return TensorList(found.kind, values, found.length)
        assert found.length is not None
        element = c.op("Slice", c.shape_vector(values), c.ints([1]), c.ints([1 << 30]))
        before = _zeros(c, found.kind, found.length, element)
    else:
        before = found.items
    made = c.op("ScatterND", before, c.op("Unsqueeze", c.int64(places), c.ints([-1])), values)
    return TensorList(found.kind, made, found.length)


def _is_all(c: Context, places: Tensor, items: Tensor) -> bool:
    """Whether the indices are all in order."""
    numbers = c.numbers(places)
    return (
        numbers is not None
        and items.shape is not None
        and numbers == list(range(len(numbers)))
        and items.shape[0] == len(numbers)
    )


def _array_size(c: Context, call: Call, handle: Value, flow: Value) -> Tensor:
    return _length(c, call, flow)


def _array_close(c: Context, call: Call, handle: Value) -> list[Value]:
    return []


TRANSLATIONS: dict[str, Translation] = {
    "EmptyTensorList": _empty,
    "TensorArrayCloseV3": _array_close,
    "TensorArrayGatherV3": _array_gather,
    "TensorArrayReadV3": _array_read,
    "TensorArrayScatterV3": _array_scatter,
    "TensorArraySizeV3": _array_size,
    "TensorArrayV3": _array,
    "TensorArrayWriteV3": _array_write,
    "TensorListElementShape": _element_shape,
    "TensorListFromTensor": _from,
    "TensorListGather": _pick,
    "TensorListGetItem": _get,
    "TensorListLength": _length,
    "TensorListPopBack": _pop,
    "TensorListPushBack": _push,
    "TensorListReserve": _reserve,
    "TensorListSetItem": _set,
    "TensorListStack": _stack,
}

HANDLES: frozenset[str] = frozenset(TRANSLATIONS)
