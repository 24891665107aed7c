"""If: the branch that a decided condition takes, or the join of both."""

from __future__ import annotations

from typing import Protocol

from nanproof.analysis.assuming import assumed
from nanproof.analysis.state import State
from nanproof.domain.box import Box
from nanproof.domain.lattice import join
from nanproof.model.lower import Program, Step


class RunLevel(Protocol):
    """Propagation through one nesting level."""

    def __call__(self, state: State, program: Program, *, certain: bool) -> None: ...


def run_if(state: State, step: Step, *, certain: bool, run: RunLevel) -> tuple[Box, ...]:
    """Propagate through an If."""
    state.makers.update(dict.fromkeys(step.outputs, step))
    other, then = step.branches  # by attribute name: else_branch, then_branch
    condition = state.boxes[step.inputs[0]]
    assert condition is not None
    lo, hi = condition.hull()
    taken = [then] if lo >= 1 else [other] if hi <= 0 else [other, then]
    joined: list[Box] = []
    for branch in taken:
        with assumed(state, step.inputs[0], truth=branch is then):
            run(state, branch, certain=certain and len(taken) == 1)
        results = [_value(state, slot) for slot in branch.outputs]
        labels = [state.program.names[slot] if slot >= 0 else None for slot in step.outputs]
        pairs = zip(joined, results, labels, strict=True)
        joined = [join(a, b, label) for a, b, label in pairs] if joined else results
        for outer, inner in zip(step.outputs, branch.outputs, strict=True):
            _carry(state, inner, outer)
    return tuple(joined)


def _value(state: State, slot: int) -> Box:
    box = state.boxes[slot]
    assert box is not None
    return box


def _carry(state: State, inner: int, outer: int) -> None:
    """What flows into a branch's result flows into the node's."""
    if inner in state.origins:
        both = (*state.origins.get(outer, ()), *state.origins[inner])
        state.origins[outer] = tuple(dict.fromkeys(both))
    if inner in state.weak:
        state.weak.add(outer)
