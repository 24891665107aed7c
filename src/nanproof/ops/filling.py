"""Tensors made from shapes and numbers: Shape, Size, Constant, ConstantOfShape, EyeLike, Range, OneHot."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from nanproof.dims import Dim, Size, most, product
from nanproof.domain.box import INFS, NAN, Array, Box, Shape, extent, of_array, top
from nanproof.domain.moves import hull_of
from nanproof.domain.partition import fine
from nanproof.numerics.dtypes import FLOAT32, INT64, STRING, DType, by_onnx, of_numpy, to_numpy
from nanproof.numerics.rounding import nearest
from nanproof.ops.call import Call
from nanproof.ops.conditions import Requirement, Z
from nanproof.ops.operands import (
    MOST,
    axis_in,
    counted,
    ends_of,
    exactly,
    length_of,
    numeric,
    of_shape,
    of_size,
    one_size,
    polished,
    sizes,
)
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.shaping import ANY, integers


def _known(*values: float, dtype: str = "int64", shape: tuple[int, ...] | None = None) -> Operand:
    return Operand((len(values),) if shape is None else shape, dtype=dtype, values=values, stored=True)


def _x(*shape: int) -> Operand:
    return Operand(shape)


# -- Shape, Size ------------------------------------------------------------------------------------------


def _chosen(shape: Sequence[Any], start: int, end: int | None) -> list[Any]:
    rank = len(shape)
    first = min(max(start + rank if start < 0 else start, 0), rank)
    last = rank if end is None else min(max(end + rank if end < 0 else end, 0), rank)
    return list(shape[first:last])


def _shape(call: Call, x: Box) -> Box:
    """Depends on the shape only: sizes that aren't known stay symbolic."""
    if x.shape is None:
        return Box(INT64, (call.fresh("rank"),), 0.0, 2.0**63)
    return of_shape(call, _chosen(x.shape, call.attr("start", 0), call.attr("end")))


def _run_shape(xp: Any, x: Any, *, start: int = 0, end: int | None = None, **_: Any) -> Any:
    return xp.asarray([int(n) for n in _chosen(tuple(x.shape), start, end)], dtype=xp.int64)


SHAPE = Op(
    "Shape",
    run=_run_shape,
    bound=_shape,
    exact=True,
    result="int64",
    stops=True,
    samples=Samples(
        cases=(
            Case((_x(2, 3, 4),)),
            Case((_x(2, 3, 4),), {"start": -1}),
            Case((_x(2, 3, 4),), {"start": 1, "end": -1}),
            Case((_x(2, 3),), {"start": -9, "end": 9}),
            Case((_x(),)),
        ),
        dtypes=ANY,
    ),
)


def _size(call: Call, x: Box) -> Box:
    """Depends on the shape only."""
    if x.shape is None:
        return Box(INT64, (), 0.0, 2.0**63)
    return of_size(call, product(x.shape))


def _run_size(xp: Any, x: Any, **_: Any) -> Any:
    return xp.asarray(product(tuple(int(n) for n in x.shape)), dtype=xp.int64)


SIZE = Op(
    "Size",
    run=_run_size,
    bound=_size,
    exact=True,
    result="int64",
    stops=True,
    samples=Samples(cases=(Case((_x(2, 3),)), Case((_x(),)), Case((_x(0, 2),))), dtypes=ANY),
)


# -- Constant, ConstantOfShape ---------------------------------------------------------------------------

_VALUES = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
    "value_string": object,
    "value_strings": object,
}


def constant_array(attrs: dict[str, Any]) -> Array | None:
    """The tensor of a Constant node; None for a sparse one."""
    if "value" in attrs:
        return np.asarray(attrs["value"])
    for name, numpy_type in _VALUES.items():
        if name in attrs:
            return np.array(attrs[name], numpy_type)
    return None


def _run_constant(xp: Any, **attrs: Any) -> Any:
    return xp.asarray(constant_array(attrs))


