"""Everything that one search works on: the program, what may vary, what must fail, who looks, and who has the last word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.confirm.judging import Program as ProgramJudge
from nanproof.confirm.looking import Hit, Judge, Look, Looker
from nanproof.confirm.margins import margin
from nanproof.confirm.replaying import Replayer
from nanproof.confirm.targets import Target, targets_of
from nanproof.confirm.variables import Sample, Variable, variables_of
from nanproof.execution.onnx_runtime import CannotRunError
from nanproof.execution.replay import opened
from nanproof.numerics.dtypes import FLOAT32, DType

if TYPE_CHECKING:
    from pathlib import Path

    from onnx import ModelProto

    from nanproof.execution.torch_program import TorchProgram
    from nanproof.findings.finding import Finding
    from nanproof.frontends.live import Live
    from nanproof.model.graph import Model
    from nanproof.model.lower import Program
    from nanproof.model.ranges import Range


@dataclass(frozen=True, slots=True)
class Subject:
    """What is searched: a model, lowered; what it was read from; the program itself, if there is one."""

    model: Model
    program: Program
    source: str | Path | bytes | ModelProto
    runtime: str = "onnxruntime"
    live: Live | None = None
    device: str = "cpu"


@dataclass(frozen=True, slots=True)
class Space:
    """Where witnesses may lie: ranges, concrete sizes, what varies ("both", "inputs", "weights"), and arrays that are given."""

    ranges: Mapping[str, Range]
    sizes: Mapping[str, int]
    vary: str = "both"
    given: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Problem:
    """Made by ``posed`` for one choice of sizes; searches with different seeds share it."""

    subject: Subject
    findings: tuple[Finding, ...]
    targets: tuple[Target, ...]
    variables: tuple[Variable, ...]
    fixed: Sample
    """Inputs and weights that don't vary."""
    sizes: Mapping[str, int]
    looker: Looker
    judge: Judge
    looks: int = 0
    _gradients: TorchProgram | None = None

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of what the model gives."""
        return tuple(self.subject.program.names[slot] for slot in self.subject.program.outputs)

    @property
    def bytes(self) -> int:
        """The memory of one sample."""
        return sum(v.size * v.dtype.bits // 8 for v in self.variables)

    def look(self, samples: Sequence[Sample]) -> list[Look]:
        """What each sample shows."""
        self.looks += len(samples)
        return self.looker.look(samples)

    def judged(self, sample: Sample, hit: Hit) -> Hit | None:
        """The failure as the judge sees it; None if it doesn't. What a runtime itself has seen needs no second look."""
        if hit.runtime:
            return hit
        return self.judge.judged(sample, hit, self.findings[hit.target.number])

    def in_onnx(self, sample: Sample, hit: Hit) -> Hit | None:
        """The failure as a runtime of ONNX shows it; None if it doesn't."""
        try:
            replayer = _replayer(self.subject, self.findings, (hit.target,), (self.variables, self.fixed))
        except CannotRunError:
            return None
        return replayer.judged(sample, hit, self.findings[hit.target.number])

    def feeds(self, sample: Sample) -> Sample:
        """All inputs of the model for a sample."""
        return {**self.fixed, **sample}

    def gradients(self) -> TorchProgram:
        """The targets' margins as a function of the variables, in float64; built when it is first needed.

        Raises CannotRunError where PyTorch can't run the part of the program in question.
        """
        if self._gradients is None:
            from nanproof.execution.torch_program import Watch, built
            from nanproof.numerics.arrays import torch_namespace

            xp, program = torch_namespace(), self.subject.program
            watches = [Watch(t.step.outputs, partial(margin, xp, t, dtype=self._dtype(t))) for t in self.targets]
            moving = [v.slot for v in self.variables]
            self._gradients = built(
                program, _by_slot(program, self.fixed), moving, watches=watches, device=self.subject.device, wide=True
            )
        return self._gradients

    def _dtype(self, target: Target) -> DType:
        name = self.subject.program.names[target.step.outputs[0]]
        declared = self.subject.model.graph.declared.get(name)
        dtype = None if declared is None else declared.dtype
        return FLOAT32 if dtype is None or not dtype.is_float else dtype


def posed(subject: Subject, findings: Sequence[Finding], space: Space) -> Problem:
    """Pose the question. Raises CannotVaryError or CannotRunError, with the reason, where it can't be posed."""
    model, program = subject.model, subject.program
    variables, fixed = variables_of(model, program, space.ranges, space.sizes, space.vary)
    variables = tuple(v for v in variables if v.name not in space.given)
    fixed = {**fixed, **space.given}
    targets = tuple(targets_of(program, list(findings)))
    inputs = variables, fixed
    live = subject.live if subject.live is not None and subject.live.runtime == subject.runtime else None
    batches = _batches(subject, findings, targets, inputs) if live is not None or subject.device != "cpu" else None
    replayer = _replayer(subject, tuple(findings), targets, inputs) if batches is None or live is None else None
    looker: Looker | None = batches or replayer
    assert looker is not None
    judge: Judge | None = replayer
    if live is not None:
        judge = ProgramJudge(live, fixed, tuple(program.names[slot] for slot in program.outputs))
    assert judge is not None
    return Problem(subject, tuple(findings), targets, variables, fixed, space.sizes, looker, judge)


def _batches(
    subject: Subject,
    findings: Sequence[Finding],
    targets: Sequence[Target],
    inputs: tuple[tuple[Variable, ...], Sample],
) -> Looker | None:
    variables, fixed = inputs
    try:
        from nanproof.confirm.batches import Batches

        initial = _by_slot(subject.program, fixed)
        return Batches(subject.program, findings, targets, variables, initial, device=subject.device)
    except (CannotRunError, ImportError):
        return None


def _replayer(
    subject: Subject,
    findings: tuple[Finding, ...],
    targets: tuple[Target, ...],
    inputs: tuple[tuple[Variable, ...], Sample],
) -> Replayer:
    variables, fixed = inputs
    names = subject.program.names
    expose = [names[s] for t in targets for s in (*t.step.inputs, *t.step.outputs[:1]) if s >= 0]
    stored = {subject.program.names[slot] for slot in subject.program.constants}
    free = [*(v.name for v in variables if v.is_weight), *(name for name in fixed if name in stored)]
    replay = opened(subject.source, expose=expose, free=free, runtime=subject.runtime)
    return Replayer(subject.program, findings, targets, fixed, replay)


def _by_slot(program: Program, arrays: Mapping[str, Any]) -> dict[int, Any]:
    slots = {name: slot for slot, name in program.initial.items()}
    return {slots[name]: np.asarray(value) for name, value in arrays.items() if name in slots}
