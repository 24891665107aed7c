"""Run the original file with a look inside: chosen values as further outputs, chosen stored tensors as further inputs.

ONNX Runtime is the runtime; the reference evaluator takes its place where it has no kernel, where it would compute
float16 in float32, and where the question is about another runtime. Neither shares code with what searches.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanproof.execution import onnx_runtime, reference
from nanproof.execution.onnx_runtime import CannotRunError

if TYPE_CHECKING:
    from onnx import ModelProto

NARROW = frozenset({10, 16, 17, 18, 19, 20})
"""ONNX's numbers of the float types under 32 bits."""


@dataclass(slots=True)
class Replay:
    """A file opened by ``opened``: ``run`` feeds it and returns the arrays of all outputs and exposed values by name."""

    runtime: str
    names: tuple[str, ...]
    """The outputs of the model, then the exposed values."""
    outputs: tuple[str, ...]
    defaults: dict[str, Any]
    """Stored tensors that became inputs which must be fed."""
    _run: Any = field(repr=False)

    def run(self, feeds: Mapping[str, Any]) -> dict[str, Any]:
        """Everything that was asked for. Raises CannotRunError where the runtime refuses these operands."""
        return dict(zip(self.names, self._run({**self.defaults, **feeds}), strict=True))


def proto_of(target: str | Path | bytes | ModelProto) -> tuple[ModelProto, Path | None]:
    """The file as a protobuf without its external data, and the folder where those are."""
    import onnx

    if isinstance(target, (str, Path)):
        path = Path(target)
        if path.suffix.lower() in {".onnxtxt", ".onnxtext"}:
            return onnx.parser.parse_model(path.read_text("utf-8")), path.parent
        return onnx.load(str(path), load_external_data=False), path.parent
    if isinstance(target, bytes):
        return onnx.load_model_from_string(target), None
    return target, None


def opened(
    target: str | Path | bytes | ModelProto,
    *,
    expose: Collection[str] = (),
    free: Collection[str] = (),
    runtime: str = "onnxruntime",
) -> Replay:
    """Open a file for replays. Names that it doesn't have at its outermost level are left out of ``expose``.

    ``free`` are the stored tensors that a replay may set. Raises CannotRunError if no
    runtime can run the file.
    """
    from onnx import ValueInfoProto

    source, folder = proto_of(target)
    proto = type(source)()
    proto.CopyFrom(source)
    outputs = tuple(item.name for item in proto.graph.output)
    made = {name for node in proto.graph.node for name in node.output if name}
    inner = [name for name in dict.fromkeys(expose) if name in made and name not in outputs]
    proto.graph.output.extend(ValueInfoProto(name=name) for name in inner)
    defaults = _freed(proto, set(free), folder)
    names = (*outputs, *inner)
    problem: CannotRunError | None = None
    for candidate in _runtimes(proto, runtime):
        try:
            run = _onnx_runtime(proto, folder) if candidate == "onnxruntime" else _reference(proto, folder)
        except CannotRunError as error:
            problem = problem or error
            continue
        return Replay(candidate, names, outputs, defaults, run)
    raise problem or CannotRunError("no runtime")


def _runtimes(proto: ModelProto, runtime: str) -> tuple[str, ...]:
    """Who is asked, in order: whoever the verdicts are about, and rounds as the file says."""
    if runtime != "onnxruntime" or _is_narrow(proto):
        return "reference", "onnxruntime"
    return "onnxruntime", "reference"


def _is_narrow(proto: ModelProto) -> bool:
    """Whether the file computes in a float type under 32 bits."""
    graph = proto.graph
    kinds = {
        item.type.tensor_type.elem_type for group in (graph.input, graph.output, graph.value_info) for item in group
    }
    kinds.update(item.data_type for item in graph.initializer)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name in {"to", "dtype"}:
                kinds.add(attribute.i)
            elif node.op_type == "Constant" and attribute.HasField("t"):
                kinds.add(attribute.t.data_type)
    return not NARROW.isdisjoint(kinds)


def _freed(proto: ModelProto, free: set[str], folder: Path | None) -> dict[str, Any]:
    """Make inputs of stored tensors. Returns the values of those that have no default of their own then."""
    import onnx
    from onnx import helper, numpy_helper

    graph = proto.graph
    known = {item.name for item in graph.input}
    for item in graph.initializer:
        if item.name in free and item.name not in known:
            graph.input.append(helper.make_tensor_value_info(item.name, item.data_type, list(item.dims)))
    defaults: dict[str, Any] = {}
    kept = []
    for node in graph.node:
        name = node.output[0] if node.op_type == "Constant" and node.output else ""
        tensor = next((a.t for a in node.attribute if a.name == "value"), None) if name in free else None
        if tensor is None:
            kept.append(node)
            continue
        defaults[name] = numpy_helper.to_array(tensor, str(folder or ""))
        graph.input.append(helper.make_tensor_value_info(name, tensor.data_type, list(tensor.dims)))
    if defaults:
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in kept]
        del graph.node[:]
        graph.node.extend(copies)
    return defaults


def _onnx_runtime(proto: ModelProto, folder: Path | None) -> Any:
    session = onnx_runtime.new_session(proto.SerializeToString(), folder)
    return lambda feeds: onnx_runtime.answers(session, feeds)


def _reference(proto: ModelProto, folder: Path | None) -> Any:
    import onnx

    if folder is not None:
        onnx.load_external_data_for_model(proto, str(folder))
    evaluator = reference.opened(proto)
    return lambda feeds: reference.answers(evaluator, feeds)
