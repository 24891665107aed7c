"""Picking elements by indices: Gather, GatherElements, GatherND, Compress, TopK."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from nanproof.dims import ShapeError, Size, interval
from nanproof.domain.box import Array, Box, Shape, of_array
from nanproof.domain.moves import carried, merged_over, part, reshaped, taken
from nanproof.domain.partition import EXACT_LIMIT, blocks_of, pack
from nanproof.numerics.dtypes import INT64
from nanproof.ops.call import Call
from nanproof.ops.operands import FEW, MOST, axis_in, counted, exactly, one_size, polished
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.shaping import flat, run_reshape
from nanproof.ops.slicing import along


def _known(*values: int, shape: tuple[int, ...] | None = None) -> Operand:
    found = np.array(values, np.int64).reshape((len(values),) if shape is None else shape)
    return Operand(found.shape, dtype="int64", values=found.tolist(), stored=True)


def _among(shape: tuple[int, ...], low: int, high: int) -> Operand:
    return Operand(shape, dtype="int64", low=low, high=high)


def _x(*shape: int) -> Operand:
    return Operand(shape)


DTYPES = ("float32", "float64", "int32", "int64", "bool")


# -- Gather ------------------------------------------------------------------------------------------------


def _run_gather(xp: Any, x: Any, indices: Any, *, axis: int = 0, **_: Any) -> Any:
    axis = axis_in(axis, len(x.shape))
    n = x.shape[axis]
    places = xp.reshape(xp.where(indices < 0, indices + n, indices), (-1,))
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    return xp.reshape(xp.take(x, places, axis=axis), shape)


def _places(indices: Box, size: Size) -> Array | None:
    """Known indices, counted from the front; None if they aren't known or don't fit."""
    known = indices.known
    if known is None or known.size > MOST:
        return None
    if not isinstance(size, int):
        return None
    try:
        places = known.astype(np.int64)
    except TypeError:
        return None  # symbolic
    places = np.where(places < 0, places + size, places)
    if places.size and not (places.min() >= 0 and places.max() < size):
        return None
    return places


def _gather(call: Call, x: Box, indices: Box) -> Box:
    """Selection along one axis: known indices keep blocks, a range of indices gives the hull over the range."""
    if x.shape is None or indices.shape is None:
        return reshaped(x, None)
    axis = axis_in(call.attr("axis", 0), len(x.shape))
    size = x.shape[axis]
    places = _places(indices, size)
    if places is not None:
        if x.known is not None and x.known.size <= FEW and places.size <= MOST and x.cuts is None:
            picked = np.asarray(np.take(x.known, places, axis=axis))
            return polished(call, Box(x.dtype, picked.shape, *_hull_of(picked, x), x.flags, known=picked))
        if places.ndim < 2:
            return polished(call, taken(x, axis, places))
        shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
        return polished(call, reshaped(taken(x, axis, places.reshape(-1)), shape))
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if 0 in shape:
        return Box(x.dtype, shape, inf, -inf)
    whole = _within(x, axis, indices.hull())
    if whole.cuts is None:
        result = Box(x.dtype, shape, whole.lo, whole.hi, whole.flags)
    else:
        cuts = (*whole.cuts[:axis], *(None,) * len(indices.shape), *whole.cuts[axis + 1 :])
        grid = tuple(1 if c is None else len(c) - 1 for c in cuts)
        result = pack(x.dtype, shape, cuts, blocks_of(whole).rearranged(lambda a: a.reshape(grid)))
    symbolic = indices.known
    if symbolic is not None and symbolic.size == 1:
        result.form = carried(x, ("gather", x.shape, axis, symbolic.reshape(-1)[0], indices.shape))
    return result


def _hull_of(picked: Array, x: Box) -> tuple[float, float]:
    return x.hull() if picked.size else (inf, -inf)


def _within(x: Box, axis: int, span: tuple[float, float]) -> Box:
    """A Box without cuts along an axis, which holds the elements that a range of indices can reach."""
    assert x.shape is not None
    size = x.shape[axis]
    numbers = x.known is not None and x.known.dtype != object and x.known.size <= MOST
    if not isinstance(size, int) or not (numbers or (x.cuts is not None and x.cuts[axis] is not None)):
        return merged_over(x, (axis,))
    low, high = span
    if 0 <= low <= high < size:
        first, last = int(low), int(high)
    elif -size <= low <= high < 0:
        first, last = int(low) + size, int(high) + size
    else:
        first, last = 0, size - 1
    if x.known is not None and x.cuts is None:
        return merged_over(of_array(x.dtype, np.take(x.known, range(first, last + 1), axis=axis)), (axis,))
    return merged_over(part(x, axis, (first, last + 1, 1)), (axis,))


GATHER = Op(
    "Gather",
    run=_run_gather,
    bound=_gather,
    exact=True,
    grain=(1,),
    samples=Samples(
        cases=(
            Case((_x(5, 3), _known(0, 2, 4))),
            Case((_x(3, 5), _known(1, 2, -1)), {"axis": 1}),
            Case((_x(5, 3), _known(3, shape=()))),
            Case((_x(5, 3), _known(3, 3, -5, 0, shape=(2, 2))), {"axis": -2}),
            Case((_x(6, 3), _among((2, 2), 1, 4))),
            Case((_x(2, 6), _among((3,), -6, 5)), {"axis": 1}),
            Case((_x(2, 6), _among((), -3, -1)), {"axis": 1}),
            Case((_x(5), _known(shape=(0,)))),
        ),
        dtypes=DTYPES,
    ),
)


# -- GatherElements, GatherND -----------------------------------------------------------------------------


def _run_gather_elements(xp: Any, x: Any, indices: Any, *, axis: int = 0, **_: Any) -> Any:
    axis = axis_in(axis, len(x.shape))
    places = xp.where(indices < 0, indices + x.shape[axis], indices)
    for i in range(len(x.shape)):
        if i != axis and x.shape[i] != indices.shape[i]:
            x = x[along(i, slice(0, indices.shape[i]))]
    return xp.take_along_axis(x, places, axis=axis)


def _gather_elements(call: Call, x: Box, indices: Box) -> Box:
    """Selection along one axis, with indices of its own at every place: the hull over that axis."""
    if x.shape is None or indices.shape is None:
        return Box(x.dtype, indices.shape, *x.hull(), x.flags)
    axis = axis_in(call.attr("axis", 0), len(x.shape))
    if len(indices.shape) != len(x.shape):
        raise ShapeError(f"indices of {len(indices.shape)} axes into a tensor of {len(x.shape)}")
    if any(n == 0 for n in indices.shape):
        return Box(x.dtype, indices.shape, inf, -inf)
    small = x.known is not None and x.known.size <= MOST and isinstance(x.shape[axis], int)
    if small and (exact := exactly(call, (x, indices))) is not None:
        return polished(call, Box(x.dtype, indices.shape, *x.hull(), x.flags, known=exact[0]))
    whole = _within(x, axis, indices.hull())
    assert whole.shape is not None
    for i, (have, want) in enumerate(zip(whole.shape, indices.shape, strict=True)):
        if i == axis or have == want or whole.cuts is None or whole.cuts[i] is None:
            continue
        fits = isinstance(have, int) and isinstance(want, int) and want <= have
        whole = part(whole, i, (0, want, 1)) if fits else merged_over(whole, (i,))  # type: ignore[arg-type]
    if whole.cuts is None:
        return Box(x.dtype, indices.shape, whole.lo, whole.hi, whole.flags)
    return pack(x.dtype, indices.shape, whole.cuts, blocks_of(whole))


GATHER_ELEMENTS = Op(
    "GatherElements",
    run=_run_gather_elements,
    bound=_gather_elements,
    exact=True,
    samples=Samples(
        cases=(
            Case((_x(3, 4), _among((2, 4), 0, 2))),
            Case((_x(3, 4), _among((3, 2), -4, 3)), {"axis": 1}),
            Case((_x(3, 4), _among((2, 2), 1, 2)), {"axis": -1}),
            Case((_x(3, 3), _known(0, 1, 2, 0, shape=(2, 2)))),
        ),
        dtypes=DTYPES,
    ),
)


def _run_gather_nd(xp: Any, x: Any, indices: Any, *, batch_dims: int = 0, **_: Any) -> Any:
    depth = int(indices.shape[-1])
    batch, picked = tuple(x.shape[:batch_dims]), tuple(x.shape[batch_dims : batch_dims + depth])
    rest = tuple(x.shape[batch_dims + depth :])
    place = xp.zeros(tuple(indices.shape[:-1]), dtype=indices.dtype)
    for i, n in enumerate(picked):
        column = indices[..., i]
        place = place * n + xp.where(column < 0, column + n, column)
    count = int(np.prod(picked, dtype=np.int64))
    for i, n in enumerate(batch):
        numbers = xp.reshape(xp.arange(n), tuple(n if j == i else 1 for j in range(len(place.shape))))
        place = place + numbers * int(np.prod((*batch[i + 1 :], count), dtype=np.int64))
    rows = xp.reshape(x, (-1, *rest))
    return xp.reshape(xp.take(rows, xp.reshape(place, (-1,)), axis=0), (*place.shape, *rest))


def _gather_nd(call: Call, x: Box, indices: Box) -> Box:
    """Selection of whole sub-tensors: the hull over the axes that the indices run through."""
    batch = call.attr("batch_dims", 0)
    if x.shape is None or indices.shape is None or not isinstance(indices.shape[-1], int):
        return reshaped(x, None)
    depth = indices.shape[-1]
    rest = x.shape[batch + depth :]
    shape: tuple[Size, ...] = (*indices.shape[:-1], *rest)
    if 0 in shape:
        return Box(x.dtype, shape, inf, -inf)
    few = (count := counted(shape)) is not None and count <= EXACT_LIMIT
    exact = exactly(call, (x, indices)) if few and x.known is not None else None
    if exact is not None and exact[0].shape == shape:
        return polished(call, Box(x.dtype, shape, *x.hull(), x.flags, known=exact[0]))
    if depth == 1:
        whole = merged_over(_within(x, batch, indices.hull()), tuple(range(batch + 1)))
    else:
        whole = merged_over(x, tuple(range(batch + depth)))
    if whole.cuts is None:
        return Box(x.dtype, shape, whole.lo, whole.hi, whole.flags)
    cuts = (*(None,) * (len(indices.shape) - 1), *whole.cuts[batch + depth :])
    grid = tuple(1 if c is None else len(c) - 1 for c in cuts)
    return pack(x.dtype, shape, cuts, blocks_of(whole).rearranged(lambda a: a.reshape(grid)))


GATHER_ND = Op(
    "GatherND",
    run=_run_gather_nd,
    bound=_gather_nd,
    exact=True,
    samples=Samples(
        cases=(
            Case((_x(2, 3, 4), _known(0, 1, 1, -1, shape=(2, 2)))),
            Case((_x(2, 3, 4), _among((5, 1), -2, 1))),
            Case((_x(2, 3, 4), _among((2, 2, 1), 0, 2)), {"batch_dims": 1}),
            Case((_x(2, 3), _known(1, 2, shape=(1, 2)))),
        ),
        dtypes=DTYPES,
    ),
)


# -- Compress ---------------------------------------------------------------------------------------------


def _run_compress(xp: Any, x: Any, condition: Any, *, axis: int | None = None, **_: Any) -> Any:
    if axis is None:
        x, axis = run_reshape(xp, x, (-1,)), 0
    places = xp.nonzero(condition)[0]
    return xp.take(x, places, axis=axis_in(axis, len(x.shape)))


def _compress(call: Call, x: Box, condition: Box) -> Box:
    """Selection along one axis, by a condition that is seldom known."""
    axis = call.attr("axis")
    if axis is None:
        x, axis = flat(x), 0
    if x.shape is None:
        return reshaped(x, None)
    axis = axis_in(axis, len(x.shape))
    size = x.shape[axis]
    known = condition.known
    if known is not None and known.size <= FEW and isinstance(size, int):
        places = np.flatnonzero(known)
        if places.size and places[-1] >= size:
            raise ShapeError(f"Compress takes element {places[-1]} of an axis of {size}")
        return polished(call, taken(x, axis, places))
    shape = (*x.shape[:axis], call.fresh("size"), *x.shape[axis + 1 :])
    whole = merged_over(x, (axis,))
    if whole.cuts is None:
        return Box(x.dtype, shape, whole.lo, whole.hi, whole.flags)
    return pack(x.dtype, shape, whole.cuts, blocks_of(whole))


COMPRESS = Op(
    "Compress",
    run=_run_compress,
    bound=_compress,
    exact=True,
    grain=(1,),
    samples=Samples(
        cases=(
            Case((_x(3, 2), Operand((3,), "bool", values=(True, False, True), stored=True)), {"axis": 0}),
            Case((_x(3, 2), Operand((2,), "bool")), {"axis": -1}),
            Case((_x(3, 2), Operand((5,), "bool", values=(False, True, False, True, True), stored=True))),
        ),
        dtypes=("float32", "int64"),
    ),
)


# -- TopK -------------------------------------------------------------------------------------------------


def _run_top_k(xp: Any, x: Any, k: Any, *, axis: int = -1, largest: int = 1, **_: Any) -> Any:
    count, axis = int(k.reshape(-1)[0]), axis_in(axis, len(x.shape))
    order = xp.argsort(x, axis=axis, descending=bool(largest), stable=True) if hasattr(xp, "Tensor") else None
    if order is None:
        order = np.argsort(-x if largest else x, axis=axis, kind="stable")
    order = order[along(axis, slice(0, count))]
    return xp.take_along_axis(x, order, axis=axis), order


def _top_k(call: Call, x: Box, k: Box) -> tuple[Box, Box]:
    """Selection: some values of the axis, and where they stood. Which ones isn't known, so the hull over the axis."""
    if x.shape is None:
        return reshaped(x, None), Box(INT64, None, 0.0, 2.0**63)
    axis = axis_in(call.attr("axis", -1), len(x.shape))
    count = one_size(k)
    size: Size = call.fresh("k") if count is None else count
    shape: Shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
    if size == 0:
        return Box(x.dtype, shape, inf, -inf), Box(INT64, shape, inf, -inf)
    n = x.shape[axis]
    high = interval(n, call.setting.dims)[1]
    places = Box(INT64, shape, 0.0, 2.0**63 if high is None else float(max(high - 1, 0)))
    whole = merged_over(x, (axis,))
    if whole.cuts is None:
        return Box(x.dtype, shape, whole.lo, whole.hi, whole.flags), places
    return pack(x.dtype, shape, whole.cuts, blocks_of(whole)), places


TOP_K = Op(
    "TopK",
    run=_run_top_k,
    bound=_top_k,
    exact=True,
    grain=(1,),
    samples=Samples(
        cases=(
            Case((Operand((2, 5), low=-9, high=9), _known(3)), outputs=2),
            Case((Operand((5, 2), low=-9, high=9), _known(2)), {"axis": 0, "largest": 0}, outputs=2),
        ),
        dtypes=("float32", "float64", "int64"),
    ),
)

OPS = (GATHER, GATHER_ELEMENTS, GATHER_ND, COMPRESS, TOP_K)
