"""Laws that compare Boxes with what runtimes compute.

* sound: every element of a result lies in its block, or is a special value that the block's flags allow.
* born: a NaN or Inf out of finite operands has been announced (some site isn't safe).
* inevitable: where a site can only fail, every sample fails.
* exact: elements said to be known are the real ones.
* dtype, shape: those of the runtime.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from nanproof.domain.box import Box
from nanproof.numerics.dtypes import DType, of_numpy
from nanproof.ops.call import INEVITABLE, Event
from nanproof.testing.draws import Draw, draw, style
from nanproof.testing.laws.apply import bounded
from nanproof.testing.laws.breach import Breach, shown
from nanproof.testing.membership import outside, spread, told, wide
from nanproof.testing.oracles import answers, oracles
from nanproof.testing.single import Subject

SAMPLES = 6


def concrete(subject: Subject, rng: np.random.Generator, effort: int) -> Iterator[Breach]:
    """Hold all of the above, against every oracle that can run the case."""
    asked = oracles(subject)
    if not asked:
        yield Breach("untested", str(subject), "no runtime can run this case")
        return
    answered = {oracle.name: 0 for oracle in asked}
    for _ in range(effort):
        drawn = draw(rng, subject.case, subject.dtype, subject.op.samples.points, style(rng, SAMPLES))
        if _traps(subject, drawn):
            continue
        for oracle in asked:
            boxes, events = bounded(subject, drawn.boxes, oracle.runtime)
            for k in range(drawn.count):
                sample = drawn.sample(k)
                results = answers(oracle, sample)
                if results is None:
                    continue
                answered[oracle.name] += 1
                for law, detail in _judged(boxes, events, results, sample):
                    yield Breach(law, f"{subject} against {oracle.name}", detail + shown(sample, drawn.boxes))
    for name, count in answered.items():
        if not count:
            yield Breach("untested", str(subject), f"{name} refused every sample")


def _traps(subject: Subject, drawn: Draw) -> bool:
    """Whether a sample would end the process: an integer division by 0 does."""
    if subject.dtype.is_float:
        return False
    for k in range(drawn.count):
        sample = drawn.sample(k)
        for requirement in subject.op.requires:
            concerned = not requirement.only or requirement.concerns(subject.dtype)
            if concerned and not bool(np.all(requirement.condition.holds(np, sample, subject.case.attrs))):
                return True
    return False


def _judged(
    boxes: tuple[Box | None, ...], events: list[Event], results: list[Any], sample: list[Any]
) -> Iterator[tuple[str, str]]:
    for i, (box, result) in enumerate(zip(boxes, results, strict=False)):
        if box is None or result is None or not _numeric(result):
            continue
        yield from _one(i, box, result)
    if len(boxes) < len(results):
        yield "shape", f"{len(results)} results, bounds for {len(boxes)}"
    floats = [np.asarray(x) for x in sample if x is not None and np.asarray(x).dtype.kind not in "iubSUO"]
    if floats and all(bool(np.all(_finite(x))) for x in floats):
        yield from _announced(events, results)


def _one(i: int, box: Box, result: Any) -> Iterator[tuple[str, str]]:
    if _dtype(result) not in {box.dtype.name, None}:
        yield "dtype", f"result {i} is {result.dtype.name}, the Box says {box.dtype.name}"
        return
    if box.shape is not None and not _fits(box.shape, result.shape):
        yield "shape", f"result {i} has shape {list(result.shape)}, the Box says {list(box.shape)}"
        return
    if box.shape is None and box.cuts is not None:
        yield "shape", f"result {i} is cut but has no shape"
        return
    bounds = spread(box, result.shape)
    wrong = outside(bounds, result)
    if wrong.any():
        place = tuple(int(p) for p in np.argwhere(wrong)[0])
        value = result[place].item() if hasattr(result[place], "item") else result[place]
        yield "sound", f"result {i} at {list(place)} is {value!r}, the Box allows {told(bounds, place)}"
    if box.known is not None and box.known.dtype != object:
        told_known, real = np.asarray(box.known), np.asarray(result)
        if told_known.shape != real.shape or not _equal(wide(told_known), wide(real)):
            yield "exact", f"result {i} is {real.ravel()[:6].tolist()}, known as {told_known.ravel()[:6].tolist()}"


def _equal(one: Any, other: Any) -> bool:
    return np.array_equal(one, other, equal_nan=one.dtype.kind + other.dtype.kind == "ff")


def _fits(shape: Any, real: tuple[int, ...]) -> bool:
    if len(shape) != len(real):
        return False
    return all(not isinstance(n, int) or n == m for n, m in zip(shape, real, strict=True))


def _numeric(result: Any) -> bool:
    return np.asarray(result).dtype.kind not in "OSUc" and not isinstance(result, list)


def _dtype(result: Any) -> str | None:
    """The dtype's name; None for a bfloat16 result that came back as float64."""
    found: DType = of_numpy(result.dtype)
    return None if found.name == "float64" else found.name


def _finite(x: Any) -> Any:
    array = np.asarray(x)
    if array.dtype.kind in "iubSUO":
        return True
    return np.isfinite(array.astype(np.float64))


def _announced(events: list[Event], results: list[Any]) -> Iterator[tuple[str, str]]:
    floats = [r for r in results if r is not None and _numeric(r) and np.asarray(r).dtype.kind not in "iub"]
    fails = not all(bool(np.all(_finite(r))) for r in floats)
    if fails and not events:
        yield "born", "finite operands give NaN or Inf, but every site was called safe"
    if not fails and floats:
        for event in events:
            if event.verdict == INEVITABLE and event.gives:
                yield "inevitable", f"{event.code} was called inevitable ({event.invalid}), but all results are finite"
