"""Tensors put together and taken apart along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nanproof.frontends.tensorflow.context import Context, Translation, UntranslatableError
from nanproof.frontends.tensorflow.known import as_sizes
from nanproof.frontends.tensorflow.shapes import sizes_of
from nanproof.frontends.tensorflow.tensors import onnx_kind
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call


def _concat(c: Context, call: Call, *operands: Tensor) -> Tensor:
    """The axis comes last; in the operator of old it comes first."""
    *parts, axis = operands if call.op == "ConcatV2" else (*operands[1:], operands[0])
    number = c.needed(axis, "an axis")[0]
    parts = [part for part in parts if part.shape is None or not _is_nothing(part)] or list(parts)
    return parts[0] if len(parts) == 1 else c.op("Concat", *parts, axis=number)


def _is_nothing(part: Tensor) -> bool:
    return part.held is not None and part.held.size == 0


def _pack(c: Context, call: Call, *parts: Tensor) -> Tensor:
    axis = int(call.get("axis", 0))
    raised = [c.op("Unsqueeze", part, c.ints([axis])) for part in parts]
    return raised[0] if len(raised) == 1 else c.op("Concat", *raised, axis=axis)


def _unpack(c: Context, call: Call, x: Tensor) -> list[Tensor]:
    axis, count = int(call.get("axis", 0)), int(call.get("num", 0))
    if count == 0:
        return []
    return [c.op("Gather", x, c.ints(index), axis=axis) for index in range(count)]


def _split(c: Context, call: Call, axis: Tensor, x: Tensor) -> list[Tensor]:
    count = int(call.get("num_split", 1))
    if count == 1:
        return [c.op("Identity", x)]
    return list(c.ops("Split", x, outputs=count, axis=c.needed(axis, "an axis")[0], num_outputs=count))


def _split_v(c: Context, call: Call, x: Tensor, sizes: Tensor, axis: Tensor) -> list[Tensor]:
    count, along = int(call.get("num_split", 1)), c.needed(axis, "an axis")[0]
    lengths = c.numbers(sizes)
    if lengths is not None and -1 in lengths:
        rest = c.static(x, [along])[0] - sum(length for length in lengths if length >= 0)
        lengths = [rest if length < 0 else length for length in lengths]
    given = c.int64(sizes) if lengths is None else c.ints(lengths)
    if count == 1:
        return [c.op("Identity", x)]
    return list(c.ops("Split", x, given, outputs=count, axis=along))


def _tile(c: Context, call: Call, x: Tensor, times: Tensor) -> Tensor:
    return c.op("Tile", x, c.int64(times))


def _concat_offset(c: Context, call: Call, axis: Tensor, *shapes: Tensor) -> list[Tensor]:
    """Where each part begins in the whole, for the gradient of a concatenation."""
    along = c.needed(axis, "an axis")[0]
    found, start = [], 0
    for shape in shapes:
        sizes = sizes_of(shape)
        if sizes is None or not isinstance(sizes[along], int):
            raise UntranslatableError("sizes not known beforehand")
        places = np.zeros(sizes.size, np.int64)
        places[along] = start
        found.append(c.const(places, shape.kind))
        start += sizes[along]
    return found


def _dynamic_stitch(c: Context, call: Call, *operands: Tensor) -> Tensor:
    """Values written at the numbers given for them; here only for what shapes are made of."""
    half = len(operands) // 2
    places = [c.needed(index, "indices") for index in operands[:half]]
    count = max((place for part in places for place in part), default=-1) + 1
    held = [sizes_of(data) for data in operands[half:]]
    if all(part is not None for part in held):
        whole = as_sizes([0] * count)
        for index, part in zip(places, held, strict=True):
            assert part is not None
            for place, size in zip(index, part.ravel(), strict=True):
                whole[place] = size
        made = c.size_vector(list(whole))
        made.sizes = whole
        return c.cast(made, operands[half].kind)
    order = np.zeros(count, np.int64)
    start = 0
    for index in places:
        order[index] = np.arange(start, start + len(index))
        start += len(index)
    parts = [
        data if len(index) != 1 or operands[number].rank == 1 else c.op("Unsqueeze", data, c.ints([0]))
        for number, (index, data) in enumerate(zip(places, operands[half:], strict=True))
    ]
    return c.op("Gather", c.op("Concat", *parts, axis=0), c.ints(order.tolist()))


def _difference(c: Context, call: Call, x: Tensor, y: Tensor) -> list[Tensor]:
    """What is in the one list and not in the other, and where; of axes, which are known."""
    gone = c.needed(y, "a list")
    kept = [(place, value) for place, value in enumerate(c.needed(x, "a list")) if value not in gone]
    places = np.asarray([place for place, _ in kept], np.int64)
    return [
        c.const(np.asarray([value for _, value in kept], np.int64), x.kind),
        c.const(places, onnx_kind(call.get("out_idx", 3)) or x.kind),
    ]


TRANSLATIONS: dict[str, Translation] = {
    "Concat": _concat,
    "ConcatOffset": _concat_offset,
    "ConcatV2": _concat,
    "DynamicStitch": _dynamic_stitch,
    "ListDiff": _difference,
    "Pack": _pack,
    "Split": _split,
    "SplitV": _split_v,
    "Tile": _tile,
    "Unpack": _unpack,
}
