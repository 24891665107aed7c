"""Attributes that became inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nanproof.findings.errors import InputError
from nanproof.model.graph import Node
from nanproof.numerics.dtypes import FLOAT32, to_numpy

if TYPE_CHECKING:
    from nanproof.frontends.onnx.adapters.context import Context
    from nanproof.model.graph import Attr


def without(node: Node, *names: str) -> dict[str, Attr]:
    """Return the attributes of a node less some."""
    return {key: value for key, value in node.attrs.items() if key not in names}


def ints(node: Node, name: str) -> tuple[int, ...]:
    """Return a list of integers; the schema check has seen to its type."""
    value = node.attrs[name]
    assert isinstance(value, tuple)
    return tuple([int(item) for item in value if isinstance(item, int)])


def change(
    node: Node, *, op: str = "", inputs: tuple[str, ...] | None = None, attrs: dict[str, Attr] | None = None
) -> list[Node]:
    """Return the node with some parts replaced."""
    return [
        Node(
            op or node.op, "", node.inputs if inputs is None else inputs, node.outputs,
            node.attrs if attrs is None else attrs, node.name, node.location,
        )
    ]  # fmt: skip


def axes(node: Node, ctx: Context) -> list[Node]:
    """Squeeze, Unsqueeze and the reductions: `axes` is an input."""
    if "axes" not in node.attrs:
        return [node]
    name = ctx.ints(ints(node, "axes"), f"{node.outputs[0]}.axes")
    return change(node, inputs=(node.inputs[0], name), attrs=without(node, "axes"))


def split(node: Node, ctx: Context) -> list[Node]:
    """Split: the sizes are an input, and an equal split says into how many."""
    attrs = without(node, "split", "num_outputs")
    if "split" in node.attrs:
        name = ctx.ints(ints(node, "split"), f"{node.outputs[0]}.split")
        return change(node, inputs=(node.inputs[0], name), attrs=attrs)
    if len(node.inputs) > 1 and node.inputs[1]:
        return change(node, attrs=attrs)
    return change(node, inputs=node.inputs[:1], attrs={**attrs, "num_outputs": len(node.outputs)})


def slice_(node: Node, ctx: Context) -> list[Node]:
    """Slice before 10: starts, ends and axes are attributes."""
    base = node.outputs[0]
    inputs = [
        node.inputs[0],
        ctx.ints(ints(node, "starts"), f"{base}.starts"),
        ctx.ints(ints(node, "ends"), f"{base}.ends"),
    ]
    if "axes" in node.attrs:
        inputs.append(ctx.ints(ints(node, "axes"), f"{base}.axes"))
    return change(node, inputs=tuple(inputs), attrs={})


def top_k(node: Node, ctx: Context) -> list[Node]:
    """TopK before 10: k is an attribute."""
    if len(node.inputs) > 1:
        return [node]
    k = node.attrs["k"]
    assert isinstance(k, int)
    return change(node, inputs=(node.inputs[0], ctx.ints([k], f"{node.outputs[0]}.k")), attrs=without(node, "k"))


def clip(node: Node, ctx: Context) -> list[Node]:
    """Clip before 11: min and max are attributes, and floats whatever the dtype."""
    made: list[Node] = []
    names = [like(node, ctx, key, made) for key in ("min", "max")]
    while names and not names[-1]:
        names.pop()
    return made + change(node, inputs=(node.inputs[0], *names), attrs={})


def pad(node: Node, ctx: Context) -> list[Node]:
    """Pad before 11: pads and value are attributes; before 2 pads is called paddings."""
    if len(node.inputs) > 1:
        return [node]
    made: list[Node] = []
    inputs = [
        node.inputs[0],
        ctx.ints(ints(node, "pads" if "pads" in node.attrs else "paddings"), f"{node.outputs[0]}.pads"),
    ]
    if node.attrs.get("value", 0.0) != 0.0:
        inputs.append(like(node, ctx, "value", made))
    return made + change(node, inputs=tuple(inputs), attrs=without(node, "pads", "paddings", "value"))


def like(node: Node, ctx: Context, key: str, made: list[Node]) -> str:
    """Make a float attribute a scalar of the dtype of the first input; the empty name if it isn't given."""
    value = node.attrs.get(key)
    if not isinstance(value, float):
        return ""
    base = f"{node.outputs[0]}.{key}"
    dtype = ctx.dtype(node.inputs[0])
    if dtype is not None and not dtype.is_float:
        raise InputError(
            f'node "{node.name or node.outputs[0]}" ({node.op}, opset {ctx.opset}) works on floats, its input is {dtype.name}: '
            "cast it, or export the model again with a newer opset"
        )
    if dtype is not None:
        return ctx.constant(np.array(value, to_numpy(dtype)), base)
    plain = ctx.constant(np.array(value, to_numpy(FLOAT32)), base)
    cast = ctx.fresh(base)
    made.append(Node("CastLike", "", (plain, node.inputs[0]), (cast,), {}, node.name, node.location))
    return cast


def reshape(node: Node, ctx: Context) -> list[Node]:
    """Reshape before 5: the shape is an attribute."""
    if len(node.inputs) > 1:
        return [node]
    shape = ints(node, "shape") if "shape" in node.attrs else ()
    return change(node, inputs=(node.inputs[0], ctx.ints(shape, f"{node.outputs[0]}.shape")), attrs={})


def dft(node: Node, ctx: Context) -> list[Node]:
    """DFT before 20: the axis is an attribute, 1 unless given."""
    axis = node.attrs.get("axis", 1)
    assert isinstance(axis, int)
    length = node.inputs[1] if len(node.inputs) > 1 else ""
    name = ctx.constant(np.array(axis, np.int64), f"{node.outputs[0]}.axis")
    return change(node, inputs=(node.inputs[0], length, name), attrs=without(node, "axis"))
