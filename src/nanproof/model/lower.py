"""Lower a Model to a flat program: values become numbered slots, once over all nesting levels.

A branch (the body of an If, Loop or Scan) is a Program of its own whose captures are plain slots of the outer one, so
nothing looks a name up again after this pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanproof.model.graph import subgraphs
from nanproof.model.order import arrange

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanproof.model.graph import Attr, Graph, Model, Node, Source
    from nanproof.ops.record import Op

    Lookup = Callable[[str, str], "Op | None"]


@dataclass(slots=True)
class Step:
    """One node, with slots for names. `op` is None where no record exists."""

    op: Op | None
    inputs: tuple[int, ...]  # -1 = absent
    outputs: tuple[int, ...]  # -1 = absent
    attrs: dict[str, Attr]
    node: Node
    branches: tuple[Program, ...] = ()  # by attribute name: else_branch before then_branch


@dataclass(slots=True)
class Program:
    """Steps in running order. `names`, `size`, `initial` and `constants` cover all nesting levels on the outermost program.

    `last_use[i]` lists the slots of this level that nothing needs after step i: not a later step, not a branch, not an output.
    Formal parameters of a branch are in its `inputs`; initial values never read are in nobody's `last_use`.
    """

    steps: list[Step]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    last_use: list[tuple[int, ...]]
    names: list[str]
    size: int = 0
    initial: dict[int, str] = field(default_factory=dict)
    constants: dict[int, Source] = field(default_factory=dict)


def lower(model: Model, lookup: Lookup) -> Program:
    """Number the values of a model, bind every node to its record, and note where each value is used last."""
    state = _State(lookup)
    try:
        program = state.graph(model.graph, outermost=True)[0]
    except KeyError:  # a graph that was built by hand: sort it, which says what is wrong if that can't be done
        arrange(model.graph)
        state = _State(lookup)
        program = state.graph(model.graph, outermost=True)[0]
    program.size = len(state.names)
    program.initial = state.initial
    program.constants = state.constants
    return program


class _State:
    """What one lowering accumulates over the nesting levels. `scope` maps the names in sight to slots."""

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        self.ops: dict[tuple[str, str], Op | None] = {}
        self.names: list[str] = []
        self.scope: dict[str, int] = {"": -1}
        self.initial: dict[int, str] = {}
        self.constants: dict[int, Source] = {}

    def graph(self, graph: Graph, *, outermost: bool) -> tuple[Program, set[int]]:
        """Lower one graph; also return the slots of outer levels that it reads."""
        names, scope = self.names, self.scope
        first = len(names)
        hidden = {} if outermost else {name: scope[name] for name in _definitions(graph) if name in scope}
        for declared in graph.inputs:
            slot = scope[declared.name] = len(names)
            names.append(declared.name)
            if outermost:
                self.initial[slot] = declared.name
        inputs = tuple(range(first, len(names)))
        for name, source in graph.constants.items():
            known = scope.get(name, -1)
            if known < first:
                known = scope[name] = len(names)
                names.append(name)
            self.initial[known] = name
            self.constants[known] = source
        steps, reads = self._steps(graph)
        outputs = tuple([scope[name] for name in graph.outputs])
        last_use, captured = _last_uses(steps, reads, outputs, first)
        if not outermost:
            for name in _definitions(graph):
                del scope[name]
            scope.update(hidden)
        return Program(steps, inputs, outputs, last_use, names), captured

    def _steps(self, graph: Graph) -> tuple[list[Step], dict[int, set[int]]]:
        """Lower the nodes. The second result has what the branches of step i read, for the few steps with branches."""
        names, ops, scope = self.names, self.ops, self.scope
        look = scope.__getitem__
        steps: list[Step] = []
        reads: dict[int, set[int]] = {}
        for node in graph.nodes:
            key = (node.domain, node.op)
            if key in ops:
                op = ops[key]
            else:
                op = ops[key] = self.lookup(node.domain, node.op)
            inputs = tuple(map(look, node.inputs))
            outputs = node.outputs
            bodies = subgraphs(node) if node.attrs else ()
            lowered = [self.graph(body, outermost=False) for body in bodies]
            if len(outputs) == 1 and outputs[0]:
                slot = scope[outputs[0]] = len(names)
                names.append(outputs[0])
                slots: tuple[int, ...] = (slot,)
            else:
                slots = self._number(outputs)
            step = Step(op, inputs, slots, node.attrs, node)
            if lowered:
                step.branches = tuple([program for program, _ in lowered])
                reads[len(steps)] = set().union(*(captured for _, captured in lowered))
            steps.append(step)
        return steps, reads

    def _number(self, outputs: tuple[str, ...]) -> tuple[int, ...]:
        slots = []
        for name in outputs:
            if name:
                self.scope[name] = len(self.names)
                slots.append(len(self.names))
                self.names.append(name)
            else:
                slots.append(-1)
        return tuple(slots)


def _definitions(graph: Graph) -> set[str]:
    found = {declared.name for declared in graph.inputs}
    found.update(graph.constants)
    for node in graph.nodes:
        found.update(node.outputs)
    found.discard("")
    return found


def _last_uses(
    steps: list[Step], reads: dict[int, set[int]], outputs: tuple[int, ...], first: int
) -> tuple[list[tuple[int, ...]], set[int]]:
    """Walk backwards: the first time that a slot is seen is its last use. Slots under `first` belong to an outer level."""
    live = set(outputs)
    live.add(-1)
    last: list[tuple[int, ...]] = [()] * len(steps)
    for index in range(len(steps) - 1, -1, -1):
        step = steps[index]
        dying = [slot for slot in step.inputs if slot not in live]
        if index in reads:
            dying += [slot for slot in reads[index] if slot not in live]
        dying += [slot for slot in step.outputs if slot not in live]
        if dying:
            live.update(dying)
            last[index] = tuple(dying) if len(dying) == 1 else tuple(dict.fromkeys(dying))
    if not first:
        return last, set()
    live.discard(-1)
    captured = {slot for slot in live if slot < first}
    if captured:
        last = [tuple([slot for slot in dying if slot >= first]) for dying in last]
    return last, captured
