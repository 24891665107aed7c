"""The Boxes of initial values: inputs by their ranges, stored tensors by their elements."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np

from nanproof.analysis.state import State, hull_of
from nanproof.analysis.stored import axes_of_sums, stored_boxes
from nanproof.domain.box import Box, Shape, finite, top
from nanproof.domain.partition import Blocks, everywhere, pack
from nanproof.domain.series import Maybe, Series
from nanproof.model.graph import Declared, Model, Source
from nanproof.model.ranges import Range
from nanproof.numerics.dtypes import FLOAT32, DType
from nanproof.numerics.rounding import nearest

FEW = 1024
"""Stored tensors with at most so many elements are kept as they are: they take no memory of their own."""


def set_initial(
    state: State,
    model: Model,
    ranges: Mapping[str, Range],
    labelled: frozenset[int],
    kept: dict[int, Box] | None = None,
) -> None:
    """Give every initial slot its Box. ``kept`` has those of stored tensors from an earlier run, and gets them."""
    program, boxes, hulls = state.program, state.boxes, state.hulls
    declared = {item.name: item for item in model.graph.inputs}
    constants = program.constants
    sources: dict[int, Source] = {}
    for slot, name in program.initial.items():
        source, chosen = constants.get(slot), ranges.get(name)
        if source is not None:
            if chosen is None or chosen.exact:
                sources[slot] = source
                continue
            box = ranged_box(source.dtype, source.shape, chosen)
        else:
            box = _input_box(declared.get(name), chosen)
        boxes[slot], hulls[slot] = box, hull_of(box)
    kept = {} if kept is None else kept
    missing = {slot: source for slot, source in sources.items() if slot not in kept} if kept else sources
    if missing:
        kept.update(stored_boxes(missing, labelled, axes_of_sums(program)))
    for slot in sources:
        box = boxes[slot] = kept[slot]
        hulls[slot] = box if box.known is not None and box.known.size <= FEW and not box.flags else hull_of(box)


def _input_box(declared: Declared | None, chosen: Range | None) -> Box:
    if declared is not None and declared.item is not None:
        return _wrapped(declared.kinds, _input_box(declared.item, chosen))
    dtype = FLOAT32 if declared is None or declared.dtype is None else declared.dtype
    shape = None if declared is None else declared.shape
    if chosen is None:
        return top(dtype, shape)
    return ranged_box(dtype, shape, chosen)


def _wrapped(kinds: tuple[str, ...], item: Box) -> Box:
    """An input that is a sequence of any length, or that may be absent. Its tensors' open sizes may differ."""
    if not kinds:
        return item
    inner = _wrapped(kinds[1:], item)
    if kinds[0] == "optional":
        return Maybe(inner, None)
    sizes = None if inner.shape is None else tuple(n if isinstance(n, int) else None for n in inner.shape)
    return Series(inner, sizes, (0, None))


def ranged_box(dtype: DType, shape: Shape, chosen: Range) -> Box:
    """Any tensor in a range; element by element where the range is given so."""
    if shape is not None and 0 in shape:
        return Box(dtype, shape, inf, -inf)
    if chosen.array is not None:
        low, high = np.broadcast_arrays(*(np.asarray(a, float) for a in chosen.array))
        cuts = tuple(everywhere(n) if n > 1 else None for n in low.shape)
        return pack(dtype, low.shape, cuts, Blocks(low, high, None))
    lo, hi = max(chosen.lo, dtype.min), min(chosen.hi, dtype.max)
    if dtype.is_float:
        # 0.1 stands for the dtype's 0.1, even if that is a little more
        lo, hi = nearest(dtype, lo), nearest(dtype, hi)
    return finite(dtype, shape, lo, hi)
