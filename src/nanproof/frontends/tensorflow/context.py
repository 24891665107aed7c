"""What a translation gets to work with: the writer of the graph it is in, and what the whole program has in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, Union

import numpy as np
from onnx import TensorProto

from nanproof.dims import Dim, Size
from nanproof.frontends.tensorflow.graph import Body, Call, Ref
from nanproof.frontends.tensorflow.program import Program
from nanproof.frontends.tensorflow.shapes import sizes_of
from nanproof.frontends.tensorflow.shared import Shared
from nanproof.frontends.tensorflow.values import Opaque, Place, Shape, Tensor, TensorList, Value, Variable
from nanproof.frontends.tensorflow.writing import Writer

Results = Union[Value, Sequence[Value]]
Translation: TypeAlias = Callable[..., Results]
"""``(context, call, *operands) -> results``"""


class UntranslatableError(Exception):
    """A call that has no counterpart in ONNX; its operator is then taken as unknown."""


class Context(Writer):
    """The writer of one graph, within a program. ``inherited`` is the line that called the ``body``, for calls without one."""

    def __init__(self, program: Program, shared: Shared | None = None) -> None:
        super().__init__(shared)
        self.program = program
        self.body: Body = program.graph.main
        self.inherited = ""

    def nested(self) -> Context:
        """A context for the body of a branch or a loop."""
        inner = Context(self.program, self.shared)
        inner.place, inner.body, inner.inherited = self.place, self.body, self.inherited
        return inner

    def run(self, body: Body, arguments: Sequence[Value], results: Sequence[Ref] | None = None) -> list[Value]:
        """Write what a function computes of its arguments."""
        return self.program.runner(self, body, arguments, results)

    # ------------------------------------------------------------------------------------------------------ operands

    def tensor(self, value: Value) -> Tensor:
        """A value as a tensor; a variable is read."""
        if isinstance(value, Tensor):
            return value
        if isinstance(value, Variable):
            return self.read(value)
        if isinstance(value, TensorList) and value.items is not None:
            return value.items
        raise UntranslatableError(value.what if isinstance(value, Opaque) else "a list whose elements aren't known")

    def tensor_if_any(self, value: Value) -> Tensor | None:
        """A value as a tensor; None for what is none."""
        try:
            return self.tensor(value)
        except UntranslatableError:
            return None

    def read(self, variable: Variable) -> Tensor:
        """The present value of a variable. One that nothing is stored for is an input that training chooses."""
        if variable.now is None:
            if variable.stored is not None:
                variable.now = self.const(variable.stored, variable.kind, variable.name)
            else:
                shape = None if variable.shape is None else self.shape(variable.shape)
                variable.now = Tensor(self.shared.unique(variable.name), variable.kind, shape)
                self.program.inputs.append(variable.now)
            self.program.roles[variable.now.name] = "weight"
        return variable.now

    def int64(self, operand: Tensor) -> Tensor:
        """An integer tensor as int64, which ONNX wants for shapes, axes and indices."""
        sizes = sizes_of(operand)
        if sizes is not None and all(not isinstance(size, Dim) for size in sizes.flat):
            return self.const(sizes.astype(np.int64))
        if operand.kind == TensorProto.INT64:
            return operand
        return operand.wide or self.op("Cast", operand, to=TensorProto.INT64)

    def vector(self, operand: Tensor) -> Tensor:
        """A scalar or vector of integers as an int64 vector."""
        found = self.int64(operand)
        return self.op("Reshape", found, self.ints([-1])) if found.rank != 1 else found

    def numbers(self, operand: Tensor) -> list[int] | None:
        """The elements of an integer tensor, if they are all known."""
        sizes = sizes_of(operand)
        if sizes is None or any(isinstance(size, Dim) for size in sizes.flat):
            return None
        return [int(size) for size in sizes.flat]

    def needed(self, operand: Tensor, what: str) -> list[int]:
        """The elements of an integer tensor that have to be known."""
        found = self.numbers(operand)
        if found is None:
            raise UntranslatableError(f"{what} not known beforehand")
        return found

    def rank(self, operand: Tensor) -> int:
        """The rank of a tensor, which has to be known."""
        if operand.shape is None:
            raise UntranslatableError("a tensor of unknown rank")
        return len(operand.shape)

    def static(self, operand: Tensor, axes: Sequence[int]) -> list[int]:
        """Sizes of a tensor that have to be known."""
        self.rank(operand)
        assert operand.shape is not None
        found = [operand.shape[axis] for axis in axes]
        if any(isinstance(size, Dim) for size in found):
            raise UntranslatableError("a size not known beforehand")
        return [int(size) for size in found]  # type: ignore[arg-type]

    # -------------------------------------------------------------------------------------------------------- common

    def transpose(self, operand: Tensor, perm: Sequence[int]) -> Tensor:
        """The operand with its axes in another order; of two transposes that undo each other none is written."""
        if list(perm) == list(range(len(perm))):
            return operand
        made = self.shared.transposed.get(operand.name)
        if made is not None and [made[1][axis] for axis in perm] == list(range(len(perm))):
            return made[0]
        result = self.op("Transpose", operand, perm=list(perm))
        self.shared.transposed[result.name] = (operand, tuple(perm))
        return result

    def swapped(self, operand: Tensor) -> Tensor:
        """The operand with its last two axes swapped."""
        rank = self.rank(operand)
        return self.transpose(operand, [*range(rank - 2), rank - 1, rank - 2])

    def cast(self, operand: Tensor, kind: int) -> Tensor:
        """The operand in another type."""
        return operand if operand.kind == kind else self.op("Cast", operand, to=kind)

    def shape_vector(self, operand: Tensor) -> Tensor:
        """The shape of a tensor as an int64 vector."""
        return self.op("Shape", operand)

    def common(self, one: Shape | None, other: Shape | None, *, keep: bool = False) -> Shape | None:
        """The shape of what may come from either of two places; sizes that differ are open. ``keep``: open ones of ``one`` stay."""
        if one is None or other is None or len(one) != len(other):
            return None
        return tuple(
            a if a == b or (keep and isinstance(a, Dim)) else self.shared.open_size()
            for a, b in zip(one, other, strict=True)
        )

    def size_vector(self, sizes: Sequence[Size]) -> Tensor:
        """Sizes as an int64 vector; open ones are read off the tensors that have them."""
        if all(isinstance(size, int) for size in sizes):
            return self.ints([int(size) for size in sizes])  # type: ignore[arg-type]
        parts = [self.op("Unsqueeze", self._size_scalar(size), self.ints([0])) for size in sizes]
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=0)

    def _size_scalar(self, size: Size) -> Tensor:
        if isinstance(size, int):
            return self.ints(size)
        total: Tensor | None = None
        for monomial, factor in size.terms:
            term = self.ints(factor)
            for atom in monomial:
                source = self.shared.sources.get(atom.text)
                if source is None:
                    raise UntranslatableError("a size that no tensor shows")
                one = self.op("Gather", self.op("Shape", source[0]), self.ints(source[1]))
                term = (
                    one
                    if monomial.index(atom) == 0 and factor == 1 and term.held is not None
                    else self.op("Mul", term, one)
                )
            total = term if total is None else self.op("Add", total, term)
        assert total is not None
        return total


def place_of(context: Context, call: Call) -> Place:
    """What the nodes of a call are named after and carry."""
    line = context.program.graph.places.get((context.body.name, call.name), context.inherited)
    return Place(call.name, line, phase_of(call))


GRADIENT_SCOPES = ("gradients", "gradient_tape")


def phase_of(call: Call) -> str:
    """'gradient' for what TensorFlow names under gradients/ or gradient_tape/, 'step' for what changes a variable."""
    if "Apply" in call.op:
        return "step"
    scopes = call.name.split("/")[:-1]
    return "gradient" if any(scope.startswith(GRADIENT_SCOPES) for scope in scopes) else ""
