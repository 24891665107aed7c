"""Rounding to whole numbers, and clipping."""

from __future__ import annotations

from typing import Any

import numpy as np

from nanproof.domain.box import INFS, NAN, NINF, PINF, Box
from nanproof.domain.moves import hull_of
from nanproof.ops.call import Call
from nanproof.ops.classes import increasing, increasing_in_all
from nanproof.ops.pairs import differing
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.variadic import misjudged

WHOLE = (0.0, 0.5, -0.5, 1.0, 1.5, 2.5, -1.0, 8388607.5, 1e9)
NUMERIC = ("float32", "float64", "float16", "int32", "int64")


def _clip(xp: Any, x: Any, low: Any = None, high: Any = None, **_: Any) -> Any:
    """The smaller of ``high`` and the larger of ``low`` and x: ``high`` wins where the two cross."""
    if low is not None:
        x = xp.maximum(x, low)
    return x if high is None else xp.minimum(x, high)


def _clipped(call: Call, x: Box, low: Box | None = None, high: Box | None = None) -> Box:
    """Rises in all three operands, but two of them may be absent, and a NaN as a limit may be dropped.

    A limit is one number. Where ``low`` > ``high``, everything becomes ``high``.
    """
    one = Op("Clip", run=_reordered(low is not None, high is not None), bound=increasing_in_all, exact=True)
    inner = Call(one, {}, call.setting)
    given = [_limit(b, widest) for b, widest in ((low, -np.inf), (high, np.inf)) if b is not None]
    x_lo, x_hi = x.hull()
    inside = (low is None or low.hull()[1] <= x_lo) and (high is None or x_hi <= high.hull()[0])
    if inside and x.has_finite and not any(b.flags for b in (x, *given)):
        return x  # nothing is clipped
    if misjudged(call, (x, *given)):
        return hull_of((x, *given), x.shape)
    result = increasing_in_all(inner, x, *given)
    if x.flags & NAN:
        for limit in given:  # some kernels clip NaN too
            result = _allowing(result, limit.hull())
    if result.flags & INFS and call.setting.runtime == "onnxruntime":
        # there, an absent limit is the dtype's largest number
        if low is None and result.flags & NINF:
            result = _allowing(result, (x.dtype.min, x.dtype.min))
        if high is None and result.flags & PINF:
            result = _allowing(result, (x.dtype.max, x.dtype.max))
    return result


def _reordered(low: bool, high: bool) -> Any:
    """Clip with only the limits that are there as operands."""
    if low and high:
        return _clip
    if low:
        return lambda xp, x, limit: xp.maximum(x, limit)
    if high:
        return lambda xp, x, limit: xp.minimum(x, limit)
    return lambda xp, x: x


def _limit(box: Box, widest: float) -> Box:
    """A limit that may be NaN clips nothing in some runtimes, and makes everything NaN in others."""
    if not box.flags & NAN:
        return box
    flags = box.flags | (NINF if widest < 0 else PINF)
    return Box(box.dtype, box.shape, *box.hull(), flags)


def _allowing(result: Box, ends: tuple[float, float]) -> Box:
    lo, hi = result.hull()
    return Box(result.dtype, result.shape, min(lo, ends[0]), max(hi, ends[1]), result.flags)


FLOOR = Op("Floor", run=lambda xp, x: xp.floor(x), bound=increasing, exact=True, samples=Samples(WHOLE))

CEIL = Op("Ceil", run=lambda xp, x: xp.ceil(x), bound=increasing, exact=True, samples=Samples(WHOLE))

ROUND = Op(
    "Round",
    run=lambda xp, x: xp.round(x),  # ties to even
    bound=increasing,
    exact=True,
    samples=Samples(WHOLE),
)

# PyTorch's sign of NaN is 0
SIGN = Op(
    "Sign",
    run=lambda xp, x: xp.sign(x),
    bound=differing(increasing, {NAN: (0.0,)}),
    exact=True,
    samples=Samples(dtypes=NUMERIC),
)

_X = Operand(shape=(2, 3))

CLIP = Op(
    "Clip",
    run=_clip,
    bound=_clipped,
    exact=True,
    samples=Samples(
        (0.0, 1.0, -1.0, 6.0),
        cases=(
            Case((_X,)),
            Case((_X, Operand())),
            Case((_X, Operand(absent=True), Operand())),
            Case((_X, Operand(), Operand())),
            Case((_X, Operand(values=0.0, stored=True), Operand(values=6.0, stored=True))),
            Case((_X, Operand(values=1.0, stored=True), Operand(values=-1.0, stored=True))),
        ),
        dtypes=NUMERIC,
    ),
)

OPS = (FLOOR, CEIL, ROUND, SIGN, CLIP)
