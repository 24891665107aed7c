"""How an elementwise operator is bounded: the engine around the algebraic classes.

A class (``ops.classes``) only says how end points map to end points. What all
operators share is done here, once: broadcasting, common cuts, cutting operands
to the side where a requirement holds, flags for the side where it doesn't, the
flow of NaN and Inf, the runtime's error, rounding, and overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf, prod
from typing import Any

import numpy as np

from nanproof.dims import broadcast
from nanproof.domain.box import Array, Box, Shape, limits, top
from nanproof.domain.partition import EXACT_LIMIT, Blocks, aligned, constant, pack
from nanproof.numerics import scalar
from nanproof.numerics.dtypes import DType
from nanproof.ops.call import Call, overflow_flags
from nanproof.ops.special import flow_of_blocks, flow_of_one

Pair = tuple[Any, Any]
Rule = Callable[..., Pair]
"""``rule(f, *pairs) -> (lo, hi)``: f is the operator's run with namespace and attributes bound."""

EXACT = 2.0**53
"""Up to here float64 holds every integer."""

FOLD_LIMIT = 1 << 16
"""Most elements of an operation on known tensors that is computed exactly."""


class Elementwise:
    """A bound made of an end-point rule; ``text`` says in a sentence why the rule holds."""

    __slots__ = ("__name__", "rule", "text")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.__name__ = rule.__name__.strip("_")
        self.text = rule.__doc__ or ""

    def __call__(self, call: Call, *boxes: Box) -> Box:
        op = call.op
        shape = boxes[0].shape
        special = many = False
        known = op.error is None
        pairs = []
        for box in boxes:
            if box.flags:
                special = True
            if box.cuts is not None:
                many = True
            elif not box.lo <= box.hi:
                special = True
            if box.known is None:
                known = False
            if box.shape != shape:
                shape = None if shape is None or box.shape is None else broadcast(shape, box.shape)
            pairs.append((box.lo, box.hi))
        bound: Callable[[Call, Sequence[Box]], Box]
        if many:
            bound = partial(_by_blocks if special else _plain_blocks, self.rule)
        elif special:
            bound = partial(_one_special_block, self.rule, shape)
        elif known:
            bound = partial(_one_block, self.rule, shape, pairs)
        else:
            return _one_block(self.rule, shape, pairs, call, boxes)
        return _known_or(call, boxes, bound) if known else bound(call, boxes)


def _known_or(call: Call, boxes: Sequence[Box], bound: Callable[[Call, Sequence[Box]], Box]) -> Box:
    """Compute known operands exactly where the operator is exact or correctly rounded."""
    known = folded(call, boxes)
    result = bound(call, boxes)
    if known is None or known.shape != result.shape:
        return result
    if known.dtype == object:
        result.known = known
        return result
    exact = constant(result.dtype, known, call.setting.budget)
    exact.form = result.form
    return exact


def folded(call: Call, boxes: Sequence[Box]) -> Array | None:
    """The exact result over known operands; None where it isn't exact or isn't known."""
    op = call.op
    if op.error is not None:
        return None
    arrays = []
    for box in boxes:
        if box.known is None or box.known.size > FOLD_LIMIT:
            return None
        if box.dtype.is_float and box.dtype.bits < 32 and not op.exact:
            return None  # runtimes differ in how they compute small floats
        arrays.append(box.known)
    try:
        if prod(np.broadcast_shapes(*[array.shape for array in arrays])) > EXACT_LIMIT:
            return None
        result = np.asarray(op.run(np, *arrays, **call.attrs))
    except (TypeError, ValueError, ZeroDivisionError):
        return None  # symbolic sizes that this operator has no meaning for
    if result.dtype == object:
        return result
    wanted = call.result_dtype(boxes)
    if wanted.is_bool:
        return result.astype(bool)
    return result if result.dtype == arrays[0].dtype else result.astype(arrays[0].dtype)


