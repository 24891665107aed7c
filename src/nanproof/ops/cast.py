"""Changes of dtype: Cast, CastLike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from nanproof.domain.affine import form_of, rounded
from nanproof.domain.box import INFS, NAN, NINF, PINF, Array, Box, limits, top
from nanproof.domain.partition import EXACT_LIMIT, Blocks, pack
from nanproof.numerics.dtypes import (
    FLOAT4_E2M1FN,
    FLOAT8_E8M0FNU,
    FLOAT32,
    FLOAT64,
    DType,
    by_onnx,
    to_numpy,
)
from nanproof.numerics.rounding import nearest, nearest_array
from nanproof.ops.call import INEVITABLE, POSSIBLE, Call, Event, overflow_flags
from nanproof.ops.conditions import Attrs, Both, Condition, Either, Ends, Requirement
from nanproof.ops.pairs import within
from nanproof.ops.record import Case, Op, Operand, Samples

EIGHT_BITS = 8


def integer_ends(dtype: DType) -> tuple[float, float]:
    """The open interval of the floats that, cut off behind the point, fit an integer dtype."""
    lowest, highest = limits(dtype)
    if dtype.bits == 64:
        return (float(np.nextafter(lowest, -inf)) if lowest else -1.0), highest
    return lowest - 1.0, highest + 1.0


@dataclass(frozen=True, slots=True)
class Fits:
    """A float fits the integer dtype that the attribute ``to`` names; true of every other cast."""

    def ends_of(self, attrs: Attrs) -> tuple[float, float]:
        dtype = by_onnx(int(attrs["to"])) if "to" in attrs else FLOAT32
        return integer_ends(dtype) if dtype.is_integer else (-inf, inf)

    def judge(self, ends: Ends, attrs: Attrs) -> tuple[Any, Any]:
        (lo, hi), (low, high) = ends[0], self.ends_of(attrs)
        return (lo > low) & (hi < high), (hi <= low) | (lo >= high)

    def holds(self, xp: Any, values: Sequence[Any], attrs: Attrs) -> Any:
        low, high = self.ends_of(attrs)
        x = values[0]
        return (x > low) & (x < high) if high < inf else xp.ones_like(x) == 1

    def margin(self, xp: Any, values: Sequence[Any], attrs: Attrs) -> Any:
        low, high = self.ends_of(attrs)
        x = values[0]
        # nothing breaks it otherwise: the distance is any positive number
        return xp.minimum(x - low, high - x) if high < inf else 1.0 + xp.abs(x)

    def guard(self, xp: Any, x: Any, index: int, dtype: DType) -> Any | None:
        return None  # which values fit is for the attribute to say

    def restrict(self, index: int, ends: tuple[Any, Any], dtype: DType, xp: Any) -> tuple[Any, Any]:
        return ends

    def needs(self, blamed: int = 0) -> str:
        return "a number that the integer type can hold"

    def invalid(self) -> str:
        return "x is NaN, infinite or outside the integer type's range"

    def __and__(self, other: Condition) -> Condition:
        return Both(self, other)

    def __or__(self, other: Condition) -> Condition:
        return Either(self, other)


FITS = Requirement("NP210", Fits(), 0)


def contains(wide: DType, narrow: DType) -> bool:
    """Whether every value of a float, integer or bool dtype is a value of a float dtype."""
    if narrow.is_bool:
        return wide.min <= 0 and wide.tiny <= 1
    if narrow.is_integer:
        return max(abs(narrow.min), narrow.max) <= min(2.0**wide.precision, wide.max)
    return wide.precision >= narrow.precision and wide.max >= narrow.max and wide.quantum <= narrow.quantum


def cast_to(call: Call, x: Box, target: DType) -> Box:
    """The Box of a tensor in another dtype: what the value becomes depends on both kinds."""
    source = x.dtype
    if target is source:
        return x
    plain = all(d.is_float or d.is_integer or d.is_bool for d in (source, target))
    if not plain:
        return top(target, x.shape)
    if not x.flags and not x.has_finite:
        result = Box(target, x.shape, inf, -inf)
    elif target.is_float:
        result = _to_float(call, x, target)
    elif target.is_bool:
        result = _to_bool(x)
    else:
        result = _to_integer(call, x, target)
    result.known = _elements(x, target, result)
    return result


def _packed(x: Box, dtype: DType, lo: Any, hi: Any, spots: Any) -> Box:
    """The result in the blocks of the operand; ``spots`` is an int for one block."""
    if x.cuts is None:
        return Box(dtype, x.shape, float(lo), float(hi), int(spots))
    marks = np.broadcast_to(np.asarray(spots, np.uint8), np.shape(lo))
    return pack(dtype, x.shape, x.cuts, Blocks(lo, hi, marks if marks.any() else None))


def _spots(x: Box) -> Any:
    return x.flags if x.cuts is None else x.block_flags()


# -- to float --------------------------------------------------------------------------------


def _to_float(call: Call, x: Box, target: DType) -> Box:
    if contains(target, x.dtype):
        result = _packed(x, target, x.lo, x.hi, _spots(x))
        if not x.flags and x.known is None and target is not FLOAT8_E8M0FNU:
            result.form = form_of(x)
        return result
    if target is FLOAT8_E8M0FNU or (target is FLOAT4_E2M1FN and x.flags):
        return top(target, x.shape)
    if x.cuts is None and not x.flags and target.bits > EIGHT_BITS:
        low, high = _rounded(target, x.lo, min), _rounded(target, x.hi, max)
        # nothing overflows, nothing vanishes: the case worth being fast for
        if target.min <= low and high <= target.max and not (low == 0.0 < x.lo) and not (x.hi < 0.0 == high):
            return _related(x, Box(target, x.shape, low, high))
    lo: Any = _rounded(target, x.lo, min)
    hi: Any = _rounded(target, x.hi, max)
    _flushed(call, x, target, (lo, hi))
    flags = _spots(x)
    saturates = target.bits <= EIGHT_BITS and bool(call.attr("saturate", 1))
    if target.bits <= EIGHT_BITS and x.flags & INFS:
        # an infinity becomes the largest number, NaN, or stays
        has = INFS if target.overflows_to == "inf" else 0
        lo = _pick(x, NINF, np.minimum(lo, target.min), lo)
        hi = _pick(x, PINF, np.maximum(hi, target.max), hi)
        flags = np.where(np.asarray(flags) & INFS != 0, (flags & (NAN | has)) | NAN, flags)
    over, under = np.asarray(hi > target.max), np.asarray(lo < target.min)
    empty = np.asarray(x.lo) > x.hi
    over, under = over & ~empty, under & ~empty
    if (over | under).any():
        gone = np.zeros((), bool)
        if not saturates:
            gone = (np.asarray(lo) > target.max) | (np.asarray(hi) < target.min)
            gives = overflow_flags(target, bool(over.any()), bool(under.any()))
            call.overflowed(*x.hull(), target, gives, never=bool((gone & ~empty).any()))
            plus, minus = overflow_flags(target, True, False), overflow_flags(target, False, True)
            flags = np.asarray(flags) | np.where(over, np.uint8(plus), np.uint8(0))
            flags = flags | np.where(under, np.uint8(minus), np.uint8(0))
        lo = np.where(empty | gone, inf, np.clip(lo, target.min, target.max))
        hi = np.where(empty | gone, -inf, np.clip(hi, target.min, target.max))
    return _related(x, _packed(x, target, lo, hi, flags))


def _related(x: Box, result: Box) -> Box:
    """The operand's relation, with the rounding of the cast."""
    if not result.flags and x.known is None and x.dtype.is_float:
        form = form_of(x)
        if form is not None:
            target = result.dtype
            size = max(abs(end) for end in (*x.hull(), *result.hull()))
            # 1.01: a rounding through float32 is up to half a float32 unit further off
            result.form = rounded(form, size * target.unit * 1.01 + target.quantum)
    return result


