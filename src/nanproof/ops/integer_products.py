"""Products of quantised tensors: MatMulInteger, ConvInteger, QLinearMatMul, QLinearConv.

Each is the float operator's formula over integers, of which zero points are taken away first;
the QLinear ones then rescale, round and clip. So their bounds go through the bounds of Sub,
MatMul and Conv in int32.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from nanproof.domain.box import ALL, Array, Box
from nanproof.domain.moves import reshaped
from nanproof.domain.partition import EXACT_LIMIT, Blocks, blocks_of, pack
from nanproof.numerics.dtypes import FLOAT32, INT32
from nanproof.ops.arithmetic import ADD, SUB
from nanproof.ops.call import Call
from nanproof.ops.conditions import Operand as Term
from nanproof.ops.conditions import Requirement
from nanproof.ops.convolution import CONV
from nanproof.ops.matmul import MATMUL
from nanproof.ops.record import Case, Op, Operand, Samples

ROUNDED = 16.0 * FLOAT32.unit
"""How far the product of the three scales and the sum can be off, relatively: no more than six roundings."""


def _part(call: Call, op: Op, boxes: Sequence[Box | None]) -> Box:
    """The bound of another record, on the way to this one's."""
    inner = Call(op, call.attrs if op is CONV else {}, call.setting, 1, call.label)
    result = op.bound(inner, *boxes)
    assert isinstance(result, Box)
    return result


def _int32(box: Box) -> Box:
    """The same integers as int32."""
    known = box.known
    if known is not None:
        known = known.astype(np.int32) if known.size <= EXACT_LIMIT and known.dtype != object else None
    return Box(INT32, box.shape, box.lo, box.hi, cuts=box.cuts, known=known)


def _shifted(call: Call, x: Box, zero: Box | None, axis: int | None) -> Box:
    """X - zero point, one for all or one for each place of an axis (None: the last but one of x)."""
    wide = _int32(x)
    if zero is None or (zero.is_point and zero.lo == 0.0):
        return wide
    shift = _int32(zero)
    if zero.shape is None or x.shape is None:
        shift = Box(INT32, (), *zero.hull())
    elif len(zero.shape) == 1:
        rank = len(x.shape)
        place = axis % rank if axis is not None else max(rank - 2, 0)
        if zero.shape[0] == 1 or rank == 0:
            shift = reshaped(shift, ())
        elif not (axis is None and rank == 1):
            shift = reshaped(shift, tuple(zero.shape[0] if i == place else 1 for i in range(rank)))
    return _part(call, SUB, (wide, shift))


# -- the integer products ------------------------------------------------------------------------------------


def _matmul_integer(call: Call, a: Box, b: Box, a_zero: Box | None = None, b_zero: Box | None = None) -> Box:
    """MatMul in int32 of both operands less their zero points."""
    return _part(call, MATMUL, (_shifted(call, a, a_zero, None), _shifted(call, b, b_zero, -1)))


def _conv_integer(call: Call, x: Box, w: Box, x_zero: Box | None = None, w_zero: Box | None = None) -> Box:
    """Conv in int32 of both operands less their zero points: padding stands for the zero point, that is for 0."""
    return _part(call, CONV, (_shifted(call, x, x_zero, None), _shifted(call, w, w_zero, 0)))


def _less_zero(xp: Any, x: Any, zero: Any, axis: int) -> Any:
    wide = xp.asarray(x, dtype=xp.int32)
    if zero is None:
        return wide
    shift = xp.asarray(zero, dtype=xp.int32)
    if len(shift.shape) == 1 and shift.shape[0] > 1 and len(wide.shape) > 1:
        place = axis % len(wide.shape)
        shift = xp.reshape(shift, tuple(-1 if i == place else 1 for i in range(len(wide.shape))))
    return wide - (xp.reshape(shift, ()) if len(shift.shape) == 1 and shift.shape[0] == 1 else shift)


