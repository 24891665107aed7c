"""Quantisation: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from nanproof.dims import ShapeError, Size
from nanproof.domain.box import ALL, INFS, NAN, NINF, PINF, Array, Box, of_array
from nanproof.domain.moves import merged_over, reshaped
from nanproof.domain.partition import EXACT_LIMIT, Blocks, Cuts, aligned, fine, pack
from nanproof.numerics.dtypes import FLOAT32, UINT8, DType, by_onnx
from nanproof.numerics.rounding import nearest, nearest_array
from nanproof.ops.call import Call
from nanproof.ops.conditions import Requirement, Y
from nanproof.ops.operands import axis_in
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.slicing import along

SCALE = Requirement("NP211", Y.isnt(0.0), NAN | INFS, operand=1)


# -- operands per tensor, per axis, per block ------------------------------------------------------------------


def _lined_up(x: Any, parameter: Any, axis: int, block: int) -> Any:
    """A scale or zero point in a shape that broadcasts with x; concrete arrays."""
    if parameter is None or len(parameter.shape) == 0 or len(x.shape) == 0:
        return parameter
    rank = len(x.shape)
    axis = axis_in(axis, rank) if len(parameter.shape) > 1 or parameter.shape[0] != 1 else 0
    if len(parameter.shape) == 1:
        return parameter.reshape(tuple(parameter.shape[0] if i == axis else 1 for i in range(rank)))
    if block and parameter.shape[axis] != x.shape[axis]:
        index = np.arange(x.shape[axis]) // block
        return parameter[along(axis, index)]
    return parameter


def _lined_up_box(call: Call, x: Box, parameter: Box) -> Box:
    """The same for Boxes."""
    if parameter.shape is None or not parameter.shape or not x.shape:
        return parameter if parameter.shape == () else Box(parameter.dtype, (), *parameter.hull(), parameter.flags)
    rank = len(x.shape)
    if len(parameter.shape) == 1:
        axis = 0 if parameter.shape[0] == 1 else axis_in(call.attr("axis", 1), rank)
        shape: tuple[Size, ...] = tuple(parameter.shape[0] if i == axis else 1 for i in range(rank))
        return reshaped(fine(parameter), shape)
    block = call.attr("block_size", 0)
    axis = axis_in(call.attr("axis", 1), rank)
    if not block or parameter.shape[axis] == x.shape[axis]:
        return parameter
    size = x.shape[axis]
    if parameter.known is not None and isinstance(size, int) and parameter.known.size * block <= EXACT_LIMIT:
        if size > parameter.known.shape[axis] * block:
            raise ShapeError(
                f"{parameter.known.shape[axis]} blocks of {block} do not cover the {size} elements of axis {axis}"
            )
        places = np.arange(size) // block
        return of_array(parameter.dtype, np.take(parameter.known, places, axis=axis))
    whole = merged_over(parameter, (axis,))
    return Box(parameter.dtype, x.shape, whole.lo, whole.hi, whole.flags, cuts=whole.cuts, spots=whole.spots)


def _together(call: Call, boxes: Sequence[Box]) -> tuple[Cuts | None, list[Blocks]]:
    """Blocks of x, scale and zero point at common cuts."""
    x = boxes[0]
    rank = 0 if x.shape is None else len(x.shape)
    rest = [_lined_up_box(call, x, b) for b in boxes[1:]]
    if x.cuts is None and all(b.cuts is None for b in rest):
        return None, [Blocks(b.lo, b.hi, None) for b in (x, *rest)]
    total = sum(np.size(b.lo) for b in rest)
    if total * np.size(x.lo) > call.setting.budget:
        rest = [Box(b.dtype, (), *b.hull(), b.flags) for b in rest]
    return aligned((x, *rest), rank)


# -- QuantizeLinear --------------------------------------------------------------------------------------------


def _quantized_dtype(call: Call, boxes: Sequence[Box | None]) -> DType:
    if len(boxes) > 2 and boxes[2] is not None:
        return boxes[2].dtype
    code = call.attr("output_dtype", 0)
    return by_onnx(code) if code else UINT8


def _run_quantize(xp: Any, x: Any, scale: Any, zero: Any = None, **attrs: Any) -> Any:
    """Over whole numbers as float64: casting to small types is left to the caller's library."""
    axis, block = attrs.get("axis", 1), attrs.get("block_size", 0)
    code = attrs.get("output_dtype", 0)
    wanted = _dtype_of(zero) if zero is not None else by_onnx(code) if code else UINT8
    quotient = xp.divide(x, _lined_up(x, scale, axis, block))
    shift = 0.0 if zero is None else xp.astype(_lined_up(x, zero, axis, block), xp.float64)
    moved = (xp.round(quotient) if wanted.is_integer else quotient) + shift
    clipped = xp.clip(moved, float(wanted.min), float(wanted.max))
    return xp.astype(clipped, getattr(xp, wanted.name)) if hasattr(xp, wanted.name) else clipped


