"""What a search has proved of a step, put into the program: the next run over all of it knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from nanproof.analysis.refine.running import changed
from nanproof.domain.box import Box
from nanproof.domain.lattice import meet
from nanproof.model.lower import Program, Step
from nanproof.ops.call import POSSIBLE, Call, Event

Outputs = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Lemma:
    """Of a step: the results lie in these Boxes, and no site but these can fail (None: nothing is known of its sites)."""

    boxes: tuple[Box, ...]
    events: tuple[Event, ...] | None


def with_lemmas(program: Program, lemmas: Mapping[Outputs, Lemma]) -> Program:
    """The program whose steps know what was proved of them."""
    steps = [_taught(step, lemmas[step.outputs]) if step.outputs in lemmas else step for step in program.steps]
    return replace(program, steps=steps)


def _taught(step: Step, lemma: Lemma) -> Step:
    assert step.op is not None
    infinite = step.op.infinite  # told by the engine itself, from the flags of operands and results
    events = [replace(e, verdict=POSSIBLE) for e in lemma.events or () if e.code != infinite]
    slots = [i for i, slot in enumerate(step.outputs) if slot >= 0]

    def change(call: Call, results: tuple[Box, ...]) -> tuple[Box, ...]:
        if call.events and lemma.events is not None:
            call.events[:] = events
        known = dict(zip(slots, lemma.boxes, strict=True))
        return tuple(_met(box, known[i]) if i in known else box for i, box in enumerate(results))

    return changed(step, change)


def _met(box: Box, known: Box) -> Box:
    """Both bounds at once, and the special values that both allow."""
    return box if type(box) is not Box or box.known is not None else meet(box, known)
