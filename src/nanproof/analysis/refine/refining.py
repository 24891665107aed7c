"""High effort: look at every site that stays open by itself, and teach the program what that proves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from nanproof.analysis.propagate import verdict_of
from nanproof.analysis.refine.lemmas import Lemma, Outputs, with_lemmas
from nanproof.analysis.refine.parts import Place
from nanproof.analysis.refine.region import Atlas, Region
from nanproof.analysis.refine.running import Runner
from nanproof.analysis.refine.search import Found, Purse, Search
from nanproof.analysis.refine.tighten import tightened
from nanproof.analysis.state import Site, State, key
from nanproof.domain.box import Box
from nanproof.findings import wording
from nanproof.model.lower import Program, Step
from nanproof.ops.call import INEVITABLE

ROUNDS = 4
"""What was proved may prove more further on: so many runs over the whole program at most."""

Run = Callable[[Program], State]


@dataclass(frozen=True, slots=True)
class Refined:
    """The last run over the whole program; what was proved, in sentences; how far it came with each step left open."""

    state: State
    proved: tuple[str, ...]
    remarks: Mapping[Outputs, str]


def refined(program: Program, run: Run, initial: Callable[[int], Box | None], purse: Purse) -> Refined:
    """Run the program, and again with what is proved of the steps that are left open, until nothing is added."""
    work = _Refinement(program, initial, purse)
    state = first = run(program)
    for _ in range(ROUNDS):
        targets = work.targets(state)
        if not targets:
            break
        state = run(work.keeping(targets))
        if not work.add(targets, state):
            break
        state = run(work.taught)
    return Refined(state, (*work.proved.values(), *work.consequences(first, state)), work.remarks)


class _Refinement:
    """The program with what has been proved of it so far."""

    def __init__(self, program: Program, initial: Callable[[int], Box | None], purse: Purse) -> None:
        self.program, self.initial, self.purse = program, initial, purse
        self.taught, self.atlas = program, Atlas(program)
        self.lemmas: dict[Outputs, Lemma] = {}
        self.proved: dict[object, str] = {}
        self.remarks: dict[Outputs, str] = {}
        self.looked: dict[tuple[Outputs, bool], object] = {}
        self.state: State

    def targets(self, state: State) -> list[Step]:
        """The steps of the outermost level with a site that may fail and isn't a mere consequence, in running order."""
        found = {site.step.outputs for site in state.sites if _is_open(site)}
        found -= {outputs for outputs, lemma in self.lemmas.items() if lemma.events is not None}
        places = sorted(self.atlas.index[o[0]] for o in found if o[0] in self.atlas.index)
        return [] if not places or self.purse.empty else [self.taught.steps[at] for at in places]

    def keeping(self, targets: list[Step]) -> Program:
        """The program, which doesn't forget what the regions before these steps start from."""
        kept = {slot for step in targets for slot in self.atlas.frontier(step)}
        last = [tuple(s for s in slots if s not in kept) if not kept.isdisjoint(slots) else slots
                for slots in self.taught.last_use]  # fmt: skip
        return replace(self.taught, last_use=last)

    def add(self, targets: list[Step], state: State) -> bool:
        """Look at each step, and teach the program what was proved; whether that was anything."""
        self.state = state
        count = len(self.lemmas)
        sharper = [step for step in targets if not self._prove(self.atlas.near(step, self._box))]
        for step in sharper:
            far = self.atlas.far(step, self.initial, state.hulls.__getitem__)
            if far is not None and not self._sharpen(far):
                self._prove(far)
        fresh = len(self.lemmas) > count
        self.taught = with_lemmas(self.program, self.lemmas)
        self.atlas = Atlas(self.taught)
        return fresh

    def _box(self, slot: int) -> Box | None:
        return self.state.boxes[slot] or self.state.hulls[slot]

    def _runner(self, region: Region) -> Runner:
        return Runner(region, self.taught, self.state.setting, self.state.hulls.__getitem__)

    def _prove(self, region: Region | None) -> bool:
        """Split the domain of a region; whether a site of its target is settled by that."""
        if region is None or not self._is_new(region):
            return False
        step, state = region.target, self.state
        found = Search(self._runner(region), self.purse).outcome()
        if found is None:
            return False
        left = {(e.code, e.operand) for e in found.open}
        settled = {(s.event.code, s.event.operand) for s in state.sites if s.step.outputs == step.outputs} - left
        if not settled:
            self.remarks.setdefault(step.outputs, _tried(found, state))
            return False
        self.lemmas[step.outputs] = Lemma(found.boxes, found.open)
        for code, operand in sorted(settled):
            self.proved[code, step.outputs, operand] = _proved(code, step, found, state)
        self.remarks.pop(step.outputs, None)
        return True

    def _sharpen(self, far: Region) -> bool:
        """Narrow what leads to a target; whether anything became narrower."""
        fresh = False
        for step in self.atlas.sources(far):
            near = self.atlas.near(step, self._box)
            if near is None or step.outputs in self.lemmas or not self._is_new(near):
                continue
            boxes = tightened(self._runner(near), self.purse)
            if boxes is not None:
                self.lemmas[step.outputs] = Lemma(boxes, None)
                fresh = True
        return fresh

    def _is_new(self, region: Region) -> bool:
        if not region.places:
            return False
        key = region.target.outputs, region.whole
        taught = tuple(step.outputs for step in region.steps if step.outputs in self.lemmas)
        now = taught, tuple((slot, *box.hull()) for slot, box in region.start.items())
        before, self.looked[key] = self.looked.get(key), now
        return before != now

    def consequences(self, first: State, last: State) -> list[str]:
        """What was open and is settled by what was found of values before it."""
        left = {key(site) for site in last.sites} | self.proved.keys()
        names = [
            self.program.names[slot]
            for outputs, known in self.lemmas.items()
            if known.events is None
            for slot in outputs
        ]
        gone = [s for s in first.sites if _is_open(s) and key(s) not in left] if names else []
        return [wording.proved_further_on(s.event.code, _label(s.step), names) for s in gone]


def _is_open(site: Site) -> bool:
    return not site.causes and bool(site.step.outputs) and verdict_of(site) != INEVITABLE and site.step.op is not None


def _label(step: Step) -> str:
    return step.node.name or step.node.outputs[0]


def _name(state: State, place: Place) -> str:
    name = state.program.names[place.slot]
    if place.element < 0:
        return name
    box = state.hulls[place.slot]
    return name if box is None or not box.shape else f"{name}[{place.element}]"


def _proved(code: str, step: Step, found: Found, state: State) -> str:
    parts = [(_name(state, place), len(ends)) for place, ends in found.cuts.items()]
    return wording.proved_by_cuts(code, _label(step), parts, found.cases)


def _tried(found: Found, state: State) -> str:
    parts = [(_name(state, place), len(ends)) for place, ends in found.cuts.items()]
    stuck = [(_name(state, place), *ends) for place, ends in (found.stuck or {}).items()]
    return wording.not_settled_by_cuts(parts, stuck, found.why)
