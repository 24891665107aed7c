"""Laws about what is hardly known: no shape, symbolic sizes, any value at all. A bound answers, and soundly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from nanproof.dims import ShapeError, symbol
from nanproof.domain.box import Box, top
from nanproof.ops.call import Setting
from nanproof.ops.record import Operand
from nanproof.testing.draws import draw, style
from nanproof.testing.laws.apply import bounded
from nanproof.testing.laws.breach import Breach, shown
from nanproof.testing.membership import outside, spread, told
from nanproof.testing.oracles import answers, oracles
from nanproof.testing.single import Subject

WAYS = ("no shape", "symbolic", "anything", "anything of no shape")


def robust(subject: Subject, rng: np.random.Generator, effort: int) -> Iterator[Breach]:
    """Forget the shapes, name the sizes, forget the values: the results still lie in the Box."""
    asked = oracles(subject, torch=False)[:1]
    if not asked or subject.dtype.is_integer:
        return
    for turn in range(max(4, effort // 4)):
        drawn = draw(rng, subject.case, subject.dtype, subject.op.samples.points, style(rng, 2))
        way = WAYS[turn % len(WAYS)]
        used: dict[str, tuple[int, int | None]] = {}
        boxes = [_forgotten(b, o, way, used) for b, o in zip(drawn.boxes, subject.case.operands, strict=True)]
        try:
            found, _ = bounded(subject, boxes, Setting(runtime=asked[0].runtime, dims=used))
        except ShapeError as problem:
            if way == "symbolic":
                continue  # sizes that this case fixes by number elsewhere
            yield Breach("robust", str(subject), f"{way}: ShapeError: {problem}" + shown([None] * len(boxes), boxes))
            continue
        for k in range(drawn.count):
            sample = drawn.sample(k)
            for i, (box, result) in enumerate(zip(found, answers(asked[0], sample) or (), strict=False)):
                problem_text = _misses(box, result, used)
                if problem_text:
                    yield Breach("robust", str(subject), f"{way}: result {i} {problem_text}" + shown(sample, boxes))


def _forgotten(box: Box | None, operand: Operand, way: str, used: dict[str, tuple[int, int | None]]) -> Box | None:
    if box is None or operand.values is not None or operand.stored or box.shape is None:
        return box
    if way == "anything":
        return top(box.dtype, box.shape)
    if way == "anything of no shape":
        return top(box.dtype)
    if way == "no shape":
        return Box(box.dtype, None, *box.hull(), box.flags)
    sizes: list[Any] = []
    for n in box.shape:
        if isinstance(n, int) and n > 1:
            used[f"n{n}"] = (n, n)
            sizes.append(symbol(f"n{n}"))
        else:
            sizes.append(n)
    return Box(box.dtype, tuple(sizes), *box.hull(), box.flags)


def _misses(box: Box | None, result: Any, used: dict[str, tuple[int, int | None]]) -> str | None:
    if box is None or result is None or np.asarray(result).dtype.kind in "OSUc":
        return None
    if box.shape is not None:
        from nanproof.dims import bounds

        if len(box.shape) != result.ndim:
            return f"has shape {list(result.shape)}, the Box says {list(box.shape)}"
        for size, real in zip(box.shape, result.shape, strict=True):
            low, high = bounds(size, used)
            if not (low <= real and (high is None or real <= high)):
                return f"has shape {list(result.shape)}, the Box says {list(box.shape)}"
    allowed = spread(box, result.shape)
    wrong = outside(allowed, result)
    if wrong.any():
        at = tuple(int(p) for p in np.argwhere(wrong)[0])
        return f"at {list(at)} is {result[at]!r}, the Box allows {told(allowed, at)}"
    return None
