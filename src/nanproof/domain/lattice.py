"""Join, meet and widening of Boxes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Container
from math import inf

import numpy as np

from nanproof.dims import Size, symbol, symbols
from nanproof.domain.box import Array, Bound, Box, Shape
from nanproof.domain.partition import Blocks, aligned, pack
from nanproof.domain.series import covers, joined, widened

THRESHOLDS = (0.0, 1.0, 2.0**7, 2.0**16, 2.0**31, 2.0**63, 2.0**127)
"""Where a widened bound stops on its way to the dtype's limit (both signs)."""


def join(first: Box, second: Box, label: str | None = None) -> Box:
    """The smallest Box that we can write which holds everything that either holds.

    A size that differs gets a name of its own, ``label@axis``, if there is a label
    (which must be this tensor's alone); without one the shape is forgotten.
    """
    if first is second:
        return first
    if type(first) is not Box or type(second) is not Box:
        return joined(first, second, join)
    shape = joined_shape(first.shape, second.shape, label)
    rank = 0 if shape is None else len(shape)
    if shape != first.shape or shape != second.shape:
        lo = min(first.hull()[0], second.hull()[0])
        hi = max(first.hull()[1], second.hull()[1])
        return Box(first.dtype, shape, lo, hi, first.flags | second.flags)
    cuts, (a, b) = aligned((first, second), rank)
    blocks = Blocks(np.minimum(a.lo, b.lo), np.maximum(a.hi, b.hi), _either(a.spots, b.spots))
    return pack(first.dtype, shape, cuts, blocks)


def meet(first: Box, second: Box) -> Box:
    """What both allow. The two must describe the same tensor, so the result keeps the first's facts."""
    if first.shape is None or second.shape != first.shape:
        return first
    cuts, (a, b) = aligned((first, second), len(first.shape))
    lo: Bound = np.maximum(a.lo, b.lo)
    hi: Bound = np.minimum(a.hi, b.hi)
    empty = lo > hi
    lo, hi = np.where(empty, inf, lo), np.where(empty, -inf, hi)
    spots = None
    if a.spots is not None and b.spots is not None:
        spots = a.spots & b.spots
    result = pack(first.dtype, first.shape, cuts, Blocks(lo, hi, spots))
    result.known, result.form = first.known, first.form
    return result


def widen(old: Box, new: Box, label: str | None = None) -> Box:
    """A Box above both, such that a chain of widenings ends after a few steps.

    ``label`` as for ``join``. A bound that moved goes to the next of ``THRESHOLDS``, then to the dtype's limit.
    """
    if type(old) is not Box or type(new) is not Box:
        return widened(old, new, join, widen)
    grown = join(old, new, label)
    if old.shape != grown.shape or old.cuts != grown.cuts:
        lo, hi = grown.hull()
        grown = Box(grown.dtype, grown.shape, lo, hi, grown.flags)
        before = old.hull()
    else:
        before = (old.lo, old.hi)  # type: ignore[assignment]
    moved_down = np.asarray(grown.lo) < before[0]
    moved_up = np.asarray(grown.hi) > before[1]
    lo_stop, hi_stop = grown.dtype.min, grown.dtype.max
    lo2 = np.where(moved_down, _next_below(grown.lo, lo_stop), grown.lo)
    hi2 = np.where(moved_up, _next_above(grown.hi, hi_stop), grown.hi)
    return pack(grown.dtype, grown.shape, grown.cuts, Blocks(lo2, hi2, _spots(grown)))


