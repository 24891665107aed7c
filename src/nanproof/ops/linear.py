"""The affine relation of the linear elementwise operators (``relate`` of their records)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nanproof.domain.affine import Form, combine, form_of, rounded, scaled, shifted
from nanproof.domain.box import Box
from nanproof.numerics.dtypes import DType
from nanproof.numerics.rounding import nearest
from nanproof.ops.call import Call


def sum_of(call: Call, boxes: Sequence[Box], result: Box) -> Box:
    """X + y."""
    return _combined(call, boxes, result, 1.0)


def difference_of(call: Call, boxes: Sequence[Box], result: Box) -> Box:
    """X - y."""
    return _combined(call, boxes, result, -1.0)


def negative_of(call: Call, boxes: Sequence[Box], result: Box) -> Box:
    """-x: exact, but for the lowest integer."""
    form = form_of(boxes[0])
    if form is not None and (result.dtype.is_float or boxes[0].hull()[0] > result.dtype.min):
        result.form = scaled(form, -1.0)
    return result


def product_of(call: Call, boxes: Sequence[Box], result: Box) -> Box:
    """X * constant; the product of two variables is a symbol of its own."""
    x, y = boxes
    if y.is_point:
        factor, other = y.lo, x
    elif x.is_point:
        factor, other = x.lo, y
    else:
        return result
    form = form_of(other)
    if form is not None and result.dtype.is_float:
        result.form = rounded(scaled(form, float(factor)), _rounding(result) + result.dtype.quantum)
    return result


def quotient_of(call: Call, boxes: Sequence[Box], result: Box) -> Box:
    """X / constant, for a power of two: others are rounded as the runtime likes."""
    x, y = boxes
    if not y.is_point or y.lo == 0 or not result.dtype.is_float:
        return result
    form = form_of(x)
    if form is not None and np.frexp(y.lo)[0] in (0.5, -0.5):
        error = _rounding(result) + result.dtype.quantum
        result.form = rounded(scaled(form, 1.0 / float(y.lo)), error)
    return result


def _combined(call: Call, boxes: Sequence[Box], result: Box, sign: float) -> Box:
    x, y = boxes
    dtype = result.dtype
    if not (dtype.is_float or dtype.is_integer):
        return result
    if y.is_point or x.is_point:
        form = _with_constant(x, y, sign)
        met = isinstance(x.form, Form) or isinstance(y.form, Form)
    else:
        one, two = form_of(x), form_of(y)
        if one is None or two is None:
            return result
        form, met = combine(one, two, sign, call.setting.terms)
    if form is None:
        return result
    if dtype.is_integer and not _within(form, dtype):
        return result  # it may wrap around: then nothing linear is left
    if met:
        result = _tightened(result, form, dtype)
    result.form = rounded(form, _rounding(result))
    return result


def _within(form: Form, dtype: DType) -> bool:
    low, high = form.bounds()
    return dtype.min <= low and high <= dtype.max


def _with_constant(x: Box, y: Box, sign: float) -> Form | None:
    if y.is_point:
        form = form_of(x)
        return None if form is None else shifted(form, sign * float(y.lo), sign * float(y.lo))
    form = form_of(y)
    if form is None:
        return None
    return shifted(form if sign > 0 else scaled(form, -1.0), float(x.lo), float(x.lo))


def _rounding(result: Box) -> float:
    """The most that rounding to nearest changes a result in these bounds."""
    if not result.dtype.is_float:
        return 0.0
    lo, hi = result.hull()
    return max(abs(lo), abs(hi)) * result.dtype.unit


def _tightened(result: Box, form: Form, dtype: DType) -> Box:
    """Meet the interval with the relation: the float result is the exact one, rounded once."""
    low, high = form.bounds()
    if dtype.is_float:
        low, high = nearest(dtype, low), nearest(dtype, high)
    else:
        low, high = float(np.ceil(low)), float(np.floor(high))
    if result.cuts is None:
        lo, hi = max(result.lo, low), min(result.hi, high)
        return Box(dtype, result.shape, lo, hi, known=result.known) if lo <= hi else result
    los, his = np.maximum(result.lo, low), np.minimum(result.hi, high)
    if not (los <= his).all():
        return result
    return Box(dtype, result.shape, los, his, cuts=result.cuts, known=result.known)