def _dtype_of(array: Any) -> DType:
    from nanproof.numerics.dtypes import by_name

    return by_name(str(array.dtype).removeprefix("torch."))


def _quantize(call: Call, x: Box, scale: Box, zero: Box | None = None) -> Box:
    """Monotone in x while the scale keeps its sign: quotient, rounding, shift and saturation never turn back.

    No class fits because the scale runs along one axis, or in blocks of it.
    """
    dtype = _quantized_dtype(call, (x, scale, zero))
    if not x.flags and not x.has_finite:
        return Box(dtype, x.shape, inf, -inf)
    fails = not (scale.hull()[0] > 0 or scale.hull()[1] < 0)
    if fails:
        call.fail(SCALE, scale.hull(), never=scale.is_point)
    wild = fails or bool(scale.flags) or scale.hull()[0] > scale.hull()[1]
    if wild or (dtype.is_integer and x.flags & NAN):
        # a number that no formula tells: NaN and 0/0 become whatever the processor makes of them
        return Box(dtype, x.shape, dtype.min, dtype.max, ALL if dtype.is_float else 0)
    if dtype.is_integer and (quick := _quick(call, (x, scale, zero), dtype)) is not None:
        return quick
    cuts, blocks = _together(call, (x, scale) if zero is None else (x, scale, zero))
    lo, hi = _quotient(call, x.dtype, scale.dtype, (blocks[0], blocks[1]))
    shift = (0.0, 0.0) if zero is None else (blocks[2].lo, blocks[2].hi)
    if dtype.is_integer:
        lo, hi = np.round(lo) + shift[0], np.round(hi) + shift[1]
        if x.flags & PINF or x.flags & NINF:
            lo, hi = np.full_like(lo, dtype.min), np.full_like(hi, dtype.max)
        lo, hi = np.clip(lo, dtype.min, dtype.max), np.clip(hi, dtype.min, dtype.max)
        return pack(dtype, x.shape, cuts, Blocks(lo, hi, None))
    return _small_float(call, dtype, x, (lo + shift[0], hi + shift[1], cuts))


def _quick(call: Call, boxes: tuple[Box, Box, Box | None], dtype: DType) -> Box | None:
    """One block, one known scale, in float32: the usual case, in Python floats."""
    x, scale, zero = boxes
    if x.flags or x.cuts is not None or not scale.is_point or not (zero is None or zero.is_point):
        return None
    step = float(scale.lo)
    single = x.dtype is FLOAT32 and scale.dtype is FLOAT32 and call.setting.runtime != "torch"
    if not single or call.attr("precision", 0) or not step > 0:
        return None
    lo, hi = nearest(FLOAT32, float(x.lo) / step), nearest(FLOAT32, float(x.hi) / step)
    if not -1e9 < lo <= hi < 1e9:
        return None
    shift = 0.0 if zero is None else float(zero.lo)
    low, high = round(lo) + shift, round(hi) + shift
    return Box(dtype, x.shape, min(max(low, dtype.min), dtype.max), min(max(high, dtype.min), dtype.max))


