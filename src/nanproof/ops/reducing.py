"""How an operator that reduces axes is laid out: which axes, what shape, which blocks meet."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from nanproof.dims import Size
from nanproof.domain.box import Array, Box, Shape
from nanproof.domain.partition import Cuts, blocks_of, widths
from nanproof.ops.call import Call
from nanproof.ops.flow import length


class Layout(NamedTuple):
    """A reduction. Arrays have the kept axes first and the blocks to be reduced last.

    ``width`` is how many terms each of those blocks has, times a number of
    terms between ``least`` and ``most`` for axes of symbolic size.
    One block: lo, hi and flags are plain numbers and ``width`` is 1.
    """

    shape: Shape
    cuts: Cuts | None
    lo: Any
    hi: Any
    flags: Any
    width: Any
    least: float
    most: float

    @property
    def one(self) -> bool:
        """Whether the operand is one block."""
        return self.cuts is None

    @property
    def longest(self) -> float:
        """The most terms of a result."""
        return self.most if self.one else float(self.width.sum()) * self.most

    @property
    def fewest(self) -> float:
        """The least number of terms of a result."""
        return self.least if self.one else float(self.width.sum()) * self.least


def axes_of(call: Call, x: Box, operand: Box | None) -> tuple[int, ...] | None:
    """The reduced axes; None if they aren't known."""
    given: Any = call.attr("axes")
    if operand is not None:
        if operand.known is None:
            return None if operand.shape != (0,) else _all_or_none(call, x)
        given = operand.known
    if given is None or len(np.atleast_1d(np.asarray(given))) == 0:
        return _all_or_none(call, x)
    if x.shape is None:
        return None
    rank = len(x.shape)
    return tuple(sorted({int(a) % rank for a in np.atleast_1d(np.asarray(given))}))


def _all_or_none(call: Call, x: Box) -> tuple[int, ...] | None:
    if call.attr("noop_with_empty_axes", 0):
        return ()
    return None if x.shape is None else tuple(range(len(x.shape)))


def shape_without(shape: tuple[Size, ...], axes: tuple[int, ...], keep: bool) -> tuple[Size, ...]:
    """The shape of a reduction's result."""
    if keep:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def layout(call: Call, x: Box, axes: tuple[int, ...] | None) -> Layout:
    """Lay a reduction out; over axes that aren't known, everything may be summed or nothing."""
    keep = bool(call.attr("keepdims", 1))
    if x.shape is None or axes is None:
        most = inf if x.shape is None else length(call, x.shape)[1]
        least = 0.0 if x.shape is None else min(1.0, length(call, x.shape)[0])
        shape = x.shape if axes == () else None
        return Layout(shape, None, *x.hull(), x.flags, 1.0, least, max(most, 1.0))
    shape = shape_without(x.shape, axes, keep)
    if x.cuts is None:
        least, most = length(call, [x.shape[a] for a in axes])
        return Layout(shape, None, x.lo, x.hi, x.flags, 1.0, least, most)
    return _by_blocks(call, x, axes, (shape, keep))


def _by_blocks(call: Call, x: Box, axes: tuple[int, ...], result: tuple[Shape, bool]) -> Layout:
    shape, keep = result
    assert x.cuts is not None
    assert x.shape is not None
    blocks = blocks_of(x)
    kept = tuple(i for i in range(len(x.shape)) if i not in axes)
    order = (*kept, *axes)
    grid = tuple(np.shape(blocks.lo)[i] for i in kept)
    symbolic: list[Size] = []
    width: Array = np.ones(1)
    for a in axes:
        counts = widths(x.cuts[a], x.shape[a])
        if counts is None:
            symbolic.append(x.shape[a])
            counts = np.ones(1)
        width = np.multiply.outer(width, counts).reshape(-1)
    least, most = length(call, symbolic)

    def last(a: Array) -> Array:
        return np.transpose(a, order).reshape(*grid, -1)

    lo, hi = last(np.asarray(blocks.lo)), last(np.asarray(blocks.hi))
    flags = np.zeros(lo.shape, np.uint8) if blocks.spots is None else last(blocks.spots)
    cuts = tuple(x.cuts[i] for i in kept)
    if keep:
        where = iter(cuts)
        cuts = tuple(None if i in axes else next(where) for i in range(len(x.shape)))
    return Layout(shape, cuts, lo, hi, flags, width, least, most)


def grid_of(plan: Layout) -> tuple[int, ...]:
    """The shape of the blocks of the result."""
    return tuple(1 if c is None else len(c) - 1 for c in plan.cuts or ())
