"""A program -> torch.export -> ONNX, with the user's lines, names of sizes and roles of tensors kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nanproof.frontends.leaves import Exported
from nanproof.frontends.onnx import valid
from nanproof.frontends.programs.objects import Program
from nanproof.frontends.request import Request
from nanproof.frontends.torch import complaints, sizes
from nanproof.frontends.torch.capturing import Captured, forward
from nanproof.frontends.torch.joint import part_of
from nanproof.frontends.torch.numbers import made_alike
from nanproof.frontends.torch.tracing import own_lines, owners_of, quiet, users_line
from nanproof.frontends.torch.training import training
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
    with quiet():
        found = (forward if request.phase == "forward" else training)(program, request, label)
        written = translated(found.program, label, found.outputs)
    annotate(written, found, owners_of(program.model))
    return Exported(lambda path: save(written, path), RUNTIME, found.notes, roles_of(found.program))


def translated(traced: Any, label: str, outputs: list[str] | None = None) -> Any:
    """The ONNX program of an exported program, as it is: the optimiser of the exporter drops small constants."""
    import torch

    made_alike(traced.graph_module)
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


def annotate(written: Any, found: Captured, owners: tuple[str, ...]) -> None:
    """Give nodes their line in the user's program, and sizes and inputs the names that the user knows."""
    from onnxscript import ir

    symbols = found.symbols
    for value in written.model.graph.inputs:
        value.name = found.inputs.get(value.name, value.name)
    if found.valid:
        written.model.metadata_props[valid.KEY] = valid.written(found.valid)
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