def _constant(call: Call) -> Box:
    """One known tensor."""
    array = constant_array(dict(call.attrs))
    if array is None:
        return top(FLOAT32)
    dtype = of_numpy(array.dtype)
    if not (dtype.is_float or dtype.is_integer or dtype.is_bool):
        return Box(dtype, array.shape, *((0.0, 1.0) if dtype is STRING else (dtype.min, dtype.max)), known=array)
    box = of_array(dtype, array)
    return fine(box) if box.flags else box


CONSTANT = Op(
    "Constant",
    run=_run_constant,
    bound=_constant,
    exact=True,
    result=lambda call, boxes: _constant(call).dtype,
    stops=True,
    samples=Samples(
        cases=(
            Case((), {"value_float": 1.5}),
            Case((), {"value_floats": (1.0, -2.0)}),
            Case((), {"value_int": 3}),
            Case((), {"value_ints": (3, 4)}),
            Case((), {"value": np.array([[1.0, -np.inf], [0.0, 2.0]], np.float32)}),
            Case((), {"value": np.array([1, 2], np.uint8)}),
        ),
        dtypes=("float32",),
    ),
)

_ZERO = np.zeros(1, np.float32)


def _run_constant_of_shape(xp: Any, shape: Any, *, value: Any = _ZERO, **_: Any) -> Any:
    return xp.broadcast_to(xp.asarray(np.array(value).reshape(())), tuple(integers(shape)))


def _constant_of_shape(call: Call, shape: Box) -> Box:
    """One number everywhere."""
    value = np.asarray(call.attr("value", _ZERO)).reshape(())
    dtype = of_numpy(value.dtype)
    lo, hi, flags = extent(value)
    found = sizes(shape)
    result_shape: Shape
    if found is not None:
        result_shape = found
    else:
        rank = length_of(shape)
        result_shape = None if rank is None else tuple(call.fresh(f"size{i}") for i in range(rank))
    count = counted(result_shape)
    if count == 0:
        lo, hi, flags = inf, -inf, 0
    known = None
    plain = numeric(result_shape)
    if plain is not None and count is not None and count <= MOST:
        known = np.broadcast_to(value, plain)
    return Box(dtype, result_shape, lo, hi, flags, known=known)


CONSTANT_OF_SHAPE = Op(
    "ConstantOfShape",
    run=_run_constant_of_shape,
    bound=_constant_of_shape,
    exact=True,
    result=lambda call, boxes: of_numpy(np.asarray(call.attr("value", _ZERO)).dtype),
    grain=(0,),
    samples=Samples(
        cases=(
            Case((_known(2, 3),)),
            Case((_known(2, 3),), {"value": np.array([7], np.int64)}),
            Case((_known(3),), {"value": np.array([-np.inf], np.float32)}),
            Case((_known(2, 0),)),
            Case((_known(shape=(0,)),)),
        ),
        dtypes=("float32",),
    ),
)


# -- EyeLike ----------------------------------------------------------------------------------------------


def _eye_dtype(call: Call, boxes: Sequence[Box]) -> DType:
    code = call.attr("dtype")
    return boxes[0].dtype if code is None else by_onnx(code)


def _run_eye_like(xp: Any, x: Any, *, k: int = 0, dtype: int | None = None, **_: Any) -> Any:
    rows, columns = x.shape
    wanted = x.dtype if dtype is None else getattr(xp, by_onnx(dtype).name, None)
    return xp.eye(int(rows), int(columns), k=int(k), dtype=wanted)


def _eye_like(call: Call, x: Box) -> Box:
    """Zeros and a diagonal of ones; depends on the shape only."""
    dtype = _eye_dtype(call, (x,))
    shape = numeric(x.shape)
    if shape is None or shape[0] * shape[1] > MOST:
        return Box(dtype, x.shape, 0.0, 1.0)
    return of_array(dtype, np.eye(shape[0], shape[1], k=call.attr("k", 0)).astype(to_numpy(dtype)))


