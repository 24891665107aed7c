"""NP4xx: protections that hold on paper and not in floats.

A failing site is looked at once more in (nearly) real arithmetic: if its
condition holds there, rounding is to blame. Then either an epsilon was absorbed
on the way (NP401), or a guard holds in the reals only (NP404). A variance as
E[x^2] - E[x]^2 on the way is a cause of its own (NP403): it is never negative
in the reals, which intervals can't see, and rounds below 0 in floats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nanproof.analysis.state import Site, State
from nanproof.domain.box import Box
from nanproof.findings.finding import Finding, stable_id
from nanproof.findings.verdict import Verdict
from nanproof.findings.wording import number
from nanproof.model.graph import Model
from nanproof.model.lower import Step
from nanproof.numerics.dtypes import FLOAT64
from nanproof.numerics.rounding import nearest
from nanproof.ops.call import Call
from nanproof.ops.elementwise import Elementwise

DEPTH = 8
"""How many operators before the failing one are looked at again."""

GUARDED = frozenset({"NP101", "NP102", "NP103", "NP104", "NP106", "NP107", "NP108", "NP109"})


def precision_causes(state: State, model: Model, sites: list[Site]) -> list[Finding]:
    """Findings about lost protections, one for each operator that loses one."""
    found: dict[str, Finding] = {}
    for site in sites:
        if site.event.code not in GUARDED or site.step.op is None:
            continue
        slot = site.step.inputs[site.event.operand]
        chain = _chain(state, slot)
        variance = next((s for s in chain if _is_raw_variance(state, s)), None)
        if variance is not None:
            finding = _variance(state, variance, site)
            found.setdefault(finding.id, finding)
            continue
        if not any(_protects(state, step) for step in chain) or not _holds_in_the_reals(state, site, chain):
            continue
        lost = next((f for f in (_absorbed(state, s, site) for s in reversed(chain)) if f), None)
        finding = lost or _guard(state, chain[-1], site)
        found.setdefault(finding.id, finding)
    return list(found.values())


def _chain(state: State, slot: int) -> list[Step]:
    """The elementwise operators that lead to a value, in running order."""
    steps: dict[int, Step] = {}

    def visit(at: int, depth: int) -> None:
        step = state.makers.get(at)
        if step is None or depth == 0 or step.op is None or id(step) in steps:
            return
        if not isinstance(step.op.bound, Elementwise) and step.op.name not in ("Mul", "Sum"):
            return
        for source in step.inputs:
            visit(source, depth - 1)
        steps[id(step)] = step

    visit(slot, DEPTH)
    return list(steps.values())


def _protects(state: State, step: Step) -> bool:
    """Whether a step adds a constant: what an author writes to keep a value off an edge."""
    if step.node.op not in ("Add", "Sub", "Sum"):
        return False
    boxes = [state.hulls[slot] for slot in step.inputs]
    return any(box is not None and box.is_point and box.lo != 0 for box in boxes)


def _holds_in_the_reals(state: State, site: Site, chain: list[Step]) -> bool:
    """Whether the site's condition is proved once the chain before it is computed in float64."""
    exact: dict[int, Box] = {}
    setting = replace(state.setting, runtime="ieee")

    def value(slot: int) -> Box | None:
        if slot in exact:
            return exact[slot]
        box = state.hulls[slot] if slot >= 0 else None
        if box is None or box.flags or not box.dtype.is_float:
            return None
        exact[slot] = Box(FLOAT64, box.shape, *box.hull())
        return exact[slot]

    with np.errstate(all="ignore"):
        for step in chain:
            assert step.op is not None
            operands = [value(s) for s in step.inputs]
            if any(box is None for box in operands):
                return False
            result = step.op.bound(Call(step.op, step.attrs, setting), *operands)
            if isinstance(result, tuple):
                return False
            exact[step.outputs[0]] = result
        last = [value(s) for s in site.step.inputs]
        if any(box is None for box in last):
            return False
        assert site.step.op is not None
        call = Call(site.step.op, site.step.attrs, setting)
        site.step.op.bound(call, *last)
    return not any(event.code == site.event.code for event in call.events)


