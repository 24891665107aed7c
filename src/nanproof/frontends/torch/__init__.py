"""PyTorch: modules, functions of tensors, exported programs -> ONNX with the user's own source lines."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nanproof.frontends.leaves import Exported
    from nanproof.frontends.live import Live
    from nanproof.frontends.programs.objects import Program
    from nanproof.frontends.request import Request

_CLASSES = frozenset({"torch.nn.modules.module.Module", "torch.export.exported_program.ExportedProgram"})


def matches(program: Program) -> bool:
    """Whether the program is a module, an exported program, or a function of tensors."""
    if any(f"{base.__module__}.{base.__qualname__}" in _CLASSES for base in type(program.model).__mro__):
        return True
    inputs = [*(program.inputs or ()), *program.kwargs.values()]
    return callable(program.model) and any(_is_tensor(value) for value in inputs)


def export(program: Program, request: Request, label: str) -> Exported:
    """The program as ONNX."""
    from nanproof.frontends.torch.exporting import exported

    return exported(program, request, label)


def live(program: Program, request: Request, names: Sequence[str], label: str) -> Live:
    """The program as it is, with inputs by the names of the exported model."""
    from nanproof.frontends.torch.capturing import as_module
    from nanproof.frontends.torch.examples import examples
    from nanproof.frontends.torch.living import TorchLive

    whole = as_module(program)
    if request.phase != "forward":
        from nanproof.frontends.torch import training_live

        return training_live.live(whole, request, names, label)
    given = examples(whole, request, label)
    mode = request.mode or "eval"
    return TorchLive(whole.model, given, names, make=program.make, loss=program.loss or request.loss, mode=mode)


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)
