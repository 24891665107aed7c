"""Where as a guard: a branch counts only where its condition chose it.

``where(x > 0, log(x), 0)`` computes log(x) for every x but uses it only for
positive ones. For each Where whose condition is a comparison (or a NaN test) of
a value that a branch is computed from, element by element, that branch is
evaluated once more with the value cut to what the condition says. A NaN that is
born in the first evaluation and absent from the second is masked away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from nanproof.analysis.state import State
from nanproof.domain.box import NAN, NINF, PINF, Box
from nanproof.domain.partition import Blocks, blocks_of, pack
from nanproof.model.lower import Program, Step
from nanproof.numerics.rounding import next_down, next_up
from nanproof.ops.call import Call
from nanproof.ops.elementwise import Elementwise

DEEPEST = 24
"""Longest chain of operators between the compared value and the branch that is followed."""

_COMPARISONS = {"Greater": ">", "GreaterOrEqual": ">=", "Less": "<", "LessOrEqual": "<=", "Equal": "=="}
_MIRRORED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "=="}
_NEGATED = {">": "not >", ">=": "not >=", "<": "not <", "<=": "not <=", "==": "not =="}
_TESTS = frozenset({"IsNaN", "IsInf"})


@dataclass(frozen=True, slots=True)
class Fact:
    """What a chosen branch knows: slot ``relation`` other slot, or a test of a slot."""

    slot: int
    relation: str
    other: int = -1
    step: Step | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """One value operand of a Where: what is known where it is chosen, and how it is computed."""

    position: int
    facts: tuple[Fact, ...]
    chain: tuple[Step, ...]


@dataclass(slots=True)
class Masks:
    """The guarded Where nodes of one nesting level, and values that must live until they run."""

    @dataclass(slots=True)
    class Mask:
        """One guarded Where."""

        branches: tuple[Branch, ...]

        def refined(self, state: State, operands: list[Box | None]) -> list[Box | None]:
            """The operands, with every guarded branch evaluated under its condition."""
            result = list(operands)
            for branch in self.branches:
                better = _evaluate(state, branch, operands[branch.position])
                if better is not None:
                    result[branch.position] = better
            return result

    by_step: dict[int, Mask] = field(default_factory=dict)
    kept: dict[int, int] = field(default_factory=dict)
    released: dict[int, list[int]] = field(default_factory=dict)

    def get(self, index: int) -> Mask | None:
        """The mask of a step, if it is a guarded Where."""
        return self.by_step.get(index)

    def last_use(self, index: int, program: Program) -> Sequence[int]:
        """Slots that nothing needs after a step."""
        slots = program.last_use[index]
        if not self.kept:
            return slots
        free = [s for s in slots if self.kept.get(s, -1) <= index]
        return free + self.released.get(index, [])


def find_masks(program: Program) -> Masks:
    """Look at every Where of a level once, before propagation."""
    masks = Masks()
    if not any(step.node.op == "Where" for step in program.steps):
        return masks
    makers = {slot: step for step in program.steps for slot in step.outputs if slot >= 0}
    for index, step in enumerate(program.steps):
        if step.node.op != "Where" or len(step.inputs) != 3:
            continue
        branches = []
        for position, truth in ((1, True), (2, False)):
            facts = tuple(_facts(makers, step.inputs[0], truth, 0))
            if facts:
                chain = _chain(makers, step.inputs[position], {f.slot for f in facts})
                if chain is not None:
                    branches.append(Branch(position, facts, chain))
        if branches:
            masks.by_step[index] = Masks.Mask(tuple(branches))
            _keep(masks, index, branches)
    last = {slot: i for i, slots in enumerate(program.last_use) for slot in slots}
    for slot, until in masks.kept.items():
        if slot in last and last[slot] < until:
            masks.released.setdefault(until, []).append(slot)
    return masks


def _keep(masks: Masks, index: int, branches: list[Branch]) -> None:
    for branch in branches:
        for fact in branch.facts:
            for slot in (fact.slot, fact.other):
                masks.kept[slot] = index
        for step in branch.chain:
            for slot in step.inputs:
                masks.kept[slot] = index
    masks.kept.pop(-1, None)


def _facts(makers: dict[int, Step], slot: int, truth: bool, depth: int) -> list[Fact]:
    """What the truth (or falsity) of a boolean value says of the values it compares."""
    step = makers.get(slot)
    if step is None or depth > 8:
        return []
    name = step.node.op
    if name == "Not":
        return _facts(makers, step.inputs[0], not truth, depth + 1)
    if (name == "And" and truth) or (name == "Or" and not truth):
        both = [_facts(makers, s, truth, depth + 1) for s in step.inputs]
        return both[0] + both[1]
    if name in _TESTS:
        return [Fact(step.inputs[0], name if truth else f"not {name}", step=step)]
    if name in _COMPARISONS:
        a, b = step.inputs
        relation = _COMPARISONS[name]
        pairs = [(a, relation, b), (b, _MIRRORED[relation], a)]
        return [Fact(x, r if truth else _NEGATED[r], y) for x, r, y in pairs]
    return []


def _chain(makers: dict[int, Step], slot: int, roots: set[int]) -> tuple[Step, ...] | None:
    """The elementwise steps from any root to a slot, in running order; None if none leads there."""
    if slot in roots:
        return ()
    found: dict[int, Step] = {}
    answers: dict[int, bool] = {}

    def visit(at: int, depth: int) -> bool:
        if at in answers:
            return answers[at]
        step = makers.get(at)
        if step is None or depth > DEEPEST or not _is_elementwise(step):
            return False
        hits = [s in roots or visit(s, depth + 1) for s in step.inputs]
        answers[at] = any(hits)
        if answers[at]:
            found[id(step)] = step
        return answers[at]

    return tuple(found.values()) if visit(slot, 0) else None


_SELECTIONS = frozenset({"Where", "Mul", "Clip", "Max", "Min", "Identity", "Pow", "Cast", "Sum"})


def _is_elementwise(step: Step) -> bool:
    op = step.op
    return op is not None and (isinstance(op.bound, Elementwise) or op.name in _SELECTIONS)


def _evaluate(state: State, branch: Branch, usual: Box | None) -> Box | None:
    """The branch's Box where its condition holds; None if that says nothing new."""
    refined: dict[int, Box] = {}
    for fact in branch.facts:
        box = refined.get(fact.slot, state.boxes[fact.slot])
        other = None if fact.other < 0 else state.boxes[fact.other]
        if box is None or (fact.other >= 0 and other is None):
            continue
        better = _under(box, fact, other)
        if better is not None:
            refined[fact.slot] = better
    if not refined:
        return None
    if not branch.chain:
        slots = {f.slot for f in branch.facts}
        for slot in slots:
            if state.boxes[slot] is usual:
                return refined.get(slot)
        return None
    result: Box | None = None
    for step in branch.chain:
        operands = [refined.get(s, state.boxes[s]) if s >= 0 else None for s in step.inputs]
        if any(box is None for s, box in zip(step.inputs, operands, strict=True) if s >= 0):
            return None
        assert step.op is not None
        call = Call(step.op, step.attrs, state.setting, len(step.outputs))
        bound = step.op.bound(call, *operands)
        result = bound[0] if isinstance(bound, tuple) else bound
        refined[step.outputs[0]] = result
    if result is None or usual is None or result.shape != usual.shape:
        return None
    return result


