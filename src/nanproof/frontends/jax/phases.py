"""Which nodes are the forward pass: those that its results need. All others serve the gradients only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nanproof.frontends.jax.translating import GRADIENT
from nanproof.frontends.jax.writing import PHASE

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

ROUNDS = {"Loop": 1, "Scan": 0}
"""Outputs of a body before those that the node hands on: the condition of a Loop."""


def mark(nodes: Sequence[NodeProto], results: Iterable[str]) -> None:
    """Say of every node that the results don't need that it belongs to the backward pass."""
    needed = set(results)
    for node in reversed(nodes):
        wanted = [name in needed for name in node.output]
        if not any(wanted):
            _backward(node)
            continue
        needed.update(node.input)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                needed.update(_inner(node, attribute.g, wanted))


def _inner(node: NodeProto, body: GraphProto, wanted: list[bool]) -> set[str]:
    """Mark the nodes of a body, and return the outer values that its forward part needs."""
    skipped = ROUNDS.get(node.op_type, 0)
    names = [value.name for value in body.output]
    results = names[:skipped] + [name for name, needed in zip(names[skipped:], wanted, strict=True) if needed]
    carried = len(body.input) - (2 if node.op_type == "Loop" else _rows(node)) if node.op_type in ROUNDS else 0
    # what one round hands to the next may reach any result
    results += [name for name in names[skipped : skipped + carried] if name not in results]
    mark(body.node, results)
    inside = {name for inner in body.node for name in inner.output} | {value.name for value in body.input}
    return {name for inner in body.node for name in _used(inner)} - inside


def _rows(node: NodeProto) -> int:
    return next((attribute.i for attribute in node.attribute if attribute.name == "num_scan_inputs"), 0)


def _used(node: NodeProto) -> set[str]:
    found = set(node.input)
    for attribute in node.attribute:
        if attribute.HasField("g"):
            made = {name for inner in attribute.g.node for name in inner.output} | {v.name for v in attribute.g.input}
            found |= {name for inner in attribute.g.node for name in _used(inner)} - made
    return found


def _backward(node: NodeProto) -> None:
    if not any(entry.key == PHASE for entry in node.metadata_props):
        node.metadata_props.add(key=PHASE, value=GRADIENT)
    for attribute in node.attribute:
        if attribute.HasField("g"):
            for inner in attribute.g.node:
                _backward(inner)
