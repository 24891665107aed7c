"""Operators whose meaning or spelling changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nanproof.findings.errors import InputError
from nanproof.frontends.onnx.adapters.moved import change, like, without
from nanproof.model.graph import Node
from nanproof.numerics.dtypes import by_name

if TYPE_CHECKING:
    from nanproof.frontends.onnx.adapters.context import Context
    from nanproof.model.graph import Attr


def step(like_node: Node, op: str, inputs: tuple[str, ...], output: str, **attrs: Attr) -> Node:
    """Make a helper node that carries the name and the place of the node that it helps to replace."""
    return Node(op, "", inputs, (output,), attrs, like_node.name, like_node.location)


def softmax(node: Node, ctx: Context) -> list[Node]:
    """Softmax, LogSoftmax and Hardmax before 13 work on the input flattened to two axes at `axis` (1 unless given)."""
    axis = node.attrs.get("axis", 1)
    assert isinstance(axis, int)
    shape = ctx.shape(node.inputs[0])
    if axis == -1:
        return change(node, attrs={"axis": -1})
    if shape is not None and -len(shape) <= axis < len(shape):
        axis %= len(shape)
        if all(size == 1 for size in shape[axis + 1 :]):
            return change(node, attrs={"axis": axis})
        if all(size == 1 for size in shape[axis:-1]):
            return change(node, attrs={"axis": -1})
    base = node.outputs[0]
    sizes, flat, result = ctx.fresh(base + ".shape"), ctx.fresh(base + ".flat"), ctx.fresh(base)
    return [
        step(node, "Shape", (node.inputs[0],), sizes),
        step(node, "Flatten", (node.inputs[0],), flat, axis=axis),
        step(node, node.op, (flat,), result, axis=-1),
        step(node, "Reshape", (result, sizes), base, allowzero=1),
    ]


def dropout(node: Node, ctx: Context) -> list[Node]:
    """Dropout before 12 is written for inference: its ratio acts in training only. Before 10 the mask has the input's dtype."""
    ratio = node.attrs.get("ratio", 0.5)
    name = ctx.constant(np.array(ratio, np.float32), f"{node.outputs[0]}.ratio")
    inputs = (node.inputs[0], name)
    if len(node.outputs) < 2 or not node.outputs[1] or ctx.opset >= 10:
        return change(node, inputs=inputs, attrs={})
    mask = ctx.fresh(node.outputs[1])
    return [
        Node("Dropout", "", inputs, (node.outputs[0], mask), {}, node.name, node.location),
        step(node, "CastLike", (mask, node.inputs[0]), node.outputs[1]),
    ]


def batch_normalization(node: Node, ctx: Context) -> list[Node]:
    """BatchNormalization before 14 trains when it has more than one output; before 9 it may be per element (spatial=0)."""
    attrs = without(node, "spatial", "is_test", "consumed_inputs")
    if node.attrs.get("spatial", 1) == 0:
        return _per_element(node, ctx)
    if not any(node.outputs[1:]):
        return [Node(node.op, "", node.inputs, node.outputs[:1], attrs, node.name, node.location)]
    if ctx.opset < 7 and node.attrs.get("is_test", 0):
        ctx.note(f"{node.op} {node.name!r} is written for inference: its statistics outputs repeat its inputs")
        made = [Node(node.op, "", node.inputs, node.outputs[:1], attrs, node.name, node.location)]
        sources = (node.inputs[3], node.inputs[4], node.inputs[3], node.inputs[4])
        made += [
            step(node, "Identity", (source,), name)
            for source, name in zip(sources, node.outputs[1:], strict=False)
            if name
        ]
        return made
    made = [Node(node.op, "", node.inputs, node.outputs[:3], {**attrs, "training_mode": 1}, node.name, node.location)]
    # saved_mean and saved_var are hints for a backward pass that no ONNX operator reads
    for name in node.outputs[3:]:
        if name:
            made.append(
                Node("BatchNormalizationSaved", "ai.onnx.before-14", node.inputs, (name,), {}, node.name, node.location)
            )
    return made


