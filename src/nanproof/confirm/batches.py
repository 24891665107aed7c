"""Samples run many at once by PyTorch, in the real dtypes: quick, but our own reading of the model, so that it needs a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.confirm.failing import GIVES, failing
from nanproof.confirm.looking import Hit, Look
from nanproof.confirm.margins import FAR, margin
from nanproof.confirm.replaying import distance
from nanproof.confirm.targets import Target
from nanproof.confirm.variables import Sample, Variable
from nanproof.execution.torch_program import Watch, built
from nanproof.numerics.arrays import torch_namespace
from nanproof.numerics.dtypes import FLOAT32, DType, by_name
from nanproof.numerics.tensors import to_tensor

if TYPE_CHECKING:
    from nanproof.findings.finding import Finding
    from nanproof.model.lower import Program

MEMORY = {"cpu": 1 << 26, "cuda": 1 << 33}
"""What one batch may compute in all, in bytes: on a CPU what its caches hold is quickest."""
MOST = {"cpu": 64, "cuda": 1024}


class Batches:
    """A Looker. Raises CannotRunError where PyTorch has no meaning for the part of the program in question."""

    def __init__(
        self,
        program: Program,
        findings: Sequence[Finding],
        targets: Sequence[Target],
        variables: Sequence[Variable],
        initial: Mapping[int, Any],
        *,
        device: str = "cpu",
    ) -> None:
        xp = torch_namespace()
        self.targets, self.variables, self.device = tuple(targets), tuple(variables), device
        outer = {step.outputs for step in program.steps}
        watches = [Watch(t.step.outputs, partial(_seen, xp, t, findings[t.number].breaks)) for t in self.targets]
        self.meets = [i for i, t in enumerate(self.targets) if t.meets is not None and t.step.outputs in outer]
        watches += [Watch(self.targets[i].step.outputs, partial(_signed, self.targets[i])) for i in self.meets]
        self.whole = built(program, initial, [v.slot for v in variables], watches=watches, device=device)

    @property
    def most(self) -> int:
        """As many as memory allows: known after the first sample."""
        kind = self.device.partition(":")[0]
        return max(1, min(MOST[kind], MEMORY[kind] // max(1, self.whole.bytes))) if self.whole.bytes else 1

    def look(self, samples: Sequence[Sample]) -> list[Look]:
        """Look at all of them at once, as far as PyTorch can map the program."""
        import torch

        stacked = [to_tensor(np.stack([s[v.name] for s in samples]), self.device) for v in self.variables]
        with torch.no_grad():
            rows = self.whole.measured(stacked, len(samples))
        return [self._look(row) for row in rows]

    def _look(self, row: Sequence[Any]) -> Look:
        margins = np.full(len(self.targets), FAR)
        hits: list[Hit] = []
        for index, target in enumerate(self.targets):
            found = row[index]
            if found is None:
                continue
            margins[index] = found[0]
            if found[1]:
                hits.append(Hit(target, GIVES[int(-found[1])]))
        signed = {i: x for i, x in zip(self.meets, row[len(self.targets) :], strict=True) if x is not None}
        return Look(margins, tuple(hits), signed)


def _seen(xp: Any, target: Target, code: str, operands: Sequence[Any], results: Sequence[Any]) -> Any:
    """The margin, and the failure with its sign turned: in a loop the least of each counts."""
    import torch

    wide = [_wide(x) for x in operands]
    least = margin(xp, target, wide, [_wide(results[0])], dtype_of(results[0]))
    found = failing(xp, target, code, [_float(x) for x in wide], [_float(_wide(results[0]))])
    return torch.stack([least.double(), torch.zeros_like(least).double() if found is None else -found.double()])


def _signed(target: Target, operands: Sequence[Any], results: Sequence[Any]) -> Any:
    assert target.meets is not None
    return distance(target.meets, target, [_wide(x) for x in operands])


def dtype_of(tensor: Any) -> DType:
    """Our dtype of a result; float32 for what holds no floats, whose limit means nothing then."""
    return by_name(str(tensor.dtype).removeprefix("torch.")) if tensor.is_floating_point() else FLOAT32


def _wide(x: Any) -> Any:
    if x is None or isinstance(x, list) or not hasattr(x, "is_floating_point"):
        return None
    return x.double() if x.is_floating_point() else x


def _float(x: Any) -> Any:
    return x if x is not None and x.is_floating_point() else None
