"""The harness is tested too: records with a known bug, each of which a law must catch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nanproof.domain.affine import Form, combine, form_of
from nanproof.domain.box import NAN, NINF, PINF, Box
from nanproof.domain.partition import Blocks, blocks_of, pack
from nanproof.ops import Op, lookup
from nanproof.ops.call import Call
from nanproof.ops.classes import corners, elementwise, increasing, least
from nanproof.ops.conditions import Requirement, X, Y
from nanproof.ops.elementwise import Pair
from nanproof.ops.linear import difference_of
from nanproof.ops.record import Case, Operand, Samples
from nanproof.testing import check

EFFORT = 100


def record(name: str) -> Op:
    found = lookup("", name)
    assert found is not None
    return found


def caught(op: Op, *laws: str) -> bool:
    """Whether a law, one of those named if any are, finds something wrong."""
    return any(breach.law in laws or not laws for breach in check(op, effort=EFFORT) if breach.law != "untested")


def cases(*attrs: dict[str, Any], shape: tuple[int, ...] = (3, 4), operands: int = 1) -> tuple[Case, ...]:
    return tuple(Case((Operand(shape),) * operands, a) for a in attrs or ({},))


def pow_of_corners() -> Op:
    """The square of [-1, 2] is within [0, 4], not [1, 4]."""
    return Op(
        "Pow",
        run=lambda xp, x, y: xp.power(x, y) if hasattr(xp, "power") else x**y,
        bound=corners,
        requires=(Requirement("NP106", (Y > 0) & (X.isnt(0.0) | (Y > 0)), NAN | PINF | NINF),),
        overflow="NP202",
        error="pow",
        samples=Samples(
            (-1.0, 2.0, 0.0),
            cases=(Case((Operand((3, 4)), Operand((), values=2.0))),),
            dtypes=("float32",),
        ),
    )


def squared_twice(call: Call, x: Box) -> Box:
    """(x * x) * (x * x), where the sum of squares was asked for."""
    lo, hi = x.hull()
    ends = (lo**4, hi**4)
    least_square = 0.0 if lo <= 0.0 <= hi else min(ends)
    n = 12.0
    return call.settle(x.dtype, (), n * least_square, n * max(ends), err=1e-3, spots=x.flags)


def swapped(f: Any, x: Pair) -> Pair:
    """The end points of a falling function, in the order of a rising one."""
    a, b = f(x[0]), f(x[1])
    return least(a, b), least(a, b)


def unrounded(call: Call, x: Box, y: Box) -> Box:
    """The sum of the real numbers, forgotten to be rounded to the dtype."""
    (a, b), (c, d) = x.hull(), y.hull()
    if x.flags or y.flags or not (x.has_finite and y.has_finite) or b + d > x.dtype.max or a + c < x.dtype.min:
        return record("Add").bound(call, x, y)  # type: ignore[return-value]
    from nanproof.dims import broadcast

    return Box(x.dtype, broadcast(x.shape, y.shape), a + c, b + d)  # type: ignore[arg-type]


def real_cancellation(call: Call, boxes: Sequence[Box], result: Box) -> Box:
    """Affine forms without the slack of rounding: proves in the reals what fails in floats."""
    one, two = form_of(boxes[0]), form_of(boxes[1])
    if one is None or two is None:
        return result
    form, met = combine(Form(one.terms, one.low, one.high, 0.0), Form(two.terms, two.low, two.high, 0.0), -1.0)
    if form is None or not met:
        return difference_of(call, boxes, result)
    low, high = form.bounds()
    lo, hi = max(low, float(np.min(result.lo))), min(high, float(np.max(result.hi)))
    return Box(result.dtype, result.shape, lo, hi) if lo <= hi else result


def fed_by_infinity(call: Call, x: Box) -> Box:
    """Forgets that NaN flows through."""
    result = record("Exp").bound(call, x)
    assert isinstance(result, Box)
    if not x.flags & NAN:
        return result
    blocks = blocks_of(result)
    spots = None if blocks.spots is None else blocks.spots & np.uint8(PINF | NINF)
    lo, hi = np.asarray(blocks.lo), np.asarray(blocks.hi)
    if (lo > hi).any():
        return result
    return pack(
        result.dtype, result.shape, result.cuts, Blocks(lo, hi, spots if spots is not None and spots.any() else None)
    )


def misaligned(call: Call, x: Box, y: Box) -> Box:
    """Adds block to block by number, wherever the cuts are."""
    if x.cuts is None or y.cuts is None or np.shape(x.lo) != np.shape(y.lo) or x.flags or y.flags or x.shape != y.shape:
        return record("Add").bound(call, x, y)  # type: ignore[return-value]
    lo, hi = np.asarray(x.lo) + np.asarray(y.lo), np.asarray(x.hi) + np.asarray(y.hi)
    if (lo < x.dtype.min).any() or (hi > x.dtype.max).any():
        return record("Add").bound(call, x, y)  # type: ignore[return-value]
    return call.settle(x.dtype, x.shape, lo, hi, cuts=x.cuts)


def errorless_sum(call: Call, x: Box) -> Box:
    """A sum of many terms as if it were rounded once."""
    assert x.shape is not None
    lo, hi = x.hull()
    n = float(np.prod([int(s) for s in x.shape]))
    return call.settle(x.dtype, (), n * lo, n * hi, spots=7 if x.flags else None)


def constant_shape(call: Call, x: Box) -> Box:
    """The right values in the wrong shape."""
    result = record("Neg").bound(call, x)
    assert isinstance(result, Box)
    return Box(result.dtype, None if result.shape is None else (*result.shape, 1), *result.hull(), result.flags)


def silent(call: Call, x: Box) -> Box:
    """Says that the result may be Inf, but announces no site."""
    result = record("Exp").bound(call, x)
    call.events.clear()
    return result  # type: ignore[return-value]


def crying(call: Call, x: Box) -> Box:
    """Calls every overflow inevitable."""
    from nanproof.ops.call import INEVITABLE

    result = record("Exp").bound(call, x)
    call.events[:] = [replace(e, verdict=INEVITABLE) for e in call.events]
    return result  # type: ignore[return-value]


def jumpy(call: Call, x: Box) -> Box:
    """Sound, but a smaller operand may give a larger result."""
    result = record("Neg").bound(call, x)
    assert isinstance(result, Box)
    lo, hi = x.hull()
    if not hi - lo < 1.0 or result.flags:
        return result
    return Box(result.dtype, result.shape, max(result.dtype.min, -hi - 2.0), min(result.dtype.max, -lo + 2.0))


def off_by_one_block(call: Call, x: Box) -> Box:
    """Right for one block; with many, each block has its neighbour's bounds."""
    result = record("Neg").bound(call, x)
    assert isinstance(result, Box)
    if result.cuts is None:
        return result
    blocks = blocks_of(result).rearranged(lambda a: np.roll(a, 1))
    return pack(result.dtype, result.shape, result.cuts, blocks)


