"""Boxes for the operands of a case, and concrete tensors inside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from nanproof.domain.box import Box, of_array
from nanproof.domain.partition import Blocks, Cuts, fine, pack
from nanproof.numerics.dtypes import DType, by_name, to_numpy
from nanproof.ops.record import Case, Operand
from nanproof.testing.membership import spread
from nanproof.testing.values import intervals, inward, mood, pool

Array = Any


@dataclass(frozen=True, slots=True)
class Draw:
    """A Box for every operand (None: absent), and tensors: ``tensors[i][k]`` is operand i of the k-th sample."""

    boxes: tuple[Box | None, ...]
    tensors: tuple[Array | None, ...]
    count: int
    special: bool

    def sample(self, k: int) -> list[Array | None]:
        """The operands of one sample."""
        return [None if t is None else np.asarray(t[k]) for t in self.tensors]


@dataclass(frozen=True, slots=True)
class Style:
    """How to draw: special values or not, in one block or cut, how many samples, and whether points only.

    ``side`` is 1 for values from one of the record's points upwards, that point included, -1 for downwards: where a
    condition ends, an interval must end too to show whether it ends there.
    """

    special: bool = False
    whole: bool | None = None
    points_only: bool = False
    count: int = 6
    mood: str | None = None
    side: int = 0


def style(rng: np.random.Generator, count: int) -> Style:
    """What one draw is like: special values in a third of them."""
    return Style(special=bool(rng.random() < 0.35), count=count, points_only=bool(rng.random() < 0.06))


def dtype_of(operand: Operand, dtype: DType) -> DType:
    """The dtype of an operand in a law that runs for ``dtype``."""
    return dtype if operand.dtype is None else by_name(operand.dtype)


def draw(rng: np.random.Generator, case: Case, dtype: DType, points: tuple[float, ...], wanted: Style) -> Draw:
    """Draw Boxes and samples for all operands of a case; now and then one tensor serves as two operands."""
    kind = wanted.mood or mood(rng)
    if wanted.whole is None and rng.random() < 0.8:
        wanted = replace(wanted, whole=bool(rng.random() < 0.3))  # mostly all operands are cut, or none is
    side = 0 if wanted.mood or not points else int(rng.choice((-1, 0, 0, 0, 1)))
    drawn: list[tuple[Box | None, Array | None]] = []
    for operand in case.operands:
        own = kind if rng.random() < 0.8 else mood(rng)
        earlier = _same(case.operands[: len(drawn)], operand)
        if earlier is not None and rng.random() < 0.08:
            drawn.append(drawn[earlier])
        else:
            drawn.append(_operand(rng, operand, (dtype_of(operand, dtype), points, own), replace(wanted, side=side)))
    boxes, tensors = zip(*drawn, strict=True) if drawn else ((), ())
    return Draw(tuple(boxes), tuple(tensors), wanted.count, wanted.special)


def _same(earlier: Sequence[Operand], operand: Operand) -> int | None:
    """An earlier operand that is drawn in the same way: it may be the very same tensor."""
    if operand.values is not None or operand.absent or operand.stored:
        return None
    return next((i for i, other in enumerate(earlier) if other == operand), None)


def _operand(
    rng: np.random.Generator, operand: Operand, about: tuple[DType, tuple[float, ...], str], wanted: Style
) -> tuple[Box | None, Array | None]:
    dtype, points, kind = about
    if operand.absent:
        return None, None
    if operand.values is not None:
        array = np.asarray(operand.values, to_numpy(dtype))
        return of_array(dtype, array), _repeated(array, wanted.count)
    values = (
        _one_sided(rng, pool(rng, dtype, points, kind), points, wanted.side)
        if wanted.side
        else pool(rng, dtype, points, kind)
    )
    limits = inward(dtype, operand.low, operand.high)
    if operand.low is not None and operand.high is not None and dtype.is_float:
        values = np.concatenate((values, _between(rng, dtype, limits)))
    if operand.stored or wanted.points_only:
        array = np.clip(rng.choice(values, operand.shape), *limits)
        if wanted.special and operand.stored and dtype.is_float and rng.random() < 0.3:
            array = np.where(rng.random(operand.shape) < 0.3, rng.choice((np.nan, inf, -inf), operand.shape), array)
        native = native_array(dtype, array)
        box = of_array(dtype, native)
        return (fine(box) if rng.random() < 0.5 else box), _repeated(native, wanted.count)
    box = _box(rng, dtype, operand.shape, (values, limits), wanted)
    return box, native_array(dtype, elements(rng, box, values, wanted.count))


def _one_sided(rng: np.random.Generator, values: Array, points: tuple[float, ...], side: int) -> Array:
    """The values on one side of a point, and the point itself if it is among them or at 0 (which is in any dtype)."""
    point = float(rng.choice(points)) if rng.random() < 0.7 else 0.0
    kept = values[values >= point] if side > 0 else values[values <= point]
    near = values[np.argmin(np.abs(values - point))]
    edge = 0.0 if point == 0.0 else near
    return np.concatenate((kept, (edge,) * (1 + len(kept) // 8)))


def _between(rng: np.random.Generator, dtype: DType, limits: tuple[float, float]) -> Array:
    """A few values between two limits, so that clipping doesn't leave the limits only."""
    part = rng.random(8)
    from nanproof.numerics.rounding import nearest_array

    return np.clip(nearest_array(dtype, limits[0] * (1 - part) + limits[1] * part), *limits)


