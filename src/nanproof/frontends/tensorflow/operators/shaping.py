"""Shapes, and tensors in another shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto

from nanproof.dims import same
from nanproof.frontends.tensorflow.context import Context, Translation, UntranslatableError
from nanproof.frontends.tensorflow.known import as_sizes
from nanproof.frontends.tensorflow.shapes import sizes_of
from nanproof.frontends.tensorflow.tensors import onnx_kind
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call


def _out_kind(call: Call) -> int:
    return onnx_kind(call.get("out_type", 3)) or TensorProto.INT32


def _shape(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.cast(c.shape_vector(x), _out_kind(call))


def _shapes(c: Context, call: Call, *tensors: Tensor) -> list[Tensor]:
    return [_shape(c, call, x) for x in tensors]


def _size(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.cast(c.op("ReduceProd", c.shape_vector(x), keepdims=0), _out_kind(call))


def _rank(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.const(c.rank(x), TensorProto.INT32)


def _reshape(c: Context, call: Call, x: Tensor, shape: Tensor) -> Tensor:
    target = c.int64(shape)
    sizes = sizes_of(target)
    empty = sizes is not None and any(isinstance(size, int) and size == 0 for size in sizes.flat)
    return c.op("Reshape", x, target, allowzero=1) if empty else c.op("Reshape", x, target)


def _transpose(c: Context, call: Call, x: Tensor, perm: Tensor) -> Tensor:
    return c.transpose(x, c.needed(perm, "an order of axes"))


def _expand_dims(c: Context, call: Call, x: Tensor, axis: Tensor) -> Tensor:
    return c.op("Unsqueeze", x, c.vector(axis))


def _squeeze(c: Context, call: Call, x: Tensor) -> Tensor:
    axes = call.get("squeeze_dims") or call.get("axis") or []
    return c.op("Squeeze", x, c.ints(axes)) if axes else c.op("Squeeze", x)


def _broadcast_to(c: Context, call: Call, x: Tensor, shape: Tensor) -> Tensor:
    return c.op("Expand", x, c.int64(shape))


def _ensure(c: Context, call: Call, x: Tensor) -> Tensor:
    shape = call.get("shape")
    if shape is not None and (x.shape is None or len(x.shape) == len(shape)):
        told = c.shape(shape)
        known = x.shape or told
        x = c.op("Identity", x)
        x.shape = tuple(a if size < 0 else b for size, a, b in zip(shape, known, told, strict=True))
    return x


def _broadcast_args(c: Context, call: Call, a: Tensor, b: Tensor) -> Tensor:
    one, other = sizes_of(a), sizes_of(b)
    if one is None or other is None:
        raise UntranslatableError("shapes not known beforehand")
    from nanproof.dims import broadcast

    sizes = broadcast(tuple(one.flat), tuple(other.flat))
    return _as_tensor(c, sizes, a.kind)


def _as_tensor(c: Context, sizes: tuple[object, ...], kind: int) -> Tensor:
    made = c.size_vector(sizes)  # type: ignore[arg-type]
    made.sizes = as_sizes(list(sizes))
    return c.cast(made, kind)


def _gradient_args(c: Context, call: Call, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The axes that gradients of two broadcast operands are summed over."""
    one, other = sizes_of(a), sizes_of(b)
    if one is None or other is None:
        return _axes_of_one(c, a, b), _axes_of_one(c, b, a)
    rank = max(one.size, other.size)
    left = [1] * (rank - one.size) + list(one.flat)
    right = [1] * (rank - other.size) + list(other.flat)
    return _summed(c, a, left, right), _summed(c, a, right, left)


def _axes_of_one(c: Context, shape: Tensor, other: Tensor) -> Tensor:
    """The same where shapes are known only when it runs: all axes of size 1, which may be summed over in any case."""
    lengths = [one.shape[0] if one.shape is not None and len(one.shape) == 1 else None for one in (shape, other)]
    mine, theirs = lengths
    if not isinstance(mine, int) or not isinstance(theirs, int):
        raise UntranslatableError("shapes of unknown rank")
    padded = c.int64(shape)
    if theirs > mine:
        padded = c.op("Concat", c.ints([1] * (theirs - mine)), padded, axis=0)
    places = c.op("NonZero", c.op("Equal", padded, c.ints(1)))
    return c.cast(c.op("Reshape", places, c.ints([-1])), shape.kind)


def _summed(c: Context, like: Tensor, mine: list[object], theirs: list[object]) -> Tensor:
    """Axes where mine is 1. An open size that isn't theirs may be 1 in some runs, which can't be told here."""
    axes = []
    for axis, (x, y) in enumerate(zip(mine, theirs, strict=True)):
        if isinstance(x, int):
            if x == 1:
                axes.append(axis)
        elif not (isinstance(y, int) and y == 1) and same(x, y) is not True:  # type: ignore[arg-type]
            c.program.note(f"open sizes {x} and {y} are taken for one size, where {c.place.name} broadcasts them")
    return c.const(np.asarray(axes, np.int64), like.kind)


def _invert(c: Context, call: Call, perm: Tensor) -> Tensor:
    order = c.needed(perm, "an order of axes")
    return c.const(np.argsort(order), perm.kind)


TRANSLATIONS: dict[str, Translation] = {
    "BroadcastArgs": _broadcast_args,
    "BroadcastGradientArgs": _gradient_args,
    "BroadcastTo": _broadcast_to,
    "EnsureShape": _ensure,
    "ExpandDims": _expand_dims,
    "InvertPermutation": _invert,
    "Rank": _rank,
    "Reshape": _reshape,
    "Shape": _shape,
    "ShapeN": _shapes,
    "Size": _size,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
}
