"""Where: one of two values, element by element."""

from __future__ import annotations

from math import inf, prod
from typing import Any

import numpy as np

from nanproof.dims import broadcast_all
from nanproof.domain.box import Array, Box, Shape
from nanproof.domain.moves import expanded
from nanproof.domain.partition import EXACT_LIMIT, Blocks, aligned, constant, pack, refine, seams
from nanproof.numerics.dtypes import DType
from nanproof.ops.call import Call
from nanproof.ops.elementwise import FOLD_LIMIT
from nanproof.ops.record import Case, Op, Operand, Samples


def _where(call: Call, condition: Box, x: Box, y: Box) -> Box:
    """The union of the branches that a block's condition allows.

    No class fits: the condition is no number. A condition that is decided
    everywhere leaves one branch as it is, with its blocks, elements and relation.
    """
    shape = _common((condition, x, y))
    known = _chosen(condition, x, y)
    if known is not None and known.dtype != object:
        return constant(x.dtype, known, call.setting.budget)
    if condition.is_point:
        return expanded(x if condition.lo else y, shape)
    result = _joined(condition, x, y, shape)
    result.known = known
    return result


def _joined(condition: Box, x: Box, y: Box, shape: Shape) -> Box:
    dtype = x.dtype
    mask = _with_seams(condition) if x.flags or y.flags else condition
    if shape is None or (mask.cuts is None and x.cuts is None and y.cuts is None):
        (a, b), (c, d) = x.hull(), y.hull()
        return Box(dtype, shape, min(a, c), max(b, d), x.flags | y.flags)
    cuts, (choice, first, second) = aligned((mask, x, y), len(shape))
    some, every = np.asarray(choice.hi) > 0, np.asarray(choice.lo) > 0
    lo = np.minimum(np.where(some, first.lo, inf), np.where(every, inf, second.lo))
    hi = np.maximum(np.where(some, first.hi, -inf), np.where(every, -inf, second.hi))
    none = np.uint8(0)
    marks = np.where(some, none if first.spots is None else first.spots, none) | np.where(
        every, none, none if second.spots is None else second.spots
    )
    lo, hi, marks = np.broadcast_arrays(lo, hi, marks)
    return pack(dtype, shape, cuts, Blocks(lo, hi, marks if marks.any() else None))


def _with_seams(condition: Box) -> Box:
    """A known mask is cut where it changes, so that what it puts in stays in its place."""
    known = condition.known
    if known is None or known.dtype != bool or not 0 < known.size <= EXACT_LIMIT:
        return condition
    cuts = seams(np.where(known, np.float32(inf), np.float32(0.0)))
    return refine(condition, cuts) if any(cuts) else condition


def _chosen(condition: Box, x: Box, y: Box) -> Array | None:
    """The elements of the result, where they are few enough and all of them are known."""
    mask, first, second = condition.known, x.known, y.known
    if mask is None or first is None or second is None:
        return None
    if prod(np.broadcast_shapes(mask.shape, first.shape, second.shape)) > FOLD_LIMIT:
        return None
    return np.asarray(np.where(mask, first, second))


def _common(boxes: tuple[Box, ...]) -> Shape:
    shapes = [box.shape for box in boxes]
    known = [shape for shape in shapes if shape is not None]
    return broadcast_all(known) if len(known) == len(shapes) else None


def _dtype(call: Call, boxes: Any) -> DType:
    dtype: DType = boxes[1].dtype
    return dtype


_MASK = np.array([[True, False, False], [True, True, False]])
_C, _X, _Y = Operand((2, 3), dtype="bool"), Operand((2, 3)), Operand((3,))

WHERE = Op(
    "Where",
    run=lambda xp, condition, x, y: xp.where(condition, x, y),
    bound=_where,
    exact=True,
    result=_dtype,
    samples=Samples(
        cases=(
            Case((_C, _X, _Y)),
            Case((Operand((3,), dtype="bool"), Operand((2, 1)), Operand())),
            Case((Operand((2, 3), dtype="bool", values=_MASK, stored=True), _X, Operand(values=-inf, stored=True)),
                 dtypes=("float32", "float64", "float16")),
            Case((Operand((), dtype="bool", values=True, stored=True), _X, _Y)),
            Case((Operand((2, 3), dtype="bool", values=_MASK, stored=True), Operand((2, 3), values=1, stored=True),
                  Operand((2, 3), values=0, stored=True))),
        ),
        dtypes=("float32", "float64", "float16", "int32", "int64"),
    ),
)  # fmt: skip

OPS = (WHERE,)
