"""Tensors made larger or smaller at their ends: Pad, CenterCropPad."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from nanproof.dims import Dim, ShapeError, Size
from nanproof.domain.box import Box, finite
from nanproof.domain.moves import concatenated, hull_of, merged_over, part, reshaped, some, taken
from nanproof.ops.call import Call
from nanproof.ops.operands import MOST, axes_in, ints, polished, sizes
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.shaping import integers
from nanproof.ops.slicing import along


def _known(*values: int) -> Operand:
    return Operand((len(values),), dtype="int64", values=values, stored=True)


def _x(*shape: int) -> Operand:
    return Operand(shape)


# -- Pad -----------------------------------------------------------------------------------------------------


def _places(size: int, before: int, after: int, mode: str) -> Any:
    """Where the elements of a padded axis come from."""
    places = np.arange(-before, size + after)
    if mode == "wrap":
        return places % size
    if mode == "reflect":
        if size == 1:
            return places * 0
        folded = places % (2 * (size - 1))
        return np.where(folded < size, folded, 2 * (size - 1) - folded)
    return np.clip(places, 0, size - 1)


def _run_pad(xp: Any, x: Any, pads: Any, value: Any = None, axes: Any = None, *, mode: str = "constant") -> Any:
    rank = len(x.shape)
    chosen = tuple(range(rank)) if axes is None else axes_in(integers(axes), rank)
    found = integers(pads)
    for i, axis in enumerate(chosen):
        before, after = found[i], found[i + len(chosen)]
        n = int(x.shape[axis])
        if before < 0 or after < 0:
            x = x[along(axis, slice(max(-before, 0), max(n + min(after, 0), 0)))]
            before, after, n = max(before, 0), max(after, 0), int(x.shape[axis])
        if before == after == 0:
            continue
        if mode == "constant":
            fill = xp.zeros((), dtype=x.dtype) if value is None else xp.reshape(value, ())
            ends = [(*x.shape[:axis], count, *x.shape[axis + 1 :]) for count in (before, after)]
            x = xp.concat([xp.broadcast_to(fill, ends[0]), x, xp.broadcast_to(fill, ends[1])], axis=axis)
        else:
            x = xp.take(x, xp.asarray(_places(n, before, after, mode)), axis=axis)
    return x


def _pad(call: Call, x: Box, pads: Box, value: Box | None = None, axes: Box | None = None) -> Box:
    """Data movement: padding gets blocks of its own, and the seams are cuts."""
    if x.shape is None:
        return hull_of((reshaped(x, None), _filling(x, value)), None)
    rank = len(x.shape)
    chosen = tuple(range(rank)) if axes is None else ints(axes)
    found = sizes(pads)
    mode = call.attr("mode", "constant")
    fill = _filling(x, value)
    if chosen is None or found is None:
        shape = tuple(call.fresh(f"size{i}") for i in range(rank))
        return hull_of((x, fill) if mode == "constant" else (x,), shape)
    if len(found) != 2 * len(chosen):
        raise ShapeError(f"Pad of {len(chosen)} axes by {len(found)} numbers")
    for i, axis in enumerate(axes_in(chosen, rank)):
        x = _padded(x, axis, (found[i], found[i + len(chosen)]), mode, fill)
    return polished(call, x)


def _filling(x: Box, value: Box | None) -> Box:
    """The Box of one padding element."""
    if value is None:
        return finite(x.dtype, (), 0.0, 0.0)
    return Box(x.dtype, (), *value.hull(), value.flags)


def _padded(x: Box, axis: int, counts: tuple[Size, Size], mode: str, fill: Box) -> Box:
    """One axis."""
    before, after = counts
    assert x.shape is not None
    size = x.shape[axis]
    if type(before) is int and type(after) is int and type(size) is int:
        if before < 0 or after < 0:
            x = part(x, axis, (max(-before, 0), max(size + min(after, 0), -before, 0), 1))
            before, after, size = max(before, 0), max(after, 0), x.shape[axis]  # type: ignore[index]
        if before == after == 0:
            return x
        if mode != "constant" and size == 0:
            raise ShapeError(f"Pad of axis {axis}, which is empty, by {mode}")
        if mode != "constant" and int(size) + before + after > MOST:  # type: ignore[arg-type]
            return some(x, axis, size + before + after)
        if mode != "constant":
            return taken(x, axis, _places(int(size), before, after, mode))  # type: ignore[arg-type]
        ends = [_block(x, axis, n, fill) for n in (before, after)]
        return concatenated([ends[0], x, ends[1]], axis)
    if type(before) is int and before == 0 and type(after) is int and after == 0:
        return x
    total = size + before + after
    if mode != "constant":
        return some(x, axis, total, ("pad", mode, before, after))
    whole = merged_over(x, (axis,))
    unknown: Size = total if isinstance(total, Dim) else size
    longer = some(whole, axis, unknown)
    joined = concatenated([longer, _block(x, axis, 1, fill)], axis)
    return some(joined, axis, total)


def _block(x: Box, axis: int, count: int, fill: Box) -> Box:
    """A stretch of padding, in the shape of x but for one axis."""
    assert x.shape is not None
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    if 0 in shape:
        return Box(x.dtype, shape, inf, -inf)
    known = None
    if x.known is not None and fill.is_point and all(isinstance(n, int) for n in shape) and x.known.dtype != object:
        known = np.broadcast_to(np.asarray(fill.lo).astype(x.known.dtype), shape)  # type: ignore[arg-type]
    return Box(x.dtype, shape, fill.lo, fill.hi, fill.flags, known=known)


PAD = Op(
    "Pad",
    run=_run_pad,
    bound=_pad,
    exact=True,
    grain=(1, 3),
    samples=Samples(
        cases=(
            Case((_x(2, 3), _known(1, 0, 2, 1))),
            Case((_x(2, 3), _known(0, 1, 0, 2), Operand(()))),
            Case((_x(3, 4), _known(2, 1), Operand(()), _known(1))),
            Case((_x(3, 4), _known(-1, 2, 0, -1))),
            Case((_x(3, 4), _known(1, 2, 2, 1)), {"mode": "reflect"}),
            Case((_x(3, 4), _known(1, 2, 4, 1)), {"mode": "edge"}),
            Case((_x(3, 4), _known(1, 2, 0, 1)), {"mode": "wrap"}),
            Case((_x(3, 4), _known(1, 1), Operand(absent=True), _known(-1)), {"mode": "edge"}),
        ),
        dtypes=("float32", "float64", "int32", "int64"),
    ),
)


# -- CenterCropPad -------------------------------------------------------------------------------------------


def _crop_plan(size: int, wanted: int) -> tuple[int, int]:
    """(before, after) of a pad, negative for a crop."""
    if wanted >= size:
        before = (wanted - size) // 2
        return before, wanted - size - before
    first = (size - wanted) // 2
    return -first, -(size - wanted - first)


def _run_center(xp: Any, x: Any, shape: Any, *, axes: Sequence[int] | None = None, **_: Any) -> Any:
    rank = len(x.shape)
    chosen = tuple(range(rank)) if axes is None else axes_in(axes, rank)
    for axis, wanted in zip(chosen, integers(shape), strict=True):
        before, after = _crop_plan(int(x.shape[axis]), wanted)
        x = _run_pad(xp, x, [before, after], None, [axis])
    return x


def _center(call: Call, x: Box, shape: Box) -> Box:
    """Pads with 0 or crops, axis by axis."""
    if x.shape is None:
        return hull_of((reshaped(x, None), _filling(x, None)), None)
    rank = len(x.shape)
    axes = call.attr("axes")
    chosen = tuple(range(rank)) if axes is None else axes_in(axes, rank)
    found = sizes(shape)
    fill = _filling(x, None)
    for i, axis in enumerate(chosen):
        assert x.shape is not None
        size = x.shape[axis]
        wanted = call.fresh(f"size{axis}") if found is None else found[i]
        if isinstance(size, int) and isinstance(wanted, int):
            x = _padded(x, axis, _crop_plan(size, wanted), "constant", fill)
        elif size != wanted:
            joined = concatenated([some(x, axis, call.fresh(f"part{axis}")), _block(x, axis, 1, fill)], axis)
            x = some(joined, axis, wanted)
    return polished(call, x)


CENTER_CROP_PAD = Op(
    "CenterCropPad",
    run=_run_center,
    bound=_center,
    exact=True,
    grain=(1,),
    samples=Samples(
        cases=(
            Case((_x(4, 3), _known(2, 6))),
            Case((_x(5, 3), _known(2, 2))),
            Case((_x(5, 3, 2), _known(4, 7)), {"axes": (-1, 1)}),
        ),
        dtypes=("float32", "int64"),
    ),
)

OPS = (PAD, CENTER_CROP_PAD)
