"""Running a region on one part of its domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from nanproof.analysis.propagate import run_level
from nanproof.analysis.refine.parts import Ends, Place, cut_to
from nanproof.analysis.refine.region import Region
from nanproof.analysis.state import State, hull_of, new_state
from nanproof.domain.box import Box
from nanproof.model.lower import Program, Step
from nanproof.ops.call import Call, Event, Setting
from nanproof.ops.elementwise import Elementwise

Domain = Mapping[Place, Ends]
Change = Callable[[Call, tuple[Box, ...]], tuple[Box, ...]]
"""What becomes of the results of a step, and of what the call has noted."""


class _Changed(Elementwise):
    """An elementwise bound whose result is changed; it still is one for whoever asks (``masking``)."""

    def __init__(self, bound: Elementwise, change: Change) -> None:
        super().__init__(bound.rule)
        self.bound, self.change = bound, change

    def __call__(self, call: Call, *boxes: Box) -> Box:
        return self.change(call, (self.bound(call, *boxes),))[0]


def changed(step: Step, change: Change) -> Step:
    """The same step, with something done to its results."""
    op = step.op
    assert op is not None
    bound = op.bound
    if isinstance(bound, Elementwise):
        return replace(step, op=replace(op, bound=_Changed(bound, change)))

    def wrapped(call: Call, *boxes: Box | None) -> Box | tuple[Box, ...]:
        found = bound(call, *boxes)
        results = change(call, found if isinstance(found, tuple) else (found,))
        return results if isinstance(found, tuple) else results[0]

    return replace(step, op=replace(op, bound=wrapped))


@dataclass(frozen=True, slots=True)
class Seen:
    """What one run showed: the target's failing sites, its results, and every value's Box."""

    events: tuple[Event, ...]
    results: tuple[Box, ...]
    value: Callable[[int], Box | None]

    @property
    def width(self) -> float:
        """How wide the failing intervals are, all together."""
        return sum(min(e.ends[1] - e.ends[0], 1e300) if e.ends[0] <= e.ends[1] else 0.0 for e in self.events)


class Runner:
    """Runs one region on parts of its domain, under what is known of it anyway."""

    def __init__(self, region: Region, program: Program, setting: Setting, known: Callable[[int], Box | None]) -> None:
        self.region = region
        self.outer = program
        # what a value is in a part of a near region holds for one element only: rules about rows must not see it
        self.setting = replace(setting, facts=setting.facts and not region.whole)
        self.steps = [self._bounded(step, known) for step in region.steps] if region.whole else list(region.steps)
        self.makers = {slot: i for i, step in enumerate(region.steps) for slot in step.outputs if slot >= 0}

    def _bounded(self, step: Step, known: Callable[[int], Box | None]) -> Step:
        """A step whose results stay within what the run over the whole program showed."""
        limits = [known(slot) if slot >= 0 else None for slot in step.outputs]
        ends = [None if box is None or not box.has_finite else box.hull() for box in limits]
        return changed(step, lambda _, results: _limited(results, ends))

    def run(self, domain: Domain) -> Seen:
        """Propagate through the region with its values cut as the domain says."""
        steps = self._cut(domain)
        outputs = tuple(slot for slot in self.region.target.outputs if slot >= 0)
        program = Program(steps, (), outputs, [()] * len(steps), self.outer.names, self.outer.size)
        state = new_state(program, self.setting)
        for slot, box in self.region.start.items():
            cut = box
            for place, ends in domain.items():
                if place.slot == slot:
                    cut = cut_to(cut, place, ends)
            state.boxes[slot], state.hulls[slot] = cut, hull_of(cut)
        run_level(state, program, certain=True)
        return Seen(_events(state, steps[-1]), _results(state, outputs), state.boxes.__getitem__)

    def margin(self, seen: Seen, events: Sequence[Event]) -> float:
        """How far the target is from failing in one of these ways: its conditions' margins at the ends of its operands."""
        step = self.region.target
        op = step.op
        hulls = [
            box.hull() if slot >= 0 and (box := seen.value(slot)) is not None else (0.0, 0.0) for slot in step.inputs
        ]
        codes = {event.code for event in events}
        least = inf
        for requirement in op.requires if op is not None else ():
            if requirement.code in codes:
                ends = [requirement.condition.margin(np, [pair[i] for pair in hulls], step.attrs) for i in (0, 1)]
                least = min(least, *(float(np.min(end)) for end in ends))
        if least == inf:
            least = -max((abs(end) for box in seen.results for end in box.hull()), default=0.0)
        return least

    def _cut(self, domain: Domain) -> list[Step]:
        steps = self.steps
        for place, ends in domain.items():
            at = self.makers.get(place.slot)
            if at is None:
                continue
            if steps is self.steps:
                steps = list(steps)
            steps[at] = _with_cut(steps[at], place, ends)
        return steps


def _with_cut(step: Step, place: Place, ends: Ends) -> Step:
    position = step.outputs.index(place.slot)

    def change(_: Call, results: tuple[Box, ...]) -> tuple[Box, ...]:
        if position >= len(results):
            return results
        return (*results[:position], cut_to(results[position], place, ends), *results[position + 1 :])

    return changed(step, change)


def _limited(results: tuple[Box, ...], ends: Sequence[Ends | None]) -> tuple[Box, ...]:
    return tuple(
        box if end is None else cut_to(box, Place(-1), end)
        for box, end in zip(results, [*ends, *[None] * 8], strict=False)
    )


def _events(state: State, target: Step) -> tuple[Event, ...]:
    """What failed at the target, or in the bodies that it runs."""
    if target.branches:
        inner = set(_nested(target))
        return tuple(site.event for site in state.sites if id(site.step) in inner)
    return tuple(site.event for site in state.sites if site.step is target)


def _nested(step: Step) -> list[int]:
    found = []
    for branch in step.branches:
        for inner in branch.steps:
            found += [id(inner), *_nested(inner)]
    return found


def _results(state: State, outputs: Sequence[int]) -> tuple[Box, ...]:
    found = []
    for slot in outputs:
        box = state.boxes[slot]
        assert box is not None
        found.append(box)
    return tuple(found)


def is_void(seen: Seen) -> bool:
    """Whether no execution has its values in this part."""
    return all(box.hull() == (inf, -inf) and not box.flags for box in seen.results)