def _under(box: Box, fact: Fact, other: Box | None) -> Box | None:
    """A Box cut to the elements for which a fact holds; None where nothing is cut."""
    blocks = blocks_of(box)
    lo, hi = np.asarray(blocks.lo, float), np.asarray(blocks.hi, float)
    lost = 0
    if fact.relation in _TESTS or fact.relation.startswith("not Is"):
        return _tested(box, blocks, fact)
    assert other is not None
    low, high = other.hull()
    if low > high and not other.flags:
        return None
    if other.flags & NAN and fact.relation.startswith("not"):
        return None  # a comparison with NaN is false whatever the value
    # end points of the finite values that the comparison lets through; infinite operands allow all
    least, most = -inf, inf
    relation = fact.relation
    float_like = box.dtype.is_float
    if not other.flags & PINF:
        if relation in ("<", "not >="):
            most = next_down(box.dtype, high) if float_like else high - 1
        elif relation in ("<=", "not >", "=="):
            most = high
        lost |= PINF if relation in ("<", "<=", "==", "not >", "not >=") else 0
    if not other.flags & NINF:
        if relation in (">", "not <="):
            least = next_up(box.dtype, low) if float_like else low + 1
        elif relation in (">=", "not <", "=="):
            least = low
        lost |= NINF if relation in (">", ">=", "==", "not <", "not <=") else 0
    if not relation.startswith("not"):
        lost |= NAN
    if relation == "not ==":
        lost |= _unequal(other)
        lo, hi = _without_end(box, lo, hi, other)
    return _cut(box, blocks, (np.maximum(lo, least), np.minimum(hi, most)), lost)


def _unequal(other: Box) -> int:
    """An operand that differs from a certain infinity isn't that infinity."""
    return other.flags if other.flags in (PINF, NINF) and not other.has_finite else 0


def _without_end(box: Box, lo: np.ndarray, hi: np.ndarray, other: Box) -> tuple[np.ndarray, np.ndarray]:
    """Values that differ from a known number: an end point that is that number moves inward."""
    if not other.is_point:
        return lo, hi
    value = float(other.lo)
    up = next_up(box.dtype, value) if box.dtype.is_float else value + 1
    down = next_down(box.dtype, value) if box.dtype.is_float else value - 1
    return np.where(lo == value, up, lo), np.where(hi == value, down, hi)


def _tested(box: Box, blocks: Blocks, fact: Fact) -> Box | None:
    """Under IsNaN or IsInf, or their opposite."""
    nothing = np.full(np.shape(blocks.lo), inf), np.full(np.shape(blocks.hi), -inf)
    usual = np.asarray(blocks.lo, float), np.asarray(blocks.hi, float)
    if fact.relation == "IsNaN":
        return _cut(box, blocks, nothing, PINF | NINF)
    if fact.relation == "not IsNaN":
        return _cut(box, blocks, usual, NAN)
    assert fact.step is not None
    signs = PINF if fact.step.attrs.get("detect_positive", 1) else 0
    signs |= NINF if fact.step.attrs.get("detect_negative", 1) else 0
    if fact.relation == "IsInf":
        return _cut(box, blocks, nothing, NAN | ((PINF | NINF) & ~signs))
    return _cut(box, blocks, usual, signs)


def _cut(box: Box, blocks: Blocks, ends: tuple[np.ndarray, np.ndarray], lost: int) -> Box | None:
    lo, hi = ends
    empty = lo > hi
    lo, hi = np.where(empty, inf, lo), np.where(empty, -inf, hi)
    spots = None if blocks.spots is None else blocks.spots & np.uint8(~lost & 7)
    if spots is not None and not spots.any():
        spots = None
    return pack(box.dtype, box.shape, box.cuts, Blocks(lo, hi, spots))