EYE_LIKE = Op(
    "EyeLike",
    run=_run_eye_like,
    bound=_eye_like,
    exact=True,
    result=_eye_dtype,
    stops=True,
    samples=Samples(
        cases=(Case((_x(3, 4),)), Case((_x(3, 3),), {"k": -1}), Case((_x(2, 3),), {"k": 1, "dtype": 11})),
        dtypes=("float32", "float64", "int32"),
    ),
)


# -- Range ------------------------------------------------------------------------------------------------

STEP = Requirement("NP110", Z.isnt(0.0), NAN | INFS, operand=2)


def _run_range(xp: Any, start: Any, limit: Any, delta: Any, **_: Any) -> Any:
    first, end, step = (v.reshape(-1)[0] for v in (start, limit, delta))
    count = max(int(np.ceil((float(end) - float(first)) / float(step))), 0)
    return xp.asarray(xp.arange(count, dtype=start.dtype) * step + first, dtype=start.dtype)


def _range(call: Call, start: Box, limit: Box, delta: Box) -> Box:
    """No class fits: the length depends on all three operands, and the values stay between start and limit."""
    dtype = start.dtype
    step = delta.hull()
    if step[0] <= 0 <= step[1]:
        never = delta.is_point
        call.fail(STEP, step, never=never)
        if never:
            return Box(dtype, (call.fresh("size"),), inf, -inf)
    if dtype.is_integer:
        found = _integer_range(call, (start, limit, delta))
        if found is not None:
            return found
    flags = start.flags | delta.flags
    (a, b), (c, d) = start.hull(), limit.hull()
    if not a <= b or not c <= d or limit.flags or flags:
        return top(dtype, (call.fresh("size"),))
    if step[0] > 0:
        lo, hi = a, max(d, b)
    elif step[1] < 0:
        lo, hi = min(c, a), b
    else:
        lo, hi = min(a, c), max(b, d)
    size: Size = call.fresh("size")
    if not dtype.is_float:
        return Box(dtype, (size,), lo, hi)
    count = _most_steps((a, b), (c, d), step)
    if start.is_point and limit.is_point and delta.is_point and count < MOST:
        distance = float(limit.lo) - float(start.lo)
        exact = distance / float(delta.lo)
        whole = round(exact)
        # the distance is rounded to the dtype before it is divided: that must not matter
        fits = nearest(dtype, distance) == distance and whole * float(delta.lo) == distance
        if fits or abs(exact - whole) > 2 * dtype.unit * abs(exact):
            size = max(whole if fits else int(np.ceil(exact)), 0)
    if size == 0:
        return Box(dtype, (0,), inf, -inf)
    if isinstance(size, int) and _whole(dtype, float(start.lo), float(delta.lo), size):
        return of_array(dtype, (np.arange(size) * float(delta.lo) + float(start.lo)).astype(to_numpy(dtype)))
    # runtimes add the step again and again: n roundings of partial sums; the last may come out at the limit
    # itself or, by those roundings, one step beyond it
    reach = max(abs(lo), abs(hi)) + max(abs(step[0]), abs(step[1]))
    err = (count + 2) * dtype.unit * reach + dtype.quantum
    return call.settle(dtype, (size,), lo, hi, err=err, report=False)


def _whole(dtype: DType, first: float, step: float, count: int) -> bool:
    """Whether all numbers are whole and small enough for sums of them to be exact."""
    return first.is_integer() and step.is_integer() and (abs(first) + abs(step) * (count + 1)) * dtype.unit <= 1.0


def _most_steps(start: tuple[float, float], limit: tuple[float, float], step: tuple[float, float]) -> float:
    distance = max(abs(limit[1] - start[0]), abs(limit[0] - start[1]))
    least = min(abs(step[0]), abs(step[1]))
    if step[0] <= 0 <= step[1] or least == 0:
        return inf
    return distance / least + 1