def _run_matmul_integer(xp: Any, a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Any:
    return xp.matmul(_less_zero(xp, a, a_zero, -2), _less_zero(xp, b, b_zero, -1))


def _run_conv_integer(xp: Any, x: Any, w: Any, x_zero: Any = None, w_zero: Any = None, **attrs: Any) -> Any:
    return CONV.run(xp, _less_zero(xp, x, x_zero, 1), _less_zero(xp, w, w_zero, 0), **attrs)


def _bytes(*shape: int, dtype: str = "uint8") -> Operand:
    return Operand(shape, dtype=dtype)


_BYTES = Samples(dtypes=("int32",)).dtypes

MATMUL_INTEGER = Op(
    "MatMulInteger",
    run=_run_matmul_integer,
    bound=_matmul_integer,
    exact=True,
    result="int32",
    samples=Samples(
        cases=(
            Case((_bytes(4, 3), _bytes(3, 2))),
            Case((_bytes(4, 3), _bytes(3, 2, dtype="int8"), _bytes(), _bytes(dtype="int8"))),
            Case((_bytes(4, 3), _bytes(3, 2), _bytes(), _bytes(2))),
            Case((_bytes(2, 4, 3), Operand((3, 2), dtype="uint8", stored=True), _bytes(1))),
        ),
        dtypes=_BYTES,
    ),
)

CONV_INTEGER = Op(
    "ConvInteger",
    run=_run_conv_integer,
    bound=_conv_integer,
    exact=True,
    result="int32",
    samples=Samples(
        cases=(
            Case((_bytes(1, 2, 4, 4), _bytes(3, 2, 2, 2))),
            Case((_bytes(1, 2, 4, 4), _bytes(3, 2, 2, 2), _bytes()), {"pads": (1, 1, 1, 1)}),
            Case((_bytes(1, 2, 5), Operand((2, 1, 3), dtype="uint8", stored=True), _bytes()), {"group": 2}),
        ),
        dtypes=_BYTES,
    ),
)


# -- with scales ---------------------------------------------------------------------------------------------


def _rescaled(call: Call, total: Box, scales: tuple[Box, Box, Box], zero: Box) -> Box:
    """``clip(round(total * x_scale * w_scale / y_scale) + zero point)``.

    Rounding and clipping never fall, so the ends give the ends. Where a scale may be 0 or
    special the integer that comes out may be any.
    """
    dtype = zero.dtype
    if total.shape is not None and 0 in total.shape:
        return Box(dtype, total.shape, inf, -inf)
    anything = Box(dtype, total.shape, dtype.min, dtype.max)
    low, high = scales[2].hull()
    if not (low > 0.0 or high < 0.0):
        call.fail(call.op.requires[0], (low, high), never=low == high == 0.0)
        return anything
    if any(box.flags or not box.has_finite for box in (total, *scales)) or not zero.has_finite:
        return anything
    (a, b), (c, d) = scales[0].hull(), scales[1].hull()
    factors = [x * w / y for x in (a, b) for w in (c, d) for y in (low, high)]
    least, most = min(factors), max(factors)
    if not (-FLOAT32.max <= least and most <= FLOAT32.max):
        return anything
    lo, hi, _ = blocks_of(total)
    ends = [np.asarray(end * factor) for end in (lo, hi) for factor in (least, most)]
    lows, highs = np.minimum.reduce(ends), np.maximum.reduce(ends)
    room = ROUNDED * np.maximum(np.abs(lows), np.abs(highs)) + FLOAT32.tiny * (1.0 + 2.0**33)
    down, up = zero.hull()
    lows = np.clip(np.rint(lows - room) + down, dtype.min, dtype.max)
    highs = np.clip(np.rint(highs + room) + up, dtype.min, dtype.max)
    return pack(dtype, total.shape, total.cuts, Blocks(lows, highs, None))


def _qlinear_matmul(call: Call, *boxes: Box) -> Box:
    """MatMul in int32, rescaled."""
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = boxes
    total = _part(call, MATMUL, (_shifted(call, a, a_zero, None), _shifted(call, b, b_zero, -1)))
    return _rescaled(call, total, (a_scale, b_scale, y_scale), y_zero)


def _qlinear_conv(call: Call, *boxes: Box) -> Box:
    """Conv in int32 with a bias in int32, rescaled."""
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = boxes[:8]
    bias = boxes[8] if len(boxes) > 8 else None
    total = _part(call, CONV, (_shifted(call, x, x_zero, None), _shifted(call, w, w_zero, 0)))
    if bias is not None:
        total = _part(call, ADD, (total, _column(bias, total)))
    return _rescaled(call, total, (x_scale, w_scale, y_scale), y_zero)


def _column(bias: Box, total: Box) -> Box:
    """A bias along the channels."""
    if bias.shape is None or total.shape is None:
        return Box(INT32, (), *bias.hull())
    return reshaped(bias, (*bias.shape, *(1,) * (len(total.shape) - 2)))


def _requantised(xp: Any, total: Any, scales: Any, zero: Any) -> Any:
    y = np.asarray(zero)
    info = np.iinfo(y.dtype)
    scaled = np.rint(np.asarray(total, float) * scales) + np.reshape(y, ()).astype(float)
    return xp.asarray(np.clip(scaled, info.min, info.max).astype(y.dtype))


def _flat(*scales: Any) -> tuple[Array, ...]:
    return tuple(np.reshape(np.asarray(s, float), ()) for s in scales)


def _run_qlinear_matmul(xp: Any, *operands: Any) -> Any:
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = operands
    x, w, y = _flat(a_scale, b_scale, y_scale)
    return _requantised(xp, _run_matmul_integer(xp, a, b, a_zero, b_zero), x * w / y, y_zero)


def _run_qlinear_conv(xp: Any, *operands: Any, **attrs: Any) -> Any:
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = operands[:8]
    total = _run_conv_integer(xp, x, w, x_zero, w_zero, **attrs)
    if len(operands) > 8:
        total = total + xp.reshape(operands[8], (-1, *(1,) * (len(total.shape) - 2)))
    one, two, y = _flat(x_scale, w_scale, y_scale)
    return _requantised(xp, total, one * two / y, y_zero)


_SCALE = Operand((), dtype="float32", low=1e-4, high=10.0)
_NONZERO = Requirement("NP211", Term(6, "y_scale").isnt(0.0), ALL, operand=6)


def _quantised(x: Operand, w: Operand, *more: Operand, **attrs: Any) -> Case:
    return Case((x, _SCALE, _bytes(), w, _SCALE, _bytes(), _SCALE, _bytes(), *more), attrs)


QLINEAR_MATMUL = Op(
    "QLinearMatMul",
    run=_run_qlinear_matmul,
    bound=_qlinear_matmul,
    requires=(_NONZERO,),
    result=lambda call, boxes: boxes[7].dtype,
    samples=Samples(
        cases=(
            _quantised(_bytes(4, 3), _bytes(3, 2)),
            _quantised(_bytes(2, 4, 3), Operand((3, 2), dtype="uint8", stored=True)),
        ),
        dtypes=_BYTES,
    ),
)

QLINEAR_CONV = Op(
    "QLinearConv",
    run=_run_qlinear_conv,
    bound=_qlinear_conv,
    requires=(_NONZERO,),
    result=lambda call, boxes: boxes[7].dtype,
    samples=Samples(
        cases=(
            _quantised(_bytes(1, 2, 4, 4), _bytes(3, 2, 2, 2)),
            _quantised(
                _bytes(1, 2, 4, 4),
                Operand((3, 2, 2, 2), dtype="uint8", stored=True),
                Operand((3,), dtype="int32", low=-1000, high=1000),
                pads=(1, 1, 1, 1),
            ),
        ),
        dtypes=_BYTES,
    ),
)

OPS = (MATMUL_INTEGER, CONV_INTEGER, QLINEAR_MATMUL, QLINEAR_CONV)
