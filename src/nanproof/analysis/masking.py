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

from nanproof.analysis.comparing import Fact, facts_of, under
from nanproof.analysis.facts.away import Given, away, within
from nanproof.analysis.facts.made import plain, resolved
from nanproof.analysis.state import State
from nanproof.domain.box import Box
from nanproof.domain.lattice import join, meet
from nanproof.model.lower import Program, Step
from nanproof.ops.call import Call
from nanproof.ops.elementwise import Elementwise

DEEPEST = 24
"""Longest chain of operators between the compared value and the branch that is followed."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One value operand of a Where: what is known where it is chosen, and how it is computed."""

    position: int
    given: Given
    ways: tuple[tuple[Fact, ...], ...]
    """How the condition can come about: in one of these ways, each of several facts at once."""
    measured: tuple[tuple[int, int], ...]
    """(x, y) where a fact is about y, which is the size, the negative or the square of x."""
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
            given = Given(step.inputs[0], truth)
            ways = _ways(makers, given)
            facts = [fact for way in ways for fact in way]
            if facts or _either_way(makers, given):
                measured = _measured(makers, facts or tuple(_compared(makers, step.inputs[0], 0)))
                roots = {*(f.slot for f in facts), *(x for x, _ in measured)}
                chain = _chain(makers, step.inputs[position], roots)
                if chain is not None:
                    branches.append(Branch(position, given, ways, measured, chain))
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
        for fact in (fact for way in branch.ways for fact in way):
            for slot in (fact.slot, fact.other):
                masks.kept[slot] = index
        for slot, _ in branch.measured:
            masks.kept[slot] = index
        for step in branch.chain:
            for slot in step.inputs:
                masks.kept[slot] = index
    masks.kept.pop(-1, None)


def _ways(makers: dict[int, Step], given: Given) -> tuple[tuple[Fact, ...], ...]:
    """The ways in which a condition can come about: x < 0 or x is no infinity, where "x < 0 and infinite" is false."""
    facts = tuple(facts_of(makers, given.slot, given.truth, 0))
    if facts or not _either_way(makers, given):
        return (facts,)
    parts = tuple(tuple(facts_of(makers, slot, given.truth, 1)) for slot in makers[given.slot].inputs)
    return parts if all(parts) else ((),)


def _either_way(makers: dict[int, Step], given: Given) -> bool:
    """Whether a condition is one of two comparisons, of which it isn't known which holds: x > e or x < -e."""
    step = makers.get(given.slot)
    return step is not None and step.node.op == ("Or" if given.truth else "And")


def _compared(makers: dict[int, Step], slot: int, depth: int) -> list[Fact]:
    """What a condition compares, whatever comes out."""
    step = makers.get(slot)
    if step is None or depth > 8:
        return []
    if step.node.op in {"Or", "And", "Not"}:
        return [fact for s in step.inputs for fact in _compared(makers, s, depth + 1)]
    return facts_of(makers, slot, True, depth)


def _measured(makers: dict[int, Step], facts: Sequence[Fact]) -> tuple[tuple[int, int], ...]:
    """The values that facts are about, and those whose size, negative or square they are about."""
    found: dict[tuple[int, int], None] = {}
    for fact in facts:
        found[fact.slot, fact.slot] = None
        step = makers.get(fact.slot)
        if step is not None and step.node.op in {"Abs", "Neg", "Mul", "Pow", "Div", "Identity", "Cast", "CastLike"}:
            found[step.inputs[0], fact.slot] = None
    return tuple(found)


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


_POINTWISE = frozenset({
    "Where", "Mul", "Div", "Mod", "Clip", "Max", "Min", "Identity", "Pow", "Cast", "Sum", "Mean", "Relu", "LeakyRelu", "PRelu",
    "Elu", "Celu", "Selu", "Gelu", "Mish", "Swish", "HardSigmoid", "HardSwish", "Shrink", "Sign", "Softplus", "Softsign",
    "Tan", "ThresholdedRelu",
})  # fmt: skip
"""Operators that work element by element by a bound of their own."""


def _is_elementwise(step: Step) -> bool:
    op = step.op
    return op is not None and (isinstance(op.bound, Elementwise) or op.name in _POINTWISE)


def _evaluate(state: State, branch: Branch, usual: Box | None) -> Box | None:
    """The branch's Box where its condition holds; None if that says nothing new."""
    parts: list[tuple[tuple[Fact, ...], dict[int, Box]]] = []
    for way in branch.ways:
        refined = _cut(state, way)
        if state.setting.facts:
            _measure(state, branch, refined)
        parts += [(way, part) for part in (_sides(state, branch, refined) if state.setting.facts else [refined])]
    if not all(part or _related(state, branch, way) for way, part in parts):
        return None
    whole: Box | None = None
    for way, part in parts:
        box = _along(state, branch, (way, part), usual)
        if box is None:
            return None
        whole = box if whole is None else join(whole, box)
    return whole


