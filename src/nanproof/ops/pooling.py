"""Pooling: sums, means and extremes over sliding windows and whole images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import inf
from typing import Any

import numpy as np

from nanproof.dims import ShapeError
from nanproof.domain.box import NAN, NINF, PINF, Box, Shape
from nanproof.domain.partition import Blocks, blocks_of, merge_whole, pack
from nanproof.numerics.dtypes import INT64
from nanproof.numerics.runtimes import widen
from nanproof.ops.call import Call
from nanproof.ops.conditions import Operand as Term
from nanproof.ops.conditions import Requirement
from nanproof.ops.flow import Sums, computed, length, repeated, settled
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.reducing import Layout, layout
from nanproof.ops.reductions import LARGE, extreme_of, mean_of, require_terms, sizes, total
from nanproof.ops.windows import Window, concrete_pads, lengths, may_be_bare, window_of

COVERED = Requirement("NP114", Term(0, "the number of elements under a window") > 0, NAN)


def _by_channel(x: Box) -> Box:
    """The Box with its images in one piece: batch and channel cuts stay."""
    if x.cuts is None or x.shape is None or not any(x.cuts[2:]):
        return x
    blocks = merge_whole(blocks_of(x), tuple(range(2, len(x.shape))))
    return pack(x.dtype, x.shape, (*x.cuts[:2], *(None,) * (len(x.shape) - 2)), blocks)


def _window(call: Call, x: Box) -> tuple[Window, Shape, bool]:
    """The window, the shape of the result, and whether a window may cover no element."""
    window = window_of(call, call.attr("kernel_shape"))
    if x.shape is None:
        return window, None, window.padded
    return window, (*x.shape[:2], *lengths(window, x.shape[2:])), may_be_bare(window, x.shape[2:])


def _moved(call: Call, x: Box, shape: Shape, ends: tuple[Any, Any], flags: Any) -> Box:
    """A Box of the operand's own channels."""
    if x.cuts is None:
        return Box(x.dtype, shape, *ends, int(flags))
    spots = flags if np.any(flags) else None
    return pack(x.dtype, shape, x.cuts, Blocks(*ends, spots), call.setting.budget)


def _max_pool(call: Call, x: Box) -> Box | tuple[Box, ...]:
    """The largest of some elements: within their bounds.

    A window over nothing gives the lowest number or -Inf. Kernels that drop
    NaN, or start from the lowest number, give that for a window of NaN or -Inf.
    """
    _, shape, bare = _window(call, x)
    x = _by_channel(x)
    lo, hi, flags = x.lo, x.hi, x.flags if x.cuts is None else x.block_flags()
    least = x.dtype.min
    if x.cuts is None:
        if bare or x.flags & (NAN | NINF):
            lo, hi = min(lo, least), max(hi, least)
    else:
        low = bare | (np.bitwise_and(flags, NAN | NINF) != 0)
        lo, hi = np.where(low, np.minimum(lo, least), lo), np.where(low, np.maximum(hi, least), hi)
    if x.dtype.is_float:
        if x.cuts is None:
            flags |= NINF if bare or flags & NAN else 0
        else:
            flags = np.where(bare | (np.bitwise_and(flags, NAN) != 0), flags | np.uint8(NINF), flags)
    if shape is not None and 0 in shape:
        result = Box(x.dtype, shape, inf, -inf)
    else:
        result = _moved(call, x, shape, (lo, hi), flags)
    if call.outputs < 2:
        return result
    most = inf if x.shape is None else length(call, x.shape)[1]
    low = INT64.min if bare or x.flags else 0.0
    return result, Box(INT64, shape, low, min(max(most - 1.0, 0.0), INT64.max))


