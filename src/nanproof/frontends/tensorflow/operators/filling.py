"""Constants, placeholders, and tensors that are filled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import numpy_helper

from nanproof.frontends.tensorflow.context import Context, Translation, UntranslatableError
from nanproof.frontends.tensorflow.tensors import onnx_kind
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call


def _const(c: Context, call: Call) -> Tensor:
    kind = onnx_kind(call.get("dtype"))
    if kind is None:
        raise UntranslatableError("a constant of a type that ONNX lacks")
    array = call.array()
    small = array.ndim == 0 and array.dtype.kind in "iub"
    return c.const(array, kind, "" if small else c.place.name)


def _placeholder(c: Context, call: Call) -> Tensor:
    """An input of the program; its leading open size is the batch's, which all inputs share."""
    kind = onnx_kind(call.get("dtype"))
    if kind is None:
        raise UntranslatableError("an input of a type that ONNX lacks")
    return c.program.input(c, call.name, kind, call.get("shape"))


def _with_default(c: Context, call: Call, default: Tensor) -> Tensor:
    shape = call.get("shape")
    return c.program.input(c, call.name, default.kind, shape) if default.held is None else default


def _fill(c: Context, call: Call, sizes: Tensor, value: Tensor) -> Tensor:
    if value.held is not None:
        stored = np.ascontiguousarray(value.held).reshape(1)
        return c.op("ConstantOfShape", c.int64(sizes), value=numpy_helper.from_array(stored))
    return c.op("Expand", value, c.int64(sizes))


def _filled_like(number: float) -> Translation:
    def translation(c: Context, call: Call, x: Tensor) -> Tensor:
        if x.rank == 0:
            return c.like(number, x)
        stored = c.like(number, x).held
        assert stored is not None
        return c.op("ConstantOfShape", c.shape_vector(x), value=numpy_helper.from_array(stored.reshape(1)))

    return translation


def _range(c: Context, call: Call, start: Tensor, stop: Tensor, step: Tensor) -> Tensor:
    return c.op("Range", start, stop, step)


def _linspace(c: Context, call: Call, start: Tensor, stop: Tensor, count: Tensor) -> Tensor:
    number = c.needed(count, "the length")[0]
    if number == 1:
        return c.op("Unsqueeze", start, c.ints([0]))
    places = c.const(np.arange(number), start.kind)
    step = c.op("Div", c.op("Sub", stop, start), c.like(number - 1, start))
    return c.op("Add", start, c.op("Mul", places, step))


def _one_hot(c: Context, call: Call, index: Tensor, depth: Tensor, *choices: Tensor) -> Tensor:
    on, off = choices
    values = c.op("Concat", *[c.op("Unsqueeze", one, c.ints([0])) for one in (off, on)], axis=0)
    # TensorFlow gives a row of `off` for an index out of range; ONNX counts a negative one from the end.
    return c.op("OneHot", c.int64(index), c.int64(depth), values, axis=call.get("axis", -1))


TRANSLATIONS: dict[str, Translation] = {
    "Const": _const,
    "Fill": _fill,
    "LinSpace": _linspace,
    "OneHot": _one_hot,
    "OnesLike": _filled_like(1),
    "Placeholder": _placeholder,
    "PlaceholderV2": _placeholder,
    "PlaceholderWithDefault": _with_default,
    "Range": _range,
    "ZerosLike": _filled_like(0),
}
