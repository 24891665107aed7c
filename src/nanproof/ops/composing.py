"""Fused operators: the bound of the whole is made of the bounds of its parts.

A fused kernel computes what its parts compute one by one, but it may leave out
a rounding between two of them, fuse a product with a sum, or add up in another
order. ``loosened`` allows for that, where the parts' own bounds don't.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nanproof.dims import ShapeError, Size, broadcast
from nanproof.domain.box import NAN, NINF, PINF, Box, Shape
from nanproof.domain.partition import Blocks, pack
from nanproof.numerics.dtypes import FLOAT32, DType
from nanproof.ops.call import POSSIBLE, Call, Event, overflow_flags
from nanproof.ops.record import Op


def part(call: Call, op: Op, *boxes: Box | None, **attrs: Any) -> Box:
    """The (first) result of another operator on the way to this one's; what goes wrong there goes wrong here.

    The parts' operands aren't those of the node: a failure is told of its result.
    """
    return parts(call, op, boxes, attrs)[0]


def parts(
    call: Call, op: Op, boxes: Sequence[Box | None], attrs: Mapping[str, Any], outputs: int = 1
) -> tuple[Box, ...]:
    """The same for an operator with several results."""
    inner = Call(op, attrs, call.setting, outputs, call.label)
    found = op.bound(inner, *boxes)
    for event in inner.events:
        told = event if event.operand < 0 else _of_the_inside(event)
        if told not in call.events:
            call.events.append(told)
    return found if isinstance(found, tuple) else (found,)


def quiet(call: Call, op: Op, *boxes: Box | None, **attrs: Any) -> Box:
    """The same for a way of computing the result that no runtime need take: nothing is said of its failures."""
    inner = Call(op, attrs, call.setting, 1, call.label)
    found = op.bound(inner, *boxes)
    return found[0] if isinstance(found, tuple) else found


def _of_the_inside(event: Event) -> Event:
    return replace(event, operand=-1)


def softened(call: Call) -> None:
    """What is certain to fail so far need not spoil the result: a softmax turns -Inf into 0."""
    call.events[:] = [replace(event, verdict=POSSIBLE) for event in call.events]


def loosened(call: Call, box: Box, roundings: float, size: float | None = None) -> Box:
    """A Box with room for so many more roundings, of numbers as large as ``size`` (None: of its own).

    An end that is 0 stays, unless another size is given: rounding keeps signs.
    """
    dtype = box.dtype
    if not dtype.is_float or not box.has_finite or not roundings:
        return box
    rate, quanta = 2.0 * roundings * dtype.unit, roundings * dtype.quantum

    def moved(end: Any, sign: float) -> Any:
        end = np.asarray(end, np.float64)
        room = (np.abs(end) if size is None else size) * rate + quanta
        stays = ~np.isfinite(end) | ((end == 0.0) if size is None else False)
        return np.where(stays, end, end + sign * room)

    low, high = moved(box.lo, -1.0), moved(box.hi, 1.0)
    flags = 0
    over, under = bool((high > dtype.max)[np.isfinite(high)].any()), bool((low < dtype.min)[np.isfinite(low)].any())
    if over or under:
        flags = overflow_flags(dtype, over, under)
        if flags & ~box.flags:
            call.overflowed(*box.hull(), dtype, flags, never=False)
    gone = low > high
    low, high = np.clip(low, dtype.min, None), np.clip(high, None, dtype.max)
    low, high = np.where(gone, np.inf, low), np.where(gone, -np.inf, high)
    if box.cuts is None:
        return Box(dtype, box.shape, float(low), float(high), box.flags | flags)
    spots = box.block_flags() | np.uint8(flags) if box.flags | flags else None
    return pack(dtype, box.shape, box.cuts, Blocks(low, high, spots), call.setting.budget)


def single(call: Call, *boxes: Box | None) -> list[Any]:
    """Operands as a kernel sees them that computes narrow floats in float32 from the first step to the last."""
    return [_as_float32(box) if box is not None and call.setting.keeps_float32(box.dtype) else box for box in boxes]


def _as_float32(box: Box) -> Box:
    known = None if box.known is None else box.known.astype(np.float32)
    return Box(FLOAT32, box.shape, box.lo, box.hi, box.flags, cuts=box.cuts, spots=box.spots, known=known)


def rounded(call: Call, box: Box, dtype: DType) -> Box:
    """The result of such a kernel in the dtype that it was asked for."""
    if box.dtype is dtype:
        return box
    lo, hi = np.asarray(box.lo), np.asarray(box.hi)
    return call.settle(dtype, box.shape, lo, hi, cuts=box.cuts, spots=box.block_flags() if box.flags else None)


def magnitude(box: Box | None) -> float:
    """The largest finite magnitude in a Box; 0 where there is none."""
    if box is None or not box.has_finite:
        return 0.0
    lo, hi = box.hull()
    return max(-lo, hi, 0.0)


def filled(operands: Sequence[Any], count: int) -> list[Any]:
    """Operands with None for those that are left out at the end."""
    return [*operands, *[None] * (count - len(operands))]


def unset(box: Box) -> Box:
    """A Box without relations: for an operand that the kernel doesn't compute in the way that the relations say."""
    return Box(box.dtype, box.shape, box.lo, box.hi, box.flags, cuts=box.cuts, spots=box.spots, known=box.known)


def shaped(box: Box, shape: Shape) -> Box:
    """Any of a Box's values, anywhere in a tensor of another shape."""
    if shape is not None and any(n == 0 for n in shape):
        return Box(box.dtype, shape, float("inf"), -float("inf"))
    return Box(box.dtype, shape, *box.hull(), box.flags)


def special(flags: int) -> int:
    """What a formula makes of special operands where nothing closer is known."""
    return NAN | PINF | NINF if flags & ~NAN else flags


def ranked(box: Box | None, ranks: Sequence[int], what: str) -> tuple[Size, ...] | None:
    """The shape of an operand that has to have one of some ranks; None where it isn't known, or the operand absent."""
    if box is None or box.shape is None:
        return None
    if len(box.shape) not in ranks:
        wanted = " or ".join(map(str, ranks))
        raise ShapeError(f"{what} has {len(box.shape)} axes, {wanted} are needed")
    return box.shape


def fits(box: Box | None, shape: Shape, what: str) -> None:
    """Raise ShapeError for an operand that doesn't broadcast to a shape."""
    if box is None or box.shape is None or shape is None:
        return
    if len(box.shape) > len(shape) or len(broadcast(box.shape, shape)) != len(shape):
        raise ShapeError(f"{what} of shape {list(box.shape)} doesn't fit {list(shape)}")


def positive(call: Call, name: str, default: int | None = None) -> int:
    """An attribute that counts something: 1 or more, or ShapeError."""
    value = call.attr(name, default)
    if not isinstance(value, int) or value < 1:
        raise ShapeError(f'its attribute "{name}" is {value}, it has to be 1 or more')
    return value


def word(call: Call, name: str, default: str) -> str:
    """An attribute that is a word."""
    value = call.attr(name, default)
    return value.decode() if isinstance(value, bytes) else str(value)
