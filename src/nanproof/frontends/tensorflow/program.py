"""The program that is being written: its variables, its inputs, and what is found on the way."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from nanproof.dims import Size
from nanproof.frontends.tensorflow.graph import Body, Graph, Ref
from nanproof.frontends.tensorflow.values import Tensor, Value, Variable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nanproof.frontends.tensorflow.context import Context

BATCH = "batch"
"""The name of the open size that inputs have in front."""

Runner: TypeAlias = "Callable[[Context, Body, Sequence[Value], Sequence[Ref] | None], list[Value]]"
State = dict[str, tuple[Tensor | None, bool]]


@dataclass(slots=True)
class Program:
    """What all graphs of one program have in common.

    names      the inputs' names as the user knows them, by those of their placeholders
    sizes      names of open sizes: {(input, axis): name}
    stored     values of variables, by name
    bundle     a checkpoint, where there is one
    restoring  whether variables are being filled from it now
    """

    graph: Graph
    runner: Runner
    names: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[tuple[str, int], str] = field(default_factory=dict)
    stored: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    bundle: Mapping[str, NDArray[Any]] | None = None
    restoring: bool = False
    variables: dict[str, Variable] = field(default_factory=dict)
    inputs: list[Tensor] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    depth: int = 0

    def note(self, text: str) -> None:
        """Say something of the whole program, once."""
        self.notes[text] = None

    def input(self, c: Context, name: str, kind: int, shape: Sequence[int] | None) -> Tensor:
        """An input, under the name that the user knows; its open size in front is the batch's, as that of all inputs."""
        shown = c.shared.unique(self.names.get(name, name))
        sizes: list[Size] | None = None
        if shape is not None:
            sizes = []
            for axis, size in enumerate(shape):
                told = self.sizes.get((shown, axis), BATCH if not axis else f"{shown.replace('/', '_')}_{axis}")
                sizes.append(size if size >= 0 else c.shared.open_size(told))
        made = Tensor(shown, kind, None if sizes is None else tuple(sizes))
        for axis, length in enumerate(sizes or ()):
            c.shared.sources.setdefault(str(length), (made, axis))
        self.inputs.append(made)
        return made

    def variable(self, name: str, about: tuple[int, Sequence[int] | None]) -> Variable:
        """The variable of that name."""
        kind, shape = about
        found = self.variables.get(name)
        if found is None:
            sizes = None if shape is None else tuple(shape)
            found = self.variables[name] = Variable(name, kind, sizes, self.stored.get(name))
        return found

    # ------------------------------------------------------------------------------------- branches, loops and trials

    def present(self) -> State:
        """What the variables hold now."""
        return {name: (variable.now, variable.changed) for name, variable in self.variables.items()}

    def put_back(self, before: State, where: str) -> None:
        """Undo changes that a branch or a loop made to variables: outside of it they can't be followed."""
        for name, variable in self.variables.items():
            now, changed = before.get(name, (None, False))
            if variable.changed and not (changed and variable.now is now):
                self.note(f"what {where} does to the variable {name} is not followed: it happens in a branch or a loop")
                variable.now, variable.changed = now, changed

    def mark(self, c: Context) -> Any:
        """All that a trial may change."""
        shared = {name: copy.copy(value) for name, value in vars(c.shared).items()}
        return shared, self.present(), len(self.inputs), dict(self.roles), dict(self.notes)

    def reset(self, c: Context, mark: Any) -> None:
        """Forget a trial."""
        shared, before, inputs, self.roles, self.notes = mark
        for name, value in shared.items():
            setattr(c.shared, name, value)
        for name, variable in self.variables.items():
            variable.now, variable.changed = before.get(name, (None, False))
        del self.inputs[inputs:]