def _pick(x: Box, bit: int, yes: Any, no: Any) -> Any:
    return np.where(np.asarray(_spots(x)) & bit != 0, yes, no)


def _rounded(target: DType, end: Any, choose: Any) -> Any:
    """An end point rounded once, and through float32: runtimes do either. Not so for float64 and float32."""
    if isinstance(end, float):
        one = nearest(target, end)
        return one if target is FLOAT32 or target is FLOAT64 else choose(one, nearest(target, nearest(FLOAT32, end)))
    once: Any = nearest_array(target, end)
    if target is FLOAT32 or target is FLOAT64:
        return once
    twice: Any = nearest_array(target, nearest_array(FLOAT32, end))
    return np.minimum(once, twice) if choose is min else np.maximum(once, twice)


def _flushed(call: Call, x: Box, target: DType, ends: tuple[Any, Any]) -> None:
    """NP402: everything was on one side of 0, and now it can be 0."""
    low, high = x.hull()
    above, below = np.asarray(x.lo) > 0, np.asarray(x.hi) < 0
    gone = (above & (np.asarray(ends[0]) == 0)) | (below & (np.asarray(ends[1]) == 0))
    gone &= np.asarray(x.lo) <= x.hi
    if gone.any():
        never = bool((gone & (np.asarray(ends[0]) == ends[1])).any())
        call.events.append(
            Event(
                "NP402", 0, INEVITABLE if never else POSSIBLE, 0, (low, high),
                f"0 < |x| <= {target.quantum / 2:.5g}", f"more than {target.quantum / 2:.5g} in magnitude, or 0",
            )
        )  # fmt: skip


# -- to bool and integers --------------------------------------------------------------------


def _to_bool(x: Box) -> Box:
    """Everything but 0 is true, NaN too."""
    from nanproof.numerics.dtypes import BOOL

    lo, hi, flags = np.asarray(x.lo), np.asarray(x.hi), np.asarray(_spots(x))
    void = lo > hi
    always = (lo > 0) | (hi < 0) | void
    never = (lo == 0) & (hi == 0) & (flags == 0)
    return _packed(x, BOOL, np.where(always, 1.0, 0.0), np.where(never, 0.0, 1.0), 0)


