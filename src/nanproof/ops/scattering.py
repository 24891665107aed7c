"""Writing elements at indices: ScatterElements, ScatterND, TensorScatter."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from nanproof.dims import bounds, product
from nanproof.domain.box import ALL, INFS, NAN, Box, Shape
from nanproof.domain.partition import Blocks, blocks_of, pack
from nanproof.numerics.reductions import sum_error
from nanproof.ops.call import Call
from nanproof.ops.operands import axis_in, exactly, polished
from nanproof.ops.record import Case, Op, Operand, Samples

SMALL = 1 << 10
"""Most elements of known operands that are scattered exactly."""


def _known(values: Any) -> Operand:
    return Operand(np.shape(values), dtype="int64", values=values, stored=True)


def _among(shape: tuple[int, ...], low: int, high: int) -> Operand:
    return Operand(shape, dtype="int64", low=low, high=high)


def _x(*shape: int) -> Operand:
    return Operand(shape)


# -- the concrete meaning ------------------------------------------------------------------------------------

_TORCH = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}
_NUMPY = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _scattered(x: Any, places: Any, updates: Any, reduction: str) -> Any:
    """``x`` (flat) with updates at flat places, one after the other; a new array.

    The array API has no scatter; both libraries have one of their own.
    """
    if hasattr(x, "scatter_reduce"):
        if reduction == "none":
            return x.scatter(0, places, updates)
        return x.scatter_reduce(0, places, updates, reduce=_TORCH[reduction])
    result = np.array(x)
    if reduction == "none":
        for place, value in zip(places.tolist(), updates, strict=True):
            result[place] = value
    else:
        _NUMPY[reduction].at(result, places, updates)
    return result


def _counter(xp: Any, n: int, axis: int, rank: int) -> Any:
    return xp.reshape(xp.arange(n), tuple(n if i == axis else 1 for i in range(rank)))


def _run_elements(xp: Any, x: Any, indices: Any, updates: Any, *, axis: int = 0, reduction: str = "none") -> Any:
    rank = len(x.shape)
    axis = axis_in(axis, rank)
    place = xp.zeros(tuple(indices.shape), dtype=indices.dtype)
    for i, n in enumerate(x.shape):
        step = xp.where(indices < 0, indices + n, indices) if i == axis else _counter(xp, indices.shape[i], i, rank)
        place = place * n + step
    flat = _scattered(xp.reshape(x, (-1,)), xp.reshape(place, (-1,)), xp.reshape(updates, (-1,)), reduction)
    return xp.reshape(flat, tuple(x.shape))


def _run_nd(xp: Any, x: Any, indices: Any, updates: Any, *, reduction: str = "none") -> Any:
    depth = int(indices.shape[-1])
    rest = tuple(x.shape[depth:])
    inner = int(np.prod(rest, dtype=np.int64))
    place = xp.zeros(tuple(indices.shape[:-1]), dtype=indices.dtype)
    for i, n in enumerate(x.shape[:depth]):
        column = indices[..., i]
        place = place * n + xp.where(column < 0, column + n, column)
    places = xp.reshape(place, (-1, 1)) * inner + xp.reshape(xp.arange(inner), (1, -1))
    flat = _scattered(xp.reshape(x, (-1,)), xp.reshape(places, (-1,)), xp.reshape(updates, (-1,)), reduction)
    return xp.reshape(flat, tuple(x.shape))


def _run_cache(
    xp: Any, x: Any, update: Any, starts: Any = None, *, axis: int = -2, mode: str = "linear", **_: Any
) -> Any:
    rank = len(x.shape)
    axis = axis_in(axis, rank)
    length, count, batch = x.shape[axis], update.shape[axis], x.shape[0]
    first = xp.zeros((batch,), dtype=xp.int64) if starts is None else starts
    place = xp.reshape(first, (batch, *(1,) * (rank - 1))) + _counter(xp, count, axis, rank)
    if mode == "circular":
        place = place % length
    return _run_elements(xp, x, xp.broadcast_to(place, tuple(update.shape)), update, axis=axis)


# -- bounds --------------------------------------------------------------------------------------------------


def _written(call: Call, x: Box, updates: Box, most: float) -> Box:
    """No class fits: each element of x meets up to ``most`` updates, of which only the hull is used."""
    reduction = call.attr("reduction", "none")
    if not updates.flags and not updates.has_finite:
        return x  # nothing is written
    if not x.flags and not x.has_finite:
        return x  # nowhere to write
    blocks = blocks_of(x)
    a, b = np.asarray(blocks.lo, float), np.asarray(blocks.hi, float)
    void = a > b
    c, d = updates.hull()
    marks: Any = np.uint8(0) if blocks.spots is None else blocks.spots
    if reduction in ("none", "max", "min"):
        loose = reduction == "none" or bool(x.flags | updates.flags)
        lo = np.minimum(a, c) if loose or reduction == "min" else a
        hi = np.maximum(b, d) if loose or reduction == "max" else b
        spots = marks | np.uint8(updates.flags)
        return pack(x.dtype, x.shape, x.cuts, Blocks(lo, hi, np.broadcast_to(spots, lo.shape) if spots.any() else None))
    flags = x.flags | updates.flags
    if flags & INFS:
        flags = ALL if reduction == "mul" else flags | NAN
    a, b = np.where(void, 0.0, a), np.where(void, 0.0, b)
    if not c <= d:
        c = d = 0.0
    if reduction == "add":
        lo, hi = a + (most * min(c, 0.0) if c < 0 else 0.0), b + (most * max(d, 0.0) if d > 0 else 0.0)
        magnitude = np.maximum(abs(a), abs(b)) + (most * max(abs(c), abs(d)) if c or d else 0.0)
        err = sum_error(most + 1, magnitude, x.dtype, x.dtype)
    else:
        lo, hi, err = _product(x, (a, b), (c, d), most)
        if c <= 0.0 <= d and x.dtype.is_float and not np.max(np.maximum(abs(lo), abs(hi)) + err) <= x.dtype.max:
            flags |= NAN  # a product that has become infinite meets a factor of 0
    return call.settle(x.dtype, x.shape, lo, hi, err=err, cuts=x.cuts, spots=flags)


def _product(x: Box, data: tuple[Any, Any], factor: tuple[float, float], most: float) -> tuple[Any, Any, Any]:
    """Data times up to ``most`` factors."""
    (a, b), (c, d) = data, factor
    with np.errstate(over="ignore", invalid="ignore"):
        reach = float(np.power(max(1.0, abs(c), abs(d)), most))
        low = float(np.power(min(1.0, c), most)) if c >= 0 else -reach
        corners = [a * low, a * reach, b * low, b * reach]
        corners = [np.where(np.isnan(v), 0.0, v) for v in corners]
        lo, hi = np.minimum.reduce(corners), np.maximum.reduce(corners)
        rate = (most + 1) * (x.dtype.unit + 2.0**-52)
        err = rate * np.exp(min(rate, 700.0)) * np.maximum(abs(lo), abs(hi)) + (most + 1) * x.dtype.quantum * reach
    return lo, hi, err if x.dtype.is_float else 0.0


def _most(call: Call, shape: Shape, axis: int | None) -> float:
    """How many updates one element can meet."""
    if shape is None:
        return inf
    size = product(shape[:-1]) if axis is None else shape[axis]
    high = bounds(size, call.setting.dims)[1]
    return inf if high is None else float(high)


def _scatter_elements(call: Call, x: Box, indices: Box, updates: Box) -> Box:
    """The hull of all updates may come to every place."""
    if (exact := _exact(call, (x, indices, updates))) is not None:
        return exact
    axis = None if x.shape is None else axis_in(call.attr("axis", 0), len(x.shape))
    most = inf if axis is None else _most(call, indices.shape, axis)
    return _written(call, x, updates, most)


def _scatter_nd(call: Call, x: Box, indices: Box, updates: Box) -> Box:
    """The hull of all updates may come to every place."""
    if (exact := _exact(call, (x, indices, updates))) is not None:
        return exact
    return _written(call, x, updates, _most(call, indices.shape, None))


def _exact(call: Call, boxes: tuple[Box, ...]) -> Box | None:
    if call.attr("reduction", "none") != "none" or any(b.known is None for b in boxes):
        return None
    found = exactly(call, boxes, SMALL)
    if found is None:
        return None
    x = boxes[0]
    lo, hi = min(b.hull()[0] for b in (x, boxes[2])), max(b.hull()[1] for b in (x, boxes[2]))
    return polished(call, Box(x.dtype, x.shape, lo, hi, x.flags | boxes[2].flags, known=found[0]))


def _cache(call: Call, x: Box, update: Box, starts: Box | None = None) -> Box:
    """The hull of the update may come to every place along the axis."""
    return _written(call, x, update, 1.0)


_FLOATS = ("float32", "float64", "int64")

SCATTER_ELEMENTS = Op(
    "ScatterElements",
    run=_run_elements,
    bound=_scatter_elements,
    overflow="NP203",
    samples=Samples(
        cases=(
            Case((_x(3, 4), _known([[0, 1], [2, 0]]), _x(2, 2))),
            Case((_x(3, 4), _known([[0, -1, 2]]), _x(1, 3)), {"axis": 1}),
            Case((_x(3, 4), _known([[0, 0, 1]]), _x(1, 3)), {"axis": 1, "reduction": "add"}),
            Case((_x(3, 4), _known([[0, 0, 1]]), _x(1, 3)), {"axis": 1, "reduction": "mul"}),
            Case((_x(3, 4), _among((2, 4), 0, 2), _x(2, 4)), {"reduction": "max"}, dtypes=_FLOATS),
            Case((_x(3, 4), _among((2, 4), -3, 2), _x(2, 4)), {"reduction": "min"}, dtypes=_FLOATS),
        ),
        dtypes=_FLOATS,
    ),
)

SCATTER_ND = Op(
    "ScatterND",
    run=_run_nd,
    bound=_scatter_nd,
    overflow="NP203",
    samples=Samples(
        cases=(
            Case((_x(4, 3), _known([[1], [3]]), _x(2, 3))),
            Case((_x(4, 3), _known([[1, 2], [-1, 0]]), _x(2))),
            Case((_x(4, 3), _known([[1], [1]]), _x(2, 3)), {"reduction": "add"}),
            Case((_x(4, 3), _known([[1], [1]]), _x(2, 3)), {"reduction": "mul"}),
            Case((_x(4, 3), _known([[1], [1]]), _x(2, 3)), {"reduction": "max"}),
            Case((_x(4, 3), _known([[1], [1]]), _x(2, 3)), {"reduction": "min"}),
        ),
        dtypes=_FLOATS,
    ),
)

TENSOR_SCATTER = Op(
    "TensorScatter",
    run=_run_cache,
    bound=_cache,
    exact=True,
    samples=Samples(
        cases=(
            Case((_x(2, 4, 3), _x(2, 2, 3), _known([1, 2]))),
            Case((_x(2, 4, 3), _x(2, 2, 3))),
            Case((_x(2, 4, 3), _x(2, 2, 3), _known([1, 3])), {"mode": "circular", "axis": 1}),
        ),
        dtypes=("float32", "float64"),
    ),
)

OPS = (SCATTER_ELEMENTS, SCATTER_ND, TENSOR_SCATTER)
