"""A module -> the program that torch.export makes of it, with the user's lines and the names of open sizes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from nanproof.frontends.descriptions import wishes
from nanproof.frontends.programs.objects import Program
from nanproof.frontends.request import Request
from nanproof.frontends.torch import complaints, sizes
from nanproof.frontends.torch.examples import Examples, examples, signature_of
from nanproof.frontends.torch.tracing import own_lines, owners_of, values_unseen


@dataclass(slots=True)
class Captured:
    """An exported program and what is known of it.

    symbols  the names of open sizes, by torch's own
    outputs  the names of its results; None for those that the exporter gives
    inputs   what inputs are called, where not as in the program
    valid    what inputs are by their nature
    """

    program: Any
    symbols: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    outputs: list[str] | None = None
    inputs: dict[str, str] = field(default_factory=dict)
    valid: dict[str, tuple[float, float]] = field(default_factory=dict)


def as_module(program: Program) -> Program:
    """The program with a module in the place of a function."""
    import torch

    if isinstance(program.model, (torch.nn.Module, torch.export.ExportedProgram)):
        return program
    module = torch.nn.Module()
    module.forward = program.model
    return replace(program, model=module)


def forward(program: Program, request: Request, label: str) -> Captured:
    """What a module computes."""
    import torch

    if isinstance(program.model, torch.export.ExportedProgram):
        return Captured(program.model)
    program = as_module(program)
    given = examples(program, request, label)
    with in_mode(program.model, request.mode or "eval"), torch.no_grad():
        return captured(program.model, given, program.dynamic_shapes, (request, label, owners_of(program.model)))


def captured(
    module: Any, given: Examples, dynamic_shapes: Any, about: tuple[Request, str, tuple[str, ...]]
) -> Captured:
    """torch.export of a module."""
    import torch
    from torch.fx.traceback import preserve_node_meta

    request, label, owners = about
    bound = sizes.bound_arguments(signature_of(module), given)
    wanted = wishes(request.dynamic, given.named, sizes.leaves_of(bound))
    # preserve_node_meta: the lines of bodies of torch.cond and its kind
    with own_lines(owners), values_unseen(), preserve_node_meta():
        try:
            found = torch.export.export(
                module,
                given.args,
                dict(given.kwargs) or None,
                dynamic_shapes=sizes.shapes(bound, wanted) if wanted else dynamic_shapes,
                strict=False,
            )
        except Exception as error:
            raise complaints.while_tracing(error, label, owners) from error
    symbols, notes = sizes.kept(found, bound, wanted)
    return Captured(found, symbols, notes)


@contextmanager
def in_mode(module: Any, mode: str) -> Iterator[None]:
    """Within this, the module is in eval or train mode (or as it was); afterwards each part is as it was."""
    before = {part: part.training for part in module.modules()}
    try:
        if mode != "keep":
            module.train(mode == "train")
        yield
    finally:
        for part, training in before.items():
            part.training = training
