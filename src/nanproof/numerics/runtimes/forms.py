"""The shape of an error bound, and the widening of an interval by it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, overload

import numpy as np

from nanproof.numerics.dtypes import FLOAT32, FLOAT64, DType
from nanproof.numerics.rounding import nearest, nearest_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_INF: Final = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorForm:
    """How far a computed function can be from the real one.

    For a real result v, as the analysis evaluates it in float64, a runtime's result in dtype d is the rounding to
    d of some number v + e with

    ``|e| <= (ulps * 2 * d.unit + relative) * |v| + quanta * d.quantum + absolute``

    So ``ulps=0`` is correct rounding. The bound is a growing function of |v| that stays below |v| in slope, so the
    bounds of end points hold for all between them, monotone implementation or not. Then:

    - ``flushes``: a result below ``d.tiny`` in magnitude may come out as 0;
    - ``image``: no result of finite operands lies outside, whatever the formula above says;
    - ``ceiling``: a result of that magnitude or more may come out as infinity, before the dtype's own limit;
      ``early_overflow`` says the same of the operand, for messages;
    - ``quotient_nan``: of two operands, the result may be NaN where their quotient overflows the dtype.
    """

    ulps: float = 0.0
    absolute: float = 0.0
    quanta: float = 0.0
    relative: float = 0.0
    flushes: bool = False
    image: tuple[float, float] = (-_INF, _INF)
    early_overflow: float | None = None
    ceiling: float = _INF
    quotient_nan: bool = False


EXACT: Final = ErrorForm()


def through_float32(form: ErrorForm, dtype: DType) -> ErrorForm:
    """The form for a narrower dtype whose values are computed in float32, then rounded.

    All that can go wrong in float32, its own last rounding included, becomes part of e.
    """
    unit, quantum = FLOAT32.unit, FLOAT32.quantum
    lost = FLOAT32.tiny if form.flushes else 0.0
    return replace(
        form,
        ulps=0.0,
        quanta=0.0,
        relative=form.ulps * 2.0 * unit + form.relative + unit,
        absolute=form.absolute + (form.quanta + 0.5) * quantum + lost,
        flushes=form.flushes and dtype.tiny <= FLOAT32.tiny,
    )


def added(form: ErrorForm, more: ErrorForm) -> ErrorForm:
    """The form with a further source of error."""
    return replace(
        form,
        ulps=form.ulps + more.ulps,
        relative=form.relative + more.relative,
        quanta=form.quanta + more.quanta,
        absolute=form.absolute + more.absolute,
    )


def scaled(form: ErrorForm, factor: float) -> ErrorForm:
    """The form with its absolute part grown: for a function with a parameter that multiplies its result (alpha)."""
    return replace(form, absolute=form.absolute * max(1.0, abs(factor)), quanta=form.quanta * max(1.0, abs(factor)))


@overload
def widen(form: ErrorForm, dtype: DType, lo: float, hi: float) -> tuple[float, float]: ...
@overload
def widen(form: ErrorForm, dtype: DType, lo: Array, hi: Array) -> tuple[Array, Array]: ...
def widen(form: ErrorForm, dtype: DType, lo: float | Array, hi: float | Array) -> tuple[float | Array, float | Array]:
    """The interval of all results that the runtime can give where the real results lie in [lo, hi].

    The lower end moves down by its error, the upper one up, and both are rounded to the dtype (rounding is
    monotone, so that covers all between). An end point that comes back as +-inf means overflow.
    """
    if isinstance(lo, np.ndarray) or isinstance(hi, np.ndarray):
        return _widen_arrays(form, dtype, np.asarray(lo, np.float64), np.asarray(hi, np.float64))
    if form is EXACT:
        return nearest(dtype, lo), nearest(dtype, hi)
    rate = form.ulps * 2.0 * dtype.unit + form.relative
    fixed = form.quanta * dtype.quantum + form.absolute
    if -_INF < lo < _INF:
        lo -= rate * abs(lo) + fixed
    if -_INF < hi < _INF:
        hi += rate * abs(hi) + fixed
    if dtype is not FLOAT64:
        lo = nearest(dtype, lo)
        hi = nearest(dtype, hi)
    if hi >= form.ceiling:
        hi = _INF
    if lo <= -form.ceiling:
        lo = -_INF
    least, most = form.image
    if lo < least:
        lo = least
    elif lo > most:
        lo = most
    if hi > most:
        hi = most
    elif hi < least:
        hi = least
    if form.flushes:
        if 0.0 < lo < dtype.tiny:
            lo = 0.0
        if -dtype.tiny < hi < 0.0:
            hi = 0.0
    return lo, hi


@np.errstate(all="ignore")
def _widen_arrays(form: ErrorForm, dtype: DType, lo: Array, hi: Array) -> tuple[Array, Array]:
    rate = form.ulps * 2.0 * dtype.unit + form.relative
    fixed = form.quanta * dtype.quantum + form.absolute
    if rate or fixed:
        # The error of an infinity must not be infinite.
        lo = lo - (rate * np.minimum(np.abs(lo), FLOAT64.max) + fixed)
        hi = hi + (rate * np.minimum(np.abs(hi), FLOAT64.max) + fixed)
    lo, hi = nearest_array(dtype, lo), nearest_array(dtype, hi)
    if form.ceiling < _INF:
        hi = np.where(hi >= form.ceiling, _INF, hi)
        lo = np.where(lo <= -form.ceiling, -_INF, lo)
    least, most = form.image
    if least > -_INF:
        lo, hi = np.maximum(lo, least), np.maximum(hi, least)
    if most < _INF:
        lo, hi = np.minimum(lo, most), np.minimum(hi, most)
    if form.flushes:
        lo = np.where((lo > 0.0) & (lo < dtype.tiny), 0.0, lo)
        hi = np.where((hi < 0.0) & (hi > -dtype.tiny), 0.0, hi)
    return lo, hi
