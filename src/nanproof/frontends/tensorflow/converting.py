"""A TensorFlow program as an ONNX model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import onnx
from onnx import helper

from nanproof.findings.errors import InputError
from nanproof.frontends.tensorflow.context import Context
from nanproof.frontends.tensorflow.graph import Body, Graph, Ref
from nanproof.frontends.tensorflow.operators import SILENT
from nanproof.frontends.tensorflow.program import Program
from nanproof.frontends.tensorflow.running import run
from nanproof.frontends.tensorflow.shapes import OPSET, opset_of
from nanproof.frontends.tensorflow.structure import structured
from nanproof.frontends.tensorflow.values import Opaque, Tensor, Value
from nanproof.frontends.tensorflow.writing import FOREIGN

if TYPE_CHECKING:
    from numpy.typing import NDArray

IR_VERSION = 10
RUNTIME = "onnxruntime"


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be read of a program.

    inputs    names for placeholders, in the order in which they are shown
    outputs   results by the name they are shown under; none: whatever nothing reads
    effects   calls that run for what they do to variables
    restore   the call that fills variables from the bundle
    arguments values of the main body's parameters: an array, or the name of a stored variable
    """

    inputs: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, Ref] = field(default_factory=dict)
    effects: Sequence[str] = ()
    restore: str = ""
    bundle: Mapping[str, NDArray[Any]] | None = None
    stored: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    sizes: Mapping[tuple[str, int], str] = field(default_factory=dict)
    arguments: Sequence[tuple[str, NDArray[Any] | str]] = ()


@dataclass(frozen=True, slots=True)
class Converted:
    """The model, and what else is known of it."""

    proto: onnx.ModelProto
    notes: tuple[str, ...]
    roles: Mapping[str, str]
    unknown: Mapping[str, int]


def convert(graph: Graph, question: Question) -> Converted:
    """The ONNX model of a program. Raises InputError where there is nothing to check, or the graph is damaged."""
    graph = structured(graph)
    program = Program(graph, run, question.inputs, question.sizes, question.stored, question.bundle)
    if question.restore:
        _restore(program, question.restore)
    context = Context(program)
    main = graph.main
    outputs = dict(question.outputs)
    effects = list(question.effects)
    if not outputs and not effects:
        outputs, effects = ends(main)
    names = tuple(name for name, _ in question.arguments)
    body = Body(main.name, main.calls, names, tuple(outputs.values()), tuple(effects))
    try:
        found = run(context, body, [_argument(context, name, value) for name, value in question.arguments])
    except RecursionError:
        raise InputError("branches and loops are nested too deeply: the file is damaged or hostile") from None
    return _finished(context, dict(zip(outputs, found, strict=True)))


def _argument(context: Context, name: str, value: NDArray[Any] | str) -> Value:
    if not isinstance(value, str):
        return context.const(value, name=name)
    array = context.program.stored[value]
    return context.program.variable(value, (helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))


def ends(body: Body) -> tuple[dict[str, Ref], list[str]]:
    """What nothing reads: results by name, and the calls that change variables other than to set them up."""
    read = {ref[0] for call in body.calls.values() for ref in call.inputs}
    initial = _initial(body)
    outputs: dict[str, Ref] = {}
    effects: list[str] = []
    for name, call in body.calls.items():
        if call.op in _CHANGES or "Apply" in call.op:
            if name not in initial:
                effects.append(name)
        elif name not in read and call.op not in _NO_ENDS and call.op not in SILENT and name not in initial:
            outputs[name] = (name, 0)
    if not outputs and not effects:
        raise InputError("the graph computes nothing: every result in it is a constant or is read again")
    return outputs, effects


_CHANGES = frozenset({
    "Assign", "AssignAdd", "AssignSub", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "ScatterAdd",
    "ScatterSub", "ScatterUpdate", "ResourceScatterAdd", "ResourceScatterUpdate",
})  # fmt: skip
_NO_ENDS = frozenset({
    "Const", "Placeholder", "VarHandleOp", "VariableV2", "Variable", "RestoreV2", "ShardedFilename", "StringJoin",
    "VarIsInitializedOp", "IsVariableInitialized", "HashTableV2", "MutableHashTableV2", "_Arg",
})  # fmt: skip
_SET = frozenset({"Assign", "AssignVariableOp"})
_SAVING = frozenset({"SaveV2", "RestoreV2", "ShardedFilename", "MergeV2Checkpoints"})


