"""Keras: models of a program and models in .keras and .h5 files, through TensorFlow -> ONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanproof.frontends.leaves import Exported
    from nanproof.frontends.programs.objects import Program
    from nanproof.frontends.request import Request


def matches(program: Program) -> bool:
    """Whether the program is a Keras model or layer."""
    return any(
        base.__module__.startswith("keras.src.") and base.__name__ in {"Layer", "Model"}
        for base in type(program.model).__mro__
    )


def export(program: Program, request: Request, label: str) -> Exported:
    """The model as ONNX."""
    from nanproof.frontends.keras.exporting import exported

    return exported(program, request, label)