def _integer_range(call: Call, boxes: tuple[Box, Box, Box]) -> Box | None:
    """Known numbers give known elements; symbolic ones a symbolic length."""
    dtype = boxes[0].dtype
    first, end, step = map(one_size, boxes)
    if first is None or end is None or type(step) is not int or step == 0:
        return None
    if type(first) is int and type(end) is int:
        count = len(range(first, end, step))
        last = first + (count - 1) * step
        if count <= MOST:
            return of_array(dtype, np.arange(first, end, step, dtype=to_numpy(dtype)))
        return Box(dtype, (count,), float(min(first, last)), float(max(first, last)))
    length = end - first if step > 0 else first - end
    each = abs(step)
    if each != 1:
        length = (length + (each - 1)) // each
    size = most(length, 0) if isinstance(length, Dim) else max(length, 0)
    low, high = ends_of(call, first, is_size=False), ends_of(call, end, is_size=False)
    if step > 0:
        lo, hi = low[0], max(high[1] - 1, low[0])
    else:
        lo, hi = min(high[0] + 1, low[1]), low[1]
    return Box(dtype, (size,), lo, hi)


def _point(value: float, *, dtype: str | None = None) -> Operand:
    return Operand((), dtype=dtype, values=value, stored=True)


RANGE = Op(
    "Range",
    run=_run_range,
    bound=_range,
    requires=(STEP,),
    grain=(0, 1, 2),
    samples=Samples(
        cases=(
            Case((_point(0), _point(5), _point(1))),
            Case((_point(10), _point(4), _point(-2))),
            Case((_point(3), _point(3), _point(1))),
            Case((Operand((), low=-3, high=3), Operand((), low=4, high=9), Operand((), low=1, high=2))),
        ),
        dtypes=("int64", "int32", "float32", "float64"),
    ),
)


# -- OneHot -----------------------------------------------------------------------------------------------


def _run_one_hot(xp: Any, indices: Any, depth: Any, values: Any, *, axis: int = -1, **_: Any) -> Any:
    count = int(depth.reshape(-1)[0])
    rank = len(indices.shape) + 1
    at = axis_in(axis, rank)
    places = xp.reshape(xp.arange(count), tuple(count if i == at else 1 for i in range(rank)))
    wanted = xp.expand_dims(indices, axis=at)
    hit = places == xp.where(wanted < 0, wanted + count, wanted)
    return xp.where(hit, values[1], values[0])


def _one_hot(call: Call, indices: Box, depth: Box, values: Box) -> Box:
    """Selection: every element is one of the two values."""
    found = one_size(depth)
    shape: Shape = None
    if indices.shape is not None:
        rank = len(indices.shape) + 1
        axis = axis_in(call.attr("axis", -1), rank)
        size: Size = call.fresh("depth") if found is None else found
        shape = (*indices.shape[:axis], size, *indices.shape[axis:])
    if (count := counted(shape)) is not None and count <= MOST:
        exact = exactly(call, (indices, depth, values))
        if exact is not None and exact[0].dtype != object:
            return of_array(values.dtype, exact[0])
        if count == 0:
            return Box(values.dtype, shape, inf, -inf)
    return polished(call, hull_of((values,), shape))


ONE_HOT = Op(
    "OneHot",
    run=_run_one_hot,
    bound=_one_hot,
    exact=True,
    result=lambda call, boxes: boxes[2].dtype,
    grain=(1,),
    samples=Samples(
        cases=(
            Case((_known(0, 2, -1), _point(4, dtype="int64"), Operand((2,)))),
            Case((_known(0, 2, 9), _point(3, dtype="int64"), Operand((2,), stored=True)), {"axis": 0}),
            Case((Operand((2, 2), "int64", low=-3, high=3), _known(3), Operand((2,))), {"axis": 1}),
        ),
        dtypes=("float32", "int64"),
    ),
)

OPS = (SHAPE, SIZE, CONSTANT, CONSTANT_OF_SHAPE, EYE_LIKE, RANGE, ONE_HOT)
