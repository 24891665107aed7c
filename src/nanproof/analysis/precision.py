"""NP4xx: protections that hold on paper and not in floats.

A failing site is looked at once more in (nearly) real arithmetic: if its
condition holds there, rounding is to blame. Then either an epsilon was absorbed
on the way (NP401), or a guard holds in the reals only (NP404).
"""

from __future__ import annotations

from dataclasses import replace

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
        if not chain or not _holds_in_the_reals(state, site, chain):
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
        if 0 < size < 1e-2 * abs(largest) and nearest(big.dtype, largest + size) == largest:
            name = state.program.names[step.inputs[position]]
            dtype = big.dtype.name
            return _cause_finding(
                state, step, site, position, "NP401", small.hull(),
                f"{number(largest)} + {number(size)} is {number(largest)} in {dtype}",
                f"an epsilon above {number(abs(largest) * big.dtype.unit)} to survive in {dtype}",
                f"{name} is absorbed: half a step of {dtype} at {number(largest)} is {number(abs(largest) * big.dtype.unit)}",
            )  # fmt: skip
    return None


def _guard(state: State, step: Step, site: Site) -> Finding:
    """The value that is fine in the reals and not in floats."""
    box = state.hulls[step.outputs[0]]
    assert box is not None
    return _cause_finding(
        state, step, site, -1, "NP404", box.hull(), site.event.invalid,
        f"{site.event.needs} also after rounding to {box.dtype.name}",
        f"in real arithmetic {state.program.names[step.outputs[0]]} would be fine; rounding to {box.dtype.name} lets it reach the invalid values",
    )  # fmt: skip


def _cause_finding(  # noqa: PLR0913, PLR0917 - one row of a table
    state: State, step: Step, site: Site, operand: int, code: str,
    ends: tuple[float, float], invalid: str, needs: str, reason: str,
) -> Finding:  # fmt: skip
    slot = step.outputs[0] if operand < 0 else step.inputs[operand]
    node = step.node.name or step.node.outputs[0]
    failing = site.step.node.name or site.step.node.outputs[0]
    return Finding(
        id=stable_id(code, node, state.program.names[slot]),
        code=code,
        op=step.node.op,
        node=node,
        operand=operand,
        operand_name=state.program.names[slot],
        interval=ends,
        may=(),
        invalid=invalid,
        needs=needs,
        verdict=Verdict.POSSIBLE,
        location=step.node.location,
        because=(reason, f"it should protect {site.event.code} at {failing}"),
    )