def _one_block(rule: Rule, shape: Shape, pairs: list[Pair], call: Call, boxes: Sequence[Box]) -> Box:
    """The fast path: one block, all floats, no special values coming in."""
    op = call.op
    born = 0
    if op.requires:
        born, pairs_or_none = _required(call, pairs, boxes[0].dtype)
        if pairs_or_none is None:
            return Box(call.result_dtype(boxes), shape, inf, -inf, born)
        pairs = pairs_or_none
    run = partial(op.run, scalar, **call.attrs) if call.attrs else partial(op.run, scalar)
    lo, hi = rule(run, *pairs)
    dtype = boxes[0].dtype if op.result == "same" else call.result_dtype(boxes)
    if dtype.is_float:
        if not op.exact:
            if lo != lo or hi != hi:
                lo = -inf if lo != lo else lo
                hi = inf if hi != hi else hi
            lo, hi = call.rounded(lo, hi, dtype)
        if hi > dtype.max or lo < dtype.min:
            never = lo > dtype.max or hi < dtype.min
            gives = overflow_flags(dtype, hi > dtype.max, lo < dtype.min)
            if not born:
                call.overflowed(lo, hi, dtype, gives, never=never)
            born |= gives
            lo, hi = (inf, -inf) if never else (max(lo, dtype.min), min(hi, dtype.max))
    elif dtype.is_integer:
        lo, hi = _wrapped(dtype, lo, hi, inexact=not op.exact)
    else:
        lo, hi = float(lo), float(hi)
    result = Box(dtype, shape, lo, hi, born)
    if op.relate is not None and not born and call.setting.terms:
        return op.relate(call, boxes, result)
    return result


def _wrapped(dtype: DType, lo: float, hi: float, *, inexact: bool) -> Pair:
    """Integer results past the limits wrap around: then any value can come out."""
    least, most = limits(dtype)
    # 2**63 isn't an int64, though a bound may be rounded up to it; -2**63 is one, but a sum below may round up to it
    if not (least <= lo and (hi < most or (hi == most and dtype.bits < 64))) or (inexact and lo == least < -EXACT):
        return least, most
    if hi > 2.0**53 or lo < -(2.0**53):
        lo, hi = float(np.nextafter(lo, -inf)), float(np.nextafter(hi, inf))
        return max(lo, least), min(hi, most)
    return lo, hi


def _required(call: Call, pairs: list[Pair], dtype: DType) -> tuple[int, list[Pair] | None]:
    """Check the requirements on one block; returns flags and the operands cut to the safe side."""
    born = 0
    result: list[Pair] | None = pairs
    for requirement in call.op.requires:
        if requirement.only and not requirement.concerns(dtype):
            continue
        condition = requirement.condition
        always, never = condition.judge(pairs, call.attrs)
        if always:
            continue
        call.fail(requirement, pairs[requirement.operand], never=bool(never))
        born |= requirement.gives
        if never or result is None:
            result = None
            continue
        result = [condition.restrict(i, p, dtype, scalar) for i, p in enumerate(result)]
        if any(lo > hi for lo, hi in result):
            result = None
    return born, result


def _one_special_block(rule: Rule, shape: Shape, call: Call, boxes: Sequence[Box]) -> Box:
    """One block with special values, or without finite ones: the finite part, joined with what flows."""
    dtype = call.result_dtype(boxes)
    if any(not box.flags and not box.lo <= box.hi for box in boxes):
        return Box(dtype, shape, inf, -inf)  # an empty tensor, or a branch never taken
    lo, hi, flags = inf, -inf, 0
    if all(box.lo <= box.hi for box in boxes):
        usual = _one_block(rule, shape, [(box.lo, box.hi) for box in boxes], call, boxes)
        lo, hi, flags = usual.lo, usual.hi, usual.flags  # type: ignore[assignment]
    low, high, flowing = flow_of_one(call.scalar, boxes, exact=call.op.exact)
    if low <= high:
        low, high = call.rounded(low, high, dtype) if dtype.is_float else (low, high)
        if high > dtype.max or low < dtype.min:
            flags |= overflow_flags(dtype, high > dtype.max, low < dtype.min)
            low, high = max(low, dtype.min), min(high, dtype.max)
        lo, hi = min(lo, float(low)), max(hi, float(high))
    return Box(dtype, shape, lo, hi, flags | flowing)


