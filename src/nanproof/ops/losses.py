"""Losses over class scores and labels."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from nanproof.dims import Size
from nanproof.domain.box import NAN, NINF, PINF, Box, Shape
from nanproof.ops.call import Call
from nanproof.ops.conditions import Operand as Term
from nanproof.ops.conditions import Requirement
from nanproof.ops.flow import computed, length, product_flags, repeated, settled, sum_flags, without_finite
from nanproof.ops.matmul import product_ends
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.softmax import LOG_SOFTMAX

COUNTED = Requirement("NP113", Term(1, "the weight of the counted elements") > 0, NAN | PINF | NINF, operand=1)


def _likelihood(call: Call, x: Box, target: Box, weight: Box | None = None) -> Box:
    """-x[label] * weight[label], as it is, summed, or as a mean weighted by what counts.

    No class fits: which elements count is in the labels.
    """
    return _loss(call, x, target, weight)


def _cross_entropy(call: Call, x: Box, target: Box, weight: Box | None = None) -> Box | tuple[Box, ...]:
    """NegativeLogLikelihoodLoss of the LogSoftmax over the classes."""
    inner = Call(LOG_SOFTMAX, {"axis": 1}, call.setting)
    log = LOG_SOFTMAX.bound(inner, x)
    assert isinstance(log, Box)
    call.events.extend(inner.events)
    loss = _loss(call, log, target, weight)
    return loss if call.outputs == 1 else (loss, log)


def _loss(call: Call, x: Box, target: Box, weight: Box | None) -> Box:
    reduction = call.attr("reduction", "mean")
    reduction = reduction.decode() if isinstance(reduction, bytes) else reduction
    labels = target.shape if target.shape is not None else _without_classes(x.shape)
    shape: Shape = labels if reduction == "none" else ()
    if shape is not None and 0 in shape:
        return Box(x.dtype, shape, inf, -inf)
    least, most = (0.0, inf) if labels is None else length(call, labels)
    if most > 0 and (without_finite(x) or (weight is not None and without_finite(weight))):
        return Box(x.dtype, shape, inf, -inf)
    lo, hi = x.hull()
    void = not lo <= hi
    lo, hi = (0.0, 0.0) if void else (-hi, -lo)
    wl, wh = weight.hull() if weight is not None else (1.0, 1.0)
    void = void or not wl <= wh
    wl, wh = (wl, wh) if wl <= wh else (0.0, 0.0)
    turned = Box(x.dtype, (), lo, hi, (x.flags & NAN) | (x.flags & PINF) << 1 | (x.flags & NINF) >> 1)
    flags = product_flags(turned, weight) if weight is not None else turned.flags
    if weight is not None and weight.flags:
        flags |= NAN | PINF | NINF  # a mean divides one infinity by the other
    skipped = _may_skip(call, target)
    one = product_ends((lo, hi), (wl, wh))
    if skipped:
        one = min(one[0], 0.0), max(one[1], 0.0)
    place: Any = (shape, None)
    if reduction == "none":
        slack = max(-one[0], one[1]) * 4.0 * x.dtype.unit if weight is not None else 0.0
        return settled(call, x.dtype, place, (*one, slack + (x.dtype.quantum if slack else 0.0)), flags=flags)
    total = computed(call, x.dtype, repeated(*one, least, most), most + 1.0, products=weight is not None)
    if reduction == "sum":
        ends = (total.lo, total.hi, 0.0)
        return settled(call, x.dtype, place, ends, flags=sum_flags(flags), born=total.born, empty=void and not skipped)
    return _mean(call, x, (target, (lo, hi), (wl, wh)), (least, most, skipped), (sum_flags(flags), total.born))


def _mean(
    call: Call, x: Box, what: tuple[Box, Any, Any], counts: tuple[float, float, bool], marks: tuple[int, int]
) -> Box:
    """The weighted mean lies between its terms where the weights are positive."""
    target, (lo, hi), (wl, wh) = what
    least, most, skipped = counts
    flags, born = marks
    dtype = x.dtype
    accumulator = call.setting.accumulator(dtype)
    if least == 0 or skipped or wl <= 0.0:
        never = most == 0 or (wl == wh == 0.0) or _only_skipped(call, target)
        call.fail(COUNTED, target.hull(), never=never)
        flags |= COUNTED.gives
        if wl < 0.0:
            return Box(dtype, (), dtype.min, dtype.max, flags | NAN | PINF | NINF)
        # a runtime may also answer 0 for the mean of nothing
        lo, hi = min(lo, 0.0), max(hi, 0.0)
    weights = most * max(wh, 0.0)
    if not weights * (1.0 + most * accumulator.unit) <= accumulator.max:
        born |= NAN  # Inf / Inf, or a weight that counts for nothing
        lo, hi = min(lo, 0.0), max(hi, 0.0)
    drift = (2.0 * most + 8.0) * accumulator.unit
    if wl < accumulator.tiny and wh != wl and hi != lo:
        drift = inf  # subnormal weights lose their digits
    if not drift < 0.25:
        return settled(call, dtype, ((), None), (_side(lo), _side(hi), 0.0), flags=flags, born=born)
    rate = drift / (1.0 - drift)
    floor = (most + 4.0) * accumulator.quantum / (min(1.0, max(wl, accumulator.tiny)))
    low, high = lo - rate * abs(lo) - floor, hi + rate * abs(hi) + floor
    low, high = max(low, 0.0) if lo >= 0.0 else low, min(high, 0.0) if hi <= 0.0 else high
    return settled(call, dtype, ((), None), (low, high, 0.0), flags=flags, born=born)


def _side(end: float) -> float:
    return 0.0 if end == 0.0 else inf if end > 0.0 else -inf


def _without_classes(shape: Shape) -> tuple[Size, ...] | None:
    return None if shape is None else (*shape[:1], *shape[2:])


def _may_skip(call: Call, target: Box) -> bool:
    """Whether a label may be the ignored one."""
    ignored = call.attr("ignore_index")
    if ignored is None:
        return False
    if target.known is not None and target.known.dtype != object:
        return bool((np.asarray(target.known) == ignored).any())
    lo, hi = target.hull()
    return bool(lo <= ignored <= hi)


def _only_skipped(call: Call, target: Box) -> bool:
    lo, hi = target.hull()
    return bool(call.attr("ignore_index") is not None and lo == hi == call.attr("ignore_index"))


def _run(xp: Any, x: Any, target: Any, weight: Any = None, **attrs: Any) -> Any:
    classes = x.shape[1]
    shape = (1, classes, *(1,) * (len(x.shape) - 2))
    places = xp.reshape(xp.arange(classes), shape)
    chosen = places == xp.expand_dims(target, axis=1)
    zeros = xp.zeros_like(x)
    picked = xp.sum(xp.where(chosen, -x, zeros), axis=1)
    weights = xp.ones_like(x) if weight is None else zeros + xp.reshape(weight, shape)
    used = xp.sum(xp.where(chosen, weights, zeros), axis=1)
    ignored = attrs.get("ignore_index")
    if ignored is not None:
        used = xp.where(target == ignored, xp.zeros_like(used), used)
        picked = xp.where(target == ignored, xp.zeros_like(picked), picked)
    loss = picked * used
    reduction = attrs.get("reduction", "mean")
    if reduction == "none":
        return loss
    return xp.sum(loss) if reduction == "sum" else xp.sum(loss) / xp.sum(used)


def _run_cross_entropy(xp: Any, x: Any, target: Any, weight: Any = None, **attrs: Any) -> Any:
    log = LOG_SOFTMAX.run(xp, x, axis=1)
    return _run(xp, log, target, weight, **attrs), log


def _cases(outputs: int = 1) -> tuple[Case, ...]:
    labels = Operand((3,), "int64", values=(0, 2, 1))
    ignoring = Operand((3,), "int64", values=(-1, 2, 1))
    scores = Operand((3, 4))
    weight = Operand((4,), low=0.0625, high=8.0)
    return (
        Case((scores, labels), {}, outputs),
        Case((scores, labels), {"reduction": "sum"}, outputs),
        Case((scores, labels, weight), {"reduction": "none"}, outputs),
        Case((scores, labels, weight), {"reduction": "mean"}, outputs),
        Case((scores, ignoring), {"ignore_index": -1}, outputs),
        Case((scores, Operand((3,), "int64", values=(-1, -1, -1))), {"ignore_index": -1}, outputs),
        Case(
            (Operand((2, 3, 2)), Operand((2, 2), "int64", values=((0, 2), (1, 1))), Operand((3,), low=0.5, high=2.0)),
            {"reduction": "sum", "ignore_index": 1},
            outputs,
        ),
    )


POINTS = (0.0, 1.0, -1.0, 104.0, -104.0, 1e19, 3e38, -3e38)

NEGATIVE_LOG_LIKELIHOOD_LOSS = Op(
    "NegativeLogLikelihoodLoss",
    run=_run,
    bound=_likelihood,
    requires=(COUNTED,),
    overflow="NP214",
    samples=Samples(POINTS, _cases(), ("float32", "float64")),
)

SOFTMAX_CROSS_ENTROPY_LOSS = Op(
    "SoftmaxCrossEntropyLoss",
    run=_run_cross_entropy,
    bound=_cross_entropy,
    requires=(*LOG_SOFTMAX.requires, COUNTED),
    overflow="NP214",
    samples=Samples(POINTS, (*_cases(), *_cases(2)[:2]), ("float32", "float64")),
)

OPS = (NEGATIVE_LOG_LIKELIHOOD_LOSS, SOFTMAX_CROSS_ENTROPY_LOSS)
