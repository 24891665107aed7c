"""Parts of a domain: a value cut to some of what it can be, such that the parts together leave nothing out.

A cut is at a Place: all elements of a value at once, or one element of a small one. Neighbouring parts of a float end
and begin at adjacent floats of its dtype, so that no number lies between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from nanproof.domain.box import Box
from nanproof.domain.partition import Blocks, blocks_of, everywhere, pack, refine
from nanproof.numerics.dtypes import DType
from nanproof.numerics.rounding import nearest, next_down, next_up

WIDE = 16.0
"""An interval whose ends differ by more than this factor is cut in the middle of the factor, not of the interval."""

EXACT = 2.0**53
"""From here on not every integer is a float64."""

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Place:
    """What is cut: a slot as a whole, or one of its elements in row-major order."""

    slot: int
    element: int = -1


def cut_to(box: Box, place: Place, ends: Ends) -> Box:
    """The Box with its finite values at a place cut to an interval; NaN and infinities stay. The relation stays, too."""
    if box.known is not None:
        return box
    low, high = ends
    if place.element < 0 and box.cuts is None:
        lo, hi = max(box.lo, low), min(box.hi, high)
        if (lo, hi) == (box.lo, box.hi):
            return box
        if lo > hi:
            lo, hi = inf, -inf
        return Box(box.dtype, box.shape, lo, hi, box.flags, form=box.form)
    if place.element >= 0:
        if box.shape is None:
            return box
        box = refine(box, tuple(everywhere(n) if isinstance(n, int) and n > 1 else None for n in box.shape))
    blocks = blocks_of(box)
    lo, hi = np.array(blocks.lo, np.float64), np.array(blocks.hi, np.float64)
    where = (...,) if place.element < 0 else np.unravel_index(place.element, lo.shape)
    lo[where], hi[where] = np.maximum(lo[where], low), np.minimum(hi[where], high)
    empty = lo > hi
    lo, hi = np.where(empty, inf, lo), np.where(empty, -inf, hi)
    return pack(box.dtype, box.shape, box.cuts, Blocks(lo, hi, blocks.spots)).with_form(box.form)


def ends_at(box: Box, place: Place) -> Ends | None:
    """The interval of a Box at a place; None where it has no finite value or nothing is left to cut."""
    if place.element < 0 or box.cuts is None or box.shape is None:
        lo, hi = box.hull()
    else:
        blocks = blocks_of(
            refine(box, tuple(everywhere(n) if isinstance(n, int) and n > 1 else None for n in box.shape))
        )
        at = np.unravel_index(place.element, np.shape(blocks.lo))
        lo, hi = float(np.asarray(blocks.lo)[at]), float(np.asarray(blocks.hi)[at])
    return (lo, hi) if lo < hi else None


def divided(dtype: DType, ends: Ends, *, at: tuple[float, ...] = (), shared: bool = False) -> tuple[Ends, ...]:
    """Two parts that make up an interval of values of a dtype, or none if it holds a single value.

    ``at`` are points where something changes, such as what the value is compared with: they are cut out first.
    ``shared``: the parts have their common end in both, as is needed where a value may go unrounded.
    """
    lo, hi = ends
    if not lo < hi:
        return ()
    inside = next((p for p in at if (lo < p if shared else lo <= p) and p < hi), None)
    if inside is None and hi in at and not shared:
        inside = next_down(dtype, hi) if dtype.is_float else hi - 1.0
    if not dtype.is_float:
        low = float(np.floor(_middle(lo, hi) if inside is None else inside))
        if max(-lo, hi) >= EXACT:
            return ((lo, low), (low, hi)) if lo < low < hi else ()
        return (lo, low), (low + 1.0, hi)
    low = middle(dtype, ends) if inside is None else nearest(dtype, inside)
    if shared:
        return ((lo, low), (low, hi)) if lo < low < hi else ()
    high = next_up(dtype, low)
    if high > hi:
        low, high = next_down(dtype, hi), hi
    return ((lo, low), (high, hi)) if lo <= low else ()


def middle(dtype: DType, ends: Ends) -> float:
    """A value of a dtype well inside an interval of such values."""
    lo, hi = ends
    found = _middle(lo, hi)
    return min(max(nearest(dtype, found) if dtype.is_float else float(np.floor(found)), lo), hi)


def _middle(lo: float, hi: float) -> float:
    """0 where the sign is open; else the middle, on a logarithmic scale where the ends are of different size."""
    if lo < 0.0 < hi:
        return 0.0
    if hi <= 0.0:
        return -_middle(-hi, -lo)
    if hi <= WIDE * lo:
        return lo + (hi - lo) / 2.0
    return sqrt(lo) * sqrt(hi) if lo > 0.0 else hi / WIDE