def _plain_blocks(rule: Rule, call: Call, boxes: Sequence[Box]) -> Box:
    """Many blocks without special values: the fast path over arrays.

    What turns out to need more (a requirement that may fail, an overflow, a block
    without values) is left to the general path.
    """
    op = call.op
    shape = boxes[0].shape
    for box in boxes[1:]:
        if box.shape != shape:
            shape = None if shape is None or box.shape is None else broadcast(shape, box.shape)
    if shape is None:
        return _shapeless(rule, call, boxes)
    cuts, blocks = aligned(boxes, len(shape))
    if any(block.spots is not None for block in blocks) or any(_has_empty_block(box) for box in boxes):
        return _by_blocks(rule, call, boxes)
    pairs = [(block.lo, block.hi) for block in blocks]
    dtype_in = boxes[0].dtype
    for requirement in op.requires:
        if requirement.concerns(dtype_in) and not np.all(requirement.condition.judge(pairs, call.attrs)[0]):
            return _by_blocks(rule, call, boxes)
    lo, hi = rule(call.arrays, *pairs)
    dtype = dtype_in if op.result == "same" else call.result_dtype(boxes)
    if dtype.is_float:
        lo, hi = call.rounded(lo, hi, dtype)
    lo, hi = np.asarray(lo, np.float64), np.asarray(hi, np.float64)
    least, most = (dtype.min, dtype.max) if dtype.is_float else (-(2.0**53), 2.0**53)
    # false for NaN too: an empty block has turned the ends round, or made them infinite
    low, high = float(lo.min()), float(hi.max())
    if not (low >= least and high <= most and (dtype.is_float or (low >= dtype.min and high <= dtype.max))):
        return _by_blocks(rule, call, boxes)
    if not (lo <= hi).all():
        return _by_blocks(rule, call, boxes)
    result = pack(dtype, shape, cuts, Blocks(lo, hi, None), call.setting.budget)
    result.ends = low, high
    return result if op.relate is None or not call.setting.terms else op.relate(call, boxes, result)


def _has_empty_block(box: Box) -> bool:
    """Whether some block has no value at all, as where a mask's condition never chose it."""
    return box.cuts is not None and not bool(np.minimum.reduce(box.hi, axis=None) > -inf)


def _by_blocks(rule: Rule, call: Call, boxes: Sequence[Box]) -> Box:
    """The general path: many blocks, special values or empty operands."""
    op = call.op
    dtype_in = boxes[0].dtype
    dtype = call.result_dtype(boxes)
    shape: Shape = boxes[0].shape
    for box in boxes[1:]:
        shape = None if shape is None or box.shape is None else broadcast(shape, box.shape)
    if shape is None:
        return _shapeless(rule, call, boxes)
    cuts, blocks = aligned(boxes, len(shape))
    if any(not b.flags and not b.has_finite for b in boxes):
        return Box(dtype, shape, inf, -inf)  # an empty tensor, or a branch never taken
    grid = np.broadcast_shapes(*(np.shape(b.lo) for b in blocks))
    los = [np.asarray(b.lo, np.float64) for b in blocks]
    his = [np.asarray(b.hi, np.float64) for b in blocks]
    void = np.zeros(grid, bool)
    for lo, hi in zip(los, his, strict=True):
        void = void | (lo > hi)
    pairs = [(np.where(lo > hi, 1.0, lo), np.where(lo > hi, 1.0, hi)) for lo, hi in zip(los, his, strict=True)]
    marks = np.zeros(grid, np.uint8)
    for requirement in op.requires:
        if not requirement.concerns(dtype_in):
            continue
        always, never = requirement.condition.judge(pairs, call.attrs)
        broken = ~np.asarray(always) & ~void
        if not broken.any():
            continue
        gone = np.asarray(never) & broken
        call.fail(requirement, _seen(pairs[requirement.operand], broken), never=bool(gone.any()))
        marks |= np.where(broken, np.uint8(requirement.gives), np.uint8(0))
        pairs = [requirement.condition.restrict(i, p, dtype_in, call.setting.xp) for i, p in enumerate(pairs)]
        for lo, hi in pairs:
            gone = gone | (lo > hi)
        void = void | gone
        pairs = [(np.where(lo > hi, 1.0, lo), np.where(lo > hi, 1.0, hi)) for lo, hi in pairs]
    run = call.arrays
    lo, hi = rule(run, *pairs)
    lo, hi = np.broadcast_to(np.asarray(lo, np.float64), grid), np.broadcast_to(hi, grid)
    lo, hi = (
        np.where(void, inf, np.where(np.isnan(lo), -inf, lo)),
        np.where(void, -inf, np.where(np.isnan(hi), inf, hi)),
    )
    had = marks.copy()
    if any(b.flags for b in boxes):
        if dtype.is_float:
            lo, hi, marks = _without_lost(call, dtype, (lo, hi, marks))
        lo, hi, flowing = flow_of_blocks(run, boxes, blocks, (lo, hi), exact=op.exact)
        marks = marks | flowing
    return _finished(call, dtype, (shape, cuts), (lo, hi, marks, had), boxes)


