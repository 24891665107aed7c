"""Softmax and its relatives: rows of positive numbers that add up to 1."""

from __future__ import annotations

from math import exp, inf, log, log1p
from typing import Any

import numpy as np

from nanproof.domain.box import ALL, NAN, NINF, PINF, Array, Box
from nanproof.domain.partition import Blocks, blocks_of, pack, widths
from nanproof.numerics.dtypes import DType
from nanproof.numerics.runtimes import softmax_form, widen
from nanproof.ops.call import Call
from nanproof.ops.conditions import Operand as Term
from nanproof.ops.conditions import Requirement
from nanproof.ops.flow import length, settled
from nanproof.ops.operands import axis_in
from nanproof.ops.record import Case, Op, Operand, Samples

ROW = Requirement("NP117", Term(0, "the largest element of a row") > -inf, NAN)

VANISHES = {"float64": "745.13", "float32": "103.97", "float16": "17.33", "bfloat16": "92.88"}
"""How far below the largest an element must be for its softmax to round to 0."""


def _softmax(call: Call, x: Box) -> Box:
    """An element's share of its row: largest when it is high and all others low."""
    return _by_row(call, x, log_form=False)


def _log_softmax(call: Call, x: Box) -> Box:
    """An element less the row's logsumexp."""
    return _by_row(call, x, log_form=True)


def _axis(call: Call, x: Box) -> int:
    return axis_in(int(call.attr("axis", -1)), max(len(x.shape or ()), 1))


def _by_row(call: Call, x: Box, *, log_form: bool) -> Box:
    if x.shape is None:
        least, most, axis = 1.0, inf, 0
    else:
        axis = _axis(call, x)
        least, most = length(call, x.shape[axis : axis + 1])
        least, most = max(least, 1.0), max(most, 1.0)
    if x.cuts is None or x.shape is None:
        return _one_block(call, x, (least, most), log_form)
    return _blocks(call, x, axis, (least, most), log_form)


def _one_block(call: Call, x: Box, counts: tuple[float, float], log_form: bool) -> Box:
    lo, hi = x.hull()
    flags = 0
    if x.flags:
        if not row_may_be_bare(call, x, (lo, hi)):
            flags = NAN
        flags |= NAN if x.flags & (NAN | PINF) else 0
        if x.flags & NINF and log_form:
            flags |= NINF
    if not lo <= hi and not (log_form and flags & NAN):
        # nothing but special values, or an empty Box
        return Box(x.dtype, x.shape, *((0.0, 0.0) if x.flags and not log_form else (inf, -inf)), flags)
    least, most = counts
    spread = hi - lo if lo <= hi else 0.0
    if x.flags:
        # elements that are -Inf count for nothing, others of their row for less; NaN and +Inf leave no order
        least = 1.0
    if log_form and x.flags & (NAN | PINF):
        # a row with NaN or +Inf: some kernels drop NaN half way, and what comes out then is any number
        return Box(x.dtype, x.shape, x.dtype.min, x.dtype.max, ALL)
    if log_form:
        top = -_log1p_exp(-spread, least - 1.0) if spread < inf or least == 1.0 else 0.0
        return _settled_log(call, x, (-_log1p_exp(spread, most - 1.0), top), (most, flags))
    low = 0.0 if x.flags else 1.0 / (1.0 + _times(most - 1.0, _exp(spread)))
    high = 1.0 / (1.0 + _times(least - 1.0, _exp(-spread)))
    form = softmax_form(call.setting.runtime, x.dtype, most)
    low, high = widen(form, x.dtype, low, high)
    return Box(x.dtype, x.shape, low, min(high, x.dtype.max), flags)


def _times(n: float, x: float) -> float:
    return n * x if n and x else 0.0


def _exp(x: float) -> float:
    return exp(x) if x < 709.0 else inf


def _log1p_exp(spread: float, n: float) -> float:
    """log(1 + n * exp(spread)) without overflow."""
    if n == 0.0:
        return 0.0
    if spread < 700.0:
        return log1p(n * exp(spread)) if n < inf else inf
    return spread + log(n) if n < inf else inf


