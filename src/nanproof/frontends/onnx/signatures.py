"""What the ONNX schema says of an operator at one opset, in the form that the reader checks each node against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nanproof.frontends.onnx.contributed import contributed

if TYPE_CHECKING:
    from nanproof.model.graph import Node

_UNLIMITED = 1 << 31
NEWEST = 1 << 30
"""A version above any that will be: get_schema takes 32-bit integers only."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Attribute types by name, what must be there, and how many operands there may be."""

    types: dict[str, int]
    required: tuple[str, ...]
    inputs: tuple[int, int]
    outputs: tuple[int, int]
    needed: tuple[bool, ...]  # by operand: may it not be absent
    since: int

    def complaint(self, node: Node) -> str | None:
        """Return what is wrong with the operands and attributes of a node, or None."""
        count = len(node.inputs)
        if not self.inputs[0] <= count <= self.inputs[1]:
            return f"has {count} inputs, {_span(self.inputs)} are needed"
        if "" in node.inputs:
            for index, name in enumerate(node.inputs):
                if not name and self.needed and self.needed[min(index, len(self.needed) - 1)]:
                    return f"lacks its input {index}, which isn't optional"
        if not self.outputs[0] <= len(node.outputs) <= self.outputs[1]:
            return f"has {len(node.outputs)} outputs, {_span(self.outputs)} are needed"
        for name in self.required:
            if name not in node.attrs:
                return f'lacks the attribute "{name}"'
        return None


def signature(domain: str, op: str, opset: int) -> Signature | None:
    """Look an operator up in the schemas of the onnx package, then in those of ONNX Runtime; None where it has none."""
    schema = schema_of(domain, op, opset)
    if schema is None:
        return None
    kinds: dict[str, Any] = dict(schema.attributes)
    return Signature(
        types={name: int(attribute.type.value) for name, attribute in kinds.items()},
        required=tuple(name for name, attribute in kinds.items() if attribute.required),
        inputs=(schema.min_input, schema.max_input),
        outputs=(schema.min_output, schema.max_output),
        needed=tuple(formal.option.name != "Optional" for formal in schema.inputs),
        since=schema.since_version,
    )


def schema_of(domain: str, op: str, opset: int) -> Any:
    """The schema of an operator: one of the onnx package (``OpSchema``), or of ONNX Runtime (``Contributed``)."""
    from onnx import defs

    try:
        return defs.get_schema(op, min(opset, NEWEST), domain)
    except defs.SchemaError:
        return contributed(domain, op)


def _span(limits: tuple[int, int]) -> str:
    low, high = limits
    if low == high:
        return str(low)
    return f"{low} or more" if high >= _UNLIMITED - 1 else f"{low} to {high}"