def _quotient(call: Call, one: DType, other: DType, blocks: tuple[Blocks, Blocks]) -> tuple[Array, Array]:
    """X / scale in every precision that a runtime may take for it."""
    a, b = np.asarray(blocks[0].lo, float), np.asarray(blocks[0].hi, float)
    void = a > b
    a, b = np.where(void, 0.0, a), np.where(void, 0.0, b)
    c, d = np.asarray(blocks[1].lo, float), np.asarray(blocks[1].hi, float)
    with np.errstate(over="ignore", invalid="ignore"):
        corners = [a / c, a / d, b / c, b / d]
        lo, hi = np.minimum.reduce(corners), np.maximum.reduce(corners)
        if call.setting.runtime == "torch":
            # times the reciprocal: two roundings instead of one
            room = 4 * FLOAT32.unit * np.maximum(abs(lo), abs(hi)) + FLOAT32.quantum
            lo, hi = lo - room, hi + room
        precise = call.attr("precision", 0)
        kinds = {FLOAT32, *(d for d in (one, other) if d.is_float), *((by_onnx(precise),) if precise else ())}
        lows, highs = [lo], [hi]
        for kind in kinds:
            lows.append(nearest_array(kind, lo))
            highs.append(nearest_array(kind, hi))
        return np.minimum.reduce(lows), np.maximum.reduce(highs)


def _small_float(call: Call, dtype: DType, x: Box, parts: tuple[Array, Array, Cuts | None]) -> Box:
    """An 8-bit or 4-bit float: rounded, saturated or not."""
    lo, hi, cuts = parts
    flags = x.flags & NAN
    if dtype.overflows_to == "max" and x.flags & NAN:
        flags = 0
        lo, hi = np.full_like(lo, dtype.min), np.full_like(hi, dtype.max)
    low, high = nearest_array(dtype, lo), nearest_array(dtype, hi)
    over, under = bool((high > dtype.max).any()), bool((low < dtype.min).any())
    if x.flags & PINF or x.flags & NINF:
        over = under = True
        low, high = np.full_like(low, dtype.min), np.full_like(high, dtype.max)
    if (over or under) and dtype.overflows_to != "max":
        if not call.attr("saturate", 1):
            gives = NAN if dtype.overflows_to == "nan" else (PINF if over else 0) | (NINF if under else 0)
            if not x.flags & INFS:
                call.overflowed(float(np.min(lo)), float(np.max(hi)), dtype, gives, never=False)
            flags |= gives
        elif x.flags & INFS:
            flags |= NAN if dtype.overflows_to == "nan" else x.flags & INFS
    low, high = np.clip(low, dtype.min, dtype.max), np.clip(high, dtype.min, dtype.max)
    spots = np.full(np.shape(low), flags, np.uint8) if flags else None
    return pack(dtype, x.shape, cuts, Blocks(low, high, spots))


def _scalar(value: float, dtype: str | None = None) -> Operand:
    return Operand((), dtype=dtype, values=value, stored=True)


def _scales(*shape: int) -> Operand:
    return Operand(shape, low=0.01, high=2.0)


QUANTIZE = Op(
    "QuantizeLinear",
    run=_run_quantize,
    bound=_quantize,
    requires=(SCALE,),
    overflow="NP209",
    result=_quantized_dtype,
    samples=Samples(
        points=(0.0, 0.5, 1.5, -0.5, 127.5, 128.0, 255.5, -128.5),
        cases=(
            Case((Operand((2, 5), low=-300, high=300), _scalar(1.0), _scalar(10, "uint8"))),
            Case((Operand((2, 5), low=-300, high=300), _scales(), Operand((), "int8"))),
            Case((Operand((2, 5)), _scales())),
            Case((Operand((2, 3)), _scales(3), Operand((3,), "uint8"))),
            Case((Operand((2, 3)), _scales(2), Operand((2,), "int16")), {"axis": 0}),
            Case((Operand((2, 6)), _scales(2, 3), Operand((2, 3), "uint8")), {"block_size": 2, "axis": 1}),
            Case((Operand((2, 5), low=-9, high=9), _scalar(1.0)), {"output_dtype": 5}),
        ),
        dtypes=("float32",),
    ),
)


# -- DequantizeLinear ------------------------------------------------------------------------------------------


def _real_dtype(call: Call, boxes: Sequence[Box]) -> DType:
    code = call.attr("output_dtype", 0)
    return by_onnx(code) if code else boxes[1].dtype