def _average_pool(call: Call, x: Box) -> Box:
    """A mean over the elements under a window, computed as a sum that may overflow first.

    Padding counts as 0 with count_include_pad.
    """
    window, shape, bare = _window(call, x)
    zeros = bool(call.attr("count_include_pad", 0)) and window.padded
    x = _by_channel(x)
    if shape is not None and 0 in shape:
        return Box(x.dtype, shape, inf, -inf)
    born = 0
    if bare and not zeros:
        call.fail(COVERED, (0.0, float(window.size)), never=False)
        born = NAN
    n = float(window.size)
    least = -inf if x.shape is None else 1.0
    plan = Layout(shape, None if x.cuts is None else x.cuts, x.lo, x.hi, x.flags, 1.0, least, n)
    if x.cuts is not None:
        marks = x.block_flags()
        plan = plan._replace(lo=np.asarray(x.lo)[..., None], hi=np.asarray(x.hi)[..., None], flags=marks[..., None])
        plan = plan._replace(width=np.full(1, n), least=1.0, most=1.0)
    else:
        plan = plan._replace(least=n)
    if zeros or bare:
        lows, highs = np.minimum(plan.lo, 0.0), np.maximum(plan.hi, 0.0)
        plan = (
            plan._replace(lo=lows, hi=highs) if x.cuts is not None else plan._replace(lo=float(lows), hi=float(highs))
        )
    return mean_of(call, x, plan, born)


def _lp_pool(call: Call, x: Box) -> Box:
    """The p-th root of a sum of p-th powers, which overflows long before the root would."""
    window, shape, bare = _window(call, x)
    # a window over padding sees fewer elements
    return _lp(call, x, shape, (0.0 if window.padded or bare else float(window.size), float(window.size)))


def _global_lp_pool(call: Call, x: Box) -> Box:
    """As LpPool, over the whole image."""
    plan = _whole(call, x)
    sums, flags, empty = total(plan, _powers(call, x))
    return _rooted(call, x, (plan.shape, plan.cuts), (sums, plan.longest, flags, empty))


def _lp(call: Call, x: Box, shape: Shape, counts: tuple[float, float]) -> Box:
    if shape is not None and 0 in shape:
        return Box(x.dtype, shape, inf, -inf)
    lo, hi = x.hull()
    flags = (x.flags & NAN) | (PINF if x.flags & (PINF | NINF) else 0)
    if not lo <= hi:
        if counts[0] > 0 or not flags:
            return Box(x.dtype, shape, inf, -inf, flags)
        lo = hi = 0.0
    sums = repeated(*_powers(call, x)(lo, hi), *counts)
    return _rooted(call, x, (shape, None), (sums, counts[1], flags, False))


def _powers(call: Call, x: Box) -> Callable[[Any, Any], tuple[Any, Any]]:
    """The p-th powers of the sizes of elements, as a runtime computes them."""
    p = _order(call)
    accumulator = call.setting.accumulator(x.dtype)
    form = call.form(accumulator, "pow")

    def term(lo: Any, hi: Any) -> tuple[Any, Any]:
        low, high = sizes(lo, hi)
        low, high = _power(low, p), _power(high, p)
        if p not in {1.0, 2.0}:
            # overflow is found in the sum: keep what widening would make of it
            rate = 2.0 * form.ulps * accumulator.unit + form.relative
            low, high = low * (1.0 - rate), high * (1.0 + rate) + form.quanta * accumulator.quantum
        return low, high

    return term


def _rooted(call: Call, x: Box, place: Any, parts: tuple[Sums, float, Any, Any]) -> Box:
    sums, n, flags, empty = parts
    dtype, p = x.dtype, _order(call)
    accumulator = call.setting.accumulator(dtype)
    lo, hi, born = computed(call, dtype, sums, n, products=True)
    power = call.form(accumulator, "pow")
    # 1 / p is rounded, which the logarithm of the sum makes larger; 1 and 1/2 are exact
    inexact = 0.0 if p in {1.0, 2.0} else (90.0 if accumulator.bits == 32 else 710.0) / p * accumulator.unit
    form = replace(power, relative=power.relative + inexact)
    # a kernel that computes wider than its operand doesn't overflow: the root of all that the sum can be
    low, high = widen(form, dtype, _power(_above_zero(lo), 1.0 / p), _power(hi, 1.0 / p))
    return settled(call, dtype, place, (_above_zero(low), high, 0.0), flags=flags, empty=empty, born=born)


def _above_zero(x: Any) -> Any:
    return max(x, 0.0) if type(x) is float else np.maximum(x, 0.0)


