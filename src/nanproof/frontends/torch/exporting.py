"""A program -> torch.export -> ONNX, with the user's lines, names of sizes and roles of tensors kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from nanproof.frontends.descriptions import wishes
from nanproof.frontends.leaves import Exported
from nanproof.frontends.programs.objects import Program
from nanproof.frontends.request import Request
from nanproof.frontends.torch import complaints, sizes
from nanproof.frontends.torch.apart import decompositions
from nanproof.frontends.torch.examples import Examples, examples, signature_of
from nanproof.frontends.torch.joint import joint, part_of
from nanproof.frontends.torch.losses import PREFIX, differentiated, with_loss
from nanproof.frontends.torch.tracing import own_lines, owners_of, quiet, users_line, values_unseen
from nanproof.frontends.torch.translations import table

OPSET = 20
"""Spells normalisations and attention out; later opsets fuse them into single nodes without a line for each step."""
RUNTIME = "torch"
PLACE, PHASE, DERIVES, PAIR = "nanproof.location", "nanproof.phase", "nanproof.derives", "nanproof.pair"
STACK = "pkg.torch.onnx.stack_trace"
BESIDE = 1 << 30
"""Weights of more bytes than this go to a file beside the model: a protobuf message ends at 2 GiB."""


def exported(program: Program, request: Request, label: str) -> Exported:
    """Export a module, a function of tensors, or an exported program."""
    import torch

    with quiet():
        symbols: dict[str, str] = {}
        notes: list[str] = []
        outputs: list[str] | None = None
        if request.phase != "forward":
            traced, symbols, notes, outputs = traced_training(as_module(program), request, label)
        elif isinstance(program.model, torch.export.ExportedProgram):
            traced = program.model
        else:
            traced, symbols, notes = traced_forward(as_module(program), request, label)
        written = translated(traced, label, outputs)
    annotate(written, symbols, owners_of(program.model))
    return Exported(lambda path: save(written, path), RUNTIME, notes, roles_of(traced))


def as_module(program: Program) -> Program:
    """The program with a module in the place of a function."""
    import torch

    if isinstance(program.model, (torch.nn.Module, torch.export.ExportedProgram)):
        return program
    module = torch.nn.Module()
    module.forward = program.model
    return replace(program, model=module)


def traced_forward(program: Program, request: Request, label: str) -> tuple[Any, dict[str, str], list[str]]:
    """The exported program of a module, the names of its open sizes, and notes on it."""
    import torch

    given = examples(program, request, label)
    with in_mode(program.model, request.mode or "eval"), torch.no_grad():
        return traced(program.model, given, program.dynamic_shapes, (request, label, owners_of(program.model)))


def traced_training(program: Program, request: Request, label: str) -> tuple[Any, dict[str, str], list[str], list[str]]:
    """The joint program of a module's loss and gradients, the names of its open sizes, notes, and names of its outputs."""
    import torch

    if isinstance(program.model, torch.export.ExportedProgram):
        args, kwargs = program.model.example_inputs
        program = replace(program, model=program.model.module(), inputs=args, kwargs=kwargs)
    given = examples(program, request, label)
    with in_mode(program.model, request.mode or "train"), torch.enable_grad():
        own = (
            None if isinstance(request.loss, str) else request.loss
        )  # a name was looked up where the program was loaded
        module, given = with_loss(program, own, given, label)
        given, learned = differentiated(module, given, label)
        about = request, label, owners_of(program.model)
        found, symbols, notes = traced(module, given, program.dynamic_shapes, about)
        try:
            program_of_gradients, outputs = joint(found, PREFIX, decompositions())
        except Exception as error:
            raise complaints.while_differentiating(error, label, found) from error
    return program_of_gradients, symbols, [*notes, learned], outputs


def traced(
    module: Any, given: Examples, dynamic_shapes: Any, about: tuple[Request, str, tuple[str, ...]]
) -> tuple[Any, dict[str, str], list[str]]:
    """torch.export of a module, the names of its open sizes, and notes on it."""
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
    return found, symbols, notes


def translated(traced: Any, label: str, outputs: list[str] | None = None) -> Any:
    """The ONNX program of an exported program, as it is: the optimiser of the exporter drops small constants."""
    import torch

    with own_lines(()):
        try:
            return torch.onnx.export(
                traced,
                dynamo=True,
                optimize=False,
                opset_version=OPSET,
                verbose=False,
                custom_translation_table=table(),
                output_names=outputs,
            )
        except Exception as error:
            raise complaints.while_translating(error, label, traced) from error


def annotate(written: Any, symbols: Mapping[str, str], owners: tuple[str, ...]) -> None:
    """Give nodes their line in the user's program, and sizes the names that the user knows."""
    from onnxscript import ir

    graphs = [written.model.graph, *(function.graph for function in written.model.functions.values())]
    for graph in graphs:
        for value in graph.inputs:
            _rename(ir, value, symbols)
        for node in ir.traversal.RecursiveGraphIterator(graph):
            stack = node.metadata_props.pop(STACK, "")
            stack, part = part_of(stack)
            place = users_line(stack, owners)
            if place:
                node.metadata_props[PLACE] = place
            if part:
                node.metadata_props.update(zip((PHASE, DERIVES, PAIR), part, strict=True))
            for value in node.outputs:
                _rename(ir, value, symbols)


def _rename(ir: Any, value: Any, symbols: Mapping[str, str]) -> None:
    if symbols and value.shape is not None:
        value.shape = ir.Shape(
            [size if isinstance(size, int) else sizes.renamed(str(size.value), symbols) for size in value.shape]
        )


def save(written: Any, path: Path) -> None:
    """Write the ONNX file."""
    weights = sum(value.const_value.nbytes for value in written.model.graph.initializers.values() if value.const_value)
    written.save(path, external_data=weights > BESIDE)


def roles_of(traced: Any) -> dict[str, str]:
    """Parameters are weights, literal tensors of the program constants; what a buffer is its use tells."""
    import torch

    kinds = torch.export.graph_signature.InputKind
    roles = {kinds.PARAMETER: "weight", kinds.CONSTANT_TENSOR: "constant"}
    return {
        spec.target: roles[spec.kind]
        for spec in traced.graph_signature.input_specs
        if spec.kind in roles and spec.target is not None
    }


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
