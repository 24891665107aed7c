"""What convolutions and poolings have in common: the order of axes, and windows that slide over space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nanproof.dims import Dim
from nanproof.frontends.tensorflow.context import Context, UntranslatableError
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.dims import Size
    from nanproof.frontends.tensorflow.graph import Call


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a tensor has its channels: behind (TensorFlow's own way) or in front (ONNX's)."""

    space: int
    last: bool

    def front(self, c: Context, x: Tensor) -> Tensor:
        """With the channels in front of space."""
        return c.transpose(x, (0, self.space + 1, *range(1, self.space + 1))) if self.last else x

    def back(self, c: Context, x: Tensor) -> Tensor:
        """In the program's own order."""
        return c.transpose(x, (0, *range(2, self.space + 2), 1)) if self.last else x

    def over_space(self, numbers: Sequence[int]) -> list[int]:
        """The part of a per-axis attribute that is about space."""
        return list(numbers[1 : self.space + 1]) if self.last else list(numbers[2 : self.space + 2])


@dataclass(frozen=True, slots=True)
class Windows:
    """How windows lie: size, step, distance of the taps, and how much is padded in front and behind (None: as SAME says)."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...] | None
    same: bool

    def attributes(self, *, dilated: bool = True) -> dict[str, Any]:
        """As ONNX's attributes."""
        found: dict[str, Any] = {"kernel_shape": list(self.kernel), "strides": list(self.strides)}
        if dilated:
            found["dilations"] = list(self.dilations)
        if self.pads is not None:
            found["pads"] = list(self.pads)
        elif self.same:
            found["auto_pad"] = "SAME_UPPER"
        return found

    def known_pads(self) -> tuple[int, ...]:
        """The pads, which have to be known."""
        if self.pads is None:
            raise UntranslatableError("sizes of an image not known beforehand")
        return self.pads


def layout_of(call: Call, space: int) -> Layout:
    """Where the call has its channels."""
    return Layout(space, call.text("data_format", "NHWC").endswith("C"))


def windows_of(call: Call, layout: Layout, kernel: Sequence[int], sizes: Sequence[Size | None]) -> Windows:
    """The windows of a call over an image of these sizes."""
    strides = layout.over_space(call.get("strides") or [1] * (layout.space + 2))
    dilations = layout.over_space(call.get("dilations") or [1] * (layout.space + 2))
    padding = call.text("padding", "VALID")
    pads: list[int] | None = [0] * (2 * layout.space)
    if padding == "EXPLICIT":
        listed = call.get("explicit_paddings")
        pads = layout.over_space(listed[0::2]) + layout.over_space(listed[1::2])
    elif padding == "SAME":
        pads = same_pads(kernel, strides, dilations, sizes)
    return Windows(
        tuple(kernel), tuple(strides), tuple(dilations), None if pads is None else tuple(pads), padding == "SAME"
    )


def same_pads(
    kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int], sizes: Sequence[Size | None]
) -> list[int] | None:
    """What SAME pads: as much as gives ceil(size / stride) windows, the odd one behind. None where a size is open."""
    front, behind = [], []
    for width, stride, dilation, size in zip(kernel, strides, dilations, sizes, strict=True):
        reach = (width - 1) * dilation + 1
        if reach == 1:
            total = 0
        elif stride == 1:
            total = reach - 1
        elif size is None or isinstance(size, Dim):
            return None
        else:
            total = max(0, (-(-size // stride) - 1) * stride + reach - size)
        front.append(total // 2)
        behind.append(total - total // 2)
    return front + behind


def space_of(x: Tensor, count: int) -> list[Size | None]:
    """The sizes of a tensor's space, where its channels are in front."""
    return [None] * count if x.shape is None else list(x.shape[2:])