class WrongGuard:
    """X > 0 whose guard lets 0 through and whose margin is never 0 or less."""

    def __init__(self) -> None:
        self.right = X > 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.right, name)

    def guard(self, xp: Any, x: Any, index: int, dtype: Any) -> Any:
        return xp.maximum(x, 0.0) if index == 0 else None


class WrongMargin(WrongGuard):
    def guard(self, xp: Any, x: Any, index: int, dtype: Any) -> Any:
        return self.right.guard(xp, x, index, dtype)

    def margin(self, xp: Any, values: Sequence[Any], attrs: Any) -> Any:
        return xp.abs(values[0])


def simple(name: str, **changes: Any) -> Op:
    return replace(record(name), samples=replace(record(name).samples, cases=cases(), dtypes=("float32",)), **changes)


def pairwise(name: str, **changes: Any) -> Op:
    called = (*cases(operands=2), *cases(operands=2, shape=(7,)))
    samples = replace(record(name).samples, cases=called, dtypes=("float32",))
    return replace(record(name), samples=samples, **changes)


LOG = Requirement("NP101", X >= 0, NAN | NINF)
SUM = Samples((0.0, 1.0), cases=(Case((Operand((500,)),), {"keepdims": 0}),), dtypes=("float32",))

PLANTED: dict[str, tuple[Op, tuple[str, ...]]] = {
    "Pow takes corner values only": (pow_of_corners(), ("sound",)),
    "a squared difference squares twice": (
        Op("ReduceSumSquare", run=lambda xp, x, **_: xp.sum(x * x), bound=squared_twice, overflow="NP207",
           samples=Samples((1.0, 2.0), cases=cases({"keepdims": 0}), dtypes=("float32",))),
        ("sound", "run"),
    ),
    "end points are swapped": (simple("Neg", bound=elementwise(swapped)), ("sound",)),
    "a falling function is called rising": (simple("Neg", bound=increasing), ()),
    "a rounding is dropped": (pairwise("Add", bound=unrounded), ("sound",)),
    "a condition is off by one value": (simple("Log", requires=(LOG,)), ("sound", "born", "run")),
    "a NaN doesn't flow": (simple("Exp", bound=fed_by_infinity), ("sound",)),
    "cuts aren't aligned": (pairwise("Add", bound=misaligned), ("sound",)),
    "a reduction has no error": (
        Op("ReduceSum", run=lambda xp, x, **_: xp.sum(x), bound=errorless_sum, overflow="NP207", samples=SUM),
        ("sound",),
    ),
    "a shape is wrong": (simple("Neg", bound=constant_shape), ("shape",)),
    "a dtype is wrong": (simple("Neg", result="float64"), ("dtype",)),
    "an overflow is kept secret": (simple("Exp", bound=silent), ("born",)),
    "a failure is called inevitable that isn't": (simple("Exp", bound=crying), ("inevitable",)),
    "a smaller operand gives a larger result": (simple("Neg", bound=jumpy), ("monotone", "points")),
    "blocks are mixed up": (simple("Neg", bound=off_by_one_block), ("sound", "paths")),
    "a guard lets the bad value through": (
        simple("Log", requires=(Requirement("NP101", WrongGuard(), NAN | NINF),)), ("guard",)),
    "a margin is positive where the condition fails": (
        simple("Log", requires=(Requirement("NP101", WrongMargin(), NAN | NINF),)), ("margin",)),
    "the meaning is another function's": (simple("Exp", run=lambda xp, x: xp.exp(x) + 1.0, bound=increasing), ("sound", "run")),
    "a bound crashes on special values": (
        simple("Neg", bound=lambda call, x: record("Neg").bound(call, x) if not x.flags else 1 / 0), ("concrete",)),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_planted_bug_is_caught(name: str) -> None:
    op, laws = PLANTED[name]
    assert caught(op, *laws)


@pytest.mark.parametrize("name", ["Add", "Neg", "Exp", "Log", "Sub"])
def test_the_right_record_passes(name: str) -> None:
    op = pairwise(name) if name in {"Add", "Sub"} else simple(name)
    assert [b for b in check(op, effort=EFFORT) if b.law != "untested"] == []
