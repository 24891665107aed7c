"""How many elements an integer input chooses from: the size of the axis that it indexes, or the number of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanproof.model.roles import count, readers

if TYPE_CHECKING:
    from nanproof.model.graph import Graph, Node

# Scores pass through these from the layer that makes them, their number of classes unchanged.
_SAME_WIDTH = frozenset(
    {
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Identity",
        "Cast",
        "Log",
        "LogSoftmax",
        "Softmax",
        "Sigmoid",
        "Relu",
        "Tanh",
        "Dropout",
        "Clip",
    }
)
_LOSSES = frozenset({"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"})


def index_limits(graph: Graph) -> dict[str, int]:
    """Return, for each integer graph input that indexes something of a known size, the smallest such size."""
    names = {
        item.name
        for item in graph.inputs
        if item.dtype is not None and item.dtype.is_integer and item.name not in graph.constants
    }
    limits: dict[str, int] = {}
    if not names:
        return limits
    for name, node, operand in readers(graph, names):
        size = _indexed(graph, node, operand)
        if size is not None:
            limits[name] = min(size, limits.get(name, size))
    return limits


def _indexed(graph: Graph, node: Node, operand: int) -> int | None:
    if node.op in {"Gather", "GatherElements"} and operand == 1:
        axis = node.attrs.get("axis", 0)
        return _axis(graph, node.inputs[0], axis) if isinstance(axis, int) else None
    if node.op == "Clip" and operand == 0 and len(node.inputs) == 3:
        return _within(graph, node.inputs[1], node.inputs[2])
    if node.op in _LOSSES and operand == 1:
        return _classes(graph, node.inputs[0])
    if node.op == "OneHot" and operand == 0 and len(node.inputs) > 1:
        depth = graph.constants.get(node.inputs[1])
        return int(depth.array().reshape(-1)[0]) if depth is not None and count(depth) == 1 else None
    return None


def _within(graph: Graph, low: str, high: str) -> int | None:
    """How many numbers a Clip from 0 to a stored number leaves: an index that is moved inside is meant to be inside."""
    ends = [graph.constants.get(name) for name in (low, high)]
    if any(end is None or count(end) != 1 for end in ends):
        return None
    first, last = (int(end.array().reshape(-1)[0]) for end in ends if end is not None)
    return last + 1 if first == 0 <= last else None


def _classes(graph: Graph, name: str) -> int | None:
    """Return the number of classes of scores: what is declared, else the width of the layer that makes them."""
    makers = {output: node for node in graph.nodes for output in node.outputs}
    for _ in range(64):
        size = _axis(graph, name, 1)
        maker = makers.get(name)
        if size is not None or maker is None:
            return size
        if maker.op in {"MatMul", "Gemm"} and len(maker.inputs) > 1:
            weight = graph.constants.get(maker.inputs[1])
            if weight is None or len(weight.shape) != 2:
                return None
            return weight.shape[0 if maker.attrs.get("transB", 0) else 1]
        if maker.op not in _SAME_WIDTH or not maker.inputs:
            return None
        name = next((other for other in maker.inputs if other not in graph.constants), "")
    return None


def _axis(graph: Graph, name: str, axis: int) -> int | None:
    source = graph.constants.get(name)
    shape = source.shape if source is not None else None
    if shape is None:
        declared = graph.declared.get(name) or next((item for item in graph.inputs if item.name == name), None)
        if declared is None or declared.shape is None or not -len(declared.shape) <= axis < len(declared.shape):
            return None
        size = declared.shape[axis]
        return size if isinstance(size, int) else None
    return shape[axis] if -len(shape) <= axis < len(shape) else None
