"""The flow of NaN and Inf through an elementwise operator: it is run on them.

Every combination of operands with at least one special value is tried, the
finite ones at their end points and at the landmarks between them. That is
complete for operators whose image, one operand being infinite, only changes
there.

An exact operator (Max, Relu, Clip ...) may drop a NaN: some runtimes compare and
take the other side. So a NaN operand of it also answers what an infinite one of
either sign would, as far as that is finite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import inf, isnan, nan
from typing import Any

import numpy as np

from nanproof.domain.box import NAN, NINF, PINF, Array, Box
from nanproof.domain.partition import Blocks

LANDMARKS = (-1.0, -0.0, 0.0, 1.0)
"""Where the image of an infinite operand may change with the other operand; -Inf / -0 isn't -Inf / 0."""

_SPECIALS = ((NAN, nan), (PINF, inf), (NINF, -inf))
USUAL, SPECIAL, DROPPED = 0, 1, 2
"""What a candidate is: a finite value, a special one, or a NaN taken for an infinity."""


def flow_of_one(run: Callable[..., Any], boxes: Sequence[Box], *, exact: bool) -> tuple[float, float, int]:
    """(lo, hi, flags) of the results of special operands, for Boxes of one block."""
    lo, hi, flags = inf, -inf, 0
    for combination in product(*(_points(box, exact=exact) for box in boxes)):
        kinds = [kind for _, kind in combination]
        if not any(kinds):
            continue
        value = float(run(*(v for v, _ in combination)))
        if -inf < value < inf:
            lo, hi = min(lo, value), max(hi, value)
        elif DROPPED not in kinds:
            flags |= NAN if isnan(value) else PINF if value > 0 else NINF
    return lo, hi, flags


def _points(box: Box, *, exact: bool) -> list[tuple[float, int]]:
    lo, hi = box.hull()
    found: list[tuple[float, int]] = []
    if lo <= hi:
        found += [(v, USUAL) for v in (lo, hi, *(m for m in LANDMARKS if lo <= m <= hi))]
    found += [(v, SPECIAL) for bit, v in _SPECIALS if box.flags & bit]
    if exact and box.flags & NAN:
        found += [(inf, DROPPED), (-inf, DROPPED)]
    return found


def flow_of_blocks(
    run: Callable[..., Any], boxes: Sequence[Box], blocks: Sequence[Blocks], ends: tuple[Any, Any], *, exact: bool
) -> tuple[Any, Any, Any]:
    """(lo, hi, flags) block by block: ``ends`` joined with the results of special operands."""
    lo, hi = ends
    marks = np.zeros(np.shape(lo), np.uint8)
    choices = [_candidates(box, block, exact=exact) for box, block in zip(boxes, blocks, strict=True)]
    for combination in product(*choices):
        kinds = [kind for _, _, kind in combination]
        if not any(kinds):
            continue
        allowed = np.asarray(True)
        for _, where, _ in combination:
            allowed = allowed & where
        if not allowed.any():
            continue
        allowed = np.broadcast_to(allowed, np.shape(lo))
        value = np.broadcast_to(np.asarray(run(*(v for v, _, _ in combination)), float), lo.shape)
        if DROPPED not in kinds:
            marks = marks | _marks(allowed, value)
        usual = allowed & np.isfinite(value)
        lo = np.where(usual, np.minimum(lo, value), lo)
        hi = np.where(usual, np.maximum(hi, value), hi)
    return lo, hi, marks


def _marks(allowed: Array, value: Array) -> Array:
    kinds = np.isnan(value) * NAN + (value == inf) * PINF + (value == -inf) * NINF
    return np.where(allowed, kinds, 0).astype(np.uint8)


def _candidates(box: Box, block: Blocks, *, exact: bool) -> list[tuple[Any, Any, int]]:
    """(value, where it is possible, what it is) for one operand."""
    lo, hi = np.asarray(block.lo, float), np.asarray(block.hi, float)
    finite = lo <= hi
    low, high = np.where(finite, lo, 0.0), np.where(finite, hi, 0.0)
    found: list[tuple[Any, Any, int]] = []
    if finite.any():
        found += [(low, finite, USUAL), (high, finite, USUAL)]
        for mark in LANDMARKS:
            inside = finite & (lo <= mark) & (mark <= hi)
            if inside.any():
                found.append((np.full(np.shape(lo), mark), inside, USUAL))
    if not box.flags:
        return found
    spots = block.spots if block.spots is not None else np.zeros(np.shape(lo), np.uint8)
    for bit, value in _SPECIALS:
        where = (spots & bit) != 0
        if where.any():
            found.append((np.full(np.shape(where), value), where, SPECIAL))
            if exact and bit == NAN:
                found += [(np.full(np.shape(where), end), where, DROPPED) for end in (inf, -inf)]
    return found
