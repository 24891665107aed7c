"""Sums of the rows that share a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanproof.frontends.tensorflow.context import Context, Translation
from nanproof.frontends.tensorflow.tensors import onnx_kind
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call


def _segments(reduction: str, start: float) -> Translation:
    """``unsorted_segment_*``: rows of zeros (or of the least number), and every row written where its number says."""

    def translation(c: Context, call: Call, data: Tensor, numbers: Tensor, count: Tensor) -> Tensor:
        inner = c.rank(numbers)
        whole = c.shape_vector(data)
        rest = c.op("Slice", whole, c.ints([inner]), c.ints([1 << 60]))
        base = c.op("Expand", c.like(start, data), c.op("Concat", c.vector(count), rest, axis=0))
        places = c.op("Unsqueeze", c.int64(numbers), c.ints([-1]))
        return c.op("ScatterND", base, places, data, reduction=reduction)

    return translation


def _sorted_sum(c: Context, call: Call, data: Tensor, numbers: Tensor) -> Tensor:
    """``segment_sum``: numbers are sorted, so that the last one says how many there are."""
    places = c.int64(numbers)
    last = c.op("ReduceMax", places, keepdims=1)
    count = c.op("Add", last, c.ints([1]))
    rest = c.op("Slice", c.shape_vector(data), c.ints([1]), c.ints([1 << 60]))
    base = c.op("Expand", c.like(0, data), c.op("Concat", count, rest, axis=0))
    return c.op("ScatterND", base, c.op("Unsqueeze", places, c.ints([-1])), data, reduction="add")


def _bincount(c: Context, call: Call, numbers: Tensor, size: Tensor, weights: Tensor) -> Tensor:
    kind = onnx_kind(call.get("T"))
    zeros = c.op("Expand", c.const(0, kind), c.vector(size))
    places = c.op("Reshape", c.int64(numbers), c.ints([-1]))
    ones = c.op("Expand", c.const(1, kind), c.shape_vector(places))
    updates = ones if weights.held is not None and not weights.held.size else c.op("Reshape", weights, c.ints([-1]))
    return c.op("ScatterElements", zeros, places, updates, axis=0, reduction="add")


TRANSLATIONS: dict[str, Translation] = {
    "Bincount": _bincount,
    "SegmentSum": _sorted_sum,
    "UnsortedSegmentSum": _segments("add", 0),
}