def contains(outer: Box, inner: Box, label: str | None = None) -> bool:
    """Whether the outer Box certainly allows everything that the inner one does.

    Relations are not looked at: neither Box may have one that matters. A size that
    is named ``label@axis`` is whatever size the labelled tensor has.
    """
    if type(outer) is not Box or type(inner) is not Box:
        return covers(outer, inner, contains)
    if inner.flags & ~outer.flags:
        return False
    if outer.known is not None and not _same_elements(outer.known, inner.known):
        return False
    if (
        label is not None
        and outer.shape != inner.shape
        and joined_shape(outer.shape, inner.shape, label) == outer.shape
    ):
        (low, high), (lo, hi) = outer.hull(), inner.hull()
        return outer.cuts is None and (lo > hi or (low <= lo and hi <= high))
    if outer.shape is not None and outer.shape == inner.shape:
        _, (a, b) = aligned((outer, inner), len(outer.shape))
        if a.spots is not None and b.spots is not None and (b.spots & ~a.spots).any():
            return False
        empty = np.asarray(b.lo) > np.asarray(b.hi)
        return bool((((a.lo <= b.lo) & (a.hi >= b.hi)) | empty).all())
    low, high = outer.hull()
    lo, hi = inner.hull()
    return outer.shape is None and (lo > hi or (low <= lo and hi <= high))


def _same_elements(one: Array, two: Array | None) -> bool:
    if two is None or one.shape != two.shape:
        return False
    same = one == two
    return bool(np.all(same | ((one != one) & (two != two)) if one.dtype.kind == "f" else same))  # NaN is NaN here


def unrelated(box: Box) -> Box:
    """The Box without relations and without an identity: what holds for every value that it allows."""
    if type(box) is not Box:
        return box
    return Box(box.dtype, box.shape, box.lo, box.hi, box.flags, cuts=box.cuts, spots=box.spots, known=box.known)


def joined_shape(first: Shape, second: Shape, label: str | None = None) -> Shape:
    """The shape that covers both: a size that differs becomes an unknown one of the labelled tensor."""
    if first == second:
        return first
    if first is None or second is None or len(first) != len(second) or label is None:
        return None
    pairs = enumerate(zip(first, second, strict=True))
    return tuple(a if a == b else symbol(f"{label}@{axis}") for axis, (a, b) in pairs)


def renamed(box: Box, label: str, known: Container[str]) -> Box:
    """A Box whose sizes mention only ``known`` symbols: any other becomes the labelled tensor's own.

    A size that was named in one pass over a loop's body means another number in the next.
    """
    plain_sizes = box.shape is None or all(isinstance(n, int) or _all_known(n, known) for n in box.shape)
    if type(box) is not Box or (plain_sizes and (box.known is None or box.known.dtype != object)):
        return box
    shape = box.shape
    if shape is not None:
        shape = tuple(
            n if isinstance(n, int) or _all_known(n, known) else symbol(f"{label}@{axis}")
            for axis, n in enumerate(shape)
        )
    plain = box.known if box.known is not None and box.known.dtype != object else None
    result = Box(box.dtype, shape, box.lo, box.hi, box.flags, cuts=box.cuts, spots=box.spots, known=plain)
    return result if shape == box.shape else Box(box.dtype, shape, *box.hull(), box.flags)


def _all_known(size: Size, known: Container[str]) -> bool:
    return all(name in known for name in symbols(size))


def _either(first: Array | None, second: Array | None) -> Array | None:
    if first is None or second is None:
        return first if second is None else second
    return np.bitwise_or(first, second)


def _spots(box: Box) -> Array | None:
    return box.block_flags() if box.flags else None


def _next_below(bound: Bound, limit: float) -> Bound:
    stops = sorted({-t for t in THRESHOLDS} | set(THRESHOLDS) | {limit})
    stops = [s for s in stops if s >= limit]

    def one(x: float) -> float:
        return x if x == inf else stops[max(0, bisect_right(stops, x) - 1)]

    return np.asarray(np.vectorize(one, otypes=[float])(bound))


def _next_above(bound: Bound, limit: float) -> Bound:
    stops = sorted({-t for t in THRESHOLDS} | set(THRESHOLDS) | {limit})
    stops = [s for s in stops if s <= limit]

    def one(x: float) -> float:
        return x if x == -inf else stops[min(len(stops) - 1, bisect_left(stops, x))]

    return np.asarray(np.vectorize(one, otypes=[float])(bound))
