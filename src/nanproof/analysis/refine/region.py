"""The part of a program that one site depends on, as a small program of its own.

Two kinds. The *near* region is what lies before a node and treats every element
by itself: each element of the node's operands then depends on one element of
each value in it. So such a value may be cut as a whole ("x in [0, 1], or in
[1, 2]") although its elements may lie in different parts: each element of the
node has its own part. A value that is reached along two different ways of
moving elements (x and its own transpose) can't be cut like that.

The *far* region is everything before the node. In it only single elements of
small values are cut, which leaves nothing out whatever the operators are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import prod

from nanproof.analysis.refine.parts import Place
from nanproof.domain.box import Box
from nanproof.model.lower import Program, Step

POINTWISE = frozenset({
    "Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "Cast", "CastLike", "Ceil", "Celu", "Clip",
    "Cos", "Cosh", "Div", "Elu", "Equal", "Erf", "Exp", "Expand", "Floor", "Gelu", "Greater", "GreaterOrEqual",
    "HardSigmoid", "HardSwish", "Identity", "IsInf", "IsNaN", "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Mean",
    "Min", "Mish", "Mod", "Mul", "Neg", "Not", "Or", "PRelu", "Pow", "Reciprocal", "Relu", "Round", "Selu", "Shrink",
    "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Swish", "Tan", "Tanh",
    "ThresholdedRelu", "Where", "Xor",
})  # fmt: skip
"""Operators whose result at a place depends on the operands at that place only, broadcast as in NumPy."""

MOVING = frozenset({
    "DepthToSpace", "Flatten", "Gather", "GatherElements", "GatherND", "Reshape", "Slice", "SpaceToDepth", "Split",
    "Squeeze", "Tile", "Transpose", "Unsqueeze",
})  # fmt: skip
"""Operators whose every result element is one element of the first operand."""

STEPS = 48
"""Most steps of a near region."""

LONGEST = 4_000
"""Most steps of a far region."""

FEW = 8
"""Values of at most so many elements are cut element by element."""

PLACES = 24
"""Most places of a region that are considered for a cut."""

WEIGHT = 1 << 15
"""So many stored elements count as much as a step, for what running it costs."""

BLOCKS = 4
"""What a step in blocks costs beside one in a single interval."""

Boxes = Callable[[int], "Box | None"]


@dataclass(frozen=True, slots=True)
class Region:
    """Steps in running order, the last of which is the target; what they start from; and where they may be cut.

    ``points`` are values at which something changes for a slot: what it is compared with or clipped to.
    ``whole`` says that this is a near region, in which an element stands for itself only.
    """

    steps: tuple[Step, ...]
    start: Mapping[int, Box]
    places: tuple[Place, ...]
    points: Mapping[int, tuple[float, ...]]
    whole: bool
    cost: int

    @property
    def target(self) -> Step:
        """The step whose sites are in question."""
        return self.steps[-1]


class Atlas:
    """Where every slot of the outermost level is made."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.index = {slot: i for i, step in enumerate(program.steps) for slot in step.outputs if slot >= 0}

    def frontier(self, target: Step) -> set[int]:
        """What the near region of a step starts from."""
        return self._cone(target)[2]

    def near(self, target: Step, boxes: Boxes) -> Region | None:
        """The near region of a step, None where the step itself mixes elements."""
        steps, labels, ends = self._cone(target)
        if not steps:
            return None
        start = {slot: box for slot in ends if (box := boxes(slot)) is not None}
        if len(start) < len(ends):
            return None
        matters = _matter(steps, boxes)
        free = [slot for slot, label in labels.items() if label is not None and slot in matters]
        free.sort(key=lambda slot: (slot not in start, slot))
        places = tuple(Place(slot) for slot in free[:PLACES])
        return Region(tuple(steps), start, places, _points(steps, boxes), True, _cost(steps, start))

    def _cone(self, target: Step) -> tuple[list[Step], dict[int, object], set[int]]:
        """Steps before (and with) the target, the way to every slot (None: several), and the slots that they start from."""
        if not _walkable(target) or target.node.op in MOVING:
            return [], {}, set()
        labels: dict[int, object] = dict.fromkeys((s for s in target.outputs if s >= 0), ())
        waiting = [-self.index[target.outputs[0]]]
        found: dict[int, Step] = {}
        while waiting and len(found) < STEPS:
            at = -heappop(waiting)
            if at in found:
                continue
            step = found[at] = self.program.steps[at]
            for slot, label in _ways(step, labels):
                if slot < 0:
                    continue
                labels[slot] = label if labels.get(slot, label) == label else None
                before = self.index.get(slot)
                if before is not None and _walkable(self.program.steps[before]):
                    heappush(waiting, -before)
        steps = [found[i] for i in sorted(found)]
        made = {slot for step in steps for slot in step.outputs}
        return steps, labels, {slot for step in steps for slot in step.inputs if slot >= 0 and slot not in made}

    def far(self, target: Step, initial: Boxes, boxes: Boxes) -> Region | None:
        """Everything before a step; the target may be control flow."""
        found: set[int] = set()
        waiting = [-self.index[next(slot for slot in target.outputs if slot >= 0)]]
        heapify(waiting)
        start: dict[int, Box] = {}
        while waiting:
            at = -heappop(waiting)
            if at in found:
                continue
            if len(found) >= LONGEST:
                return None
            found.add(at)
            for slot in _reads(self.program.steps[at]):
                before = self.index.get(slot)
                if before is not None:
                    heappush(waiting, -before)
                elif slot in self.program.initial and slot not in start:
                    box = initial(slot)
                    if box is None:
                        return None
                    start[slot] = box
        steps = [self.program.steps[i] for i in sorted(found)]
        outputs = {slot for step in steps if step.branches for slot in step.outputs}
        small = [slot for slot in _matter(steps, boxes) if slot not in outputs and 0 < _count(boxes(slot)) <= FEW]
        small.sort(key=lambda slot: (slot not in start, -slot))
        places = [Place(slot, i) for slot in small for i in range(_count(boxes(slot)))]
        cost = BLOCKS * _cost(steps, start)
        return Region(tuple(steps), start, tuple(places[:PLACES]), _points(steps, boxes), False, cost)

    def sources(self, region: Region) -> Iterator[Step]:
        """The steps of a far region that treat elements by themselves and feed one that doesn't, in running order."""
        wanted = {slot for step in region.steps if not _walkable(step) for slot in step.inputs}
        yield from (step for step in region.steps[:-1] if _walkable(step) and not wanted.isdisjoint(step.outputs))


