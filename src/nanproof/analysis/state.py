"""What one propagation knows so far. The only mutable object of the analysis."""

from __future__ import annotations

from dataclasses import dataclass, field

from nanproof.domain.box import Box
from nanproof.model.lower import Program, Step
from nanproof.ops.call import Event, Setting


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
    unknown: dict[str, int] = field(default_factory=dict)
    makers: dict[int, Step] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)


def new_state(program: Program, setting: Setting) -> State:
    """A state in which nothing is known yet."""
    return State(setting, program, [None] * program.size, [None] * program.size)


def hull_of(box: Box) -> Box:
    """The Box without its blocks, elements and relations: small enough to keep for every value."""
    if box.cuts is None and box.known is None and box.form is None:
        return box
    return Box(box.dtype, box.shape, *box.hull(), box.flags)
