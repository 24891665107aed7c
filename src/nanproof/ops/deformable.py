"""DeformConv: a convolution whose window's elements are read at places of their own."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from nanproof.domain.box import ALL, INFS, NAN, Box
from nanproof.ops.call import Call
from nanproof.ops.convolution import CONV
from nanproof.ops.flow import product_flags
from nanproof.ops.matmul import product_ends
from nanproof.ops.record import Case, Op, Operand, Samples

ROUNDINGS = 24.0
"""Of a place less its floor, of two products for each of four neighbours, of their sum, and of the mask."""


def _deform_conv(call: Call, x: Box, w: Box, offset: Box, *more: Box | None) -> Box:
    """No class fits: the bound of Conv over what is read.

    That is a mean of neighbours, or 0 outside of the image, times the mask; each product
    of a sum has another one, which the bound of a convolution allows for.
    """
    b, mask = (*more, None, None)[:2]
    inner = Call(CONV, call.attrs, call.setting, 1, call.label)
    result = CONV.bound(inner, _read(call, x, offset, mask), w, b)
    call.events += inner.events
    assert isinstance(result, Box)
    return result


def _read(call: Call, x: Box, offset: Box, mask: Box | None) -> Box:
    """Anything that may be read of the image."""
    dtype = x.dtype
    if not x.flags and not x.has_finite:
        return Box(dtype, x.shape, inf, -inf)
    lo, hi = min(x.hull()[0], 0.0), max(x.hull()[1], 0.0)
    flags = ALL if x.flags & INFS else x.flags
    if offset.flags:
        flags |= NAN
    if mask is not None:
        if not mask.flags and not mask.has_finite:
            return Box(dtype, x.shape, inf, -inf)
        flags |= product_flags(Box(dtype, None, lo, hi, flags), mask, zeros=True) if flags or mask.flags else 0
        lo, hi = product_ends((lo, hi), mask.hull()) if mask.has_finite else (0.0, 0.0)
        lo, hi = min(lo, 0.0), max(hi, 0.0)
    slack = max(-lo, hi) * ROUNDINGS * dtype.unit * 2.0 + ROUNDINGS * dtype.quantum
    lo, hi = lo - slack, hi + slack
    if not (dtype.min <= lo and hi <= dtype.max):
        call.overflowed(lo, hi, dtype, ALL, never=False)
        return Box(dtype, x.shape, dtype.min, dtype.max, ALL)
    return Box(dtype, x.shape, lo, hi, flags)


def _run_deform_conv(xp: Any, x: Any, w: Any, offset: Any, b: Any = None, mask: Any = None, **attrs: Any) -> Any:  # noqa: PLR0917
    image, kernel, shifts = (np.asarray(v, float) for v in (x, w, offset))
    (rows, columns), (height, width) = kernel.shape[2:], shifts.shape[2:]
    groups, fields = attrs.get("group", 1), attrs.get("offset_group", 1)
    strides, dilations = attrs.get("strides") or (1, 1), attrs.get("dilations") or (1, 1)
    pads = attrs.get("pads") or (0, 0, 0, 0)
    count, channels = image.shape[:2]
    result = np.zeros((count, kernel.shape[0], height, width))
    for field, i, j in np.ndindex(fields, rows, columns):
        tap = (field * rows + i) * columns + j
        ys = np.arange(height)[:, None] * strides[0] - pads[0] + i * dilations[0] + shifts[:, 2 * tap]
        xs = np.arange(width)[None, :] * strides[1] - pads[1] + j * dilations[1] + shifts[:, 2 * tap + 1]
        for c in range(field * channels // fields, (field + 1) * channels // fields):
            seen = np.stack([_at(image[n, c], ys[n], xs[n]) for n in range(count)])
            if mask is not None:
                seen = seen * np.asarray(mask, float)[:, tap]
            group = c // (channels // groups)
            outs = kernel.shape[0] // groups
            for o in range(group * outs, (group + 1) * outs):
                result[:, o] += kernel[o, c % (channels // groups), i, j] * seen
    if b is not None:
        result = result + np.asarray(b, float).reshape((1, -1, 1, 1))
    return xp.asarray(result)


def _at(image: Any, ys: Any, xs: Any) -> Any:
    """An image between its elements; 0 outside."""
    height, width = image.shape
    top, left = np.floor(ys), np.floor(xs)
    total = np.zeros(ys.shape)
    for down in (0, 1):
        for right in (0, 1):
            y, x = top + down, left + right
            weight = (1 - np.abs(ys - y)) * (1 - np.abs(xs - x))
            inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
            index = np.clip(y, 0, height - 1).astype(int), np.clip(x, 0, width - 1).astype(int)
            total = total + np.where(inside, weight * image[index], 0.0)
    return total


_X = Operand((1, 2, 4, 4))
_W = Operand((2, 2, 2, 2))
_OFFSET = Operand((1, 8, 3, 3), low=-2.0, high=2.0)

DEFORM_CONV = Op(
    "DeformConv",
    run=_run_deform_conv,
    bound=_deform_conv,
    overflow="NP206",
    infinite="NP213",
    samples=Samples(
        (0.0, 1.0, -1.0),
        cases=(
            Case((_X, _W, _OFFSET)),
            Case((_X, Operand((2, 2, 2, 2), stored=True), _OFFSET, Operand((2,)), Operand((1, 4, 3, 3)))),
            Case((_X, Operand((2, 1, 2, 2)), Operand((1, 16, 5, 5), low=-1.0, high=1.0)),
                 {"group": 2, "offset_group": 2, "pads": (1, 1, 1, 1)}),
        ),
        dtypes=("float32",),
    ),
)  # fmt: skip

OPS = (DEFORM_CONV,)