def _walkable(step: Step) -> bool:
    op = step.op
    return op is not None and not step.branches and not op.domain and (op.name in POINTWISE or op.name in MOVING)


def _ways(step: Step, labels: Mapping[int, object]) -> Iterator[tuple[int, object]]:
    """The way from each operand to the target, by the ways from the results: a path of movements."""
    name = step.node.op
    for place, out in enumerate(step.outputs):
        if out not in labels:
            continue
        label = labels[out]
        for position, slot in enumerate(step.inputs):
            if name in MOVING or name in {"CastLike", "Expand"}:
                moved = (step.outputs[0], place, label) if name in MOVING else label
                yield slot, moved if position == 0 and label is not None else None
            else:
                yield slot, label


def _reads(step: Step) -> Iterator[int]:
    """The slots that a step reads, those that its bodies capture included."""
    yield from (slot for slot in step.inputs if slot >= 0)
    for branch in step.branches:
        for inner in branch.steps:
            yield from _reads(inner)
        yield from branch.outputs


_JUMPING = frozenset({"Sign", "Floor", "Ceil", "Round", "Cast", "Mod", "If"})
"""Operators whose results leave values out, so that a part of the operand can give less than a part of the result."""


def _matter(steps: list[Step], boxes: Boxes) -> set[int]:
    """The slots that it may help to cut.

    A value that is used once can only matter where a function jumps: elsewhere the
    interval of the result is the union of what the parts give, whatever the parts.
    """
    uses: dict[int, int] = {}
    for step in steps:
        for slot in step.inputs:
            uses[slot] = uses.get(slot, 0) + (2 if step.node.op in _JUMPING else 1)
        for branch in step.branches:
            for inner in branch.steps:
                for slot in _reads(inner):
                    uses[slot] = uses.get(slot, 0) + 1
    uses.pop(-1, None)
    return {
        s for s, n in uses.items() if (box := boxes(s)) is not None and _may_vary(box) and (n > 1 or box.dtype.is_bool)
    }


def _may_vary(box: Box) -> bool:
    """Whether there is anything to cut."""
    if (
        type(box) is not Box
        or box.known is not None
        or not (box.dtype.is_float or box.dtype.is_integer or box.dtype.is_bool)
    ):
        return False
    lo, hi = box.hull()
    return lo < hi


def _count(box: Box | None) -> int:
    """The number of elements, 0 where it isn't known."""
    if box is None or box.shape is None or not all(isinstance(n, int) for n in box.shape):
        return 0
    return prod(n for n in box.shape if isinstance(n, int))


_EDGES = frozenset({"Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal", "Clip", "Max", "Min"})


def _points(steps: list[Step], boxes: Boxes) -> dict[int, tuple[float, ...]]:
    """The numbers that values are compared with or clipped to, and where a sign changes."""
    found: dict[int, dict[float, None]] = {}
    for step in steps:
        if step.node.op == "Sign":
            found.setdefault(step.inputs[0], {})[0.0] = None
        if step.node.op not in _EDGES:
            continue
        for slot in step.inputs:
            for other in step.inputs:
                box = boxes(other) if other >= 0 and other != slot else None
                if box is not None and box.is_point:
                    found.setdefault(slot, {})[float(box.lo)] = None
    return {slot: tuple(values) for slot, values in found.items()}


def _cost(steps: list[Step], start: Mapping[int, Box]) -> int:
    """What one run over the steps takes, counted in steps."""
    stored = sum(box.known.size for box in start.values() if box.known is not None)
    nested = sum(len(branch.steps) for step in steps for branch in step.branches)
    return len(steps) + 16 * nested + stored // WEIGHT
