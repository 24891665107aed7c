"""Laws about Boxes alone: smaller in, smaller out; points stay points; one block or many, the answer is the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

import numpy as np

from nanproof.domain.box import Box
from nanproof.domain.lattice import contains
from nanproof.domain.partition import Blocks, blocks_of, fine, pack
from nanproof.numerics.dtypes import DType
from nanproof.numerics.rounding import nearest_array
from nanproof.numerics.runtimes import error_form
from nanproof.ops.elementwise import Elementwise
from nanproof.testing.draws import Draw, Style, draw, style
from nanproof.testing.laws.apply import bounded
from nanproof.testing.laws.breach import Breach, shown
from nanproof.testing.membership import outside, spread, told, wide
from nanproof.testing.oracles import answers, oracles, random
from nanproof.testing.single import Subject

Array = Any


def monotone(subject: Subject, rng: np.random.Generator, effort: int) -> Iterator[Breach]:
    """A smaller Box in gives a smaller Box out."""
    for _ in range(effort):
        drawn = draw(rng, subject.case, subject.dtype, subject.op.samples.points, style(rng, 1))
        inner = _shrunk_all(rng, subject, drawn)
        large, _ = bounded(subject, drawn.boxes)
        small, _ = bounded(subject, inner)
        for i, (a, b) in enumerate(zip(large, small, strict=True)):
            if a is None or b is None or _grown(a, b, blockwise=isinstance(subject.op.bound, Elementwise)):
                continue
            detail = f"result {i} of the smaller Boxes, {b!r}, isn't within {a!r}"
            yield Breach("monotone", str(subject), detail + shown([None] * len(inner), drawn.boxes) + shown(inner))


def _grown(large: Box, small: Box, *, blockwise: bool) -> bool:
    """Whether the large one contains the small one, up to the last bits of float64 (the analysis's own arithmetic)."""
    if contains(large, small):
        return True
    if large.shape != small.shape:
        vaguer = large.shape is None or any(not isinstance(n, int) for n in large.shape)
        return vaguer and contains(_hull(large), _hull(small))
    shape = tuple(n for n in large.shape or () if isinstance(n, int))
    if large.shape is None or len(shape) < len(large.shape) or large.dtype.name != "float64":
        return False
    outer, inner = spread(large, shape), spread(small, shape)
    with np.errstate(all="ignore"):
        size: Array = np.abs(outer.lo) + np.abs(outer.hi) if blockwise else max(map(abs, large.hull()))
        reach: Array = 2.0**-48 * size + large.dtype.quantum
        room = np.where(np.isfinite(reach), reach, 0.0)
        fits = (outer.lo - room <= inner.lo) & (inner.hi <= outer.hi + room) | (inner.lo > inner.hi)
    return bool(fits.all()) and not bool((inner.flags & ~outer.flags).any())


def _hull(box: Box) -> Box:
    return Box(box.dtype, None, *box.hull(), box.flags)


def _shrunk_all(rng: np.random.Generator, subject: Subject, drawn: Draw) -> list[Box | None]:
    """Smaller Boxes of the drawn operands; one that serves twice stays one."""
    made: dict[int, Box | None] = {}
    for box, operand in zip(drawn.boxes, subject.case.operands, strict=True):
        if id(box) not in made:
            made[id(box)] = box if operand.stored or operand.values is not None else shrunk(rng, box)
    return [made[id(box)] for box in drawn.boxes]


def shrunk(rng: np.random.Generator, box: Box | None) -> Box | None:
    """A Box with the same cuts inside another one."""
    if box is None or not box.has_finite or box.known is not None:
        return box
    blocks = blocks_of(box)
    lo, hi = np.asarray(blocks.lo, float), np.asarray(blocks.hi, float)
    void = lo > hi
    a, b = np.where(void, 0.0, lo), np.where(void, 0.0, hi)
    one = _between(rng, box.dtype, a, b)
    two = one if rng.random() < 0.35 else _between(rng, box.dtype, a, b)
    low, high = np.minimum(one, two), np.maximum(one, two)
    spots = None if blocks.spots is None else blocks.spots & rng.choice([7, 7, 6, 5, 3, 0], lo.shape).astype(np.uint8)
    if spots is not None and blocks.spots is not None:
        spots = np.where(void, blocks.spots, spots).astype(np.uint8)
    low, high = np.where(void, inf, low), np.where(void, -inf, high)
    return pack(box.dtype, box.shape, box.cuts, Blocks(low, high, spots if spots is not None and spots.any() else None))


def _between(rng: np.random.Generator, dtype: DType, a: Array, b: Array) -> Array:
    kind = rng.random(a.shape)
    part = rng.random(a.shape)
    mixed = a * (1 - part) + b * part
    mixed = np.clip(nearest_array(dtype, mixed) if dtype.is_float else np.round(mixed), a, b)
    return np.where(kind < 0.3, a, np.where(kind < 0.6, b, mixed))


def exact_on_points(subject: Subject, rng: np.random.Generator, effort: int) -> Iterator[Breach]:
    """One value in every block: the result is that value's, give or take the declared error.

    The record's own ``run``, in float64 and rounded, and the runtime must both lie there: they mean the same function.
    """
    if random(subject):
        return
    asked = oracles(subject, torch=False)[:1]
    for _ in range(max(4, effort // 4)):
        drawn = draw(rng, subject.case, subject.dtype, subject.op.samples.points, Style(points_only=True, count=1))
        runtime = asked[0].runtime if asked else "onnxruntime"
        sample = drawn.sample(0)
        boxes, _ = bounded(subject, [pointwise(b, x) for b, x in zip(drawn.boxes, sample, strict=True)], runtime)
        for i, box in enumerate(boxes):
            if box is not None:
                problem = _too_wide(subject, box, runtime)
                if problem:
                    yield Breach("points", str(subject), f"result {i} {problem}" + shown(sample))
        yield from _run_agrees(subject, boxes, drawn)
        for oracle in asked:
            results = answers(oracle, sample)
            for i, (box, result) in enumerate(zip(boxes, results or (), strict=False)):
                yield from _within(subject, (f"{oracle.name}'s result {i}", box, result), sample)


def pointwise(box: Box | None, x: Array | None) -> Box | None:
    """The finest Box of one tensor: every element known only through its own block."""
    if box is None or x is None or x.size == 0 or (box.known is not None and box.dtype.is_integer):
        return box
    cuts = tuple(tuple(range(n + 1)) if n > 1 else None for n in x.shape)
    values = x.astype(np.float64)
    return pack(box.dtype, x.shape, cuts, Blocks(values, values, None))


def _too_wide(subject: Subject, box: Box, runtime: str) -> str | None:
    """Whether the Box of points is wider than the operator's own error explains."""
    op, dtype = subject.op, box.dtype
    lo, hi = np.asarray(box.lo), np.asarray(box.hi)
    usual = (lo <= hi) & (np.abs(lo) < dtype.max) & (np.abs(hi) < dtype.max)
    if not usual.any() or not dtype.is_float:
        return None
    lo, hi = np.where(usual, lo, 0.0), np.where(usual, hi, 0.0)
    size = np.maximum(np.abs(lo), np.abs(hi))
    ulp = 2.0 * dtype.unit * size + dtype.quantum
    if not isinstance(op.bound, Elementwise):
        return None  # what several steps add up to is the record's own account
    if op.exact:
        room = np.zeros_like(size)
    elif op.error is None:
        room = ulp
    elif not subject.case.attrs:
        form = error_form(runtime, op.error, dtype)
        room = 4.0 * (
            (form.ulps + 1.0) * ulp + form.relative * size * 1.01 + form.quanta * dtype.quantum + form.absolute
        )
        room = room + (dtype.tiny if form.flushes else 0.0)
    else:
        return None
    wrong = hi - lo > room
    if not wrong.any():
        return None
    place = np.argwhere(wrong)[0]
    at = tuple(int(p) for p in place)
    return f"of points is [{float(lo[at])!r}, {float(hi[at])!r}], wider than the error of {float(room[at]):.3g}"


def _run_agrees(subject: Subject, boxes: Sequence[Box | None], drawn: Draw) -> Iterator[Breach]:
    """``run`` in the Box of points, where it has a meaning for NumPy arrays."""
    from nanproof.numerics.arrays import numpy_namespace

    sample = drawn.sample(0)
    operands = [x if x is None or np.asarray(x).dtype.kind in "iub" else np.asarray(x, np.float64) for x in sample]
    with np.errstate(all="ignore"):
        result = subject.op.run(numpy_namespace, *operands, **subject.case.attrs)
    results = result if isinstance(result, tuple) else (result,)
    for i, (box, value) in enumerate(zip(boxes, results, strict=False)):
        if box is None or value is None:
            continue
        found = np.asarray(value)
        if (
            box.dtype.is_integer
            and found.dtype.kind in "iuf"
            and not np.all((found >= box.dtype.min) & (found <= box.dtype.max))
        ):
            continue  # runtimes wrap around, each in its own way
        if box.dtype.is_float and found.dtype.kind == "f":
            with np.errstate(invalid="ignore"):  # a signalling NaN may come out of bits
                found = nearest_array(box.dtype, found.astype(np.float64))
        if not box.flags:  # where the runtime overflows half-way, run in float64 doesn't
            yield from _within(subject, (f"result {i} of run", box, found), sample)


def _within(subject: Subject, about: tuple[str, Box | None, Any], sample: list[Any]) -> Iterator[Breach]:
    name, box, found = about
    if box is None or found is None or np.asarray(found).dtype.kind in "OSUc":
        return
    found = np.asarray(found)
    if box.shape is not None and (len(box.shape) != found.ndim):
        yield Breach("run", str(subject), f"{name} has shape {list(found.shape)}, the Box says {list(box.shape)}")
        return
    if box.shape is not None and any(
        isinstance(n, int) and n != m for n, m in zip(box.shape, found.shape, strict=True)
    ):
        yield Breach("run", str(subject), f"{name} has shape {list(found.shape)}, the Box says {list(box.shape)}")
        return
    bounds = spread(box, found.shape)
    wrong = outside(bounds, found)
    if wrong.any():
        at = tuple(int(p) for p in np.argwhere(wrong)[0])
        value = wide(found)[at]
        detail = f"{name} at {list(at)} is {value!r}, the Box of those points allows {told(bounds, at)}"
        yield Breach("run", str(subject), detail + shown(sample))


def paths_agree(subject: Subject, rng: np.random.Generator, effort: int) -> Iterator[Breach]:
    """One block and many equal blocks describe the same tensors, so the answers agree to a few ulps.

    Where places matter (a cumulative sum) many blocks may tell more, but never less.
    """
    elementwise = isinstance(subject.op.bound, Elementwise)
    for _ in range(max(4, effort // 4)):
        wanted = Style(special=bool(rng.random() < 0.3), whole=True, count=1)
        drawn = draw(rng, subject.case, subject.dtype, subject.op.samples.points, wanted)
        made = {id(b): _checkered(b) for b in drawn.boxes}
        few = [b if b is None else fine(b) for b in drawn.boxes]
        many = [None if b is None else fine(made[id(b)] or b) for b in drawn.boxes]
        if all(a is b for a, b in zip(many, few, strict=True)):
            return
        one, seen = bounded(subject, few)
        other, events = bounded(subject, many)
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            if a is None or b is None:
                continue
            if not (_alike(a, b) if elementwise else _covers(a, b)):
                detail = f"result {i} is {a!r} from one block, {b!r} from equal blocks"
                yield Breach("paths", str(subject), detail + shown([None] * len(many), drawn.boxes))
        if (
            (_verdicts(seen) != _verdicts(events))
            if elementwise
            else not _verdicts(events).keys() <= _verdicts(seen).keys()
        ):
            detail = f"sites {_verdicts(seen)} from one block, {_verdicts(events)} from equal blocks"
            yield Breach("paths", str(subject), detail + shown([None] * len(many), drawn.boxes))


def _verdicts(events: list[Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for event in events:
        found[event.code] = max(found.get(event.code, 0), event.verdict)
    return found


def _checkered(box: Box | None) -> Box | None:
    """The same Box as single elements."""
    if box is None or box.shape is None or box.known is not None or 0 in box.shape:
        return box
    cuts = tuple(tuple(range(int(n) + 1)) if int(n) > 1 else None for n in box.shape)  # type: ignore[arg-type]
    if not any(cuts):
        return box
    shape = tuple(int(n) for n in box.shape)  # type: ignore[arg-type]
    lo, hi, flags = spread(box, shape)
    return Box(box.dtype, box.shape, lo, hi, box.flags, cuts=cuts, spots=flags if box.flags else None)


def _covers(one: Box, other: Box) -> bool:
    """Whether one block says no more than many, up to rounding."""
    if other.flags & ~one.flags or one.dtype is not other.dtype or one.shape != other.shape:
        return False
    (a, b), (c, d) = one.hull(), other.hull()
    if c > d:
        return True
    room = 8.0 * (max(2.0 * one.dtype.unit, 2.0**-52) * max(abs(a), abs(b)) + one.dtype.quantum)
    return a - room <= c and d <= b + room


def _alike(one: Box, other: Box) -> bool:
    if one.flags != other.flags or one.shape != other.shape or one.dtype is not other.dtype:
        return False
    (a, b), (c, d) = one.hull(), other.hull()
    if a > b or c > d:
        return a > b and c > d
    size = max(abs(a), abs(b))
    room = 8.0 * (max(2.0 * one.dtype.unit, 2.0**-52) * size + one.dtype.quantum)
    return abs(a - c) <= room and abs(b - d) <= room