def row_may_be_bare(call: Call, x: Box, ends: tuple[float, float]) -> bool:
    """Whether every row surely has a finite element; records NP117 if not and -Inf is why."""
    if not x.flags & NINF or call.alive:
        return True
    lo, hi = ends
    call.fail(ROW, (-inf, hi if lo <= hi else -inf), never=not lo <= hi and x.flags == NINF)
    return False


def _settled_log(call: Call, x: Box, ends: tuple[Any, Any], rest: tuple[float, Any]) -> Box:
    n, flags = rest
    dtype = x.dtype
    form = softmax_form(call.setting.runtime, dtype, n, log=True)
    low, high = widen(form, dtype, *ends)
    return settled(call, dtype, (x.shape, None), (low, high, 0.0), flags=flags)


def _blocks(call: Call, x: Box, axis: int, counts: tuple[float, float], log_form: bool) -> Box:
    """Block by block: every other block of the row is at its low end for the upper bound, at its high for the lower."""
    assert x.cuts is not None
    assert x.shape is not None
    blocks = blocks_of(x)
    width = widths(x.cuts[axis], x.shape[axis])
    least, most = (1.0, 1.0) if width is not None else counts
    width = np.ones(1) if width is None else width
    lo, hi = (np.moveaxis(np.asarray(e), axis, -1) for e in (blocks.lo, blocks.hi))
    marks = np.zeros(lo.shape, np.uint8) if blocks.spots is None else np.moveaxis(blocks.spots, axis, -1)
    void = lo > hi
    # what a block surely and possibly adds to the row's sum
    weak = void | (marks != 0)
    sure = np.where(weak, -inf, lo)
    could = np.where(void, -inf, hi)
    bare = weak.all(axis=-1) if least > 0 else np.ones(lo.shape[:-1], bool)
    own_low, own_high = np.where(void, 0.0, lo), np.where(void, 0.0, hi)
    above = _log_others(could, width * most, own_low)
    below = _log_others(sure, width * least, own_high)
    infinite = (marks & np.uint8(NINF)) != 0
    unruly = ((marks & np.uint8(PINF | NAN)) != 0).any(axis=-1)
    exposed = bare & infinite.any(axis=-1) & (not call.alive)
    flags = np.zeros(lo.shape, np.uint8)
    if exposed.any():
        never = bool((void & infinite & (marks == NINF)).all(axis=-1).any())
        row = hi[exposed].max() if not void[exposed].all() else -inf
        call.fail(ROW, (-inf, float(row)), never=never)
    flags = flags | ((exposed | unruly)[..., None] * np.uint8(NAN))
    finished = _finish_log if log_form else _finish
    low, high = finished(call, x.dtype, (above, below), float(width.sum()) * most)
    special = infinite | unruly[..., None]
    if log_form:
        flags = flags | np.where(infinite, np.uint8(NINF), np.uint8(0))
        low, high = np.where(void, inf, low), np.where(void, -inf, high)
        wild = unruly[..., None]
        flags = np.where(wild, np.uint8(ALL), flags)
        low, high = np.where(wild, x.dtype.min, low), np.where(wild, x.dtype.max, high)
    else:
        low, high = np.where(special | void, 0.0, low), np.where(void, 0.0, high)
        nothing = void & (marks == 0)
        low, high = np.where(nothing, inf, low), np.where(nothing, -inf, high)
    low, high, flags = (np.moveaxis(a, -1, axis) for a in (low, high, flags))
    if log_form:
        return settled(call, x.dtype, (x.shape, x.cuts), (low, high, 0.0), flags=flags)
    return pack(x.dtype, x.shape, x.cuts, Blocks(low, high, flags if flags.any() else None), call.setting.budget)


