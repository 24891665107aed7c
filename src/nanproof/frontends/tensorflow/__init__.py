"""TensorFlow: saved models, graphs in files, functions and TensorFlow 1 graphs of a program -> ONNX.

Graphs are translated here, operator by operator, without TensorFlow: reading a file runs none of its code.
Only a program's own objects (a tf.function, a tf.Module, a tf.Graph) need TensorFlow, which made them.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nanproof.frontends.leaves import Exported
    from nanproof.frontends.programs.objects import Program
    from nanproof.frontends.request import Request

_OWN = "tensorflow.python."
_KERAS = "keras.src."


def matches(program: Program) -> bool:
    """Whether the program is TensorFlow's: a function, module, graph, or tensors of a graph; or a function of its tensors."""
    modules = [base.__module__ for base in type(program.model).__mro__]
    if any(module.startswith(_KERAS) for module in modules):
        return False
    if any(module.startswith(_OWN) for module in modules):
        return True
    inputs = [*(program.inputs or ()), *program.kwargs.values()]
    return callable(program.model) and any(_is_tensor(value) for value in inputs)


def export(program: Program, request: Request, label: str) -> Exported:
    """The program as ONNX."""
    from nanproof.frontends.tensorflow.live import exported

    return exported(program, request, label)


def _is_tensor(value: Any) -> bool:
    return "tensorflow" in sys.modules and any(base.__module__.startswith(_OWN) for base in type(value).__mro__)
