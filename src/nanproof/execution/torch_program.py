"""A program, or the part of it that something is asked of, as a function of PyTorch tensors with gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nanproof.execution.onnx_runtime import CannotRunError
from nanproof.execution.torch_control import run_branches
from nanproof.execution.torch_operators import Function, function_of
from nanproof.numerics.tensors import to_array, to_tensor

if TYPE_CHECKING:
    from nanproof.model.lower import Program, Step

Values = dict[int, Any]
Seen = dict[int, list[Any]]
Measure = Callable[[Sequence[Any], Sequence[Any]], Any]
Asked = tuple[Mapping[tuple[int, ...], list[int]], Seen]
"""Which watches look at which step, and what they have measured."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Numbers asked of one step, at any depth: ``measure(operands, results)`` is a tensor; in a loop the least of each counts."""

    outputs: tuple[int, ...]
    measure: Measure


@dataclass(slots=True)
class TorchProgram:
    """What ``built`` makes. Call it with one tensor a variable, in their order, for ``(taps, measures)``.

    A measure is None where its step didn't run. ``steps`` are those that depend on
    a variable; everything else has been computed once.
    """

    variables: tuple[int, ...]
    taps: tuple[int, ...]
    watches: tuple[Watch, ...]
    steps: list[Step]
    known: Values
    functions: dict[int, Function] = field(default_factory=dict)
    last_use: list[tuple[int, ...]] = field(default_factory=list)
    wide: bool = False
    """Whether floats are float64 throughout, so that gradients vanish later; what is then computed is not what a runtime computes."""
    vectorised: bool = True
    """Whether PyTorch could map the program over many starts at once, so far."""
    bytes: int = 0
    """What the steps computed in the first run, in all."""

    def __call__(self, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        scope: Values = dict(self.known)
        scope.update(zip(self.variables, values, strict=True))
        asked: dict[tuple[int, ...], list[int]] = {}
        for index, watch in enumerate(self.watches):
            asked.setdefault(watch.outputs, []).append(index)
        seen: Seen = {}
        counted, self.bytes = self.bytes, 0
        run_steps(self, self.steps, scope, (asked, seen), self.last_use)
        self.bytes = counted or self.bytes
        measures = [_least(seen[index]) if index in seen else None for index in range(len(self.watches))]
        return [scope[slot] for slot in self.taps], measures

    def function(self, step: Step) -> Function:
        """The function of a step, looked up once."""
        key = id(step)
        found = self.functions.get(key)
        if found is None:
            found = self.functions[key] = function_of(step.op, step.attrs, step.node.op, len(step.outputs))
        return found

    def margins(self, values: Sequence[Any]) -> Any:
        """The measures for many starts: each value has an axis of starts in front, and so has the result, [starts, watches].

        A measure of a step that didn't run is infinite.
        """
        import torch

        if self.vectorised:
            try:
                return torch.func.vmap(self._row, randomness="different")(*values)
            except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
                self.vectorised = False
        count = values[0].shape[0] if values else 1
        return torch.stack([self._row(*(v[i] for v in values)) for i in range(count)])

    def measured(self, values: Sequence[Any], count: int) -> list[list[Any]]:
        """The measures of each of ``count`` starts as NumPy arrays; None where a step didn't run."""
        import torch

        if count > 1 and self.vectorised and values:
            try:
                found = torch.func.vmap(lambda *row: tuple(self._measures(row)), randomness="different")(*values)
                columns = [to_array(column) for column in found]
                return [[column[i] for column in columns] for i in range(count)]
            except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
                self.vectorised = False
        return [self._alone([v[i] for v in values]) for i in range(count)]

    def _alone(self, values: Sequence[Any]) -> list[Any]:
        try:
            return [None if m is None else to_array(m) for m in self(values)[1]]
        except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
            return [None] * len(self.watches)  # operands that PyTorch refuses show nothing

    def _measures(self, row: Sequence[Any]) -> list[Any]:
        """All measures of one start; a step that hasn't run can't be mapped."""
        found = self(row)[1]
        if any(m is None for m in found):
            raise NotImplementedError("not every step runs")
        return found

    def _row(self, *values: Any) -> Any:
        import torch

        _, measures = self(values)
        return torch.stack([torch.tensor(float("inf"), dtype=torch.float64) if m is None else m for m in measures])


def run_steps(
    whole: TorchProgram, steps: Iterable[Step], scope: Values, asked: Asked, last_use: Sequence[tuple[int, ...]] = ()
) -> None:
    """Run steps in order. ``scope`` is what is known, and gets what they make."""
    for index, step in enumerate(steps):
        operands = [scope[slot] if slot >= 0 else None for slot in step.inputs]
        if step.branches:
            results = run_branches(
                step, operands, scope, lambda body, inner: run_steps(whole, body.steps, inner, asked)
            )
        else:
            while operands and operands[-1] is None:
                operands.pop()
            found = whole.function(step)(*operands)
            results = found if isinstance(found, tuple) else (found,)
            if whole.wide:
                results = tuple(_widened(value) for value in results)
        for slot, value in zip(step.outputs, results, strict=False):
            if slot >= 0:
                scope[slot] = value
                whole.bytes += getattr(value, "nbytes", 0)
        for number in asked[0].get(step.outputs, ()):
            asked[1].setdefault(number, []).append(whole.watches[number].measure(operands, results))
        if index < len(last_use):
            for slot in last_use[index]:
                scope.pop(slot, None)


def _widened(value: Any) -> Any:
    import torch

    if isinstance(value, list):
        return [_widened(item) for item in value]
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _least(found: list[Any]) -> Any:
    import torch

    return found[0] if len(found) == 1 else torch.stack(found).amin(0)


def built(
    program: Program,
    initial: Mapping[int, Any],
    variables: Sequence[int],
    *,
    taps: Sequence[int] = (),
    watches: Sequence[Watch] = (),
    device: str = "cpu",
    wide: bool = False,
) -> TorchProgram:
    """The part of a program that ``taps`` (slots) and ``watches`` need, as a function of ``variables`` (slots).

    ``initial`` has the arrays of all other initial values. What doesn't depend on
    a variable is computed here, once. ``wide`` computes in float64. Raises CannotRunError where an operator has
    no meaning for PyTorch, with the reason.
    """
    import torch

    steps = _needed(program, set(taps), {watch.outputs for watch in watches})
    moving = set(variables)
    known: Values = {-1: None}
    reads = [_reads(step) for step in steps]
    wanted = set(taps).union(*reads) if reads else set(taps)
    for slot in wanted:
        if slot in initial and slot not in moving:
            known[slot] = to_tensor(initial[slot], device)
    for slot, source in program.constants.items():
        if slot in wanted and slot not in moving and slot not in known:
            known[slot] = to_tensor(source.array(), device)
    watched = {watch.outputs for watch in watches}
    if wide:
        known = {slot: _widened(value) for slot, value in known.items()}
    whole = TorchProgram(tuple(variables), tuple(taps), tuple(watches), [], known, wide=wide)
    for step, read in zip(steps, reads, strict=True):
        if moving.isdisjoint(read) and not _holds(step, watched):
            with torch.no_grad():
                _guarded(whole, step, known)
        else:
            moving.update(step.outputs)
            whole.steps.append(step)
    whole.last_use = _last_uses(whole.steps, set(taps) | set(known))
    whole.bytes = 0
    return whole


def _guarded(whole: TorchProgram, step: Step, known: Values) -> None:
    try:
        run_steps(whole, [step], known, ({}, {}))
    except CannotRunError:
        raise
    except Exception as problem:  # whatever PyTorch or a record raises for operands that it has no meaning for
        raise CannotRunError(f"{step.node.op} ({step.node.name}): {type(problem).__name__}: {problem}") from problem


def _needed(program: Program, taps: set[int], watched: set[tuple[int, ...]]) -> list[Step]:
    """The steps that lead to some slots or hold a watched step, in running order."""
    needed, found = set(taps), []
    for step in reversed(program.steps):
        if not needed.isdisjoint(step.outputs) or _holds(step, watched):
            found.append(step)
            needed |= _reads(step)
    found.reverse()
    return found


def _holds(step: Step, watched: set[tuple[int, ...]]) -> bool:
    return step.outputs in watched or any(_holds(inner, watched) for body in step.branches for inner in body.steps)


def _reads(step: Step) -> set[int]:
    """All slots that a step or its bodies mention as something to read."""
    found = {slot for slot in step.inputs if slot >= 0}
    for body in step.branches:
        found.update(body.outputs)
        for inner in body.steps:
            found |= _reads(inner)
    return found


def _last_uses(steps: Sequence[Step], kept: set[int]) -> list[tuple[int, ...]]:
    live = set(kept)
    last: list[tuple[int, ...]] = [()] * len(steps)
    for index in range(len(steps) - 1, -1, -1):
        dying = [s for s in (*_reads(steps[index]), *steps[index].outputs) if s not in live and s >= 0]
        live.update(dying)
        last[index] = tuple(dying)
    return last
