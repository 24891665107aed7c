"""Samples run one by one in ONNX Runtime or the reference evaluator: what these show needs no further judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.confirm.failing import GIVES, failing
from nanproof.confirm.looking import Hit, Look
from nanproof.confirm.margins import FAR, margin
from nanproof.confirm.targets import Target
from nanproof.confirm.variables import Sample
from nanproof.execution.onnx_runtime import CannotRunError
from nanproof.execution.replay import Replay
from nanproof.numerics.arrays import numpy_namespace
from nanproof.numerics.dtypes import FLOAT32, of_numpy

if TYPE_CHECKING:
    from nanproof.findings.finding import Finding
    from nanproof.model.lower import Program
    from nanproof.ops.conditions import Compare


@dataclass(slots=True)
class Replayer:
    """Both a Looker and the Judge of what it sees itself. ``fixed`` are inputs that don't vary."""

    program: Program
    findings: tuple[Finding, ...]
    targets: tuple[Target, ...]
    fixed: Sample
    replay: Replay
    most: int = 1
    _stored: dict[int, Any] = field(default_factory=dict)

    @property
    def runtime(self) -> str:
        return self.replay.runtime

    def judged(self, sample: Sample, hit: Hit, finding: Finding) -> Hit | None:
        """The failure at the same target, seen here."""
        (look,) = self.look([sample])
        return next((found for found in look.hits if found.target is hit.target), None)

    def look(self, samples: Sequence[Sample]) -> list[Look]:
        return [self._look(sample) for sample in samples]

    def _look(self, sample: Sample) -> Look:
        margins = np.full(len(self.targets), FAR)
        try:
            values = self.replay.run({**self.fixed, **sample})
        except CannotRunError:
            return Look(margins)
        bad = tuple(name for name in self.replay.outputs if not _finite(values[name]))
        hits: list[Hit] = []
        signed = {}
        with np.errstate(all="ignore"):
            for index, target in enumerate(self.targets):
                found = self._operands(target, values, sample)
                if found is None:
                    continue
                operands, results, dtype = found
                margins[index] = float(margin(numpy_namespace, target, operands, results, dtype))
                if target.meets is not None:
                    signed[index] = distance(target.meets, target, operands)
                gives = _gives(target, self.findings[target.number].breaks, operands, results)
                if gives:
                    hits.append(Hit(target, gives, bad, self.runtime))
        return Look(margins, tuple(hits), signed)

    def _operands(self, target: Target, values: Mapping[str, Any], sample: Sample) -> tuple[Any, Any, Any] | None:
        operands = [self._value(slot, values, sample) for slot in target.step.inputs]
        results = [self._value(slot, values, sample) for slot in target.step.outputs]
        missing = any(x is None and s >= 0 for x, s in zip(operands, target.step.inputs, strict=True))
        if results[0] is None or missing:
            return None
        dtype = of_numpy(np.asarray(results[0]).dtype)
        return [_wide(x) for x in operands], [_wide(results[0])], dtype if dtype.is_float else FLOAT32

    def _value(self, slot: int, values: Mapping[str, Any], sample: Sample) -> Any:
        if slot < 0:
            return None
        name = self.program.names[slot]
        for known in (sample, values, self.fixed):
            if name in known:
                return known[name]
        if slot not in self._stored and slot in self.program.constants:
            self._stored[slot] = self.program.constants[slot].array()
        return self._stored.get(slot)


def distance(condition: Compare, target: Target, operands: Sequence[Any]) -> Any:
    """How far each element is from the number to meet, with its sign."""
    return (condition.term.value(operands, target.step.attrs) - condition.bound).reshape(-1)


def _gives(target: Target, code: str, operands: Sequence[Any], results: Sequence[Any]) -> str:
    found = failing(numpy_namespace, target, code, [_float(x) for x in operands], [_float(results[0])])
    return "" if found is None else GIVES[int(found)]


def _wide(x: Any) -> Any:
    """Numbers as float64; whole ones stay what they are."""
    if x is None or isinstance(x, (list, dict)):
        return None
    array = np.asarray(x)
    return array if array.dtype.kind in "iubOSU" else array.astype(np.float64)


def _float(x: Any) -> Any:
    return x if x is not None and x.dtype.kind == "f" else None


def _finite(x: Any) -> bool:
    wide = _float(_wide(x))
    return wide is None or bool(np.isfinite(wide).all())
