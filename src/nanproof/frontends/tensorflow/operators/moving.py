"""Elements moved: padding, reversing, rolling, blocks of space and depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanproof.frontends.tensorflow.context import Context, Translation
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call

FIRST = (0, 3, 1, 2)
"""The order that brings channels from the back to the front."""
LAST = (0, 2, 3, 1)


def _pads(c: Context, pads: Tensor) -> Tensor:
    """[[before, after], ...] as ONNX's [before, ..., after, ...]."""
    return c.op("Reshape", c.op("Transpose", c.int64(pads), perm=[1, 0]), c.ints([-1]))


def _known_pads(c: Context, pads: Tensor) -> Tensor:
    numbers = c.numbers(pads)
    return _pads(c, pads) if numbers is None else c.ints(numbers[0::2] + numbers[1::2])


def _pad(c: Context, call: Call, x: Tensor, pads: Tensor, *value: Tensor) -> Tensor:
    return c.op("Pad", x, _known_pads(c, pads), value[0] if value else c.like(0, x))


def _mirror(c: Context, call: Call, x: Tensor, pads: Tensor) -> Tensor:
    if call.text("mode") == "REFLECT":
        return c.op("Pad", x, _known_pads(c, pads), mode="reflect")
    numbers = c.needed(pads, "a width")  # SYMMETRIC: the edge counts too
    for axis in range(len(numbers) // 2):
        before, after = numbers[2 * axis : 2 * axis + 2]
        parts = [x]
        if before:
            parts.insert(0, _flipped(c, c.op("Slice", x, c.ints([0]), c.ints([before]), c.ints([axis])), axis))
        if after:
            parts.append(_flipped(c, c.op("Slice", x, c.ints([-after]), c.ints([1 << 60]), c.ints([axis])), axis))
        x = parts[0] if len(parts) == 1 else c.op("Concat", *parts, axis=axis)
    return x


def _flipped(c: Context, x: Tensor, *axes: int) -> Tensor:
    count = len(axes)
    return c.op(
        "Slice", x, c.ints([-1] * count), c.ints([-(1 << 62)] * count), c.ints(list(axes)), c.ints([-1] * count)
    )


def _reverse_v2(c: Context, call: Call, x: Tensor, axes: Tensor) -> Tensor:
    numbers = c.needed(axes, "an axis")
    return _flipped(c, x, *numbers) if numbers else x


def _reverse(c: Context, call: Call, x: Tensor, which: Tensor) -> Tensor:
    held = which.held
    axes = [] if held is None else [axis for axis, turn in enumerate(held.tolist()) if turn]
    return _flipped(c, x, *axes) if axes else x


def _reverse_sequence(c: Context, call: Call, x: Tensor, lengths: Tensor) -> Tensor:
    along, batch = int(call.get("seq_dim", 0)), int(call.get("batch_dim", 0))
    rank = c.rank(x)
    if {along, batch} == {0, 1}:
        return c.op("ReverseSequence", x, c.int64(lengths), time_axis=along, batch_axis=batch)
    order = [batch, along, *[axis for axis in range(rank) if axis not in {batch, along}]]
    back = [order.index(axis) for axis in range(rank)]
    made = c.op("ReverseSequence", c.transpose(x, order), c.int64(lengths), time_axis=1, batch_axis=0)
    return c.transpose(made, back)


def _roll(c: Context, call: Call, x: Tensor, shift: Tensor, axis: Tensor) -> Tensor:
    for step, along in zip(c.needed(shift, "a shift"), c.needed(axis, "an axis"), strict=True):
        if step:
            cut = c.ints([-step])
            head = c.op("Slice", x, cut, c.ints([1 << 60]), c.ints([along]))
            tail = c.op("Slice", x, c.ints([0]), cut, c.ints([along]))
            x = c.op("Concat", head, tail, axis=along)
    return x


def _depth_to_space(c: Context, call: Call, x: Tensor) -> Tensor:
    return _on_images(c, call, x, "DepthToSpace")


def _space_to_depth(c: Context, call: Call, x: Tensor) -> Tensor:
    return _on_images(c, call, x, "SpaceToDepth")


def _on_images(c: Context, call: Call, x: Tensor, kind: str) -> Tensor:
    size = int(call.get("block_size"))
    if call.text("data_format", "NHWC") == "NCHW":
        return c.op(kind, x, blocksize=size)
    return c.transpose(c.op(kind, c.transpose(x, FIRST), blocksize=size), LAST)


def _space_to_batch(c: Context, call: Call, x: Tensor, block: Tensor, pads: Tensor) -> Tensor:
    sizes, widths = c.needed(block, "a block"), c.needed(pads, "a width")
    rank, count = c.rank(x), len(sizes)
    rest = rank - 1 - count
    front = [0, *widths[0::2], *[0] * rest]
    x = c.op("Pad", x, c.ints([*front, 0, *widths[1::2], *[0] * rest]), c.like(0, x))
    whole = c.shape_vector(x)
    parts = [c.op("Gather", whole, c.ints([0]))]
    for axis, size in enumerate(sizes, 1):
        parts += [c.op("Div", c.op("Gather", whole, c.ints([axis])), c.ints([size])), c.ints([size])]
    tail = [c.op("Gather", whole, c.ints(list(range(1 + count, rank))))] if rest else []
    split = c.op("Reshape", x, c.op("Concat", *parts, *tail, axis=0))
    order = [*range(2, 2 + 2 * count, 2), 0, *range(1, 1 + 2 * count, 2), *range(1 + 2 * count, 1 + 2 * count + rest)]
    lengths = [c.op("Div", c.op("Gather", whole, c.ints([axis])), c.ints([size])) for axis, size in enumerate(sizes, 1)]
    return c.op("Reshape", c.transpose(split, order), c.op("Concat", c.ints([-1]), *lengths, *tail, axis=0))


def _batch_to_space(c: Context, call: Call, x: Tensor, block: Tensor, crops: Tensor) -> Tensor:
    sizes, cuts = c.needed(block, "a block"), c.needed(crops, "a width")
    rank, count = c.rank(x), len(sizes)
    rest = rank - 1 - count
    whole = c.shape_vector(x)
    space = c.op("Gather", whole, c.ints(list(range(1, rank))))
    split = c.op("Reshape", x, c.op("Concat", c.ints(sizes), c.ints([-1]), space, axis=0))
    order = [count]
    for axis in range(count):
        order += [count + 1 + axis, axis]
    order += list(range(2 * count + 1, 2 * count + 1 + rest))
    lengths = [c.op("Mul", c.op("Gather", whole, c.ints([axis])), c.ints([size])) for axis, size in enumerate(sizes, 1)]
    tail = [c.op("Gather", whole, c.ints(list(range(1 + count, rank))))] if rest else []
    made = c.op("Reshape", c.transpose(split, order), c.op("Concat", c.ints([-1]), *lengths, *tail, axis=0))
    ends = [-after if after else 1 << 60 for after in cuts[1::2]]
    if not any(cuts):
        return made
    return c.op("Slice", made, c.ints(cuts[0::2]), c.ints(ends), c.ints(list(range(1, 1 + count))))


TRANSLATIONS: dict[str, Translation] = {
    "BatchToSpaceND": _batch_to_space,
    "DepthToSpace": _depth_to_space,
    "MirrorPad": _mirror,
    "Pad": _pad,
    "PadV2": _pad,
    "Reverse": _reverse,
    "ReverseSequence": _reverse_sequence,
    "ReverseV2": _reverse_v2,
    "Roll": _roll,
    "SpaceToBatchND": _space_to_batch,
    "SpaceToDepth": _space_to_depth,
}