def _to_integer(call: Call, x: Box, target: DType) -> Box:
    """Floats are cut off behind the point; integers that don't fit wrap around."""
    lowest, highest = limits(target)
    lo, hi = np.asarray(x.lo, np.float64), np.asarray(x.hi, np.float64)
    empty = lo > hi
    flags = np.asarray(_spots(x))
    if x.dtype.is_float:
        low, high = integer_ends(target)
        fits = ((lo > low) & (hi < high)) | empty
        bad = ~fits | (flags != 0)
        if bad.any():
            never = ((hi <= low) | (lo >= high) | (empty & (flags != 0))).any()
            call.fail(FITS, x.hull(), never=bool(never))
        lo, hi = np.trunc(lo), np.trunc(hi)
    else:
        bad = ~((lo >= lowest) & (hi <= highest)) & ~empty
    lo, hi = np.where(bad, lowest, lo), np.where(bad, highest, hi)
    result = _packed(x, target, lo, hi, 0)
    if not x.dtype.is_float and not bad.any() and x.known is None:
        result.form = x.form
    return result


# -- known elements --------------------------------------------------------------------------


def _elements(x: Box, target: DType, result: Box) -> Array | None:
    """The elements in the new dtype, where every runtime agrees on them."""
    known = x.known
    if known is None or known.size > EXACT_LIMIT:
        return None
    if known.dtype == object:
        return known if target.is_integer and result.hull() == x.hull() else None
    if target.is_integer and (x.flags or (result.hull() == limits(target) and not _inside(x, target))):
        return None
    with np.errstate(all="ignore"):
        cast: Array = known.astype(to_numpy(target))
        if target.is_float and not contains(target, x.dtype) and target is not FLOAT32:
            if target.bits <= EIGHT_BITS:
                return None
            twice = known.astype(np.float32).astype(to_numpy(target))
            return cast if np.array_equal(cast, twice, equal_nan=True) else None
    return cast


def _inside(x: Box, target: DType) -> bool:
    low, high = integer_ends(target)
    lo, hi = x.hull()
    return low < lo and hi < high


# -- the records -----------------------------------------------------------------------------


def _cast(xp: Any, x: Any, to: int = 1, saturate: int = 1, **_: Any) -> Any:
    target = by_onnx(int(to))
    if isinstance(x, (float, int)):
        return _cast_number(target, float(x))
    if type(x).__module__.partition(".")[0] == "torch":
        return x.to(getattr(xp, target.name))
    if x.dtype == object:
        return x
    with np.errstate(all="ignore"):
        return x.astype(to_numpy(target))


def _cast_number(target: DType, x: float) -> Any:
    if target.is_float:
        return nearest(target, x)
    if target.is_bool:
        return float(x != 0)
    return float(np.trunc(x))


def _cast_bound(call: Call, x: Box) -> Box:
    return cast_to(call, x, by_onnx(int(call.attr("to", 1))))


def _cast_like(call: Call, x: Box, like: Box) -> Box:
    """Cast to the dtype of the other operand, whose values don't matter."""
    attrs = {**call.attrs, "to": like.dtype.onnx}
    return cast_to(within(call, CAST, **attrs), x, like.dtype)


def _like(xp: Any, x: Any, like: Any, **attrs: Any) -> Any:
    if isinstance(x, (float, int)):
        return x
    if type(x).__module__.partition(".")[0] == "torch":
        return x.to(like.dtype)
    with np.errstate(all="ignore"):
        return x.astype(like.dtype)


_X = Operand((2, 3))
_INT = Operand((2, 3), dtype="int64")
_TARGETS = (1, 10, 11, 16, 9)
_SMALL = Operand((2, 3), low=-100, high=100)

CAST = Op(
    "Cast",
    run=_cast,
    bound=_cast_bound,
    requires=(FITS,),
    overflow="NP209",
    result=lambda call, boxes: by_onnx(int(call.attr("to", 1))),
    samples=Samples(
        (0.0, 0.5, 1.0, -1.0, 65504.0, 65520.0, 3.4e38, 2147483648.0, 5.96e-8, 2.98e-8, 1e-40),
        cases=(
            *(Case((_X,), {"to": to}) for to in _TARGETS),
            *(Case((_SMALL,), {"to": to}) for to in (3, 6, 7)),
            *(Case((_INT,), {"to": to}, dtypes=("float32",)) for to in (1, 10, 11, 6, 3, 9)),
            *(Case((Operand((2, 3), dtype="bool"),), {"to": to}, dtypes=("float32",)) for to in (1, 7, 10)),
        ),
    ),
)

CAST_LIKE = Op(
    "CastLike",
    run=_like,
    bound=_cast_like,
    overflow="NP209",
    result=lambda call, boxes: boxes[1].dtype,
    samples=Samples(
        (0.0, 0.5, 1.0, 65504.0, 65520.0),
        cases=tuple(Case((_X, Operand((1,), dtype=name))) for name in ("float32", "float16", "float64", "bool")),
    ),
)

OPS = (CAST, CAST_LIKE)
