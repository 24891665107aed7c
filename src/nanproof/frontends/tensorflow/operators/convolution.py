"""Convolutions, their gradients, and convolutions transposed, which are such a gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanproof.dims import Dim
from nanproof.frontends.tensorflow.context import Context, Translation, UntranslatableError
from nanproof.frontends.tensorflow.operators.windows import Layout, Windows, layout_of, space_of, windows_of
from nanproof.frontends.tensorflow.shapes import sizes_of
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.dims import Size
    from nanproof.frontends.tensorflow.graph import Call


def _filter(c: Context, weights: Tensor, space: int) -> Tensor:
    """[space..., in, out] as ONNX's [out, in, space...]."""
    return c.transpose(weights, (space + 1, space, *range(space)))


def _depth_filter(c: Context, weights: Tensor) -> Tensor:
    """[h, w, in, multiplier] as ONNX's [in * multiplier, 1, h, w], with a group for each channel."""
    height, width, channels, times = c.static(weights, range(4))
    return c.op("Reshape", c.transpose(weights, (2, 3, 0, 1)), c.ints([channels * times, 1, height, width]))


def _convolution(space: int) -> Translation:
    def translation(c: Context, call: Call, x: Tensor, weights: Tensor) -> Tensor:
        layout = layout_of(call, space)
        front = layout.front(c, x)
        windows = windows_of(call, layout, c.static(weights, range(space)), space_of(front, space))
        group = _groups(c, front.shape[1] if front.shape is not None else None, weights, space)
        made = c.op("Conv", front, _filter(c, weights, space), group=group, **windows.attributes())
        return layout.back(c, made)

    return translation


def _groups(c: Context, channels: Size | None, weights: Tensor, space: int) -> int:
    read = c.static(weights, [space])[0]
    return channels // read if isinstance(channels, int) and read else 1


def _depthwise(c: Context, call: Call, x: Tensor, weights: Tensor) -> Tensor:
    layout = layout_of(call, 2)
    front = layout.front(c, x)
    windows = windows_of(call, layout, c.static(weights, range(2)), space_of(front, 2))
    group = c.static(weights, [2])[0]
    made = c.op("Conv", front, _depth_filter(c, weights), group=group, **windows.attributes())
    return layout.back(c, made)


def _to_input(space: int, *, depthwise: bool = False) -> Translation:
    """The gradient of a convolution's input, and what TensorFlow calls a transposed convolution."""

    def translation(c: Context, call: Call, sizes: Tensor, weights: Tensor, grad: Tensor) -> Tensor:
        layout = layout_of(call, space)
        front = layout.front(c, grad)
        channels, *image = _channels_first(layout, sizes)
        windows = windows_of(call, layout, c.static(weights, range(space)), image)
        if depthwise:
            group, taps = c.static(weights, [2])[0], _depth_filter(c, weights)
        else:
            group, taps = _groups(c, channels, weights, space), _filter(c, weights, space)
        extra = _left_over(windows, image, space_of(front, space))
        made = c.op(
            "ConvTranspose",
            front,
            taps,
            group=group,
            output_padding=extra,
            **windows.attributes() | {"pads": list(windows.known_pads())},
        )
        return layout.back(c, made)

    return translation


def _channels_first(layout: Layout, sizes: Tensor) -> list[Size | None]:
    """Channels and space of a shape that is an operand."""
    known = sizes_of(sizes)
    if known is None:
        return [None] * (layout.space + 1)
    numbers = list(known.flat)
    return [numbers[-1], *numbers[1:-1]] if layout.last else numbers[1:]


def _left_over(windows: Windows, image: Sequence[Size | None], grad: Sequence[Size | None]) -> list[int]:
    """What no window reached at the end of each axis of the image."""
    pads = windows.known_pads()
    found = []
    for axis, (size, count) in enumerate(zip(image, grad, strict=True)):
        reach = (windows.kernel[axis] - 1) * windows.dilations[axis] + 1
        stride = windows.strides[axis]
        if stride == 1 and (size is None or isinstance(size, Dim)):
            found.append(0)
            continue
        if size is None or count is None or isinstance(size, Dim) or isinstance(count, Dim):
            raise UntranslatableError("sizes of an image not known beforehand")
        whole = (count - 1) * stride + reach - pads[axis] - pads[axis + len(windows.kernel)]
        found.append(size - whole)
    return found


def _to_filter(space: int) -> Translation:
    """The gradient of a filter: the images convolved with the gradients, with batch and channels in each other's place."""

    def translation(c: Context, call: Call, x: Tensor, sizes: Tensor, grad: Tensor) -> Tensor:
        layout = layout_of(call, space)
        *kernel, read, _ = c.needed(sizes, "the sizes of a filter")
        front = layout.front(c, x)
        windows = windows_of(call, layout, kernel, space_of(front, space))
        if front.shape is None or front.shape[1] != read:
            raise UntranslatableError("a convolution in groups")
        swap = (1, 0, *range(2, space + 2))
        taps = c.transpose(layout.front(c, grad), swap)
        made = c.op(
            "Conv", c.transpose(front, swap), taps, pads=list(windows.known_pads()),
            strides=list(windows.dilations), dilations=list(windows.strides),
        )  # fmt: skip
        return c.transpose(_cut(c, made, kernel), (*range(2, space + 2), 0, 1))

    return translation


def _cut(c: Context, made: Tensor, kernel: Sequence[int]) -> Tensor:
    """Without the places that no tap of the filter has: a stride may leave some at the end."""
    axes = list(range(2, len(kernel) + 2))
    sizes = [None] * len(kernel) if made.shape is None else list(made.shape[2:])
    return (
        made
        if sizes == list(kernel)
        else c.op("Slice", made, c.ints([0] * len(kernel)), c.ints(list(kernel)), c.ints(axes))
    )


def _to_depth_filter(c: Context, call: Call, x: Tensor, sizes: Tensor, grad: Tensor) -> Tensor:
    """As for a filter, for each channel on its own: a group has the images of one channel as its channels."""
    layout = layout_of(call, 2)
    *kernel, channels, times = c.needed(sizes, "the sizes of a filter")
    front = layout.front(c, x)
    windows = windows_of(call, layout, kernel, space_of(front, 2))
    height, width = c.static(front, [2, 3])
    images = c.op("Reshape", c.transpose(front, (1, 0, 2, 3)), c.ints([1, -1, height, width]))
    taps = c.transpose(layout.front(c, grad), (1, 0, 2, 3))
    made = c.op(
        "Conv", images, taps, group=channels, pads=list(windows.known_pads()),
        strides=list(windows.dilations), dilations=list(windows.strides),
    )  # fmt: skip
    split = c.op("Reshape", _cut(c, made, kernel), c.ints([channels, times, *kernel]))
    return c.transpose(split, (2, 3, 0, 1))


TRANSLATIONS: dict[str, Translation] = {
    "Conv2D": _convolution(2),
    "Conv2DBackpropFilter": _to_filter(2),
    "Conv2DBackpropInput": _to_input(2),
    "Conv3D": _convolution(3),
    "Conv3DBackpropFilterV2": _to_filter(3),
    "Conv3DBackpropInputV2": _to_input(3),
    "DepthwiseConv2dNative": _depthwise,
    "DepthwiseConv2dNativeBackpropFilter": _to_depth_filter,
    "DepthwiseConv2dNativeBackpropInput": _to_input(2, depthwise=True),
}
