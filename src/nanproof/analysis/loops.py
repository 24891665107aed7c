"""Loop and Scan: unrolled while the course is decided, else a fixpoint.

A loop whose trip count and condition are known is unrolled, up to a limit. From
where they aren't (or the limit is reached), the carried values are iterated to
a fixpoint: joined with what the body makes of them, widened until nothing
grows, then narrowed by one more pass. The findings of a body come from the
unrolled iterations and from the last pass over the fixpoint, never from a trial.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import inf

import numpy as np

from nanproof.analysis.assuming import source, told
from nanproof.analysis.branching import RunLevel
from nanproof.analysis.state import State, Trial
from nanproof.dims import Size, bounds, symbol
from nanproof.domain.box import Box, finite, of_array, top
from nanproof.domain.lattice import contains, join, renamed, unrelated, widen
from nanproof.domain.moves import concatenated, merged_over, part, reshaped
from nanproof.domain.partition import Blocks, blocks_of, pack
from nanproof.domain.series import forgotten
from nanproof.model.lower import Program, Step
from nanproof.numerics.dtypes import BOOL, INT64, DType

UNROLLED = 64
"""Most iterations of one loop that are analysed one by one."""

UNROLLED_NODES = 20_000
"""Most nodes that unrolling one loop may visit."""

FOREVER = 2.0**62
"""A trip count that only the condition ends: what a loop without one has."""

PATIENCE = 12
"""Widening steps until the carried values that still move are given up."""


@dataclass(slots=True)
class Course:
    """How many iterations there may be, and how an iteration is fed.

    ``most`` None is unbounded. ``conditional`` says that the body's first result
    decides whether to go on. ``length`` names the number of iterations where it
    isn't ``least`` and ``most`` at once.
    """

    least: int
    most: int | None
    length: Size
    conditional: bool


def run_loop(state: State, step: Step, *, certain: bool, run: RunLevel) -> tuple[Box, ...]:
    """ONNX Loop: operands are the trip count, the condition and the carried values."""
    body = step.branches[0]
    count = _operand(state, step, 0)
    go = _operand(state, step, 1)
    carried = [_value(state, slot) for slot in step.inputs[2:]]
    low, high = (FOREVER, inf) if count is None else count.hull()
    least, most = max(int(low), 0), None if high >= FOREVER else max(int(high), 0)
    if go is not None and go.hull()[1] <= 0:
        least, most = 0, 0
    elif go is not None and go.hull()[0] < 1:
        least = 0
    # named after a slot, since the first results may be absent
    length: Size = symbol(f"{max(step.outputs)}@trips")
    loop = _Loop(state, step, body, run, Course(least, most, length, conditional=True))
    return loop.results(carried, certain=certain)


def run_scan(state: State, step: Step, *, certain: bool, run: RunLevel) -> tuple[Box, ...]:
    """ONNX Scan: carried values, and tensors that are walked through along an axis."""
    body = step.branches[0]
    walked = int(step.attrs["num_scan_inputs"])  # type: ignore[arg-type]
    operands = [_value(state, slot) for slot in step.inputs]
    split = len(operands) - walked
    axes = _axes(step, "scan_input_axes", walked)
    backwards = _axes(step, "scan_input_directions", walked)
    feeds = [_Walk(box, axis, bool(back)) for box, axis, back in zip(operands[split:], axes, backwards, strict=True)]
    length: Size = feeds[0].length
    # an axis of open size isn't unrolled: there is no telling its slices apart
    least, most = (length, length) if isinstance(length, int) else (0, bounds(length, state.setting.dims)[1])
    loop = _Loop(state, step, body, run, Course(least, most, length, conditional=False), feeds)
    return loop.results(operands[:split], certain=certain)


@dataclass(frozen=True, slots=True)
class _Walk:
    """A tensor that a Scan walks through."""

    box: Box
    axis: int
    backwards: bool

    @property
    def place(self) -> int:
        rank = 0 if self.box.shape is None else len(self.box.shape)
        return self.axis % rank if rank else 0

    @property
    def length(self) -> Size:
        return symbol("scan_length") if self.box.shape is None else self.box.shape[self.place]

    def at(self, iteration: int) -> Box:
        """The slice of one iteration, of an axis of known size."""
        assert self.box.shape is not None
        size = self.box.shape[self.place]
        assert isinstance(size, int)
        index = size - 1 - iteration if self.backwards else iteration
        return self._without_axis(part(self.box, self.place, (index, index + 1, 1)))

    def anywhere(self) -> Box:
        """A slice of any iteration."""
        if self.box.shape is None:
            return Box(self.box.dtype, None, *self.box.hull(), self.box.flags)
        whole = merged_over(self.box, (self.place,))
        shape = (*self.box.shape[: self.place], 1, *self.box.shape[self.place + 1 :])
        return self._without_axis(pack(self.box.dtype, shape, whole.cuts, blocks_of(whole)))

    def _without_axis(self, box: Box) -> Box:
        assert box.shape is not None
        return reshaped(box, (*box.shape[: self.place], *box.shape[self.place + 1 :]))


class _Loop:
    """One loop being analysed: its body, its course, and the slices of its stacked results."""

    def __init__(  # noqa: PLR0917 - made in two places, above
        self, state: State, step: Step, body: Program, run: RunLevel, course: Course, feeds: Sequence[_Walk] = ()
    ) -> None:
        self.state, self.step, self.body, self.run = state, step, body, run
        self.course, self.feeds = course, feeds
        self.constants = own_constants(state, body)
        first = 2 if course.conditional else 0
        self.flowed: dict[int, dict[int, None]] = {}
        self.always = True  # whether the body's condition, if it has one, surely lets every iteration go on
        self.labels = [state.program.names[slot] for slot in body.inputs[first:]]

    def results(self, carried: list[Box], *, certain: bool) -> tuple[Box, ...]:
        """The Boxes of the node's results."""
        width = len(carried)
        slices: list[list[Box]] = []
        done, decided = 0, True
        counted = (self.state.total, self.state.nodes)
        limit = min(UNROLLED, max(1, UNROLLED_NODES // max(1, len(self.body.steps))))
        while decided and done < self.course.least and done < limit and self.state.work < self.state.most_work:
            go, carried, stacked = self._iterate(carried, done, certain=certain)
            self._collect()
            counted = counted if done else (self.state.total, self.state.nodes)
            slices.append(stacked)
            done += 1
            if self.course.conditional and go is not None:
                low, high = go.hull()
                if high <= 0:
                    return self._finished(carried, slices, done)
                decided = self.always = low >= 1
        if self.course.most == done:
            self._recount(counted, done)
            return self._finished(carried, slices, done)
        carried, stacked = self._fixpoint(carried, width, done)
        self._recount(counted, done)
        slices.append(stacked)
        return self._finished(carried, slices, None)

    def _recount(self, counted: tuple[int, int], done: int) -> None:
        """Sites and nodes of a body count once, however often it was visited."""
        if done:
            self.state.total, self.state.nodes = counted

    def _iterate(
        self, carried: Sequence[Box], iteration: int | None, *, certain: bool
    ) -> tuple[Box | None, list[Box], list[Box]]:
        """One pass over the body: (condition, carried values, slices of stacked results)."""
        state, body = self.state, self.body
        for slot, box in self.constants:
            state.boxes[slot] = box
        formal = list(body.inputs)
        carried = [renamed(b, label, state.setting.dims) for b, label in zip(carried, self.labels, strict=False)]
        if self.course.conditional:
            state.boxes[formal[0]] = _counter(iteration, self.course.most)
            state.boxes[formal[1]] = finite(BOOL, (), 1, 1)
            formal = formal[2:]
        feeds = [f.anywhere() if iteration is None else f.at(iteration) for f in self.feeds]
        for slot, box in zip(formal, (*carried, *feeds), strict=True):
            state.boxes[slot] = box
            state.hulls[slot] = box
        self._carry_origins(formal, len(carried))
        self.run(state, body, certain=certain)
        outputs = [_value(state, slot) for slot in body.outputs]
        go = outputs.pop(0) if self.course.conditional else None
        return go, outputs[: len(carried)], outputs[len(carried) :]

    def _carry_origins(self, formal: Sequence[int], width: int) -> None:
        """What flowed into the operands, or out of the previous iteration, flows into the body."""
        state = self.state
        first = 2 if self.course.conditional else 0
        after = self.body.outputs[1 if self.course.conditional else 0 :]
        for place, slot in enumerate(formal):
            sources = [self.step.inputs[first + place]]
            sources += [after[place]] if place < width else []
            found = tuple(dict.fromkeys(i for s in sources for i in state.origins.get(s, ())))
            if found:
                state.origins[slot] = found

    def _collect(self) -> None:
        """Note what flows out of one iteration that counts."""
        inner = self.body.outputs[1 if self.course.conditional else 0 :]
        for place, slot in enumerate(inner):
            known = self.flowed.setdefault(place, {})
            known.update(dict.fromkeys(self.state.origins.get(slot, ())))

    def _fixpoint(self, carried: list[Box], width: int, done: int) -> tuple[list[Box], list[Box]]:
        """Carried values after any number of further iterations, and any slice."""
        if self.state.work >= self.state.most_work:
            return self._given_up(carried, width)
        entry, current = carried, self._settled(carried, None)
        if any(map(_is_boundless, current)):
            # a counter that was widened too far on its way may have spoilt others: now its limits are known
            current = self._settled(entry, current)
        if any(map(_is_boundless, current)):
            current = self._counted(entry, done) or current
        go, after, stacked = self._iterate(current, None, certain=False)
        self._collect()
        self.always = self.always and (go is None or go.hull()[0] >= 1)
        return [join(a, b) for a, b in zip(entry, after, strict=True)][:width], stacked

    def _settled(self, entry: list[Box], known: list[Box] | None) -> list[Box]:
        """Values that any further iteration starts from, and that the body doesn't lead out of.

        ``known`` are such values already: what is found now lies within them.
        """
        # a relation of the values on entry says nothing of later ones
        current = [unrelated(b) for b in entry]
        for attempt in count():
            after = _within(self._going_on(current), known)
            held = [contains(a, b, n) for a, b, n in zip(current, after, self.labels, strict=False)]
            if all(held):
                break
            if attempt >= PATIENCE:
                current = [a if ok else _loosened(a, b) for a, b, ok in zip(current, after, held, strict=False)]
            else:
                grown = [join(a, b, n) for a, b, n in zip(current, after, self.labels, strict=False)]
                pairs = zip(current, grown, self.labels, strict=False)
                current = _within([widen(a, b, n) for a, b, n in pairs] if attempt else grown, known)
        # narrowing: one more pass from a fixpoint stays above every run
        after = _within(self._going_on(current), known)
        narrowed = [join(a, b, n) for a, b, n in zip(entry, after, self.labels, strict=False)]
        return [unrelated(n) if contains(c, n) else c for c, n in zip(current, narrowed, strict=True)]

    def _going_on(self, current: list[Box]) -> list[Box]:
        """What the next iteration starts from: the carried values, where the body's condition holds."""
        state = self.state
        with Trial(state):
            go, after, _ = self._iterate(current, None, certain=False)
            if go is None or not state.setting.masks:
                return after
            condition, *results = self.body.outputs
            sources = [source(state, slot) for slot in results[: len(after)]]
            cut = told(state, condition, dict(zip(sources, after, strict=True)).get, truth=True)
        return [cut.get(at, box) for at, box in zip(sources, after, strict=True)]

    def _counted(self, entry: list[Box], done: int) -> list[Box] | None:
        """The values that an iteration can start from, where there are few enough to go through them one by one.

        Nothing is widened: what grows a little with every iteration has grown that often at most. None where the
        number of iterations is unknown or too large.
        """
        most, state = self.course.most, self.state
        if most is None or (most - done) * max(1, len(self.body.steps)) > UNROLLED_NODES:
            return None
        current = [unrelated(b) for b in entry]
        for _ in range(most - done - 1):
            if state.work >= state.most_work:
                return None
            after = self._going_on(current)
            if all(contains(a, b, n) for a, b, n in zip(current, after, self.labels, strict=False)):
                break
            current = [unrelated(join(a, b, n)) for a, b, n in zip(current, after, self.labels, strict=False)]
        return current

    def _given_up(self, carried: list[Box], width: int) -> tuple[list[Box], list[Box]]:
        """Any values at all, and one pass over the body for its sites."""
        self.state.notes["loops within loops are too much work: what some of them carry is taken as any value"] = None
        current = [forgotten(b) for b in carried]
        go, _, stacked = self._iterate(current, None, certain=False)
        self.always = self.always and (go is None or go.hull()[0] >= 1)
        return current[:width], stacked

    def _slice_dtype(self, carried: list[Box], place: int) -> DType:
        """The dtype of a stacked result without slices: that of the slice which an iteration would give."""
        with Trial(self.state):
            _, _, stacked = self._iterate(carried, None, certain=False)
        return stacked[place].dtype

    def _finished(self, carried: list[Box], slices: list[list[Box]], done: int | None) -> tuple[Box, ...]:
        """Carry what flowed through the body to the node's results, and stack the slices."""
        state, step, body = self.state, self.step, self.body
        inner = body.outputs[1:] if self.course.conditional else body.outputs
        # what is carried round may come out of any result in a later iteration
        around = [i for place in range(len(carried)) for i in self.flowed.get(place, ())]
        for place, (outer, slot) in enumerate(zip(step.outputs, inner, strict=False)):
            if outer < 0:
                continue
            found = (*state.origins.get(outer, ()), *self.flowed.get(place, ()), *around)
            if found:
                state.origins[outer] = tuple(dict.fromkeys(found))
            if slot in state.weak:
                state.weak.add(outer)
        course = self.course
        sure = course.least if course.least == course.most and self.always else course.length
        length: Size = sure if done is None else done
        axes = _axes(step, "scan_output_axes", len(inner) - len(carried))
        backwards = _axes(step, "scan_output_directions", len(inner) - len(carried))
        stacks = []
        for place, (axis, back) in enumerate(zip(axes, backwards, strict=True)):
            column = [_slice(s[place], state) for s in slices]
            if back:
                column.reverse()
            declared = state.declared.get(state.program.names[inner[len(carried) + place]])
            stacks.append(_stacked(column, axis, length, None if declared is None else declared.shape, done))
            if not column:
                stacks[-1] = Box(self._slice_dtype(carried, place), None, inf, -inf)
        return (*carried, *stacks)


def _slice(box: Box, state: State) -> Box:
    """A slice whose sizes don't mean another number in every iteration."""
    if box.shape is None or box.known is not None:
        return box if box.known is None or box.known.dtype != object else Box(box.dtype, box.shape, *box.hull())
    named = renamed(box, "slice", state.setting.dims)
    return box if named is box else Box(box.dtype, None, *box.hull(), box.flags)


def _stacked(column: list[Box], axis: int, length: Size, shape: object, done: int | None) -> Box:
    """Slices as one tensor with a new axis."""
    if not column:
        return top(INT64)
    ranked = [b for b in column if b.shape is not None]
    if len(ranked) != len(column) or len({len(b.shape or ()) for b in column}) != 1:
        lo, hi = min(b.hull()[0] for b in column), max(b.hull()[1] for b in column)
        flags = 0
        for box in column:
            flags |= box.flags
        return Box(column[0].dtype, None, lo, hi, flags)
    rank = len(column[0].shape or ())
    place = axis % (rank + 1)
    lifted = [reshaped(b, (*(b.shape or ())[:place], 1, *(b.shape or ())[place:])) for b in column]
    if done is not None:
        return concatenated(lifted, place)
    whole = lifted[0]
    for box in lifted[1:]:
        whole = join(whole, box)
    full = (*(whole.shape or ())[:place], length, *(whole.shape or ())[place + 1 :])
    return Box(whole.dtype, full, *whole.hull(), whole.flags)


def _loosened(old: Box, new: Box) -> Box:
    """Any value of the same shape, if that stays the same; else any value at all."""
    limits = top(old.dtype).hull()
    if (
        type(old) is Box
        and type(new) is Box
        and old.shape == new.shape
        and (old.hull() != limits or old.cuts is not None)
    ):
        return top(old.dtype, old.shape)
    return forgotten(old)


def _is_boundless(box: Box) -> bool:
    """Whether a float that an iteration starts from can be anything, which may be the widening's doing."""
    return type(box) is Box and box.dtype.is_float and (box.flags > 0 or max(map(abs, box.hull())) >= box.dtype.max)


def _within(boxes: list[Box], known: list[Box] | None) -> list[Box]:
    """The Boxes, without what lies outside of others that hold the same values."""
    if known is None:
        return boxes
    return [_cut(box, limit) for box, limit in zip(boxes, known, strict=True)]


def _cut(box: Box, limit: Box) -> Box:
    if type(box) is not Box or type(limit) is not Box or not (box.has_finite and limit.has_finite):
        return box
    (low, high), blocks = limit.hull(), blocks_of(box)
    if box.known is not None or (box.hull()[0] >= low and box.hull()[1] <= high and not box.flags & ~limit.flags):
        return box
    spots = None if blocks.spots is None else blocks.spots & np.uint8(limit.flags)
    lo, hi = np.clip(blocks.lo, low, high), np.clip(blocks.hi, low, high)
    empty = np.asarray(blocks.lo) > np.asarray(blocks.hi)
    return pack(box.dtype, box.shape, box.cuts, Blocks(np.where(empty, inf, lo), np.where(empty, -inf, hi), spots))


def _counter(iteration: int | None, most: int | None) -> Box:
    if iteration is not None:
        return of_array(INT64, np.asarray(iteration))
    return finite(INT64, (), 0, 2.0**62 if most is None else max(most - 1, 0))


def own_constants(state: State, body: Program) -> list[tuple[int, Box]]:
    """Stored values that a pass over the body may drop after their last use there."""
    found: dict[int, Box] = {}

    def collect(program: Program) -> None:
        for slots in program.last_use:
            for slot in slots:
                box = state.boxes[slot]
                if slot in state.program.initial and box is not None:
                    found[slot] = box
        for step in program.steps:
            for branch in step.branches:
                collect(branch)

    collect(body)
    return list(found.items())


def _axes(step: Step, name: str, count: int) -> list[int]:
    given = step.attrs.get(name)
    return [int(a) for a in given] if isinstance(given, tuple) else [0] * count  # type: ignore[arg-type]


def _operand(state: State, step: Step, position: int) -> Box | None:
    slot = step.inputs[position] if position < len(step.inputs) else -1
    return state.boxes[slot] if slot >= 0 else None


def _value(state: State, slot: int) -> Box:
    box = state.boxes[slot]
    assert box is not None
    return box