def _per_element(node: Node, ctx: Context) -> list[Node]:
    x, scale, shift, mean, var = node.inputs[:5]
    base = node.outputs[0]
    epsilon = Node(
        "", "", node.inputs, node.outputs, {"epsilon": node.attrs.get("epsilon", 1e-5)}, node.name, node.location
    )
    made: list[Node] = []
    eps = like(epsilon, ctx, "epsilon", made)
    centred, moved, deviation, unit, scaled = [
        ctx.fresh(f"{base}.{part}") for part in ("centred", "moved", "deviation", "unit", "scaled")
    ]
    return [
        *made,
        step(node, "Sub", (x, mean), centred),
        step(node, "Add", (var, eps), moved),
        step(node, "Sqrt", (moved,), deviation),
        step(node, "Div", (centred, deviation), unit),
        step(node, "Mul", (unit, scale), scaled),
        step(node, "Add", (scaled, shift), base),
    ]


def resize(node: Node, ctx: Context) -> list[Node]:
    """Upsample, and Resize before 11: no region, coordinates asymmetric."""
    mode = node.attrs.get("mode", "nearest")
    attrs: dict[str, Attr] = {
        "mode": "linear" if mode == "bilinear" else mode,
        "coordinate_transformation_mode": "asymmetric",
    }
    if mode == "nearest":
        attrs["nearest_mode"] = "floor"
    if len(node.inputs) > 1:
        scales = node.inputs[1]
    else:
        values = node.attrs.get("scales") or (
            1.0,
            1.0,
            node.attrs.get("height_scale", 1.0),
            node.attrs.get("width_scale", 1.0),
        )
        scales = ctx.constant(np.array(values, np.float32), f"{node.outputs[0]}.scales")
    return change(node, op="Resize", inputs=(node.inputs[0], "", scales), attrs=attrs)


def group_normalization(node: Node, ctx: Context) -> list[Node]:
    """GroupNormalization before 21: scale and bias have one element a group instead of one a channel."""
    groups = node.attrs["num_groups"]
    assert isinstance(groups, int)
    base = node.outputs[0]
    channels, each, target = [ctx.fresh(f"{base}.{part}") for part in ("channels", "each", "target")]
    one = ctx.ints([groups], f"{base}.groups")
    column, flat = ctx.ints([groups, 1], f"{base}.column"), ctx.ints([-1], f"{base}.flat")
    made = [
        step(node, "Shape", (node.inputs[0],), channels, start=1, end=2),
        step(node, "Div", (channels, one), each),
        step(node, "Concat", (one, each), target, axis=0),
    ]
    names = []
    for source in node.inputs[1:3]:
        upright, wide, final = [ctx.fresh(f"{source}.{part}") for part in ("column", "wide", "channels")]
        made += [
            step(node, "Reshape", (source, column), upright),
            step(node, "Expand", (upright, target), wide),
            step(node, "Reshape", (wide, flat), final),
        ]
        names.append(final)
    return made + change(node, inputs=(node.inputs[0], *names))


def grid_sample(node: Node, ctx: Context) -> list[Node]:
    """GridSample before 20 says bilinear and bicubic."""
    mode = node.attrs.get("mode", "bilinear")
    return change(
        node, attrs={**node.attrs, "mode": {"bilinear": "linear", "bicubic": "cubic"}.get(str(mode), str(mode))}
    )


def roi_align(node: Node, ctx: Context) -> list[Node]:
    """RoiAlign before 16 doesn't shift by half a pixel."""
    return change(node, attrs={"coordinate_transformation_mode": "output_half_pixel", **node.attrs})


def scatter(node: Node, ctx: Context) -> list[Node]:
    """Scatter got the name ScatterElements at 11."""
    return change(node, op="ScatterElements")