def _log_others(ends: Array, width: Array, own: Array) -> Array:
    """Log of the sum of all others of the row, relative to each block's own element.

    An own block of width w has w - 1 others.
    """
    count = ends.shape[-1]
    others = np.where(np.eye(count, dtype=bool), np.maximum(width - 1.0, 0.0), width)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = ends[..., None, :] - own[..., :, None] + np.log(others)
    terms = np.where(np.isnan(terms), -inf, terms)
    result: Array = np.logaddexp.reduce(terms, axis=-1)
    return result


def _finish(call: Call, dtype: DType, logs: tuple[Array, Array], n: float) -> tuple[Array, Array]:
    above, below = logs
    form = softmax_form(call.setting.runtime, dtype, n)
    low, high = 1.0 / (1.0 + np.exp(above)), 1.0 / (1.0 + np.exp(below))
    # the smallest results would be lost on the way; their exponent has its own rounding
    far = below > 100.0
    high = np.where(far, np.exp(-below * (1.0 - 2.0**-50)), high)
    return widen(form, dtype, low, high)


def _finish_log(call: Call, dtype: DType, logs: tuple[Array, Array], n: float) -> tuple[Array, Array]:
    above, below = logs
    form = softmax_form(call.setting.runtime, dtype, n, log=True)
    return widen(form, dtype, -np.logaddexp(0.0, above), -np.logaddexp(0.0, below))


def _hardmax(call: Call, x: Box) -> Box:
    """1 at the first largest element, 0 elsewhere, whatever the elements are."""
    if not x.flags and not x.has_finite:
        return Box(x.dtype, x.shape, inf, -inf)
    return Box(x.dtype, x.shape, 0.0, 1.0)


def _explain(call: Call, boxes: Any) -> str | None:
    x = boxes[0]
    name = x.dtype.name
    if name not in VANISHES:
        return None
    lo, hi = x.hull()
    if hi - lo <= float(VANISHES[name]) * 0.5:
        return None
    return f"softmax(x) reaches 0 in {name} once its inputs differ by more than {VANISHES[name]}"


def _explain_log(call: Call, boxes: Any) -> str | None:
    x = boxes[0]
    lo, hi = x.hull()
    if not lo <= hi:
        return None
    return f"log_softmax(x) is as low as the spread of a row, here {hi - lo:.6g}"


def _run(xp: Any, x: Any, axis: int = -1) -> Any:
    e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return e / xp.sum(e, axis=axis, keepdims=True)


def _run_log(xp: Any, x: Any, axis: int = -1) -> Any:
    shifted = x - xp.max(x, axis=axis, keepdims=True)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True))


def _run_hard(xp: Any, x: Any, axis: int = -1) -> Any:
    where = xp.expand_dims(xp.argmax(x, axis=axis), axis=axis)
    shape = [1] * len(x.shape)
    shape[axis] = x.shape[axis]
    places = xp.reshape(xp.arange(x.shape[axis]), tuple(shape))
    return xp.where(places == where, xp.ones_like(x), xp.zeros_like(x))


CASES = (
    Case((Operand((3, 4)),)),
    Case((Operand((2, 3, 4)),), {"axis": 1}),
    Case((Operand((2, 3, 4)),), {"axis": -3}),
    Case((Operand((5,)),), {"axis": 0}),
    Case((Operand((2, 100)),)),
    Case((Operand((3, 1)),)),
)
POINTS = (0.0, 1.0, -1.0, 52.0, -52.0, 104.0, -104.0, 88.0, 3e38, -3e38, 9.0, -9.0, 746.0)

SOFTMAX = Op(
    "Softmax",
    run=_run,
    bound=_softmax,
    requires=(ROW,),
    explain=_explain,
    samples=Samples(POINTS, CASES),
)

LOG_SOFTMAX = Op(
    "LogSoftmax",
    run=_run_log,
    bound=_log_softmax,
    requires=(ROW,),
    overflow="NP214",
    explain=_explain_log,
    samples=Samples(POINTS, CASES),
)

HARDMAX = Op("Hardmax", run=_run_hard, bound=_hardmax, exact=True, samples=Samples(POINTS, CASES))

OPS = (SOFTMAX, LOG_SOFTMAX, HARDMAX)
