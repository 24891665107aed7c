"""What hand-written end-point rules share: the namespace of a pair, and special operands that runtimes differ on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

import numpy as np

from nanproof.domain.box import NAN, NINF, PINF, Box
from nanproof.domain.partition import Blocks, pack
from nanproof.numerics import scalar
from nanproof.numerics.arrays import numpy_namespace, torch_namespace
from nanproof.numerics.dtypes import DType
from nanproof.numerics.runtimes import ErrorForm, scaled
from nanproof.ops.call import Call
from nanproof.ops.classes import least, most
from nanproof.ops.elementwise import Elementwise, Pair
from nanproof.ops.record import Op

UnaryBound = Callable[..., Box]


def space(*ends: Any) -> Any:
    """The namespace that end points are computed in: floats, NumPy's arrays or PyTorch's tensors."""
    floats = True
    for end in ends:
        if isinstance(end, np.ndarray):
            return numpy_namespace
        floats = floats and isinstance(end, (float, int))
    return scalar if floats else torch_namespace()


def differing(inner: UnaryBound, images: Mapping[int, tuple[float, ...]]) -> UnaryBound:
    """A bound that also allows what some runtimes make of special operands.

    ``images`` says, for each of NAN, PINF and NINF, which results are seen beside
    the ones that ``run`` gives: ONNX Runtime's Softsign of an infinity is NaN, its
    Shrink turns NaN into 0.
    """

    def bound(call: Call, x: Box) -> Box:
        result = inner(call, x)
        if x.flags:
            for bit, values in images.items():
                if x.flags & bit:
                    result = _allowing(result, x, bit, values)
        return result

    bound.__doc__ = getattr(inner, "text", None) or inner.__doc__
    return bound


def _allowing(result: Box, x: Box, bit: int, values: tuple[float, ...]) -> Box:
    """The result, extended by values wherever the operand may have the special value ``bit``."""
    usual = [v for v in values if abs(v) < inf]
    lo, hi = min(usual, default=inf), max(usual, default=-inf)
    marks = 0
    for value in values:
        marks |= NAN if value != value else PINF if value == inf else NINF if value == -inf else 0
    if result.cuts is None:
        return Box(result.dtype, result.shape, min(result.lo, lo), max(result.hi, hi), result.flags | marks)
    where = (x.block_flags() & bit) != 0 if x.cuts == result.cuts else np.ones(np.shape(result.lo), bool)
    los = np.where(where, np.minimum(result.lo, lo), result.lo)
    his = np.where(where, np.maximum(result.hi, hi), result.hi)
    spots = result.block_flags() | np.where(where, np.uint8(marks), np.uint8(0))
    return pack(result.dtype, result.shape, result.cuts, Blocks(los, his, spots if spots.any() else None))


def within(call: Call, op: Op, **attrs: Any) -> Call:
    """A call of another operator on behalf of this one: what goes wrong is recorded here."""
    inner = Call(op, attrs, call.setting, call.outputs)
    inner.events = call.events
    return inner


class Formed(Call):
    """A call whose function errs differently because of a parameter: ``adapt`` says how."""

    __slots__ = ("adapt",)

    def __init__(self, call: Call, adapt: Callable[[ErrorForm, DType], ErrorForm]) -> None:
        super().__init__(call.op, call.attrs, call.setting, call.outputs)
        self.events = call.events
        self.adapt = adapt

    def form(self, dtype: DType, function: str | None = None) -> ErrorForm:
        return self.adapt(super().form(dtype, function), dtype)


class Signed(Call):
    """A call of a function that never has the wrong sign in any runtime, whatever its error bound says."""

    __slots__ = ()

    def __init__(self, call: Call) -> None:
        super().__init__(call.op, call.attrs, call.setting, call.outputs)
        self.events = call.events

    def rounded(self, lo: Any, hi: Any, dtype: DType) -> tuple[Any, Any]:
        low, high = super().rounded(lo, hi, dtype)
        xp = space(low, high)
        return xp.where(lo >= 0, most(low, 0.0), low), xp.where(hi <= 0, least(high, 0.0), high)


def signed(inner: UnaryBound) -> UnaryBound:
    """A bound of such a function: x times a factor that is computed as at least 0."""

    def bound(call: Call, x: Box) -> Box:
        return inner(Signed(call), x)

    bound.__doc__ = getattr(inner, "text", None) or inner.__doc__
    return bound


def scaled_by(inner: UnaryBound, factor: Callable[[Call], float]) -> UnaryBound:
    """A bound whose absolute error grows with a parameter that the function is multiplied by."""

    def bound(call: Call, x: Box) -> Box:
        return inner(Formed(call, lambda form, _: scaled(form, factor(call))), x)

    bound.__doc__ = getattr(inner, "text", None) or inner.__doc__
    return bound


def with_breaks(*points: float) -> Elementwise:
    """Monotone between break points: extremes are at the ends and at the break points inside."""

    def rule(f: Any, x: Pair) -> Pair:
        values = [f(x[0]), f(x[1]), *(f(most(x[0], least(x[1], p))) for p in points)]
        return least(*values), most(*values)

    rule.__name__ = "with_breaks"
    rule.__doc__ = f"Monotone on both sides of {', '.join(f'{p:g}' for p in points)}."
    return Elementwise(rule)


def identity_above(inner: UnaryBound, limit: float) -> UnaryBound:
    """A function whose results are its operands, exactly, from ``limit`` on: no rounding error makes them overflow."""

    def bound(call: Call, x: Box) -> Box:
        if x.hull()[1] <= limit:
            return inner(call, x)
        if x.cuts is None:
            if x.lo >= limit and not x.flags:
                return Box(x.dtype, x.shape, x.lo, x.hi)
            return _raised(inner(call, _at(x, min(x.lo, limit), limit)), x)
        void = np.asarray(x.lo) > x.hi
        low, high = np.where(void, inf, np.minimum(x.lo, limit)), np.where(void, -inf, np.minimum(x.hi, limit))
        cut = Box(x.dtype, x.shape, low, high, x.flags, cuts=x.cuts, spots=x.spots)
        result = inner(call, cut)
        if result.cuts != x.cuts:
            return _raised(result, x)
        exact = ~void & (np.asarray(x.lo) >= limit) & (x.block_flags() == 0)
        lo = np.where(exact, x.lo, result.lo)
        hi = np.where(~void & (np.asarray(x.hi) >= limit), x.hi, result.hi)
        return pack(x.dtype, x.shape, x.cuts, Blocks(lo, hi, result.block_flags() if result.flags else None))

    bound.__doc__ = getattr(inner, "text", None) or inner.__doc__
    return bound


def _at(x: Box, lo: Any, hi: float) -> Box:
    return Box(x.dtype, x.shape, lo, hi, x.flags)


def _raised(result: Box, x: Box) -> Box:
    """The hull of a result and of the operand's upper end."""
    lo, hi = result.hull()
    return Box(x.dtype, x.shape, lo, max(hi, x.hull()[1]), result.flags)
