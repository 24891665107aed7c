"""Elements by their numbers: reading and writing them, and the numbers of the largest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto

from nanproof.frontends.tensorflow.context import Context, Translation, UntranslatableError
from nanproof.frontends.tensorflow.tensors import onnx_kind
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call

_INDICES = {TensorProto.INT32, TensorProto.INT64}


def _indices(c: Context, index: Tensor) -> Tensor:
    return index if index.kind in _INDICES else c.op("Cast", index, to=TensorProto.INT64)


def _gather(c: Context, call: Call, x: Tensor, index: Tensor) -> Tensor:
    return c.op("Gather", x, _indices(c, index), axis=0)


def _gather_v2(c: Context, call: Call, x: Tensor, index: Tensor, axis: Tensor) -> Tensor:
    along, shared = c.needed(axis, "an axis")[0], int(call.get("batch_dims", 0))
    if not shared:
        return c.op("Gather", x, _indices(c, index), axis=along)
    along %= c.rank(x)
    if shared < 0:
        shared += c.rank(index)
    return _batched(c, x, c.int64(index), (along, shared))


def _batched(c: Context, x: Tensor, index: Tensor, about: tuple[int, int]) -> Tensor:
    """A gather for each row on its own: the indices are spread over the axes between, and behind."""
    along, shared = about
    rank, count = c.rank(x), c.rank(index) - shared
    whole = c.shape_vector(x)
    between = list(range(shared, along))
    behind = list(range(along + 1, rank))
    # [batch..., index...] -> [batch..., between..., all of index, behind...]
    flat = c.op("Concat", *_some(c, c.shape_vector(index), list(range(shared))), c.ints([-1]), axis=0)
    spread = c.op("Reshape", index, flat)
    places = [*range(shared, shared + len(between)), *range(rank - len(behind), rank)]
    if places:
        spread = c.op("Unsqueeze", spread, c.ints(places))
    target = c.op("Concat", *_some(c, whole, list(range(along))), c.ints([1]), *_some(c, whole, behind), axis=0)
    spread = c.op("Expand", spread, target)
    made = c.op("GatherElements", x, spread, axis=along)
    if count == 1:
        return made
    lengths = _some(c, c.shape_vector(index), list(range(shared, shared + count)))
    pieces = [*_some(c, whole, list(range(along))), *lengths, *_some(c, whole, behind)]
    return c.op("Reshape", made, c.op("Concat", *pieces, axis=0)) if pieces else made


def _some(c: Context, shape: Tensor, axes: list[int]) -> list[Tensor]:
    return [c.op("Gather", shape, c.ints(axes))] if axes else []


def _gather_nd(c: Context, call: Call, x: Tensor, index: Tensor) -> Tensor:
    return c.op("GatherND", x, c.int64(index), batch_dims=int(call.get("batch_dims", 0)))


def _scatter_nd(c: Context, call: Call, index: Tensor, updates: Tensor, shape: Tensor) -> Tensor:
    zeros = c.op("Expand", c.like(0, updates), c.int64(shape))
    return c.op("ScatterND", zeros, c.int64(index), updates, reduction="add")


def _tensor_scatter(reduction: str) -> Translation:
    def translation(c: Context, call: Call, x: Tensor, index: Tensor, updates: Tensor) -> Tensor:
        return c.op("ScatterND", x, c.int64(index), updates, reduction=reduction)

    return translation


def _where(c: Context, call: Call, test: Tensor) -> Tensor:
    return c.op("Transpose", c.op("NonZero", test), perm=[1, 0])


def _top_k(c: Context, call: Call, x: Tensor, count: Tensor) -> list[Tensor]:
    values, places = c.ops(
        "TopK", x, c.vector(count), outputs=2, axis=-1, largest=1, sorted=int(bool(call.get("sorted", True)))
    )
    return [values, c.cast(places, onnx_kind(call.get("index_type", 3)) or TensorProto.INT32)]


def _in_top_k(c: Context, call: Call, predictions: Tensor, targets: Tensor, *count: Tensor) -> Tensor:
    """Whether the score of the target is among the k largest: at least the k-th of them."""
    k = c.vector(count[0]) if count else c.ints([int(call.get("k"))])
    best = c.ops("TopK", predictions, k, outputs=2, axis=-1)[0]
    least = c.op("ReduceMin", best, c.ints([-1]), keepdims=0)
    place = c.op("Unsqueeze", c.int64(targets), c.ints([1]))
    score = c.op("Squeeze", c.op("GatherElements", predictions, place, axis=1), c.ints([1]))
    return c.op("GreaterOrEqual", score, least)


def _unique(c: Context, call: Call, x: Tensor) -> list[Tensor]:
    wide = c.int64(x) if x.kind in _INDICES else x  # ONNX Runtime has no kernel for narrower integers
    values, _, inverse, _ = c.ops("Unique", wide, outputs=4, sorted=0)
    return [c.cast(values, x.kind), c.cast(inverse, onnx_kind(call.get("out_idx", 3)) or TensorProto.INT32)]


def _diagonal(c: Context, call: Call, x: Tensor) -> Tensor:
    """A vector on the diagonal of a matrix of zeros (of each matrix, for MatrixDiag)."""
    size = c.static(x, [-1])[0]
    eye = c.const(np.eye(size, dtype=bool))
    return c.op("Where", eye, c.op("Unsqueeze", x, c.ints([-1])), c.like(0, x))


def _diagonal_v2(c: Context, call: Call, x: Tensor, *about: Tensor) -> Tensor:
    if c.needed(about[0], "a diagonal") not in ([0], [0, 0]):
        raise UntranslatableError("a diagonal other than the main one")
    return _diagonal(c, call, x)


def _diagonal_part(c: Context, call: Call, x: Tensor, *about: Tensor) -> Tensor:
    if about and c.needed(about[0], "a diagonal") not in ([0], [0, 0]):
        raise UntranslatableError("a diagonal other than the main one")
    rows, columns = c.static(x, [-2, -1])
    size = min(rows, columns)
    rank = c.rank(x)
    back = [rank - 2, rank - 1, *range(rank - 2)]
    front = c.transpose(x, back)
    places = c.const(np.stack([np.arange(size)] * 2, 1))
    made = c.op("GatherND", front, places)
    return c.transpose(made, [*range(1, rank - 1), 0])


def _set_diagonal(c: Context, call: Call, x: Tensor, diagonal: Tensor, *about: Tensor) -> Tensor:
    if about and c.needed(about[0], "a diagonal") not in ([0], [0, 0]):
        raise UntranslatableError("a diagonal other than the main one")
    rows, columns = c.static(x, [-2, -1])
    on = c.const(np.eye(rows, columns, dtype=bool))
    column = c.op("Unsqueeze", diagonal, c.ints([-1]))
    if rows > columns:
        raise UntranslatableError("a diagonal of a tall matrix")
    return c.op("Where", on, column, x)


def _band(c: Context, call: Call, x: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    below, above = c.needed(lower, "a band")[0], c.needed(upper, "a band")[0]
    places = c.op("Shape", x)
    rows = c.op("Range", c.ints(0), c.op("Gather", places, c.ints(-2)), c.ints(1))
    columns = c.op("Range", c.ints(0), c.op("Gather", places, c.ints(-1)), c.ints(1))
    ahead = c.op("Sub", columns, c.op("Unsqueeze", rows, c.ints([1])))
    kept = c.const(np.asarray(True))
    if below >= 0:
        kept = c.op("GreaterOrEqual", ahead, c.ints(-below))
    if above >= 0:
        within = c.op("LessOrEqual", ahead, c.ints(above))
        kept = within if below < 0 else c.op("And", kept, within)
    return c.op("Where", kept, x, c.like(0, x))


TRANSLATIONS: dict[str, Translation] = {
    "Diag": _diagonal,
    "DiagPart": _diagonal_part,
    "Gather": _gather,
    "GatherNd": _gather_nd,
    "GatherV2": _gather_v2,
    "InTopK": _in_top_k,
    "InTopKV2": _in_top_k,
    "MatrixBandPart": _band,
    "MatrixDiag": _diagonal,
    "MatrixDiagPart": _diagonal_part,
    "MatrixDiagPartV2": _diagonal_part,
    "MatrixDiagPartV3": _diagonal_part,
    "MatrixDiagV2": _diagonal_v2,
    "MatrixDiagV3": _diagonal_v2,
    "MatrixSetDiag": _set_diagonal,
    "MatrixSetDiagV2": _set_diagonal,
    "MatrixSetDiagV3": _set_diagonal,
    "ScatterNd": _scatter_nd,
    "TensorScatterAdd": _tensor_scatter("add"),
    "TensorScatterMax": _tensor_scatter("max"),
    "TensorScatterMin": _tensor_scatter("min"),
    "TensorScatterUpdate": _tensor_scatter("none"),
    "TopKV2": _top_k,
    "Unique": _unique,
    "Where": _where,
}
