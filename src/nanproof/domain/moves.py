"""Data movement on Boxes: values change place, never their size.

Every function keeps what it can of the partition, of the known elements, of the
special values' places and of the relations.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import gcd, inf

import numpy as np

from nanproof.dims import Size, concat
from nanproof.domain.affine import Form, Pieces, form_of, moved
from nanproof.domain.box import Array, Box, Shape
from nanproof.domain.partition import (
    BUDGET,
    EXACT_LIMIT,
    AxisCuts,
    Blocks,
    Cuts,
    aligned,
    at_cuts,
    blocks_of,
    everywhere,
    merge_axis,
    merge_whole,
    pack,
    refine,
    split_axis,
    union,
)

FEW = 64
"""Groups of reshaped axes with at most so many elements are cut to single elements."""


MAX_RANK = 64
"""Most axes that NumPy's arrays have."""

LONGEST_TRACK = 12
"""Relations end after so many movements: a track is part of a key, and keys are compared."""


def carried(box: Box, step: object | None) -> Form | None:
    """The relation after a movement (None: one that leaves right-aligned places alone)."""
    if box.shape is None or box.known is not None:
        return None
    form = box.form
    if not isinstance(form, Form):
        if form is not None or box.flags or not box.dtype.is_float:
            return None
        form = form_of(box)
    if step is None or form is None:
        return form
    if any(len(track) >= LONGEST_TRACK for _, track in form.terms):
        return None
    return moved(form, step)


def reshaped(box: Box, shape: Shape) -> Box:
    """The same elements in row-major order under another shape."""
    if shape == box.shape and shape is not None:
        return box
    if box.shape is None or shape is None:
        lo, hi = box.hull()
        return Box(box.dtype, shape, lo, hi, box.flags)
    known = None
    if box.known is not None and all(isinstance(n, int) for n in shape):
        known = box.known.reshape(shape)
    if box.cuts is None:
        result = Box(box.dtype, shape, box.lo, box.hi, box.flags, known=known)
    else:
        cuts, blocks = _regroup(box, shape)
        result = pack(box.dtype, shape, cuts, blocks)
        result.known = known
    step = None if _only_leading_ones(box.shape, shape) else ("reshape", box.shape, shape)
    result.form = carried(box, step)
    return result


def _only_leading_ones(old: tuple[object, ...], new: tuple[object, ...]) -> bool:
    short, long = sorted((old, new), key=len)
    extra = len(long) - len(short)
    return long[extra:] == short and all(n == 1 for n in long[:extra])


def _groups(old: Sequence[Size], new: Sequence[Size]) -> list[tuple[list[int], list[int]]]:
    """Match runs of old axes to runs of new axes with the same number of elements.

    Sizes of 1 go by themselves; else a run ends where the products of all sizes so far are equal
    (as expressions, so that it works for symbolic sizes too).
    """
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        one_left = i < len(old) and old[i] == 1
        one_right = j < len(new) and new[j] == 1
        if one_left and one_right:
            end = i + 1, j + 1
        elif one_left or one_right:
            end = i + one_left, j + one_right
        else:
            end = _equal_products(old, new, (i, j))
        groups.append((list(range(i, end[0])), list(range(j, end[1]))))
        i, j = end
    return groups


def _equal_products(old: Sequence[Size], new: Sequence[Size], start: tuple[int, int]) -> tuple[int, int]:
    """The nearest place behind ``start`` where the products of old and new sizes meet again."""
    i, j = start
    ends: dict[Size, int] = {}
    total: Size = 1
    for k in range(j, len(new)):
        total = total * new[k]
        ends.setdefault(total, k + 1)
    total = 1
    for k in range(i, len(old)):
        total = total * old[k]
        if total in ends:
            return k + 1, ends[total]
    return len(old), len(new)


def _regroup(box: Box, shape: tuple[Size, ...]) -> tuple[Cuts, Blocks]:
    assert box.shape is not None
    assert box.cuts is not None
    blocks = blocks_of(box)
    cuts: list[AxisCuts] = [None] * len(shape)
    grid = [1] * len(shape)
    position = 0  # axis of the working arrays that the next group starts at
    for left, right in _groups(box.shape, shape):
        cut = [box.cuts[a] for a in left]
        if any(cut):
            plan = _regroup_one(blocks, position, [box.shape[a] for a in left], cut,
                                [shape[a] for a in right])  # fmt: skip
            blocks, new_cuts = plan
        else:
            new_cuts = [None] * len(right)
        counts = [1 if c is None else len(c) - 1 for c in new_cuts]
        for a, c, n in zip(right, new_cuts, counts, strict=True):
            cuts[a], grid[a] = c, n
        before = np.shape(blocks.lo)[:position]
        after = np.shape(blocks.lo)[position + len(left) :]
        target = (*before, *counts, *after)
        blocks = blocks.rearranged(lambda a, t=target: a.reshape(t))  # type: ignore[misc]
        position += len(right)
    return tuple(cuts), blocks


