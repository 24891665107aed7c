"""What one propagation knows so far. The only mutable object of the analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nanproof.analysis.labelling import levels
from nanproof.domain.box import Box, top
from nanproof.model.graph import Declared
from nanproof.model.lower import Program, Step
from nanproof.numerics.dtypes import FLOAT32
from nanproof.ops.call import Event, Setting

WORK, WORK_EACH = 20_000, 100
"""What loops may cost: so many visits, and so many for each node in a body (one loop by itself stays below that)."""


@dataclass(slots=True)
class Site:
    """A site that isn't proved safe: where it is, and what came with it."""

    index: int
    step: Step
    event: Event
    certain: bool
    """Whether the node runs in every execution: not in a branch that may not be taken."""
    causes: tuple[int, ...] = ()
    """Sites that this one only follows from: their infinities flow into its operands."""
    weak: bool = False


def key(site: Site) -> object:
    """What a site is, in any propagation over the same program."""
    return site.event.code, site.step.outputs, site.event.operand


@dataclass(slots=True)
class State:
    """Boxes by slot, and what flowed where.

    ``boxes`` are dropped after their last use; ``hulls`` keep a one-block Box of
    every slot for explanations. ``origins`` are the sites whose NaN or Inf may be
    in a slot. ``weak`` marks slots that depend on an operator without a bound.
    """

    setting: Setting
    program: Program
    boxes: list[Box | None]
    hulls: list[Box | None]
    origins: dict[int, tuple[int, ...]] = field(default_factory=dict)
    weak: set[int] = field(default_factory=set)
    sites: list[Site] = field(default_factory=list)
    total: int = 0
    nodes: int = 0
    work: int = 0
    """Visits of nodes within bodies, trials included: loops within loops multiply, and are given up past ``most_work``."""
    most_work: int = 0
    unknown: dict[str, int] = field(default_factory=dict)
    makers: dict[int, Step] = field(default_factory=dict)
    declared: Mapping[str, Declared] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    bundles: dict[tuple[int, ...], int] = field(default_factory=dict)
    """Long lists of origins, each known by a negative number from then on (see ``bundled``)."""


LOOSE = 4
"""Most origins of a slot that are listed one by one."""


def bundled(state: State, origins: tuple[int, ...]) -> tuple[int, ...]:
    """The same origins in few numbers: where thousands of sites flow on, no node copies them all."""
    if len(origins) <= LOOSE:
        return origins
    return (state.bundles.setdefault(origins, -1 - len(state.bundles)),)


def unbundled(state: State, origins: tuple[int, ...]) -> set[int]:
    """The sites that some origins stand for."""
    lists = {number: origins for origins, number in state.bundles.items()}
    found, waiting = set(origins), list(origins)
    while waiting:
        number = waiting.pop()
        if number < 0:
            fresh = [i for i in lists[number] if i not in found]
            found.update(fresh)
            waiting.extend(fresh)
    return {index for index in found if index >= 0}


def new_state(program: Program, setting: Setting, declared: Mapping[str, Declared] | None = None) -> State:
    """A state in which nothing is known yet. ``declared`` is what the file says of values."""
    blank: list[Box | None] = [None] * program.size
    within = sum(len(level.steps) for level in levels(program)) - len(program.steps)
    return State(setting, program, blank, list(blank), declared=declared or {}, most_work=WORK + WORK_EACH * within)


def unbounded(state: State, step: Step) -> tuple[Box, ...]:
    """The results of an operator without a bound: any values, counted, and never silent.

    Their dtypes and shapes are what the file declares (float32 where it doesn't say).
    """
    node = step.node
    name = f"{node.domain}.{node.op}" if node.domain else node.op
    state.unknown[name] = state.unknown.get(name, 0) + 1
    results = []
    # what flows into it may flow out of it; bodies may read any value in sight
    sources = list(state.origins) if step.branches else step.inputs
    carried = tuple(dict.fromkeys(i for s in sources for i in state.origins.get(s, ())))
    for slot in step.outputs:
        declared = state.declared.get(state.program.names[slot]) if slot >= 0 else None
        dtype = FLOAT32 if declared is None or declared.dtype is None else declared.dtype
        results.append(top(dtype, None if declared is None else declared.shape))
        if slot >= 0:
            state.weak.add(slot)
            if carried:
                state.origins[slot] = bundled(state, carried)
    return tuple(results)


FEW = 16
"""Known tensors with at most so many elements (axes, exponents, shapes) are kept for later rules."""


def hull_of(box: Box) -> Box:
    """The Box without its blocks, large elements and relations: small enough to keep for every value."""
    if box.cuts is None and box.form is None and (box.known is None or box.known.size <= FEW):
        return box
    known = box.known if box.known is not None and box.known.size <= FEW else None
    return Box(box.dtype, box.shape, *box.hull(), box.flags, known=known)


class Trial:
    """A propagation whose findings don't count: sites and counters are put back at the end."""

    __slots__ = ("kept", "state")

    def __init__(self, state: State) -> None:
        self.state = state

    def __enter__(self) -> None:
        s = self.state
        self.kept = (len(s.sites), dict(s.origins), set(s.weak), s.total, s.nodes, dict(s.unknown))

    def __exit__(self, *_: object) -> None:
        s = self.state
        count, s.origins, s.weak, s.total, s.nodes, s.unknown = self.kept
        del s.sites[count:]
