"""Backward fine-grained labelling: which values must be known element by element.

A shape, an index or a trip count decides how later operators work, so an
interval for it is worth little. Walking the graph backwards from the operands
that operators declare as such (their records' ``grain``) through everything but
the stopping operators, we reach the initial values that must start at the
finest grain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nanproof.model.lower import Program, Step


def fine_grained(program: Program) -> frozenset[int]:
    """The slots, of all nesting levels, that must be known element by element."""
    needed: set[int] = set()
    for step in _backwards(program):
        if step.op is None:
            continue
        for position in step.op.grain:
            if position < len(step.inputs):
                needed.add(step.inputs[position])
        if step.branches and step.inputs:
            needed.add(step.inputs[0])  # the condition of an If, the trip count of a Loop
        if not step.op.stops and not needed.isdisjoint(step.outputs):
            needed.update(step.inputs)
    needed.discard(-1)
    return frozenset(needed)


def _backwards(program: Program) -> Iterator[Step]:
    for step in reversed(program.steps):
        for branch in step.branches:
            yield from _backwards(branch)
        yield step


def levels(program: Program) -> Iterable[Program]:
    """The program and all that is nested in it."""
    yield program
    for step in program.steps:
        for branch in step.branches:
            yield from levels(branch)
