"""Lengths along one axis: slices and sliding windows."""

from __future__ import annotations

from functools import lru_cache

from nanproof.dims.bounds import interval
from nanproof.dims.dim import Size, unknown
from nanproof.dims.errors import ShapeError
from nanproof.dims.extremes import least, most

# Exporters write "to the end" as the largest int32 or int64; no axis is that long.
_TO_THE_END = 2**31 - 1


def slice_length(size: Size, start: Size, end: Size, step: int = 1) -> Size:
    """The number of elements of x[start:end:step] along an axis of this size, as NumPy and ONNX count them.

    A negative start or end counts from the back. Where a symbolic one may be of either sign, the length is unknown, and
    only known not to exceed the axis.
    """
    return _slice_length(size, start, end, step)


@lru_cache(maxsize=4096)
def _slice_length(size: Size, start: Size, end: Size, step: int) -> Size:
    if step == 0:
        raise ShapeError("the step of a slice has to be other than 0")
    if isinstance(size, int) and isinstance(start, int) and isinstance(end, int):
        return len(range(*slice(start, end, step).indices(size)))
    first, last = _from_front(size, start), _from_front(size, end)
    if first is None or last is None:
        return least(_ceil(size, abs(step)), unknown("slice", (size, start, end, step)))
    length = least(last, size) - most(first, 0) if step > 0 else least(first, size - 1) - most(last, -1)
    return most(_ceil(length, abs(step)), 0)


def conv_length(  # noqa: PLR0917 - a window has this many numbers, and callers have them in this order
    size: Size,
    kernel: Size,
    stride: int = 1,
    pads: tuple[Size, Size] = (0, 0),
    dilation: int = 1,
    ceil: bool = False,
) -> Size:
    """The number of places of a sliding window: the output length of Conv and of pooling along one axis.

    With `ceil`, a last window that sticks out at the end counts too, unless it would start in the padding there.
    """
    return _window_count(size, kernel, stride, (pads[0], pads[1]), dilation, ceil)


@lru_cache(maxsize=4096)
def _window_count(size: Size, kernel: Size, stride: int, pads: tuple[Size, Size], dilation: int, ceil: bool) -> Size:  # noqa: PLR0917
    if stride < 1 or dilation < 1:
        raise ShapeError(f"stride {stride} and dilation {dilation} have to be at least 1")
    room = size + pads[0] + pads[1] - (kernel - 1) * dilation - 1
    if isinstance(room, int) and room < 0:
        raise ShapeError(
            f"a window of {kernel} (dilation {dilation}) does not fit a length of {size} padded by {pads[0]} + {pads[1]}"
        )
    if not ceil:
        return room // stride + 1
    return least(_ceil(room, stride), (size + pads[0] - 1) // stride) + 1


def _from_front(size: Size, position: Size) -> Size | None:
    """A position counted from the front; it may lie outside the axis. None where its sign is not known."""
    if isinstance(position, int):
        if position >= _TO_THE_END:
            return size
        if position < -_TO_THE_END:
            return -1
        return size + position if position < 0 else position
    low, high = interval(position)
    # size - 1 is negative only on an empty axis, and there both readings clip to an empty slice
    if (low is not None and low >= 0) or size - position == 1:
        return position
    return size + position if high is not None and high < 0 else None


def _ceil(a: Size, b: int) -> Size:
    return (a + (b - 1)) // b
