"""The Boxes of initial values: inputs by their ranges, stored tensors by their elements."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np

from nanproof.analysis.state import State, hull_of
from nanproof.domain.box import ALL, Box, Shape, extent, finite, of_array, top
from nanproof.domain.partition import Blocks, everywhere, fine, pack
from nanproof.domain.series import Maybe, Series
from nanproof.model.graph import Declared, Model, Source
from nanproof.model.ranges import Range
from nanproof.numerics.dtypes import FLOAT32, DType
from nanproof.numerics.rounding import nearest

SMALL = 1 << 16
"""Stored tensors up to this many bytes are looked at in one go."""


def set_initial(state: State, model: Model, ranges: Mapping[str, Range], labelled: frozenset[int]) -> None:
    """Give every initial slot its Box."""
    declared = {item.name: item for item in model.graph.inputs}
    for slot, name in state.program.initial.items():
        source = state.program.constants.get(slot)
        chosen = ranges.get(name)
        if source is not None and (chosen is None or chosen.exact):
            box = stored_box(source, labelled=slot in labelled)
        elif source is not None:
            assert chosen is not None
            box = ranged_box(source.dtype, source.shape, chosen)
        else:
            box = _input_box(declared.get(name), chosen)
        state.boxes[slot] = box
        state.hulls[slot] = hull_of(box)


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


def stored_box(source: Source, *, labelled: bool) -> Box:
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
    lo, hi, flags = _streamed_extent(source)
    box = Box(dtype, source.shape, lo, hi, flags, known=array)
    return fine(box) if (flags and flags != ALL) or labelled else box


def _streamed_extent(source: Source) -> tuple[float, float, int]:
    lo, hi, flags = inf, -inf, 0
    for _, piece in source.chunks():
        low, high, special = extent(piece)
        lo, hi, flags = min(lo, low), max(hi, high), flags | special
    return lo, hi, flags
