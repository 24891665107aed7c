"""Leave out nodes whose results nothing reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto


def used(nodes: Iterable[NodeProto], results: Iterable[str]) -> list[NodeProto]:
    """The nodes that the results need, in order."""
    needed = set(results)
    kept: list[NodeProto] = []
    for node in reversed(list(nodes)):
        if needed.isdisjoint(node.output):
            continue
        kept.append(node)
        needed.update(node.input)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                needed |= free(attribute.g)
    return kept[::-1]


def free(body: GraphProto) -> set[str]:
    """The names that a body reads; those that it makes itself do no harm."""
    return read_by(body.node, (value.name for value in body.output))


def read_by(nodes: Iterable[NodeProto], results: Iterable[str] = ()) -> set[str]:
    """The names that nodes read, within their bodies too."""
    found = set(results)
    for node in nodes:
        found.update(node.input)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                found |= free(attribute.g)
    return found