def _absorbed(state: State, step: Step, site: Site) -> Finding | None:
    """An Add or Sub of a small constant that changes nothing at the other operand's top."""
    if step.node.op not in ("Add", "Sub") or len(step.inputs) != 2:
        return None
    boxes = [state.hulls[s] for s in step.inputs]
    for position, (small, big) in enumerate((boxes, boxes[::-1])):
        if small is None or big is None or not small.is_point or not small.dtype.is_float:
            continue
        size, (lo, hi) = abs(float(small.lo)), big.hull()
        largest = hi if abs(hi) >= abs(lo) else lo
        if not (0 < size < 1e-2 * abs(largest) and nearest(big.dtype, largest + size) == largest):
            continue
        name, dtype = state.program.names[step.inputs[position]], big.dtype.name
        top, half = number(largest), number(abs(largest) * big.dtype.unit)
        loss = _Loss(
            "NP401",
            position,
            small.hull(),
            f"{top} + {number(size)} is {top} in {dtype}",
            f"an epsilon above {half} to survive in {dtype}",
            f"{name} is absorbed: half a step of {dtype} at {top} is {half}",
        )
        return _finding(state, step, site, loss)
    return None


def _guard(state: State, step: Step, site: Site) -> Finding:
    """The value that is fine in the reals and not in floats."""
    box = state.hulls[step.outputs[0]]
    assert box is not None
    name, dtype = state.program.names[step.outputs[0]], box.dtype.name
    loss = _Loss(
        "NP404",
        -1,
        box.hull(),
        site.event.invalid,
        f"{site.event.needs} also after rounding to {dtype}",
        f"in real arithmetic {name} would be fine; rounding to {dtype} lets it reach the invalid values",
    )
    return _finding(state, step, site, loss)


_MEANS = frozenset({"ReduceMean", "GlobalAveragePool"})


def _is_raw_variance(state: State, step: Step) -> bool:
    """Whether a step computes mean(x * x) - mean(x) * mean(x)."""
    if step.node.op != "Sub":
        return False
    first = state.makers.get(step.inputs[0])
    root = _squared(state, step.inputs[1])
    if first is None or root is None or first.node.op not in _MEANS:
        return False
    mean = state.makers.get(root)
    squared = _squared(state, first.inputs[0])
    return mean is not None and mean.node.op in _MEANS and mean.inputs[0] == squared


def _squared(state: State, slot: int) -> int | None:
    """The value that a slot is the square of."""
    step = state.makers.get(slot)
    if step is None:
        return None
    if step.node.op == "Mul" and step.inputs[0] == step.inputs[1]:
        return step.inputs[0]
    if step.node.op == "Pow":
        exponent = state.hulls[step.inputs[1]]
        if exponent is not None and exponent.is_point and exponent.lo == 2:
            return step.inputs[0]
    return None


def _variance(state: State, step: Step, site: Site) -> Finding:
    box = state.hulls[step.outputs[0]]
    assert box is not None
    loss = _Loss(
        "NP403",
        -1,
        box.hull(),
        "E[x^2] - E[x]^2 < 0",
        "the two means to differ by more than their rounding",
        f"both means are rounded in {box.dtype.name}, and where x varies little their difference is rounding error",
    )
    return _finding(state, step, site, loss)


@dataclass(frozen=True, slots=True)
class _Loss:
    """A protection that is lost at a step."""

    code: str
    operand: int
    ends: tuple[float, float]
    invalid: str
    needs: str
    reason: str


def _finding(state: State, step: Step, site: Site, loss: _Loss) -> Finding:
    slot = step.outputs[0] if loss.operand < 0 else step.inputs[loss.operand]
    node = step.node.name or step.node.outputs[0]
    failing = site.step.node.name or site.step.node.outputs[0]
    return Finding(
        id=stable_id(loss.code, node, state.program.names[slot]),
        code=loss.code,
        op=step.node.op,
        node=node,
        operand=loss.operand,
        operand_name=state.program.names[slot],
        interval=loss.ends,
        may=(),
        invalid=loss.invalid,
        needs=loss.needs,
        verdict=Verdict.POSSIBLE,
        phase=site.step.node.part.phase,
        location=step.node.location,
        because=(loss.reason, f"it should protect {site.event.code} at {failing}"),
    )