def _order(call: Call) -> float:
    p = float(call.attr("p", 2))
    if not p > 0:
        raise ShapeError(f"a norm of order {p:g}: more than 0 is needed")
    return p


def _power(x: Any, p: float) -> Any:
    try:
        return x**p
    except OverflowError:
        return inf


def _pooled_shape(x: Box) -> Shape:
    return None if x.shape is None else (*x.shape[:2], *(1,) * (len(x.shape) - 2))


def _whole(call: Call, x: Box) -> Layout:
    axes = None if x.shape is None else tuple(range(2, len(x.shape)))
    return layout(call, x, axes)


def _global_average(call: Call, x: Box) -> Box:
    """The mean of an image: see ReduceMean."""
    plan = _whole(call, x)
    return mean_of(call, x, plan, require_terms(call, plan, NAN))


def _global_max(call: Call, x: Box) -> Box:
    """The largest element of an image: see ReduceMax; kernels may start from the lowest number."""
    result = extreme_of(call, x, _whole(call, x), 1.0)
    if not result.flags & (NAN | NINF):
        return result
    low, high = result.hull()
    return Box(x.dtype, result.shape, min(low, x.dtype.min), max(high, x.dtype.min), result.flags)


# -- concrete meaning -------------------------------------------------------------------------


def _taps(xp: Any, x: Any, fill: float, attrs: Any) -> tuple[list[Any], Any]:
    """The image under every tap of the window, and how many real elements each window has."""
    kernel = attrs["kernel_shape"]
    rank = len(kernel)
    strides, dilations = attrs.get("strides", (1,) * rank), attrs.get("dilations", (1,) * rank)
    sizes = x.shape[2:]
    pads = concrete_pads(attrs, kernel, sizes)
    places, extra = [], []
    for i, size in enumerate(sizes):
        before, after = pads[i]
        room = size + before + after - (kernel[i] - 1) * dilations[i] - 1
        count = room // strides[i] + 1
        if attrs.get("ceil_mode") and attrs.get("auto_pad", "NOTSET") == "NOTSET":
            count = -(-room // strides[i]) + 1
            if (count - 1) * strides[i] >= size + before:
                count -= 1
        places.append(count)
        extra.append(max((count - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 - size - before, 0))
    inside = xp.ones_like(x)
    include = bool(attrs.get("count_include_pad", 0))
    for i in range(rank):
        before, after = pads[i][0], extra[i]
        real = min(after, pads[i][1])
        x = _grown(xp, x, i + 2, (before, after), fill)
        inside = _grown(xp, inside, i + 2, (before, real), 1.0 if include else 0.0)
        inside = _grown(xp, inside, i + 2, (0, after - real), 0.0)
    found, counts = [], None
    for tap in product(*(range(k) for k in kernel)):
        where = tuple(
            slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, places, strides, strict=True)
        )
        index = (slice(None), slice(None), *where)
        found.append(x[index])
        counts = inside[index] if counts is None else counts + inside[index]
    return found, counts


def _grown(xp: Any, x: Any, axis: int, counts: tuple[int, int], fill: float) -> Any:
    parts = [x]
    for count, front in zip(counts, (True, False), strict=True):
        if count > 0:
            shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
            filler = xp.full(shape, fill, dtype=x.dtype)
            parts = [filler, *parts] if front else [*parts, filler]
    return x if len(parts) == 1 else xp.concat(parts, axis=axis)


def _run_max(xp: Any, x: Any, **attrs: Any) -> Any:
    taps, _ = _taps(xp, x, -inf if "float" in str(x.dtype) else float(xp.iinfo(x.dtype).min), attrs)
    result = taps[0]
    for tap in taps[1:]:
        result = xp.maximum(result, tap)
    return result


def _run_average(xp: Any, x: Any, **attrs: Any) -> Any:
    taps, counts = _taps(xp, x, 0.0, attrs)
    total = taps[0]
    for tap in taps[1:]:
        total = total + tap
    return total / counts


def _run_lp(xp: Any, x: Any, **attrs: Any) -> Any:
    p = attrs.get("p", 2)
    taps, _ = _taps(xp, x, 0.0, attrs)
    total = xp.abs(taps[0]) ** p
    for tap in taps[1:]:
        total = total + xp.abs(tap) ** p
    return total ** (1.0 / p)


def _over_image(name: str) -> Callable[..., Any]:
    def run(xp: Any, x: Any) -> Any:
        return getattr(xp, name)(x, axis=tuple(range(2, len(x.shape))), keepdims=True)

    return run


def _run_global_lp(xp: Any, x: Any, p: int = 2) -> Any:
    axes = tuple(range(2, len(x.shape)))
    return xp.sum(xp.abs(x) ** p, axis=axes, keepdims=True) ** (1.0 / p)


def _case(shape: tuple[int, ...], outputs: int = 1, **attrs: Any) -> Case:
    return Case((Operand(shape),), attrs, outputs)


CASES = (
    _case((1, 2, 6), kernel_shape=(3,)),
    _case((1, 2, 6), kernel_shape=(3,), pads=(1, 1), strides=(2,)),
    _case((2, 3, 5, 4), kernel_shape=(2, 3), strides=(2, 1)),
    _case((1, 2, 5, 5), kernel_shape=(3, 3), pads=(1, 1, 1, 1)),
    _case((1, 1, 5, 5), kernel_shape=(2, 2), auto_pad="SAME_UPPER"),
    _case((1, 1, 6, 6), kernel_shape=(3, 3), strides=(2, 2), ceil_mode=1),
    _case((1, 1, 4, 4, 4), kernel_shape=(2, 2, 2)),
    _case((1, 2, 7, 7), kernel_shape=(2, 2), dilations=(2, 2)),
)
IMAGES = (_case((2, 3, 5)), _case((1, 2, 4, 4)), _case((1, 1, 2, 3, 2)))
FLOATS = ("float32", "float64", "float16")

MAX_POOL = Op(
    "MaxPool",
    run=_run_max,
    bound=_max_pool,
    exact=True,
    samples=Samples(LARGE, (*CASES, _case((1, 2, 5, 5), 2, kernel_shape=(2, 2))), FLOATS),
)

AVERAGE_POOL = Op(
    "AveragePool",
    run=_run_average,
    bound=_average_pool,
    requires=(COVERED,),
    overflow="NP207",
    samples=Samples(
        LARGE,
        (*CASES, _case((1, 2, 5, 5), kernel_shape=(3, 3), pads=(1, 1, 1, 1), count_include_pad=1)),
        ("float32", "float16"),
    ),
)

LP_POOL = Op(
    "LpPool",
    run=_run_lp,
    bound=_lp_pool,
    smooth=(Term(0, "x").isnt(0.0),),
    overflow="NP207",
    error="pow",
    samples=Samples(LARGE, (*CASES[:5], _case((1, 2, 6), kernel_shape=(3,), p=3)), ("float32",)),
)

GLOBAL_AVERAGE_POOL = Op(
    "GlobalAveragePool",
    run=_over_image("mean"),
    bound=_global_average,
    requires=(Requirement("NP114", Term(0, "the number of reduced elements") > 0, NAN),),
    overflow="NP207",
    samples=Samples(LARGE, IMAGES, ("float32", "float16")),
)

GLOBAL_MAX_POOL = Op(
    "GlobalMaxPool",
    run=_over_image("max"),
    bound=_global_max,
    exact=True,
    samples=Samples(LARGE, IMAGES, ("float32", "float16")),
)

GLOBAL_LP_POOL = Op(
    "GlobalLpPool",
    run=_run_global_lp,
    bound=_global_lp_pool,
    smooth=(Term(0, "x").isnt(0.0),),
    overflow="NP207",
    error="pow",
    samples=Samples(LARGE, (*IMAGES, _case((2, 3, 5), p=1), _case((2, 3, 5), p=3)), ("float32",)),
)

OPS = (MAX_POOL, AVERAGE_POOL, LP_POOL, GLOBAL_AVERAGE_POOL, GLOBAL_MAX_POOL, GLOBAL_LP_POOL)
