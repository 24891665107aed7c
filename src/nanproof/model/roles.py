"""What an initial value is for: it decides which range the value gets and what a witness may choose."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from nanproof.findings.errors import InputError
from nanproof.model.graph import Graph, subgraphs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanproof.model.graph import Declared, Node, Source


class Role(str, Enum):
    """Who chooses an initial value: the caller, the data set, training, the author of the program, or chance."""

    INPUT = "input"
    LABEL = "label"
    WEIGHT = "weight"
    CONSTANT = "constant"
    RANDOM = "random"


SMALL = 16
"""A stored float tensor with at most this many elements, read by no operator with parameters, is a constant."""

# Operand positions that hold what training changes.
_PARAMETERS: dict[str, tuple[int, ...]] = {
    "MatMul": (0, 1), "Gemm": (0, 1, 2), "Conv": (1, 2), "ConvTranspose": (1, 2), "DeformConv": (1, 3), "Einsum": (0, 1, 2, 3),
    "LSTM": (1, 2, 3, 7), "GRU": (1, 2, 3), "RNN": (1, 2, 3), "BatchNormalization": (1, 2, 3, 4), "PRelu": (1,),
    "InstanceNormalization": (1, 2), "LayerNormalization": (1, 2), "GroupNormalization": (1, 2), "RMSNormalization": (1,), "Gather": (0,),
}  # fmt: skip
# Operators through which a parameter is still the same parameter.
_SAME = frozenset(
    {"Identity", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Cast", "CastLike", "DequantizeLinear"}
)
# (operator, operand) of class numbers: what names them as labels.
_LABELS = {("NegativeLogLikelihoodLoss", 1), ("SoftmaxCrossEntropyLoss", 1), ("OneHot", 0)}
_LABEL_NAMES = ("label", "target", "y_true", "ground_truth")


def infer(graph: Graph, overrides: Mapping[str, Role] | None = None) -> dict[str, Role]:
    """Give every initial value a role.

    * A stored float tensor is a WEIGHT when an operator with parameters reads it as one (MatMul, Gemm, Conv, recurrent cells,
      normalisations, PRelu, the table of a Gather; also after a transpose, reshape or cast) or when it has more than 16 elements; else it is a
      CONSTANT, and so is every stored tensor of another kind. A stored tensor that is a graph input too is a WEIGHT if float.
    * A graph input that isn't stored is a LABEL when it holds integers that a loss or OneHot reads as class numbers, or when it
      holds integers and is called label, target, y_true or ground_truth; any other is an INPUT.
    * RANDOM is never inferred for an initial value: random operators make their values inside the graph.
    """
    roles: dict[str, Role] = {}
    trained = _parameters(graph)
    inputs = {declared.name: declared for declared in graph.inputs}
    classes = _class_numbers(graph, inputs) if any(_integral(item) for item in graph.inputs) else set()
    for name, declared in inputs.items():
        if name not in graph.constants:
            roles[name] = Role.LABEL if name in classes or (_integral(declared) and _named_label(name)) else Role.INPUT
    for name, source in stored(graph):
        roles[name] = _fixedrole(source, trained=name in trained or name in inputs)
    for name, role in (overrides or {}).items():
        if name not in roles:
            raise InputError(f'a role is given for "{name}", which is no input or initialiser of the model')
        roles[name] = role
    return roles


def stored(graph: Graph) -> Iterator[tuple[str, Source]]:
    """Yield the stored tensors of a graph and of its subgraphs."""
    yield from graph.constants.items()
    for node in graph.nodes:
        if node.attrs:
            for body in subgraphs(node):
                yield from stored(body)


def count(source: Source) -> int:
    """Return the number of elements of a stored tensor."""
    total = 1
    for size in source.shape:
        total *= size
    return total


def _fixedrole(source: Source, *, trained: bool) -> Role:
    if source.dtype.is_float and (trained or count(source) > SMALL):
        return Role.WEIGHT
    return Role.CONSTANT


def _parameters(graph: Graph) -> set[str]:
    """Names that an operator with parameters reads as parameters, followed back through what only moves elements."""
    found: set[str] = set()
    for node in reversed(graph.nodes):
        op = node.op
        if op in _PARAMETERS:
            names = node.inputs
            found.update([names[index] for index in _PARAMETERS[op] if index < len(names)])
        elif op in _SAME and node.outputs and node.outputs[0] in found:
            found.add(node.inputs[0] if node.inputs else "")
        if node.attrs:
            for body in subgraphs(node):
                found |= _parameters(body)
    return found


def _class_numbers(graph: Graph, inputs: Mapping[str, Declared]) -> set[str]:
    return {name for name, node, operand in readers(graph, set(inputs)) if (node.op, operand) in _LABELS}


def readers(graph: Graph, names: set[str]) -> Iterator[tuple[str, Node, int]]:
    """Yield (name, node, operand) for every use of the named values, also after Identity, Cast, Reshape and their kind."""
    origin = {name: name for name in names}
    yield from _readers(graph, origin)


def _readers(graph: Graph, origin: dict[str, str]) -> Iterator[tuple[str, Node, int]]:
    wrapped: dict[str, str] = {}
    fixed: set[str] = set(graph.constants)
    for node in graph.nodes:
        if node.op in _SAME and node.inputs and node.inputs[0] in fixed:
            fixed.update(node.outputs)
        _wrap(graph, node, origin, wrapped)
        _ignore(node, origin, fixed)
        for operand, name in enumerate(node.inputs):
            if name in origin:
                yield origin[name], node, operand
                if node.op in _SAME and not operand and node.outputs:
                    origin[node.outputs[0]] = origin[name]
        if node.attrs:
            for body in subgraphs(node):
                yield from _readers(body, origin)


def _wrap(graph: Graph, node: Node, origin: dict[str, str], wrapped: dict[str, str]) -> None:
    """Numbers counted from the end are still the same index: where(i < 0, i + n, i)."""
    if node.op == "Add" and len(node.inputs) == 2:
        index = next((name for name in node.inputs if name in origin), None)
        if index is not None and any(name in graph.constants for name in node.inputs):
            wrapped[node.outputs[0]] = origin[index]
    elif node.op == "Where" and len(node.inputs) == 3:
        _, moved, index = node.inputs
        if index in origin and wrapped.get(moved) == origin[index]:
            origin[node.outputs[0]] = origin[index]


def _ignore(node: Node, origin: dict[str, str], fixed: set[str]) -> None:
    """An index stays one where some of its values are replaced by a stored number: where(i != -100, i, 0)."""
    if node.op == "Where" and len(node.inputs) == 3:
        _, index, other = node.inputs
        if index in origin and other in fixed:
            origin[node.outputs[0]] = origin[index]


def _integral(declared: Declared) -> bool:
    return declared.dtype is not None and declared.dtype.is_integer


def _named_label(name: str) -> bool:
    low = name.lower()
    return any(hint in low for hint in _LABEL_NAMES)