def _initial(body: Body) -> set[str]:
    """Calls that set a variable to what depends on no input and no variable, or save and restore it; and what hangs on these."""
    found: set[str] = set()
    for name, call in body.calls.items():
        if (
            call.op in _SAVING
            or call.op in {"VarIsInitializedOp", "IsVariableInitialized"}
            or (call.op in _SET and len(call.inputs) > 1 and not _depends(body, call.inputs[1][0]))
        ):
            found.add(name)
    for name, call in body.calls.items():  # the file's order: what reads comes later
        if call.op in {"Identity", "Pack", "NoOp", *_SAVING} and call.inputs and call.inputs[0][0] in found:
            found.add(name)
    return found


def _depends(body: Body, name: str) -> bool:
    """Whether a value depends on an input or on a variable's value."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        call = body.calls[name]
        if call.op in {
            "Placeholder",
            "PlaceholderV2",
            "ReadVariableOp",
            "VariableV2",
            "Variable",
            "Iterator",
            "IteratorV2",
        }:
            return True
        waiting.extend(ref[0] for ref in call.inputs)
    return False


def setters(body: Body) -> dict[str, Ref]:
    """What sets up each variable, by the variable's call."""
    found: dict[str, Ref] = {}
    for call in body.calls.values():
        if call.op in _SET and len(call.inputs) > 1 and not _depends(body, call.inputs[1][0]):
            found.setdefault(call.inputs[0][0], call.inputs[1])
    return found


def _restore(program: Program, name: str) -> None:
    """Fill variables as the program's own restoring does."""
    program.restoring = True
    main = program.graph.main
    if name in main.calls:
        run(Context(program), Body(main.name, main.calls, (), (), (name,)), [])
    program.restoring = False
    program.inputs.clear()  # the file's name


def _finished(context: Context, found: Mapping[str, Value]) -> Converted:
    program, shared = context.program, context.shared
    outputs: list[Tensor] = []
    lost: list[str] = []
    for name, value in found.items():
        tensor = context.tensor_if_any(value)
        if tensor is None:
            lost.append(name)
        else:
            outputs.append(_named(context, name, tensor))
    changed = [variable for variable in program.variables.values() if variable.changed]
    outputs.extend(_named(context, f"{one.name} after", one.now) for one in changed if one.now is not None)
    if not outputs:
        what = next((value.what for value in found.values() if isinstance(value, Opaque)), "nothing")
        raise InputError(f"no result of the graph can be read: it computes {what}")
    if lost:
        program.note(f"results that are no tensors are left out: {', '.join(lost[:6])}")
    graph = context.graph(program.graph.main.name or "graph", _in_order(program), outputs)
    graph.initializer.extend(shared.stored)
    graph.value_info.extend(shared.declared)
    opset = max((opset_of(node.op_type) for node in _nodes(graph)), default=OPSET)
    domains = [helper.make_opsetid("", opset)]
    if shared.foreign:
        domains.append(helper.make_opsetid(FOREIGN, 1))
    proto = helper.make_model(graph, opset_imports=domains, ir_version=IR_VERSION, producer_name="nanproof")
    _drop_unused(proto)
    return Converted(proto, tuple(program.notes), _roles(program, proto), dict(shared.foreign))


def _named(context: Context, name: str, value: Tensor) -> Tensor:
    """The value under the name that the user knows it by."""
    if value.name == name:
        return value
    made = context.ops("Identity", value, outputs=1)[0]
    node = context.nodes[-1]
    made.name = node.output[0] = context.shared.unique(name)
    return made


def _in_order(program: Program) -> list[Tensor]:
    order = {name: place for place, name in enumerate(program.names.values())}
    return sorted(program.inputs, key=lambda tensor: order.get(tensor.name, len(order)))


def _drop_unused(proto: onnx.ModelProto) -> None:
    """Stored tensors that nothing reads any more."""
    read = {name for node in _nodes(proto.graph) for name in node.input} | {
        output.name for output in proto.graph.output
    }
    kept = [tensor for tensor in proto.graph.initializer if tensor.name in read]
    if len(kept) < len(proto.graph.initializer):
        del proto.graph.initializer[:]
        proto.graph.initializer.extend(kept)


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _nodes(attribute.g)
                for output in attribute.g.output:
                    yield onnx.NodeProto(input=[output.name])


def _roles(program: Program, proto: onnx.ModelProto) -> dict[str, str]:
    """Variables are weights; where there are any, what is stored beside them is constant."""
    roles = dict(program.roles)
    if roles:
        for tensor in proto.graph.initializer:
            roles.setdefault(tensor.name, "constant")
    known = {tensor.name for tensor in [*proto.graph.initializer, *proto.graph.input]}
    return {name: role for name, role in roles.items() if name in known}
