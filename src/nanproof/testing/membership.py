"""Is a concrete tensor in a Box? Element by element, without any tolerance."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from nanproof.domain.box import NAN, NINF, PINF, Box

Array = Any
EXACT = 2.0**53


class Spread(NamedTuple):
    """Bounds and flags of every element."""

    lo: Array
    hi: Array
    flags: Array


def spread(box: Box, shape: tuple[int, ...]) -> Spread:
    """The blocks of a Box, repeated over the elements of a tensor of that shape."""
    if box.cuts is None:
        flags = np.full(shape, box.flags, np.uint8)
        return Spread(np.full(shape, box.lo, float), np.full(shape, box.hi, float), flags)
    parts = [np.asarray(box.lo), np.asarray(box.hi), box.block_flags()]
    for axis, points in enumerate(box.cuts):
        counts = [shape[axis]] if points is None else np.diff(points)
        parts = [np.repeat(p, counts, axis=axis) for p in parts]
    return Spread(*parts)


def wide(array: Array) -> Array:
    """Float64 values of a concrete tensor; Python numbers where float64 can't hold an integer."""
    array = np.asarray(array)
    if array.dtype.kind in "iu" and array.size and max(abs(int(array.min())), abs(int(array.max()))) > EXACT:
        return array.astype(object)
    with np.errstate(invalid="ignore"):  # bits may say a signalling NaN
        return array.astype(np.float64)


def outside(bounds: Spread, values: Array) -> Array:
    """Which elements lie outside. ``values`` may have further axes in front."""
    values = wide(values)
    if values.dtype == object:
        return ~((values >= bounds.lo) & (values <= bounds.hi)).astype(bool)
    inside = (values >= bounds.lo) & (values <= bounds.hi)
    for bit, special in ((NAN, np.isnan(values)), (PINF, values == inf), (NINF, values == -inf)):
        inside |= special & ((bounds.flags & bit) != 0)
    return np.asarray(~inside)


def told(bounds: Spread, place: tuple[int, ...]) -> str:
    """What a Box allows at one place, in words."""
    flags = int(bounds.flags[place])
    names = [n for bit, n in ((NAN, "NaN"), (PINF, "+Inf"), (NINF, "-Inf")) if flags & bit]
    lo, hi = float(bounds.lo[place]), float(bounds.hi[place])
    interval = f"[{lo!r}, {hi!r}]" if lo <= hi else "nothing finite"
    return " or ".join([interval, *names])