def _run_dequantize(xp: Any, x: Any, scale: Any, zero: Any = None, **attrs: Any) -> Any:
    axis, block = attrs.get("axis", 1), attrs.get("block_size", 0)
    steps = _lined_up(x, scale, axis, block)
    shift = 0.0 if zero is None else xp.astype(_lined_up(x, zero, axis, block), xp.float64)
    # the difference is exact in float64, and rounded to the scale's type as runtimes do
    difference = xp.astype(xp.astype(x, xp.float64) - shift, steps.dtype)
    return difference * steps


def _dequantize(call: Call, x: Box, scale: Box, zero: Box | None = None) -> Box:
    """(x - zero) * scale: bilinear, so the corners hold the extremes; the scale runs along one axis or in blocks."""
    dtype = _real_dtype(call, (x, scale))
    if (known := _dequantized(call, (x, scale, zero), dtype)) is not None:
        return known
    if not x.flags and not x.has_finite:
        return Box(dtype, x.shape, inf, -inf)
    if not scale.has_finite:
        return Box(dtype, x.shape, inf, -inf, ALL)
    if x.cuts is None and not x.flags and scale.is_point and (zero is None or zero.is_point):
        step, shift = float(scale.lo), 0.0 if zero is None else float(zero.lo)
        if 0 < step < 1e30 and dtype is FLOAT32 and x.dtype.bits < 32:
            # no overflow: the difference is below 2**18
            lo, hi = (float(x.lo) - shift) * step, (float(x.hi) - shift) * step
            return Box(dtype, x.shape, nearest(dtype, lo), nearest(dtype, hi))
    cuts, blocks = _together(call, (x, scale) if zero is None else (x, scale, zero))
    a, b = np.asarray(blocks[0].lo, float), np.asarray(blocks[0].hi, float)
    void = np.asarray(a > b)
    if zero is not None:
        a, b = a - blocks[2].hi, b - blocks[2].lo
    a, b = np.where(void, 0.0, a), np.where(void, 0.0, b)
    c, d = np.asarray(blocks[1].lo, float), np.asarray(blocks[1].hi, float)
    void = void | (c > d)
    c, d = np.where(c > d, 0.0, c), np.where(c > d, 0.0, d)
    corners = [a * c, a * d, b * c, b * d]
    lo, hi = np.minimum.reduce(corners), np.maximum.reduce(corners)
    flags = x.flags | scale.flags
    if zero is not None:
        flags |= zero.flags
    if flags & INFS:
        flags = ALL
    err: Any = 0.0
    if dtype.bits < 32 or x.dtype.bits >= 32:
        # the difference, or the product before it is rounded to a narrow type, is rounded to float32
        err = 2 * FLOAT32.unit * np.maximum(abs(lo), abs(hi)) + (FLOAT32.quantum if dtype.bits < 32 else 0.0)
    return call.settle(dtype, x.shape, lo, hi, err=err, cuts=cuts, spots=flags)


def _dequantized(call: Call, boxes: tuple[Box, Box, Box | None], dtype: DType) -> Box | None:
    """Stored weights: one exact difference and one rounding, which every runtime does alike in float32."""
    x, scale, zero = boxes
    if dtype is not FLOAT32 or scale.dtype is not FLOAT32 or x.dtype.bits >= 32:
        return None
    if any(b is not None and b.known is None for b in boxes) or np.size(np.asarray(x.known)) > EXACT_LIMIT:
        return None
    axis, block = call.attr("axis", 1), call.attr("block_size", 0)
    values = np.asarray(x.known).astype(np.float32)
    if zero is not None:
        values = values - _lined_up(values, np.asarray(zero.known).astype(np.float32), axis, block)
    with np.errstate(all="ignore"):
        result = values * _lined_up(values, np.asarray(scale.known), axis, block)
    box = of_array(FLOAT32, result)
    if box.flags & ~(x.flags | scale.flags):
        return None  # an overflow: the general path tells of it
    return box