def _regroup_one(
    blocks: Blocks, at: int, old: list[object], cut: list[AxisCuts], new: list[object]
) -> tuple[Blocks, list[AxisCuts]]:
    """Carry the cuts of one group over; the arrays keep one axis for each old axis of it."""
    axes = tuple(range(at, at + len(old)))
    real_old = [i for i, n in enumerate(old) if n != 1]
    real_new = [i for i, n in enumerate(new) if n != 1]
    if len(real_old) == 1 and len(real_new) == 1:
        result: list[AxisCuts] = [None] * len(new)
        result[real_new[0]] = cut[real_old[0]]
        return blocks, result
    if all(isinstance(n, int) for n in (*old, *new)):
        total = int(np.prod([int(n) for n in old], dtype=np.int64))  # type: ignore[call-overload]
        blocks_now = int(np.prod(np.shape(blocks.lo)[at : at + len(old)]))
        others = np.size(blocks.lo) // max(blocks_now, 1)
        if 0 < total <= max(FEW, 4 * blocks_now) and total * others <= BUDGET:
            for i, n in enumerate(old):
                if n != 1:
                    blocks = split_axis(blocks, at + i, cut[i], everywhere(int(n)))  # type: ignore[call-overload]
            return blocks, [None if n == 1 else everywhere(int(n)) for n in new]  # type: ignore[call-overload]
        lead_old, lead_new = real_old[0], real_new[0]
        inner_old = total // int(old[lead_old])  # type: ignore[call-overload]
        inner_new = total // int(new[lead_new])  # type: ignore[call-overload]
        points: AxisCuts = cut[lead_old]
        if points is not None:
            step = inner_new // gcd(inner_old, inner_new)
            kept = points if step == 1 else tuple(p for p in points if p % step == 0)
            rest = tuple(a for a in axes if a != at + lead_old)
            blocks = merge_whole(blocks, rest) if rest else blocks
            if len(kept) > 2:
                blocks = merge_axis(blocks, at + lead_old, points, kept)
                result = [None] * len(new)
                result[lead_new] = tuple(p * inner_old // inner_new for p in kept)
                return blocks, result
    return merge_whole(blocks, axes), [None] * len(new)


def transposed(box: Box, order: Sequence[int]) -> Box:
    """numpy.transpose."""
    if box.shape is None:  # a Box of its own: elements change places, whatever the rank
        return Box(box.dtype, None, *box.hull(), box.flags)
    if tuple(order) == tuple(range(len(order))):
        return box
    shape = tuple(box.shape[i] for i in order)
    known = None if box.known is None else box.known.transpose(order)
    if box.cuts is None:
        result = Box(box.dtype, shape, box.lo, box.hi, box.flags, known=known)
    else:
        cuts = tuple(box.cuts[i] for i in order)
        blocks = blocks_of(box).rearranged(lambda a: np.transpose(a, order))
        result = pack(box.dtype, shape, cuts, blocks)
        result.known = known
    result.form = carried(box, ("transpose", box.shape, tuple(order)))
    return result


def part(box: Box, axis: int, span: tuple[int, int, int]) -> Box:
    """``x[start:stop:stride]`` along one axis of known size; start and stop lie within it."""
    assert box.shape is not None
    start, stop, stride = span
    count = len(range(start, stop, stride))
    shape = (*box.shape[:axis], count, *box.shape[axis + 1 :])
    known = None
    if box.known is not None:
        last = stop if stop >= 0 else None
        index = (*(slice(None),) * axis, slice(start, last, stride))
        known = box.known[index]
    points = None if box.cuts is None else box.cuts[axis]
    if count == 0:
        result = Box(box.dtype, shape, inf, -inf, known=known)
    elif box.cuts is None:
        lo, hi, flags = box.lo, box.hi, box.flags
        result = Box(box.dtype, shape, lo, hi, flags, known=known)
    elif points is None:
        result = pack(box.dtype, shape, box.cuts, blocks_of(box))
        result.known = known
    else:
        if stride == 1:
            result = _neighbours(box, axis, points, (start, stop))
        elif count > EXACT_LIMIT:
            result = some(box, axis, count)
        else:
            result = _picked(box, axis, points, np.arange(start, stop, stride), shape)
        result.known = known
    if count and isinstance(box.form, Pieces):
        result.form = box.form.between(axis, start, stop, stride)
    elif count:
        whole = span == (0, box.shape[axis], 1)
        result.form = carried(box, None if whole else ("slice", box.shape, axis, span))
    return result


def some(box: Box, axis: int, size: Size, step: object | None = None) -> Box:
    """``size`` of the elements along an axis, in any order and number.

    ``step`` names the movement where it is one that only shapes decide.
    """
    assert box.shape is not None
    shape = (*box.shape[:axis], size, *box.shape[axis + 1 :])
    if size == 0:
        return Box(box.dtype, shape, inf, -inf)
    if box.cuts is None:
        result = Box(box.dtype, shape, box.lo, box.hi, box.flags)
    else:
        whole = merged_over(box, (axis,))
        result = pack(box.dtype, shape, whole.cuts, blocks_of(whole))
    if step is not None:
        result.form = carried(box, (step, box.shape, axis))
    return result


def _neighbours(box: Box, axis: int, points: tuple[int, ...], span: tuple[int, int]) -> Box:
    """A stretch of a cut axis."""
    assert box.cuts is not None
    assert box.shape is not None
    start, stop = span
    first, last = bisect_right(points, start) - 1, bisect_left(points, stop)
    cuts, shape = list(box.cuts), (*box.shape[:axis], stop - start, *box.shape[axis + 1 :])
    inner = points[first + 1 : last]
    cuts[axis] = (0, *[p - start for p in inner], stop - start) if inner else None
    index = (*(slice(None),) * axis, slice(first, last))
    spots = box.block_flags()[index] if box.flags else None
    return pack(box.dtype, shape, tuple(cuts), Blocks(box.lo[index], box.hi[index], spots))  # type: ignore[index]


def _picked(box: Box, axis: int, points: tuple[int, ...], places: Array, shape: Shape) -> Box:
    """Elements at known places along a cut axis: equal neighbours share a block again."""
    assert box.cuts is not None
    where = np.searchsorted(points, places, side="right") - 1
    change = np.flatnonzero(np.diff(where)) + 1
    starts = np.concatenate(([0], change))
    cuts = list(box.cuts)
    cuts[axis] = (*(int(s) for s in starts), len(places)) if len(starts) > 1 else None
    blocks = blocks_of(box).rearranged(lambda a: np.take(a, where[starts], axis=axis))
    return pack(box.dtype, shape, tuple(cuts), blocks)


def taken(box: Box, axis: int, places: Array) -> Box:
    """numpy.take with known non-negative indices, 0-d or 1-d."""
    assert box.shape is not None
    if places.ndim == 1 and places.size > 1:
        steps = np.diff(places)
        if (steps == 1).all():
            return part(box, axis, (int(places[0]), int(places[-1]) + 1, 1))
    if places.ndim == 0:
        one = part(box, axis, (int(places), int(places) + 1, 1))
        return reshaped(one, (*box.shape[:axis], *box.shape[axis + 1 :]))
    shape = (*box.shape[:axis], places.size, *box.shape[axis + 1 :])
    known = None
    if box.known is not None and (places.size + 1) * box.known.size <= EXACT_LIMIT * max(box.known.shape[axis], 1):
        known = np.take(box.known, places, axis=axis)
    points = None if box.cuts is None else box.cuts[axis]
    if places.size == 0:
        return Box(box.dtype, shape, inf, -inf, known=known)
    if points is None:
        cuts = box.cuts
        result = pack(box.dtype, shape, cuts, Blocks(box.lo, box.hi, _spots(box)))
    else:
        result = _picked(box, axis, points, places, shape)
    result.known = known
    result.form = carried(box, ("take", box.shape, axis, places.tobytes()))
    return result


def concatenated(boxes: Sequence[Box], axis: int) -> Box:
    """numpy.concatenate: the seams stay as cuts, the relations as pieces."""
    shapes = [b.shape for b in boxes if b.shape is not None]
    if len(shapes) < len(boxes):
        return hull_of(boxes, None)
    shape = concat(shapes, axis)
    filled = [b for b in boxes if b.shape is not None and b.shape[axis] != 0]
    sizes = [b.shape[axis] for b in filled if b.shape is not None]
    if not filled:
        result = hull_of(boxes, shape)
    elif not all(isinstance(n, int) for n in sizes):
        result = _overlaid([merged_over(b, (axis,)) for b in filled], shape)
    else:
        result = _joined(filled, axis, shape)
        if 1 < len(filled) <= FEW and all(b.known is None for b in filled):
            ends = tuple(accumulate(sizes, initial=0))
            forms = tuple(carried(b, None) for b in filled)
            result.form = Pieces(axis, ends, forms, tuple(b.shape for b in filled))  # type: ignore[arg-type]
    if all(b.known is not None for b in boxes):
        total = sum(b.known.size for b in boxes if b.known is not None)
        if total <= EXACT_LIMIT:
            result.known = np.concatenate([b.known for b in boxes if b.known is not None], axis)
    return result


def _overlaid(boxes: Sequence[Box], shape: tuple[Size, ...]) -> Box:
    """Any of the operands at every place, for a seam that isn't known."""
    cuts, blocks = aligned(boxes, len(shape))
    lo, hi, spots = blocks[0]
    for more in blocks[1:]:
        lo, hi = np.minimum(lo, more.lo), np.maximum(hi, more.hi)
        if spots is None or more.spots is None:
            spots = more.spots if spots is None else spots
        else:
            spots = np.bitwise_or(spots, more.spots)
    return pack(boxes[0].dtype, shape, cuts, Blocks(lo, hi, spots))


def _joined(boxes: Sequence[Box], axis: int, shape: tuple[Size, ...]) -> Box:
    first = boxes[0]
    if all(b.cuts is None and b.lo == first.lo and b.hi == first.hi and b.flags == first.flags for b in boxes):
        return Box(first.dtype, shape, first.lo, first.hi, first.flags)
    if all(b.cuts is None and not b.flags for b in boxes) and any(b.known is None for b in boxes):
        grid = (*(1,) * axis, len(boxes), *(1,) * (len(shape) - axis - 1))
        seams = tuple(accumulate((b.shape[axis] for b in boxes if b.shape is not None), initial=0))
        cuts = tuple(seams if i == axis else None for i in range(len(shape)))
        lo = np.array([b.lo for b in boxes]).reshape(grid)
        hi = np.array([b.hi for b in boxes]).reshape(grid)
        if len(boxes) <= BUDGET:
            return Box(first.dtype, shape, lo, hi, cuts=cuts)  # type: ignore[arg-type]
    cuts, blocks = _stacked(boxes, axis, len(shape))
    return pack(first.dtype, shape, cuts, blocks)


def _stacked(boxes: Sequence[Box], axis: int, rank: int) -> tuple[Cuts, Blocks]:
    """Line up the cuts of all other axes, then put the blocks one behind the other."""
    common: list[AxisCuts] = [None] * rank
    for box in boxes:
        for i, points in enumerate(box.cuts or ()):
            if i != axis:
                common[i] = union(common[i], points)
    flagged = any(b.flags for b in boxes)
    grid = [1 if c is None else len(c) - 1 for c in common]
    los, his, spots, seams = [], [], [], [0]
    for box in boxes:
        assert box.shape is not None
        own = None if box.cuts is None else box.cuts[axis]
        wanted = tuple(own if i == axis else c for i, c in enumerate(common))
        blocks = at_cuts(box, wanted)
        count = 1 if own is None else len(own) - 1
        target = (*grid[:axis], count, *grid[axis + 1 :])
        los.append(np.broadcast_to(blocks.lo, target))
        his.append(np.broadcast_to(blocks.hi, target))
        if flagged:
            marks = np.uint8(0) if blocks.spots is None else blocks.spots
            spots.append(np.broadcast_to(marks, target))
        inner = own[1:] if own is not None else (box.shape[axis],)
        start = seams[-1]
        seams.extend(start + p for p in inner if isinstance(p, int))
    cuts: list[AxisCuts] = list(common)
    cuts[axis] = tuple(seams) if len(seams) > 2 else None
    marks_all = np.concatenate(spots, axis) if flagged else None
    return tuple(cuts), Blocks(np.concatenate(los, axis), np.concatenate(his, axis), marks_all)


def expanded(box: Box, shape: Shape) -> Box:
    """numpy.broadcast_to: places stay, so the relation does too."""
    if shape == box.shape:
        return box
    if box.shape is None or shape is None:
        return Box(box.dtype, shape, *box.hull(), box.flags)
    extra = len(shape) - len(box.shape)
    known = None
    if box.known is not None and _holdable(shape, box.known.size):
        known = np.broadcast_to(box.known, shape)  # type: ignore[arg-type]
    if 0 in shape:
        return Box(box.dtype, shape, inf, -inf, known=known)
    if box.cuts is None:
        result = Box(box.dtype, shape, box.lo, box.hi, box.flags, known=known)
    else:
        cuts = (*(None,) * extra, *box.cuts)
        grid = (*(1,) * extra, *np.shape(box.lo))
        result = pack(box.dtype, shape, cuts, blocks_of(box).rearranged(lambda a: a.reshape(grid)))
        result.known = known
    result.form = carried(box, None)
    return result


def _holdable(shape: tuple[Size, ...], size: int) -> bool:
    """Whether known elements may be kept in a larger shape: a later movement may spread them out in memory."""
    total = 1
    for n in shape:
        if not isinstance(n, int):
            return False
        total *= n
    return len(shape) <= MAX_RANK and total <= max(EXACT_LIMIT, size)


def rearranged_known(box: Box, move: Callable[[Array], Array], shape: Shape) -> Box:
    """Any other movement: the hull of all values, and the elements where they are known."""
    known = None if box.known is None else move(box.known)
    if known is not None and known.size == 0:
        return Box(box.dtype, shape, inf, -inf, known=known)
    return Box(box.dtype, shape, *box.hull(), box.flags, known=known)


def hull_of(boxes: Sequence[Box], shape: Shape) -> Box:
    """Some of the values of all operands, anywhere."""
    flags = 0
    for box in boxes:
        flags |= box.flags
    lo = min(b.hull()[0] for b in boxes)
    hi = max(b.hull()[1] for b in boxes)
    return Box(boxes[0].dtype, shape, lo, hi, flags)


def merged_over(box: Box, axes: Sequence[int]) -> Box:
    """A Box whose blocks don't tell places along ``axes`` apart."""
    if box.cuts is None or not any(box.cuts[a] for a in axes):
        return box
    blocks = merge_whole(blocks_of(box), tuple(axes))
    cuts = tuple(None if i in axes else c for i, c in enumerate(box.cuts))
    return pack(box.dtype, box.shape, cuts, blocks)


def cut_at(box: Box, axis: int, points: Sequence[int]) -> Box:
    """A Box with cuts at the given inner points of one axis."""
    assert box.shape is not None
    size = box.shape[axis]
    if not isinstance(size, int):
        return box
    inner = sorted({p for p in points if 0 < p < size})
    if not inner:
        return box
    cuts = tuple((0, *inner, size) if i == axis else None for i in range(len(box.shape)))
    return refine(box, cuts, BUDGET)


def _spots(box: Box) -> Array | None:
    return box.block_flags() if box.flags else None


def repeated(box: Box, times: Sequence[Size]) -> Box:
    """numpy.tile, with one count for each axis."""
    assert box.shape is not None
    if all(n == 1 for n in times):
        return box
    shape = tuple(n * t for n, t in zip(box.shape, times, strict=True))
    known = None
    if box.known is not None:
        total = box.known.size
        for t in times:
            total = total * t if isinstance(t, int) else EXACT_LIMIT + 1
        known = np.tile(box.known, times) if total <= EXACT_LIMIT else None  # type: ignore[arg-type]
    if 0 in shape:
        return Box(box.dtype, shape, inf, -inf, known=known)
    if box.cuts is None:
        result = Box(box.dtype, shape, box.lo, box.hi, box.flags, known=known)
    else:
        cuts, blocks = list(box.cuts), blocks_of(box)
        for axis, (points, t) in enumerate(zip(box.cuts, times, strict=True)):
            if points is None or t == 1:
                continue
            count = len(points) - 1
            if not isinstance(t, int) or count * t > BUDGET:
                blocks, cuts[axis] = merge_whole(blocks, (axis,)), None
                continue
            cuts[axis] = (*(p + i * points[-1] for i in range(t) for p in points[:-1]), t * points[-1])
            where = np.tile(np.arange(count), t)
            blocks = blocks.rearranged(lambda a, w=where, x=axis: np.take(a, w, axis=x))  # type: ignore[misc]
        result = pack(box.dtype, shape, tuple(cuts), blocks)
        result.known = known
    result.form = carried(box, ("tile", box.shape, tuple(times)))
    return result
