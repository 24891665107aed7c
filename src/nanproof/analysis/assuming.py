"""What a condition that decided the control flow says of the values inside: in the branch of an If, or when a loop goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from nanproof.analysis.comparing import Fact, facts_of, under
from nanproof.analysis.facts.rows import reduced_axes
from nanproof.analysis.state import State, hull_of
from nanproof.domain.box import NAN, Box
from nanproof.model.lower import Step

DEEP = 6
"""How many operators that only hand a value on are looked through."""

_HANDED_ON = frozenset({"Identity", "Squeeze", "Unsqueeze", "Reshape"})
_BOTH_WAYS = {"ReduceMin": {">", ">=", "not <", "not <="}, "ReduceMax": {"<", "<=", "not >", "not >="}}
"""Relations of the smallest (largest) element that hold for every element."""


@contextmanager
def assumed(state: State, slot: int, *, truth: bool) -> Iterator[None]:
    """Propagate what is inside with the values cut to what a condition says of them, then put the old ones back."""
    cut = told(state, slot, state.boxes.__getitem__, truth=truth) if state.setting.masks else {}
    before = {s: (state.boxes[s], state.hulls[s]) for s in cut}
    for s, box in cut.items():
        state.boxes[s], state.hulls[s] = box, hull_of(box)
    try:
        yield
    finally:
        for s, (whole, hull) in before.items():
            state.boxes[s], state.hulls[s] = whole, hull


def told(state: State, slot: int, look: Callable[[int], Box | None], *, truth: bool) -> dict[int, Box]:
    """The values that a condition of one element compares, cut to what it says; only those that ``look`` gives.

    A value that nothing would be left of stays as it is: then the condition is never so.
    """
    cut: dict[int, Box] = {}
    for fact in _conditions(state, slot, truth, 0):
        for one in (fact, *_elements(state, fact)):
            box = cut.get(one.slot, look(one.slot))
            other = state.hulls[one.other] if one.other >= 0 else None
            if box is None or type(box) is not Box or (one.other >= 0 and type(other) is not Box):
                continue
            better = under(box, one, other)
            if better is not None and (better.has_finite or better.flags) and not (one is not fact and box.flags & NAN):
                cut[one.slot] = better
    return cut


def source(state: State, slot: int) -> int:
    """The value that a slot is handed on from, unchanged."""
    step = state.makers.get(slot)
    while step is not None and step.node.op == "Identity":
        slot = step.inputs[0]
        step = state.makers.get(slot)
    return slot


def _conditions(state: State, slot: int, truth: bool, depth: int) -> list[Fact]:
    """The facts of a condition, through what hands it on and through "for all" and "for any"."""
    step = state.makers.get(slot)
    if step is None or depth > DEEP:
        return []
    if step.node.op in _HANDED_ON or (step.node.op == "Cast" and _is_truth(state, step.inputs[0], DEEP)):
        return _conditions(state, step.inputs[0], truth, depth + 1)
    if step.node.op == ("ReduceMin" if truth else "ReduceMax") and _is_whole(state, step):
        return _conditions(state, step.inputs[0], truth, depth + 1)
    return facts_of(state.makers, slot, truth)


def _is_truth(state: State, slot: int, depth: int) -> bool:
    """Whether a value is a truth value, perhaps written as 0 and 1."""
    box, step = state.hulls[slot], state.makers.get(slot)
    if box is not None and box.dtype.kind == "bool":
        return True
    handed = step is not None and depth > 0 and step.node.op in _HANDED_ON | {"Cast", "ReduceMin", "ReduceMax"}
    return handed and step is not None and _is_truth(state, step.inputs[0], depth - 1)


def _elements(state: State, fact: Fact) -> Iterator[Fact]:
    """What a fact about the smallest or largest element of a whole tensor says of every element."""
    slot = fact.slot
    for _ in range(DEEP):
        step = state.makers.get(slot)
        if step is None:
            return
        if fact.relation in _BOTH_WAYS.get(step.node.op, ()) and _is_whole(state, step):
            yield replace(fact, slot=step.inputs[0])
            return
        if step.node.op not in _HANDED_ON:
            return
        slot = step.inputs[0]


def _is_whole(state: State, step: Step) -> bool:
    """Whether a reduction goes over all axes."""
    box, axes = state.hulls[step.inputs[0]], reduced_axes(state, step)
    return box is not None and box.shape is not None and axes == tuple(range(len(box.shape)))