def _without_lost(call: Call, dtype: DType, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Blocks whose every finite result overflows hold none, before what flows from infinities joins them."""
    lo, hi, marks = parts
    there = lo <= hi
    low, high = call.rounded(np.where(there, lo, 0.0), np.where(there, hi, 0.0), dtype)
    over, under = there & (low > dtype.max), there & (high < dtype.min)
    lost = over | under
    if not lost.any():
        return parts
    fresh = lost & (marks == 0)
    if fresh.any():
        gives = overflow_flags(dtype, bool(over.any()), bool(under.any()))
        call.overflowed(float(low[fresh].min()), float(high[fresh].max()), dtype, gives, never=True)
    marks = marks | np.where(over, np.uint8(overflow_flags(dtype, True, False)), np.uint8(0))
    marks = marks | np.where(under, np.uint8(overflow_flags(dtype, False, True)), np.uint8(0))
    return np.where(lost, inf, lo), np.where(lost, -inf, hi), marks


def _finished(call: Call, dtype: DType, place: tuple[Any, Any], parts: tuple[Any, ...], boxes: Sequence[Box]) -> Box:
    """Round, notice overflow, pack."""
    shape, cuts = place
    lo, hi, marks, had = parts
    void = lo > hi
    if dtype.is_float:
        lo, hi = call.rounded(np.where(void, 0.0, lo), np.where(void, 0.0, hi), dtype)
        over, under = (hi > dtype.max) & ~void, (lo < dtype.min) & ~void
        if (over | under).any():
            gives = overflow_flags(dtype, bool(over.any()), bool(under.any()))
            gone = (lo > dtype.max) | (hi < dtype.min)
            fresh = (over | under) & (had == 0)
            if fresh.any():
                ends = float(np.min(lo[fresh])), float(np.max(hi[fresh]))
                call.overflowed(*ends, dtype, gives, never=bool((gone & fresh).any()))
            marks = marks | np.where(over, np.uint8(overflow_flags(dtype, True, False)), np.uint8(0))
            marks = marks | np.where(under, np.uint8(overflow_flags(dtype, False, True)), np.uint8(0))
            void = void | gone
            lo, hi = np.maximum(lo, dtype.min), np.minimum(hi, dtype.max)
        lo, hi = np.where(void, inf, lo), np.where(void, -inf, hi)
    else:
        least, most = limits(dtype)
        fits = hi < most if dtype.bits == 64 else hi <= most
        at_least = lo > least if least < -EXACT and not call.op.exact else lo >= least
        wraps = ~(at_least & fits) & ~void
        big = (hi > 2.0**53) | (lo < -(2.0**53))
        lo = np.where(big & ~void, np.nextafter(lo, -inf), lo)
        hi = np.where(big & ~void, np.nextafter(hi, inf), hi)
        lo, hi = np.where(wraps, least, lo), np.where(wraps, most, hi)
    spots = marks if marks.any() else None
    result = pack(dtype, shape, cuts, Blocks(lo, hi, spots), call.setting.budget)
    if call.op.relate is not None and call.setting.terms and not result.flags and result.has_finite:
        return call.op.relate(call, boxes, result)
    return result


def _seen(pair: Pair, where: Array) -> tuple[float, float]:
    """The interval that a message shows: the hull over the blocks in question."""
    lo, hi = (np.broadcast_to(end, where.shape)[where] for end in pair)
    return float(lo.min()), float(hi.max())


def _shapeless(rule: Rule, call: Call, boxes: Sequence[Box]) -> Box:
    """Operands of unknown rank: bound the hulls, forget the shape."""
    hulls = [Box(b.dtype, (), *b.hull(), b.flags) for b in boxes]
    plain = all(not b.flags and b.lo <= b.hi for b in hulls)
    pairs = [(b.lo, b.hi) for b in hulls]
    result = _one_block(rule, (), pairs, call, hulls) if plain else _by_blocks(rule, call, hulls)
    return Box(result.dtype, None, *result.hull(), result.flags)


def anything(call: Call, boxes: Sequence[Box]) -> Box:
    """Any tensor of the result's dtype and the broadcast shape."""
    shape: Shape = boxes[0].shape
    for box in boxes[1:]:
        shape = None if shape is None or box.shape is None else broadcast(shape, box.shape)
    return top(call.result_dtype(boxes), shape)