def _cut(state: State, way: tuple[Fact, ...]) -> dict[int, Box]:
    """The compared values, where all of these facts hold."""
    refined: dict[int, Box] = {}
    for fact in way:
        box = refined.get(fact.slot, state.boxes[fact.slot])
        other = None if fact.other < 0 else state.boxes[fact.other]
        if box is None or (fact.other >= 0 and other is None):
            continue
        better = under(box, fact, other)
        if better is not None:
            refined[fact.slot] = better
    return refined


def _measure(state: State, branch: Branch, refined: dict[int, Box]) -> None:
    """Bounds on x from those on |x| and -x."""
    for slot, measure in branch.measured:
        box, known, step = state.boxes[slot], refined.get(measure), state.makers.get(measure)
        if slot == measure or box is None or known is None or step is None:
            continue
        if resolved(state, measure) == resolved(state, slot) and known.dtype is box.dtype and known.shape == box.shape:
            refined[slot] = meet(refined.get(slot, box), known)
            continue
        if not plain(box, known):
            continue
        if state.setting.keeps_float32(box.dtype) or step.node.op not in {"Abs", "Neg"}:
            continue
        lo, hi = known.hull()
        refined[slot] = within(refined.get(slot, box), -hi, hi if step.node.op == "Abs" else -lo)


def _sides(state: State, branch: Branch, refined: dict[int, Box]) -> list[dict[int, Box]]:
    """What is known where the condition holds; twice, where that keeps a value away from 0 on both sides."""
    for slot, _ in branch.measured:
        box, usual = refined.get(slot, state.boxes[slot]), state.hulls[slot]
        if box is None or usual is None or not plain(box, usual) or not usual.hull()[0] <= 0.0 <= usual.hull()[1]:
            continue
        far = away(state, slot, (branch.given,))
        parts = (
            [part for part in (within(box, -inf, -far), within(box, far, inf)) if part.has_finite] if far > 0.0 else []
        )
        if len(parts) == 2:
            return [{**refined, slot: part} for part in parts]
        refined.update((slot, part) for part in parts)
    return [refined]


def _related(state: State, branch: Branch, way: tuple[Fact, ...]) -> bool:
    """Whether a difference is computed whose sign the condition tells."""
    return state.setting.facts and any(_sign(state, way, step) is not None for step in branch.chain)


def _sign(state: State, way: tuple[Fact, ...], step: Step) -> tuple[float, float] | None:
    """Bounds of x - y where x > y: at least the smallest number of the type, since a difference of floats is only 0 for
    equal ones.
    """
    if step.node.op != "Sub":
        return None
    boxes = [state.hulls[slot] for slot in step.inputs]
    x = boxes[0]
    if x is None or not plain(*boxes) or state.setting.keeps_float32(x.dtype):
        return None
    for fact in way:
        if (fact.slot, fact.other) == step.inputs:
            least = {">": x.dtype.quantum, "not <=": x.dtype.quantum, ">=": 0.0, "not <": 0.0}.get(fact.relation)
            most = {"<": -x.dtype.quantum, "not >=": -x.dtype.quantum, "<=": 0.0, "not >": 0.0}.get(fact.relation)
            if least is not None or most is not None:
                return -inf if least is None else least, inf if most is None else most
    return None


def _along(
    state: State, branch: Branch, given: tuple[tuple[Fact, ...], dict[int, Box]], usual: Box | None
) -> Box | None:
    """The branch's Box where some values are known better; None if it isn't computed from these."""
    way, refined = given
    if not branch.chain:
        slots = {f.slot for f in way} | {slot for slot, _ in branch.measured}
        for slot in slots:
            if state.boxes[slot] is usual:
                return refined.get(slot)
        return None
    known = dict(refined)
    result: Box | None = None
    for step in branch.chain:
        operands = [known.get(s, state.boxes[s]) if s >= 0 else None for s in step.inputs]
        if any(box is None for s, box in zip(step.inputs, operands, strict=True) if s >= 0):
            return None
        assert step.op is not None
        call = Call(step.op, step.attrs, state.setting, len(step.outputs))
        bound = step.op.bound(call, *operands)
        result = bound[0] if isinstance(bound, tuple) else bound
        ends = _sign(state, way, step) if state.setting.facts else None
        if ends is not None and plain(result):
            result = within(result, *ends)
        known[step.outputs[0]] = result
    if result is None or usual is None or result.shape != usual.shape:
        return None
    # on its way the branch has lost what facts said of it
    return meet(result, usual)
