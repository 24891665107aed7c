"""Sums and their kind, over axes that are an operand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto

from nanproof.frontends.tensorflow.context import Context, Translation
from nanproof.frontends.tensorflow.tensors import onnx_kind
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call


def _keep(call: Call) -> int:
    return int(bool(call.get("keep_dims", False)))


def _reduced(kind: str) -> Translation:
    def translation(c: Context, call: Call, x: Tensor, axes: Tensor) -> Tensor:
        if x.rank == 0:
            return x
        return c.op(kind, x, c.vector(axes), keepdims=_keep(call), noop_with_empty_axes=1)

    return translation


def _mean(c: Context, call: Call, x: Tensor, axes: Tensor) -> Tensor:
    if x.kind in {TensorProto.INT32, TensorProto.INT64} or x.rank == 0:
        return x if x.rank == 0 else _integer_mean(c, call, x, axes)
    return c.op("ReduceMean", x, c.vector(axes), keepdims=_keep(call), noop_with_empty_axes=1)


def _integer_mean(c: Context, call: Call, x: Tensor, axes: Tensor) -> Tensor:
    """The sum divided by the number of elements, without a fraction."""
    over = c.vector(axes)
    total = c.op("ReduceSum", x, over, keepdims=_keep(call), noop_with_empty_axes=1)
    count = c.op("ReduceProd", c.op("Gather", c.op("Shape", x), over), keepdims=0)
    return c.op("Div", total, c.cast(count, x.kind))


def _all(c: Context, call: Call, x: Tensor, axes: Tensor) -> Tensor:
    found = c.op(
        "ReduceMin", c.cast(x, TensorProto.UINT8), c.vector(axes), keepdims=_keep(call), noop_with_empty_axes=1
    )
    return c.cast(found, TensorProto.BOOL)


def _any(c: Context, call: Call, x: Tensor, axes: Tensor) -> Tensor:
    found = c.op(
        "ReduceMax", c.cast(x, TensorProto.UINT8), c.vector(axes), keepdims=_keep(call), noop_with_empty_axes=1
    )
    return c.cast(found, TensorProto.BOOL)


def _extreme_place(kind: str) -> Translation:
    def translation(c: Context, call: Call, x: Tensor, axis: Tensor) -> Tensor:
        number = c.needed(axis, "an axis")[0]
        wanted = onnx_kind(call.get("output_type", 9)) or TensorProto.INT64
        return c.cast(c.op(kind, x, axis=number, keepdims=0), wanted)

    return translation


def _euclidean(c: Context, call: Call, x: Tensor, axes: Tensor) -> Tensor:
    return c.op(
        "Sqrt", c.op("ReduceSum", c.op("Mul", x, x), c.vector(axes), keepdims=_keep(call), noop_with_empty_axes=1)
    )


def _running(kind: str) -> Translation:
    def translation(c: Context, call: Call, x: Tensor, axis: Tensor) -> Tensor:
        along = c.int64(axis)
        if along.rank == 1:
            along = c.op("Squeeze", along, c.ints([0]))
        backwards, without = int(bool(call.get("reverse", False))), int(bool(call.get("exclusive", False)))
        return c.op(kind, x, along, reverse=backwards, exclusive=without)

    return translation


def _l2_loss(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.op("Div", c.op("ReduceSum", c.op("Mul", x, x), keepdims=0), c.like(2, x))


TRANSLATIONS: dict[str, Translation] = {
    "All": _all,
    "Any": _any,
    "ArgMax": _extreme_place("ArgMax"),
    "ArgMin": _extreme_place("ArgMin"),
    "Cumprod": _running("CumProd"),
    "Cumsum": _running("CumSum"),
    "EuclideanNorm": _euclidean,
    "L2Loss": _l2_loss,
    "Max": _reduced("ReduceMax"),
    "Mean": _mean,
    "Min": _reduced("ReduceMin"),
    "Prod": _reduced("ReduceProd"),
    "Sum": _reduced("ReduceSum"),
}
