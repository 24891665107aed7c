"""Division by a norm of neighbours: LpNormalization and LRN."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

from nanproof.domain.box import NAN, NINF, PINF, Box
from nanproof.ops.call import Call
from nanproof.ops.conditions import Operand as Term
from nanproof.ops.conditions import Requirement
from nanproof.ops.flow import length, settled, without_finite
from nanproof.ops.operands import axis_in
from nanproof.ops.record import Case, Op, Operand, Samples

ROW = Requirement("NP111", Term(0, "the norm of a row") > 0, NAN)
BASE = Requirement("NP112", Term(0, "bias + alpha / size * the sum of squares") > 0, NAN | PINF | NINF)


def _lp(call: Call, x: Box) -> Box:
    """An element is at most its row's norm, so no quotient passes 1; a row of zeros has no direction.

    Elements whose squares are subnormal or vanish make a norm that is too small.
    """
    dtype = x.dtype
    if without_finite(x) or (x.shape is not None and any(n == 0 for n in x.shape)):
        return Box(dtype, x.shape, inf, -inf)
    axis = int(call.attr("axis", -1))
    most = inf if x.shape is None else length(call, (x.shape[axis_in(axis, len(x.shape))],))[1]
    accumulator = call.setting.accumulator(dtype)
    lo, hi = x.hull()
    if not lo <= hi:
        return Box(dtype, x.shape, 0.0, 0.0, NAN | PINF | NINF)
    flags = NAN | PINF | NINF if x.flags & ~NAN else x.flags
    least, p = max(lo, -hi, 0.0), int(call.attr("p", 2))
    norm = least if p == 1 else least * least
    if norm < accumulator.tiny:
        call.fail(ROW, (least, max(-lo, hi)), never=lo == hi == 0.0 and call.setting.runtime != "onnxruntime")
        flags |= ROW.gives
    drift = (most + 8.0) * accumulator.unit
    if drift > 0.25:
        return Box(dtype, x.shape, dtype.min, dtype.max, flags)
    reach = 1.0 + drift
    if norm < accumulator.tiny:
        # a square down at the quantum can be off by half of itself, or lost
        reach = 2.0 if p == 1 else 2.0 * sqrt(2.0)
    low, high = (0.0 if lo >= 0 else -reach), (0.0 if hi <= 0 else reach)
    return settled(call, dtype, (x.shape, None), (low, high, 0.0), flags=flags)


def _lrn(call: Call, x: Box) -> Box:
    """X / (bias + alpha / size * (sum of squares of its neighbours)) ^ beta."""
    dtype = x.dtype
    if without_finite(x) or (x.shape is not None and any(n == 0 for n in x.shape)):
        return Box(dtype, x.shape, inf, -inf)
    alpha, beta, bias = (float(call.attr(k, d)) for k, d in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)))
    size = float(call.attr("size", 1))
    lo, hi = x.hull()
    flags = NAN | PINF | NINF if x.flags else 0
    if not lo <= hi:
        lo = hi = 0.0
    accumulator = call.setting.accumulator(dtype)
    largest = max(-lo, hi)
    squares = size * largest * largest if largest < 1e150 else inf
    part = alpha / size * squares if alpha else 0.0
    low, high = bias + min(part, 0.0), bias + max(part, 0.0)
    # some kernels keep a running sum over the channels, whose errors stay when large squares have left it
    steps = 2.0 * (inf if x.shape is None else length(call, x.shape[1:2])[1] + size)
    rate = (steps + 16.0) * accumulator.unit
    low -= rate * abs(part) + 4.0 * accumulator.unit * abs(bias) if part else 0.0
    if not low > 0 or (alpha < 0 and not squares < accumulator.max):
        call.fail(BASE, (low, high), never=False)
        return call.unknown(dtype, x.shape)
    high = high * (1.0 + rate) + accumulator.quantum
    ends = _powers(low, -beta), _powers(high, -beta) if high < accumulator.max else (0.0 if beta > 0 else inf)
    factor_low, factor_high = min(ends), max(ends)
    form = call.form(accumulator, "pow")
    error = (form.ulps * 2.0 + 8.0) * accumulator.unit * (1.0 + abs(beta)) + form.relative
    factor_high = factor_high * (1.0 + error) + 4.0 * accumulator.quantum
    factor_low = max(factor_low * (1.0 - error) - 4.0 * accumulator.quantum, 0.0)
    below = lo * factor_high if lo < 0 else lo * factor_low
    above = hi * factor_high if hi > 0 else hi * factor_low
    if x.flags & (PINF | NINF):  # next to an infinity everything is 0
        below, above = min(below, 0.0), max(above, 0.0)
        flags |= PINF | NINF if beta < 0 else 0
    born = 0
    if not squares * (1.0 + rate) < accumulator.max:
        born = NAN  # Inf - Inf in a running sum
    if beta < 0 and not squares < accumulator.max:
        born = NAN | PINF | NINF  # 0 * Inf
    ends_of = (below if below == below else -inf, above if above == above else inf, 4.0 * dtype.quantum)
    return settled(call, dtype, (x.shape, None), ends_of, flags=flags, born=born)


def _powers(x: float, p: float) -> float:
    try:
        return float(x**p)
    except OverflowError:
        return inf


def _run_lp(xp: Any, x: Any, axis: int = -1, p: int = 2) -> Any:
    sizes = xp.abs(x)
    total = xp.sum(sizes if p == 1 else sizes * sizes, axis=axis, keepdims=True)
    norm = total if p == 1 else xp.sqrt(total)
    safe = xp.where(norm == 0, xp.ones_like(norm), norm)
    return xp.where(norm == 0, xp.zeros_like(x), x / safe)


def _run_lrn(xp: Any, x: Any, size: int = 1, **attrs: Any) -> Any:
    before, after = (size - 1) // 2, size - 1 - (size - 1) // 2
    count = x.shape[1]
    squares = x * x
    parts = []
    for c in range(count):
        near = squares[:, max(0, c - before) : min(count, c + after + 1)]
        parts.append(xp.sum(near, axis=1, keepdims=True))
    total = xp.concat(parts, axis=1)
    base = attrs.get("bias", 1.0) + attrs.get("alpha", 1e-4) / size * total
    return x / base ** attrs.get("beta", 0.75)


def _case(shape: tuple[int, ...], **attrs: Any) -> Case:
    return Case((Operand(shape),), attrs)


POINTS = (0.0, 1.0, -1.0, 1e-23, 1e-45, 1e4, 1e19, 3e38)

LP_NORMALIZATION = Op(
    "LpNormalization",
    run=_run_lp,
    bound=_lp,
    requires=(ROW,),
    smooth=(ROW.condition,),
    overflow="NP214",
    samples=Samples(
        POINTS,
        (_case((3, 4)), _case((2, 3, 4), axis=1), _case((3, 4), p=1), _case((2, 3), axis=0, p=1)),
        ("float32", "float64"),
    ),
)

LRN = Op(
    "LRN",
    run=_run_lrn,
    bound=_lrn,
    requires=(BASE,),
    overflow="NP214",
    samples=Samples(
        POINTS,
        (
            _case((1, 5, 3, 3), size=3),
            _case((1, 4, 2, 2), size=2, alpha=0.5, beta=0.5, bias=2.0),
            _case((2, 3, 2, 2), size=5, alpha=1.0, beta=1.0, bias=0.1),
        ),
        ("float32",),
    ),
)

OPS = (LP_NORMALIZATION, LRN)
