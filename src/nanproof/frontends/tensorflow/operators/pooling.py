"""Poolings and their gradients."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from nanproof.frontends.tensorflow.context import Context, Translation, UntranslatableError
from nanproof.frontends.tensorflow.operators.windows import Layout, Windows, layout_of, space_of, windows_of
from nanproof.frontends.tensorflow.shapes import sizes_of
from nanproof.frontends.tensorflow.tensors import onnx_kind
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanproof.dims import Size
    from nanproof.frontends.tensorflow.graph import Call


def _windows(call: Call, layout: Layout, front: Tensor) -> Windows:
    return windows_of(call, layout, layout.over_space(call.get("ksize")), space_of(front, layout.space))


def _max(space: int) -> Translation:
    def translation(c: Context, call: Call, x: Tensor) -> Tensor:
        layout = layout_of(call, space)
        front = layout.front(c, x)
        return layout.back(c, c.op("MaxPool", front, **_windows(call, layout, front).attributes(dilated=False)))

    return translation


def _max_v2(c: Context, call: Call, x: Tensor, sizes: Tensor, strides: Tensor) -> Tensor:
    layout = layout_of(call, 2)
    front = layout.front(c, x)
    told = _told(call, c.needed(sizes, "a window"), c.needed(strides, "a step"))
    return layout.back(c, c.op("MaxPool", front, **_windows(told, layout, front).attributes(dilated=False)))


def _told(call: Call, sizes: list[int], strides: list[int]) -> Call:
    from dataclasses import replace

    return replace(call, attrs={**call.attrs, "ksize": sizes, "strides": strides})


def _average(space: int) -> Translation:
    def translation(c: Context, call: Call, x: Tensor) -> Tensor:
        layout = layout_of(call, space)
        front = layout.front(c, x)
        attributes = _windows(call, layout, front).attributes(dilated=False)
        return layout.back(c, c.op("AveragePool", front, **attributes))

    return translation


def _max_with_places(c: Context, call: Call, x: Tensor) -> list[Tensor]:
    """The largest of each window, and its number in the flattened image (of the flattened batch, if asked)."""
    layout = layout_of(call, 2)
    front = layout.front(c, x)
    best, places = c.ops("MaxPool", front, outputs=2, **_windows(call, layout, front).attributes(dilated=False))
    height, width = c.static(front, [2, 3])
    channels = c.static(front, [1])[0]
    pixel = c.op("Mod", places, c.ints(height * width))
    plane = c.op("Div", places, c.ints(height * width))
    channel = c.op("Mod", plane, c.ints(channels))
    number = c.op("Add", c.op("Mul", pixel, c.ints(channels)), channel)
    if call.get("include_batch_in_index", False):
        image = c.op("Div", plane, c.ints(channels))
        number = c.op("Add", number, c.op("Mul", image, c.ints(height * width * channels)))
    kind = onnx_kind(call.get("Targmax", 9))
    return [layout.back(c, best), c.cast(layout.back(c, number), kind or number.kind)]


def _max_gradient(space: int) -> Translation:
    """Each gradient goes to the place of the largest of its window; where windows overlap, they add up."""

    def translation(c: Context, call: Call, x: Tensor, best: Tensor, grad: Tensor) -> Tensor:
        layout = layout_of(call, space)
        front = layout.front(c, x)
        attributes = _windows(call, layout, front).attributes(dilated=False)
        places = c.ops("MaxPool", front, outputs=2, **attributes)[1]
        whole = c.shape_vector(front)
        flat = c.ints([-1])
        zeros = c.op("Expand", c.like(0, grad), c.op("ReduceProd", whole, keepdims=1))
        written = c.op(
            "ScatterElements", zeros, c.op("Reshape", places, flat), c.op("Reshape", layout.front(c, grad), flat), axis=0, reduction="add"
        )  # fmt: skip
        made = c.op("Reshape", written, whole)
        made.shape = front.shape
        return layout.back(c, made)

    return translation


def _average_gradient(space: int) -> Translation:
    """Each gradient is shared out equally over its window, which may lie partly outside of the image."""

    def translation(c: Context, call: Call, sizes: Tensor, grad: Tensor) -> Tensor:
        layout = layout_of(call, space)
        known = sizes_of(sizes)
        if known is None:
            raise UntranslatableError("sizes of an image not known beforehand")
        numbers: list[Size] = list(known.flat)
        channels, image = (numbers[-1], numbers[1:-1]) if layout.last else (numbers[1], numbers[2:])
        windows = windows_of(call, layout, layout.over_space(call.get("ksize")), image)
        front = layout.front(c, grad)
        lengths = [size for size in image if isinstance(size, int)]
        if not isinstance(channels, int) or len(lengths) < space:
            raise UntranslatableError("sizes of an image not known beforehand")
        steps = c.static(front, range(2, space + 2))
        shared = c.op("Div", front, c.const(_counts(windows, lengths, steps), grad.kind))
        taps = c.const(np.ones((channels, 1, *windows.kernel)), grad.kind)
        pads = windows.known_pads()
        extra = [
            size - ((count - 1) * stride + kernel - pads[axis] - pads[axis + space])
            for axis, (size, count, stride, kernel) in enumerate(
                zip(lengths, steps, windows.strides, windows.kernel, strict=True)
            )
        ]
        made = c.op(
            "ConvTranspose", shared, taps, group=channels, strides=list(windows.strides), pads=list(pads), output_padding=extra
        )  # fmt: skip
        return layout.back(c, made)

    return translation


def _counts(windows: Windows, image: Sequence[int], counts: Sequence[int]) -> object:
    """How many pixels of the image each window covers."""
    pads = windows.known_pads()
    found = np.ones(())
    for axis, (size, count) in enumerate(zip(image, counts, strict=True)):
        start = np.arange(count) * windows.strides[axis] - pads[axis]
        covered = np.minimum(start + windows.kernel[axis], size) - np.maximum(start, 0)
        found = np.multiply.outer(found, covered)
    assert found.size == prod(counts)
    return found


TRANSLATIONS: dict[str, Translation] = {
    "AvgPool": _average(2),
    "AvgPool3D": _average(3),
    "AvgPool3DGrad": _average_gradient(3),
    "AvgPoolGrad": _average_gradient(2),
    "MaxPool": _max(2),
    "MaxPool3D": _max(3),
    "MaxPool3DGrad": _max_gradient(3),
    "MaxPoolGrad": _max_gradient(2),
    "MaxPoolV2": _max_v2,
    "MaxPoolWithArgmax": _max_with_places,
}
