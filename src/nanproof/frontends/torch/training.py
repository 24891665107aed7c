"""A module with its loss -> the program of the loss, its gradients and, if asked for, one step of an optimiser."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nanproof.findings.errors import InputError
from nanproof.frontends.programs.objects import Program
from nanproof.frontends.request import Request
from nanproof.frontends.torch import complaints
from nanproof.frontends.torch.apart import decompositions
from nanproof.frontends.torch.capturing import Captured, as_module, captured, in_mode
from nanproof.frontends.torch.examples import examples
from nanproof.frontends.torch.joint import joint, table
from nanproof.frontends.torch.losses import PREFIX, differentiated, with_loss
from nanproof.frontends.torch.tracing import owners_of
from nanproof.frontends.torch.update.choosing import Chosen, chosen
from nanproof.frontends.torch.update.joining import joined
from nanproof.frontends.torch.update.states import COUNTER, valid
from nanproof.frontends.torch.update.tracing import LATER, traced


def training(program: Program, request: Request, label: str) -> Captured:
    """The joint program of a module's loss and gradients; in the phase "step" with the optimiser's update."""
    import torch

    if isinstance(program.model, torch.export.ExportedProgram):
        args, kwargs = program.model.example_inputs
        program = replace(program, model=program.model.module(), inputs=args, kwargs=kwargs)
    program = as_module(program)
    given = examples(program, request, label)
    own = None if isinstance(request.loss, str) else request.loss  # a name was looked up where the program was loaded
    with in_mode(program.model, request.mode or "train"), torch.enable_grad():
        module, given = with_loss(program, own, given, label)
        given, learned = differentiated(module, given, label)
        owners = owners_of(program.model)
        step = None
        if request.phase == "step":
            step = Step(chosen(program, request, list(module.parameters()), label), module, owners, label)
        found = captured(module, given, program.dynamic_shapes, (request, label, owners))
        try:
            found.program, found.outputs = joint(found.program, PREFIX, decompositions(), step or _nothing)
        except InputError:
            raise
        except Exception as error:
            raise complaints.while_differentiating(error, label, found.program) from error
    found.notes.append(learned)
    if step is not None:
        found.inputs, found.valid = step.inputs, step.valid
        found.notes += step.notes
    return found


def _nothing(*_: Any) -> None:
    """Append nothing."""


class Step:
    """Appends the update of an optimiser to a joint graph, and keeps what is known of its state."""

    def __init__(self, chosen: Chosen, module: Any, owners: tuple[str, ...], label: str) -> None:
        self.chosen, self.owners, self.label = chosen, owners, label
        every = module.named_parameters(remove_duplicate=False)
        self.parameters = {name.removeprefix(PREFIX): p for name, p in every}
        self.inputs: dict[str, str] = {}
        self.valid: dict[str, tuple[float, float]] = {}
        self.notes: list[str] = []

    def __call__(self, graph: Any, specs: list[Any], outputs: list[Any], names: list[str]) -> None:
        held = {id(p) for group in self.chosen.optimizer.param_groups for p in group["params"]}
        learned = [name.removesuffix(".grad") for name in names if name.endswith(".grad")]
        trained = {n: self.parameters[n] for n in learned if n in self.parameters and id(self.parameters[n]) in held}
        if not trained:
            raise InputError(
                f"{self.label}: the optimiser holds no parameter of the model that has a gradient: make it of the parameters of "
                "the same model"
            )
        update = traced(self.chosen, trained, (table(decompositions()), self.owners, self.label))
        self.inputs = joined(graph, specs, outputs, names, (self.chosen, update))
        known = valid(self.chosen.optimizer, trained, update.kept)
        self.valid = {name: known[name] for name in self.inputs.values()}
        self.notes.append(_told(self.chosen, len(trained), fixed=update.fixed, counted=COUNTER in self.valid))


def _told(chosen: Chosen, count: int, *, fixed: bool, counted: bool) -> str:
    clipped = "" if chosen.clip is None else f", its gradients cut to the norm {chosen.clip:g}"
    when = f"step {LATER + 1}" if fixed else "any step" if counted else "a step"
    why = ", since it decides by the number of steps" if fixed else ""
    return f"the update is {when} of {chosen.name} over {count} parameter{'s' * (count != 1)}{clipped}{why}"
