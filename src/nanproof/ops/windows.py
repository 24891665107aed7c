"""Sliding windows: kernel, strides, padding and output lengths of convolutions and pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from nanproof.dims import ShapeError, Size, conv_length
from nanproof.ops.call import Call

MOST_TAPS = 1 << 20
"""Most elements under all places of a window along one axis that are looked at one by one."""


class Window(NamedTuple):
    """A window's geometry, one number an axis. ``pads`` None: chosen by the runtime (auto_pad)."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...] | None
    ceil: bool
    padded: bool
    """Whether a window may stick out: over padding, or over the end with ``ceil``."""

    @property
    def size(self) -> int:
        """How many elements it covers."""
        return prod(self.kernel)


def window_of(call: Call, kernel: Sequence[int]) -> Window:
    """The window that the attributes describe."""
    get = call.attrs.get
    auto = get("auto_pad", "NOTSET")
    return _window(
        tuple(kernel),
        auto.decode() if isinstance(auto, bytes) else auto,
        _numbers(get("pads")),
        _numbers(get("strides")),
        _numbers(get("dilations")),
        bool(get("ceil_mode", 0)),
    )


Sizes: TypeAlias = "tuple[int, ...] | None"


def _numbers(given: Any) -> Sizes:
    return given if given is None or type(given) is tuple else tuple(given)


@lru_cache(maxsize=512)  # a model has few kinds of windows
def _window(kernel: tuple[int, ...], auto: str, flat: Sizes, strides: Sizes, dilations: Sizes, ceil: bool) -> Window:  # noqa: PLR0917
    rank = len(kernel)
    ones = (1,) * rank
    pads: tuple[tuple[int, int], ...] | None = ((0, 0),) * rank
    if auto in {"SAME_UPPER", "SAME_LOWER"}:
        pads = None
    elif auto != "VALID" and flat is not None:
        if len(flat) != 2 * rank:
            raise ShapeError(f"a window over {rank} axes has {len(flat)} pads: two an axis are needed")
        pads = tuple(zip(flat[:rank], flat[rank:], strict=True))
    strides, dilations = ones if strides is None else strides, ones if dilations is None else dilations
    for what, found in (("kernel", kernel), ("strides", strides), ("dilations", dilations)):
        if len(found) != rank or (rank and min(found) < 1):
            raise ShapeError(
                f"a window over {rank} axes has the {what} {list(found)[:8]}: one number of at least 1 an axis is needed"
            )
    padded = ceil or pads is None or any(p for pair in pads for p in pair)
    return Window(kernel, tuple(strides), tuple(dilations), pads, ceil, padded)


@lru_cache(maxsize=1024)
def lengths(window: Window, sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    """The number of places of the window along every axis."""
    found: list[Size] = []
    if len(sizes) != len(window.strides):
        raise ShapeError(f"a window over {len(window.strides)} axes does not fit an image of {len(sizes)}")
    for i, size in enumerate(sizes):
        stride = window.strides[i]
        if window.pads is None:
            found.append((size + (stride - 1)) // stride)
        else:
            found.append(conv_length(size, window.kernel[i], stride, window.pads[i], window.dilations[i], window.ceil))
    return tuple(found)


@lru_cache(maxsize=1024)
def may_be_bare(window: Window, sizes: tuple[Size, ...]) -> bool:
    """Whether some place of the window may cover nothing but padding."""
    if not window.padded:
        return False
    return any(_bare_along(window, i, size) for i, size in enumerate(sizes))


def _bare_along(window: Window, axis: int, size: Size) -> bool:
    kernel, stride, dilation = window.kernel[axis], window.strides[axis], window.dilations[axis]
    if not isinstance(size, int):
        before, after = (0, 0) if window.pads is None else window.pads[axis]
        return dilation > 1 or before >= kernel or after >= kernel
    if size == 0:
        return True
    if window.pads is not None and dilation == 1 and not window.ceil:
        before, after = window.pads[axis]
        if 0 <= before < kernel and 0 <= after < kernel <= size + before + after:
            return False  # the first window holds the first element, and the last one starts within the axis
    if window.pads is None:
        places = -(-size // stride)
        total = max((places - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
        fronts = {total // 2, total - total // 2}
    else:
        try:
            places = int(conv_length(size, kernel, stride, window.pads[axis], dilation, window.ceil))  # type: ignore[arg-type]
        except ShapeError:
            return True
        fronts = {window.pads[axis][0]}
    if places * kernel > MOST_TAPS:
        return dilation > 1 or max(fronts) >= kernel
    for front in fronts:
        at = np.arange(places)[:, None] * stride - front + np.arange(kernel)[None] * dilation
        if not ((at >= 0) & (at < size)).any(axis=1).all():
            return True
    return False


def concrete_pads(attrs: Mapping[str, Any], kernel: Sequence[int], sizes: Sequence[int]) -> list[tuple[int, int]]:
    """How many elements are put before and behind each axis of an image of known size."""
    rank = len(kernel)
    ones = (1,) * rank
    auto = attrs.get("auto_pad", "NOTSET")
    if auto == "NOTSET":
        flat = attrs.get("pads", (0,) * (2 * rank))
        return [(int(a), int(b)) for a, b in zip(flat[:rank], flat[rank:], strict=True)]
    if auto == "VALID":
        return [(0, 0)] * rank
    pads = []
    for n, k, s, d in zip(sizes, kernel, attrs.get("strides", ones), attrs.get("dilations", ones), strict=True):
        spare = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        half = spare // 2
        pads.append((half, spare - half) if auto == "SAME_UPPER" else (spare - half, half))
    return pads