def broadcast(node: Node, ctx: Context) -> list[Node]:
    """Binary operators before 7: the second operand is aligned at `axis` if `broadcast` is set."""
    attrs: dict[str, Attr] = {}
    axis = node.attrs.get("axis")
    if not node.attrs.get("broadcast", 0) or not isinstance(axis, int):
        return change(node, attrs=attrs)
    first, second = ctx.shape(node.inputs[0]), ctx.shape(node.inputs[1])
    if second is None:
        raise InputError(_rank_needed(node, node.inputs[1]))
    if not second or (axis < 0 and axis + len(second) == 0):
        return change(node, attrs=attrs)
    if first is None:
        raise InputError(_rank_needed(node, node.inputs[0]))
    trailing = len(first) - (axis % len(first) if first else 0) - len(second)
    if trailing <= 0:
        return change(node, attrs=attrs)
    return _aligned(node, ctx, attrs, range(len(second), len(second) + trailing))


def gemm(node: Node, ctx: Context) -> list[Node]:
    """Gemm before 7: `broadcast` only allows what is always allowed now."""
    return change(node, attrs=without(node, "broadcast"))


def _aligned(node: Node, ctx: Context, attrs: dict[str, Attr], axes: range) -> list[Node]:
    wide = ctx.fresh(node.inputs[1])
    places = ctx.ints(axes, f"{node.outputs[0]}.axes")
    made = [step(node, "Unsqueeze", (node.inputs[1], places), wide)]
    return made + change(node, inputs=(node.inputs[0], wide), attrs=attrs)


def prelu(node: Node, ctx: Context) -> list[Node]:
    """PRelu before 7: a slope with one axis belongs to the channels."""
    slope = ctx.shape(node.inputs[1])
    if slope is None or len(slope) != 1 or slope[0] == 1:
        return change(node, attrs={})
    first = ctx.shape(node.inputs[0])
    if first is None:
        raise InputError(_rank_needed(node, node.inputs[0]))
    return _aligned(node, ctx, {}, range(1, len(first) - 1)) if len(first) > 2 else change(node, attrs={})


def _rank_needed(node: Node, name: str) -> str:
    return (
        f'node "{node.name or node.outputs[0]}" ({node.op}, opset under 7) aligns its operands by the rank of "{name}", which the file '
        "doesn't give: run onnx.shape_inference on the model first, or export it again with an opset of 7 or more"
    )


def cast(node: Node, ctx: Context) -> list[Node]:
    """Cast before 6: the type is a name."""
    to = node.attrs["to"]
    if not isinstance(to, str):
        return [node]
    try:
        code = by_name(to).onnx
    except KeyError:
        raise InputError(
            f'node "{node.name or node.outputs[0]}" (Cast) casts to "{to}", which is no data type: correct the node'
        ) from None
    return change(node, attrs={"to": code})


def concat(node: Node, ctx: Context) -> list[Node]:
    """Concat before 4: axis 1 unless given."""
    return change(node, attrs={"axis": 1, **node.attrs})


def selu(node: Node, ctx: Context) -> list[Node]:
    """Selu before 6 has shorter constants."""
    return change(
        node,
        attrs={
            "alpha": float(np.float32(1.6732)),
            "gamma": float(np.float32(1.0507)),
            **without(node, "consumed_inputs"),
        },
    )


def recurrent(node: Node, ctx: Context) -> list[Node]:
    """Before 7 an attribute says whether the whole sequence is wanted; its outputs are optional now."""
    return change(node, attrs=without(node, "output_sequence"))


def whole_p(node: Node, ctx: Context) -> list[Node]:
    """LpPool and GlobalLpPool before 2: p is a float."""
    p = node.attrs.get("p", 2.0)
    if isinstance(p, float):
        if p != int(p):
            raise InputError(f'node "{node.name or node.outputs[0]}" ({node.op}) has p = {p}, a whole number is needed')
        return change(node, attrs={**node.attrs, "p": int(p)})
    return [node]


def foreign(node: Node, ctx: Context) -> list[Node]:
    """A form so old that nothing made since uses it: left as an operator without a record, and said so."""
    ctx.note(
        f"{node.op} as of opset {ctx.opset} differs from today's and isn't converted: its outputs are taken as any value"
    )
    return [
        Node(node.op, f"ai.onnx.opset-{ctx.opset}", node.inputs, node.outputs, node.attrs, node.name, node.location)
    ]