def _repeated(array: Array, count: int) -> Array:
    return np.broadcast_to(array, (count, *array.shape))


def native_array(dtype: DType, values: Array) -> Array:
    """Float64 values of a dtype, as an array of that dtype (exact: they are its values)."""
    native = to_numpy(dtype)
    if dtype.is_integer and dtype.bits == 64:
        return np.asarray(values, float).astype(object).astype(native)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(native)


def _box(
    rng: np.random.Generator,
    dtype: DType,
    shape: tuple[int, ...],
    about: tuple[Array, tuple[float, float]],
    wanted: Style,
) -> Box:
    values, limits = about
    if 0 in shape:
        return Box(dtype, shape, inf, -inf)
    whole = wanted.whole if wanted.whole is not None else bool(rng.random() < 0.35)
    cuts = None if whole else cuts_of(rng, shape)
    grid = (1,) * len(shape) if cuts is None else tuple(1 if c is None else len(c) - 1 for c in cuts)
    lo, hi = intervals(rng, dtype, grid, values, limits)
    spots = None
    if wanted.special and dtype.is_float and rng.random() < 0.8:
        spots = (rng.integers(0, 8, grid) * (rng.random(grid) < 0.5)).astype(np.uint8)
        void = (spots != 0) & (rng.random(grid) < 0.2)
        lo, hi = np.where(void, inf, lo), np.where(void, -inf, hi)
        spots = spots if spots.any() else None
    return pack(dtype, shape, cuts, Blocks(lo, hi, spots))


def cuts_of(rng: np.random.Generator, shape: Sequence[int]) -> Cuts | None:
    """Random cut points: an axis in one piece, in single elements, or anything between."""
    found: list[tuple[int, ...] | None] = []
    for n in shape:
        chance = rng.random()
        if n < 2 or chance < 0.3:
            found.append(None)
        elif chance < 0.5:
            found.append(tuple(range(n + 1)))
        else:
            inner = sorted({int(p) for p in rng.integers(1, n, rng.choice((1, 1, 2)))})
            found.append((0, *inner, n))
    return tuple(found) if any(found) else None


def elements(rng: np.random.Generator, box: Box, values: Array, count: int) -> Array:
    """Float64 samples of a Box: mostly ends of blocks, else interesting values between, else anything between."""
    assert box.shape is not None
    shape = tuple(int(n) for n in box.shape)  # type: ignore[arg-type]
    lo, hi, flags = spread(box, shape)
    size = (count, *shape)
    if 0 in shape:
        return np.zeros(size)
    finite = lo <= hi
    a, b = np.where(finite, lo, 0.0), np.where(finite, hi, 0.0)
    kind = rng.random(size)
    landmarks = np.clip(rng.choice(values, size), a, b)
    result = np.where(
        kind < 0.35, a, np.where(kind < 0.7, b, np.where(kind < 0.88, landmarks, _inside(rng, box, a, b)))
    )
    result[0] = a
    if count > 1:
        result[1] = b
    if box.dtype.is_float:
        result = np.where((result == 0) & (rng.random(size) < 0.3), -0.0, result)
    if box.flags:
        for bit, special in ((1, np.nan), (2, inf), (4, -inf)):
            chosen = ((flags & bit) != 0) & ((rng.random(size) < 0.3) | ~finite)
            result = np.where(chosen, special, result)
    return result


def _inside(rng: np.random.Generator, box: Box, a: Array, b: Array) -> Array:
    from nanproof.numerics.rounding import nearest_array

    part = rng.random(a.shape)
    mixed = a * (1 - part) + b * part
    mixed = nearest_array(box.dtype, mixed) if box.dtype.is_float else np.round(mixed)
    return np.clip(mixed, a, b)
