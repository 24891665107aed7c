"""What variables hold at first, where a file has their initialisers only: run once, with fixed seeds."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any

from nanproof.findings.errors import InputError
from nanproof.frontends.tensorflow.converting import Question, convert, setters
from nanproof.frontends.tensorflow.graph import Call, Graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST = 1 << 28
"""Elements of all variables together beyond which none is made up."""

NOTE = "the file holds no values of variables: they are taken as their initialisers make them, with seeds of our own"


def drawn(graph: Graph) -> Mapping[str, NDArray[Any]]:
    """Values of variables by name; a variable whose initialiser can't be run is left out."""
    import onnx.reference

    found: dict[str, NDArray[Any]] = {}
    wanted = {name: ref for name, ref in setters(graph.main).items() if _is_variable(graph.main.calls[name])}
    if sum(_elements(graph.main.calls[name]) for name in wanted) > LARGEST:
        return {}
    for number, (name, result) in enumerate(wanted.items()):
        try:
            made = convert(graph, Question(outputs={"value": result}))
        except InputError:
            continue
        if made.unknown or made.proto.graph.input:
            continue
        for place, node in enumerate(made.proto.graph.node):
            if node.op_type.startswith("Random"):
                node.attribute.append(onnx.helper.make_attribute("seed", float(1 + number * 1000 + place)))
        try:
            value: Any = onnx.reference.ReferenceEvaluator(made.proto).run(None, {})[0]  # type: ignore[index]
        except Exception:  # noqa: BLE001, S112 - a reference that lacks an operator: the variable stays open
            continue
        call = graph.main.calls[name]
        found[call.text("shared_name") or name] = value
    return found


def _is_variable(call: Call) -> bool:
    return call.op in {"VariableV2", "Variable", "VarHandleOp"}


def _elements(call: Call) -> int:
    shape = call.get("shape")
    return 0 if shape is None else prod(max(size, 0) for size in shape)
