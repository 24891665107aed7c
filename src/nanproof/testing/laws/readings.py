"""The five readings of a condition say the same.

* judge, over an interval of one point, is ``holds``; over any interval it is right about every point inside.
* margin is positive exactly where the condition holds, and its gradient leads somewhere.
* guard repairs what is invalid and leaves alone what is valid.
* restrict keeps every valid value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

import numpy as np

from nanproof.execution.torch_functions import torch_and_namespace
from nanproof.numerics import scalar
from nanproof.ops.conditions import Condition, Requirement
from nanproof.testing.laws.breach import Breach
from nanproof.testing.single import Subject
from nanproof.testing.values import intervals, mood, pool

COUNT = 64


def readings(subject: Subject, rng: np.random.Generator, effort: int) -> Iterator[Breach]:
    """Hold all of the above for the requirements of a record."""
    if not subject.dtype.is_float or not subject.op.requires or subject.number:
        return
    for requirement in subject.op.requires:
        if requirement.only and not requirement.concerns(subject.dtype):
            continue
        for _ in range(max(4, effort // 4)):
            yield from _hold(subject, requirement, rng)


def _hold(subject: Subject, requirement: Requirement, rng: np.random.Generator) -> Iterator[Breach]:
    op, case, _, dtype = subject
    condition = requirement.condition
    values = pool(rng, dtype, op.samples.points, mood(rng))
    arity = max(3, len(case.operands))
    ends = [intervals(rng, dtype, (COUNT,), values, (dtype.min, dtype.max)) for _ in range(arity)]
    points = [np.where(rng.random(COUNT) < 0.5, lo, hi) for lo, hi in ends]
    name = f"{requirement.code}, {condition.invalid()}"

    def broken(law: str, detail: str, place: int) -> Breach:
        at = ", ".join(repr(float(p[place])) for p in points)
        return Breach(law, f"{subject} {name}", f"{detail} at ({at})")

    with np.errstate(all="ignore"):
        holds = _array(condition.holds(np, points, case.attrs), bool)
        margin = _array(condition.margin(np, points, case.attrs), float)
        always, never = (_array(j, bool) for j in condition.judge([(p, p) for p in points], case.attrs))
        over, under = (_array(j, bool) for j in condition.judge(ends, case.attrs))
        for wrong, law, detail in (
            (always != holds, "verdict", "judge of the point isn't holds"),
            (always & never, "verdict", "a point is judged both ways"),
            (never & holds, "verdict", "a valid point is judged invalid"),
            (over & ~holds, "verdict", "a violating point in an interval that is judged safe"),
            (under & holds, "verdict", "a valid point in an interval that is judged inevitable"),
            ((margin > 0) != holds, "margin", "margin isn't positive exactly where the condition holds"),
        ):
            if wrong.any():
                yield broken(law, detail, int(np.argmax(wrong)))
        yield from _guards(subject, condition, (points, ends, holds), broken)
    yield from _moves(subject, condition, points, broken)


def _array(value: Any, dtype: type) -> Any:
    return np.broadcast_to(np.asarray(value, dtype), (COUNT,))


def _guards(subject: Subject, condition: Condition, about: Sequence[Any], broken: Any) -> Iterator[Breach]:
    _, case, _, dtype = subject
    points, ends, holds = about
    for index in range(min(len(case.operands), len(points))):
        repaired = condition.guard(np, points[index], index, dtype)
        if repaired is not None:
            changed = [repaired if i == index else p for i, p in enumerate(points)]
            now = _array(condition.holds(np, changed, case.attrs), bool)
            if not now.all():
                yield broken("guard", f"operand {index}, repaired, still violates", int(np.argmin(now)))
            moved = holds & (repaired != points[index])
            if moved.any():
                yield broken("guard", f"operand {index} was valid and is changed", int(np.argmax(moved)))
        lo, hi = condition.restrict(index, ends[index], dtype, np)
        lost = holds & ~((lo <= points[index]) & (points[index] <= hi))
        if lost.any():
            yield broken("restrict", f"operand {index}: a valid value is cut away", int(np.argmax(lost)))
        one = condition.restrict(index, (float(ends[index][0][0]), float(ends[index][1][0])), dtype, scalar)
        if tuple(map(float, one)) != (float(_first(lo)), float(_first(hi))):
            yield broken("restrict", f"operand {index}: floats and arrays differ", 0)


def _first(x: Any) -> Any:
    return np.ravel(x)[0]


def _moves(subject: Subject, condition: Condition, points: Sequence[Any], broken: Any) -> Iterator[Breach]:
    """PyTorch's gradient of the margin is finite, and for most points not 0."""
    try:
        torch, xp = torch_and_namespace()
    except ImportError:
        return
    # among ordinary numbers too: at a tie of two conditions, as deep between -1 and 1, the gradient may well be 0
    ordinary = np.linspace(-3.1, 2.9, COUNT)
    points = [np.where(np.arange(COUNT) % 2, p, np.roll(ordinary, i)) for i, p in enumerate(points)]
    tensors = [torch.tensor(p, dtype=torch.float64, requires_grad=True) for p in points]
    margin = condition.margin(xp, tensors, subject.case.attrs)
    if not margin.requires_grad:
        yield broken("margin", "has no gradient", 0)
        return
    margin.sum().backward()
    grads = [np.zeros(COUNT) if t.grad is None else t.grad.numpy() for t in tensors]
    total = sum(np.abs(g) for g in grads)
    if not np.isfinite(total).all():
        yield broken("margin", "gradient isn't finite", int(np.argmin(np.isfinite(total))))
    elif not np.any((total > 0) & (total < inf)):
        yield broken("margin", "gradient is 0 everywhere", 0)
