"""A call -> jaxpr -> an ONNX model: weights with their values and names, inputs, random keys, notes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.findings.errors import InputError
from nanproof.frontends.jax import functions, phases
from nanproof.frontends.jax.arguments import Call, Leaf, call_of
from nanproof.frontends.jax.closures import closed_over
from nanproof.frontends.jax.lines import Lines, has_backward
from nanproof.frontends.jax.tracing import Traced, traced
from nanproof.frontends.jax.translating import Translator, is_key
from nanproof.frontends.jax.unused import read_by, used
from nanproof.frontends.jax.writing import FOREIGN, OPSET, OWN, Block, Book, declared
from nanproof.frontends.leaves import Exported
from nanproof.frontends.programs.objects import Program
from nanproof.frontends.request import Request

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

RUNTIME = "ieee"
BESIDE = 1 << 30
"""Weights of more bytes than this go to a file beside the model: a protobuf message ends at 2 GiB."""


def exported(program: Program, request: Request, label: str) -> Exported:
    """Trace a function and write it as ONNX."""
    from nanproof.frontends.jax.rules import RULES

    if request.phase not in {"forward", "gradient"}:
        raise InputError(
            f"{label}: --phase {request.phase} is for PyTorch: in JAX an update is a function of parameters, state and gradients, so "
            "name that function"
        )
    call = call_of(program, request, label)
    lines = Lines(owners_of(program.model))
    loss = program.loss if program.loss is not None else request.loss
    found = traced(call, request, loss, (label, lines))
    paired = found.forward is not None or has_backward(found.jaxpr[0])
    translator = Translator(RULES, lines, closed_over(program.model), paired, found.forward is not None)
    model, roles = written(call, found, translator)
    notes = [*_notes(call), *_unmapped(translator)]
    return Exported(lambda path: save(model, path), RUNTIME, notes, roles)


def written(call: Call, found: Traced, translator: Translator) -> tuple[ModelProto, dict[str, str]]:
    """The ONNX model of a traced call, and the roles of what it is given."""
    from onnx import helper

    book, roles = Book(), dict[str, str]()
    block = Block(book)
    jaxpr, consts = found.jaxpr
    outputs = [book.name(name) for name in found.outputs]
    inputs, names = _inputs(book, call.leaves, jaxpr, roles)
    for symbol, (number, axis) in found.symbols.items():
        book.sizes[symbol] = block.add("Shape", names[number], start=axis, end=axis + 1)
    known = dict(zip(jaxpr.invars, names, strict=True))
    known.update(zip(jaxpr.constvars, (translator.kept(block, value) for value in consts), strict=True))
    results = translator.equations(block, jaxpr, known)
    if found.forward is not None:
        phases.mark(block.nodes, results[: found.forward])
    infos = []
    for name, result, variable in zip(outputs, results, jaxpr.outvars, strict=True):
        block.label, block.place = name, ""
        block.nodes.append(helper.make_node("Identity", [result], [name], name=name))
        infos.append(
            declared(name, np.uint32 if is_key(variable.aval.dtype) else variable.aval.dtype, variable.aval.shape)
        )
    nodes = used(block.nodes, outputs)
    read = read_by(nodes)
    stored = [tensor for name, tensor in book.stored.items() if name in read or name in roles]
    types = [info for name, info in book.types.items() if name in read]
    graph = helper.make_graph(nodes, "jax", inputs, infos, stored, value_info=types)
    opsets = [helper.make_opsetid("", OPSET)]
    opsets += [helper.make_opsetid(domain, 1) for domain in (OWN, FOREIGN) if domain in book.domains]
    proto = helper.make_model(graph, opset_imports=opsets, functions=functions.used(nodes), ir_version=13)
    return proto, roles


def _inputs(
    book: Book, leaves: Iterable[Leaf], jaxpr: Any, roles: dict[str, str]
) -> tuple[list[ValueInfoProto], list[str]]:
    """Weights with values as stored tensors, everything else as inputs."""
    inputs, names = [], []
    for leaf, variable in zip(leaves, jaxpr.invars, strict=True):
        key = is_key(leaf.dtype)
        if leaf.weight and leaf.value is not None and not key:
            name = book.store(np.asarray(leaf.value, leaf.dtype), leaf.name)
        else:
            name = book.name(leaf.name)
            inputs.append(declared(name, np.uint32 if key else leaf.dtype, variable.aval.shape))
        if leaf.weight:
            roles[name] = "weight"
        elif key:
            roles[name] = "random"
        names.append(name)
    return inputs, names


def save(model: ModelProto, path: Path) -> None:
    """Write the ONNX file."""
    import onnx

    weights = sum(len(tensor.raw_data) for tensor in model.graph.initializer)
    if weights > BESIDE:
        onnx.save_model(model, path, save_as_external_data=True, location=f"{path.name}.data", size_threshold=1024)
    else:
        onnx.save_model(model, path)


def owners_of(model: Any) -> tuple[str, ...]:
    """The folder of the package that a model comes from: its lines count as the user's though it is installed."""
    package = (getattr(model, "__module__", None) or type(model).__module__).split(".", 1)[0]
    if package in {"jax", "jaxlib", "builtins", "nanproof", "functools"}:
        return ()
    file = getattr(sys.modules.get(package), "__file__", None)
    return (str(Path(file).parent),) if file and "site-packages" in file else ()


def _notes(call: Call) -> list[str]:
    notes = []
    weights = dict.fromkeys(leaf.name.split(".", 1)[0] for leaf in call.leaves if leaf.weight)
    if weights:
        notes.append(f"arguments taken for weights: {', '.join(weights)}")
    if call.static:
        notes.append(f"arguments that are no arrays keep their values: {', '.join(call.static)}")
    return notes


def _unmapped(translator: Translator) -> list[str]:
    known: Mapping[str, str] = translator.unmapped
    return [
        f"the primitive {name} has no counterpart in ONNX{f' ({reason})' if reason else ''}: its results are taken as any value"
        for name, reason in known.items()
    ]
