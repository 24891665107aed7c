"""The Boxes of stored tensors: each is looked at once, small ones of one shape together, large ones in pieces."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from itertools import repeat
from math import inf

import numpy as np

from nanproof.domain.box import ALL, Box, extent, of_array
from nanproof.domain.partition import fine
from nanproof.domain.weights import look, stacked_sums
from nanproof.model.graph import Source
from nanproof.model.lower import Program
from nanproof.model.sources import RawSource
from nanproof.numerics.dtypes import FLOAT32, FLOAT64, DType

SMALL = 1 << 16
"""Stored tensors up to this many bytes are looked at in one go."""

TINY = 1 << 13
"""Up to this many bytes, looking costs less than the call that does it: tensors of one shape are put together."""

TOGETHER = 1 << 19
"""Bytes of tensors that are put together."""


def stored_boxes(
    sources: Mapping[int, Source], labelled: Container[int], keeps: Mapping[int, int]
) -> Iterator[tuple[int, Box]]:
    """The Box of every stored tensor in question, by slot; in any order.

    ``labelled`` are the slots that must be known element by element, ``keeps`` the axes that sums by sign are kept for.
    """
    groups: dict[tuple[DType, tuple[int, ...], int | None], list[int]] = {}
    keep_of = keeps.get
    for slot, source in sources.items():
        if type(source) is RawSource and slot not in labelled:
            dtype, size = source.dtype, len(source.data)
            if size <= TINY and (dtype is FLOAT32 or dtype is FLOAT64):
                key = dtype, source.shape, keep_of(slot)
                group = groups.get(key)
                if group is None:
                    group = groups[key] = []
                group.append(slot)
                if len(group) * size >= TOGETHER:
                    del groups[key]
                    yield from _together(group, sources, key[2])
                continue
        yield slot, stored_box(source, labelled=slot in labelled, keep=keep_of(slot))
    for key, group in groups.items():
        yield from _together(group, sources, key[2])


def stored_box(source: Source, *, labelled: bool, keep: int | None = None) -> Box:
    """The Box of a stored tensor: its hull, with the elements at hand for who needs them.

    A large one is read in pieces and its pages are given back. Special values
    (a mask's -Inf) keep their places, and so does everything that labelling asks for.
    """
    dtype = source.dtype
    if not (dtype.is_float or dtype.is_integer or dtype.is_bool):
        return Box(dtype, source.shape, 0.0, 0.0)  # strings and complex numbers: nothing to bound
    array = source.array()
    if source.nbytes <= SMALL:
        box = of_array(dtype, array)
        return fine(box) if box.flags or labelled else box
    if keep is not None and dtype.is_float and dtype.bits >= 16:
        seen = look(array, keep, source.expect)
        box = Box(dtype, source.shape, seen.lo, seen.hi, seen.flags, known=array)
        box.sums = None if seen.sums is None else (keep, seen.sums)
    else:
        box = Box(dtype, source.shape, *_streamed_extent(source), known=array)
    return fine(box) if (box.flags and box.flags != ALL) or labelled else box


def axes_of_sums(program: Program) -> dict[int, int]:
    """Stored tensors whose sums by sign some node asks for: the axis that those are kept for."""
    found: dict[int, int] = {}
    constants = program.constants
    for step in program.steps:
        op = step.op
        if op is None or op.weighs is None:
            continue
        for position, keep in op.weighs(step.attrs).items():
            slot = step.inputs[position]
            if slot in constants and len(constants[slot].shape) > 1:
                found.setdefault(slot, keep)
    return found


def _together(slots: list[int], sources: Mapping[int, Source], keep: int | None) -> Iterator[tuple[int, Box]]:
    """The Boxes of small tensors of one dtype and shape, which are few calls for all of them."""
    first = sources[slots[0]]
    dtype, shape, count = first.dtype, first.shape, len(slots)
    data = b"".join([sources[slot].data for slot in slots])  # type: ignore[attr-defined]
    stack = np.frombuffer(data, dtype.name).reshape(count, *shape) if data else np.empty((count, *shape), dtype.name)
    flat = stack.reshape(count, -1) if data else np.empty((count, 0))
    lows, highs = flat.min(axis=1, initial=inf).tolist(), flat.max(axis=1, initial=-inf).tolist()
    sums = repeat(None) if keep is None else stacked_sums(stack, keep)
    for slot, array, lo, hi, both in zip(slots, stack, lows, highs, sums, strict=False):
        if -inf < lo and hi < inf:  # false for NaN
            box = Box(dtype, shape, lo, hi, known=array)
            if both is not None and keep is not None:
                box.sums = keep, both
        else:
            box = fine(of_array(dtype, array))  # special values keep their places
        yield slot, box


def _streamed_extent(source: Source) -> tuple[float, float, int]:
    lo, hi, flags = inf, -inf, 0
    for _, piece in source.chunks():
        low, high, special = extent(piece)
        lo, hi, flags = min(lo, low), max(hi, high), flags | special
    return lo, hi, flags