DEQUANTIZE = Op(
    "DequantizeLinear",
    run=_run_dequantize,
    bound=_dequantize,
    overflow="NP204",
    infinite="NP213",
    result=_real_dtype,
    samples=Samples(
        points=(0.0, 1.0, 1e-38, 3e38),
        cases=(
            Case((Operand((2, 3), "uint8"), Operand(()), Operand((), "uint8"))),
            Case((Operand((2, 3), "int8"), Operand(()))),
            Case((Operand((2, 3), "int8"), Operand((3,)), Operand((3,), "int8"))),
            Case((Operand((2, 3), "int8", stored=True), Operand((2,), stored=True)), {"axis": 0}),
            Case((Operand((2, 3), "int32"), Operand(()))),
            Case((Operand((2, 6), "int8"), Operand((2, 2)), Operand((2, 2), "int8")), {"block_size": 3, "axis": 1}),
        ),
        dtypes=("float32", "float16"),
    ),
)


# -- DynamicQuantizeLinear -------------------------------------------------------------------------------------


def _run_dynamic(xp: Any, x: Any, **_: Any) -> Any:
    high, low = xp.max(x), xp.min(x)
    zero = xp.zeros_like(high)
    high, low = xp.where(high > zero, high, zero), xp.where(low < zero, low, zero)
    scale = (high - low) / 255.0
    scale = xp.where(scale == zero, zero + 1.0, scale)
    point = xp.round(xp.clip(-low / scale, 0.0, 255.0))
    values = xp.clip(xp.round(x / scale) + point, 0.0, 255.0)
    narrow = xp.uint8
    return xp.astype(values, narrow), scale, xp.astype(point, narrow)


def _dynamic(call: Call, x: Box) -> tuple[Box, Box, Box]:
    """The scale is (largest - smallest) / 255 with 0 among them; a runtime may take 1 where that is 0."""
    a, b = x.hull()
    values, point = _dynamic_codes(x)
    if not a <= b:
        a = b = 0.0
    all_zero = bool(x.flags) or a <= 0.0 <= b
    lo = 0.0 if all_zero else min(abs(a), abs(b)) / 255.0
    hi = (max(b, 0.0) - min(a, 0.0)) / 255.0
    flags = x.flags & NAN
    if x.flags & INFS:
        flags |= PINF
    # the difference is rounded, and may overflow, before it is divided
    with np.errstate(over="ignore"):
        spread = float(nearest_array(FLOAT32, np.asarray(max(b, 0.0) - min(a, 0.0))))
    if spread > FLOAT32.max:
        call.overflowed(a, b, FLOAT32, PINF, never=False)
        flags |= PINF
        hi = FLOAT32.max / 255.0
    scale = call.settle(FLOAT32, (), lo, hi, err=2 * FLOAT32.unit * hi + FLOAT32.quantum, spots=flags, report=False)
    low, high = max(scale.hull()[0], 0.0), scale.hull()[1]
    if all_zero:
        high = max(high, 1.0)
    return values, Box(FLOAT32, (), low, high, scale.flags), point


def _dynamic_codes(x: Box) -> tuple[Box, Box]:
    """The quantised values and the zero point; they are better known where x keeps away from 0."""
    a, b = x.hull()
    least, most, low, high = 0.0, 255.0, 0.0, 255.0
    small, large = sorted((abs(a), abs(b)))
    if not x.flags and (a > 0 or b < 0) and small > 1e-35 and large < 1e38:
        # three roundings of the quotient stay below one part in a million
        steps = float(round(small / large * 255.0 * (1 - 2.0**-20)))
        if a > 0:
            least, high = steps, 0.0
        else:
            most, low = 255.0 - steps, 255.0
    return Box(UINT8, x.shape, least, most), Box(UINT8, (), low, high)


DYNAMIC = Op(
    "DynamicQuantizeLinear",
    run=_run_dynamic,
    bound=_dynamic,
    overflow="NP214",
    result="uint8",
    samples=Samples(
        points=(0.0, 1.0, -1.0, 3e38),
        cases=(Case((Operand((2, 5), low=-9, high=9),), outputs=3), Case((Operand((4,)),), outputs=3)),
        dtypes=("float32",),
    ),
)

OPS = (QUANTIZE, DEQUANTIZE, DYNAMIC)
