"""Where the largest and the smallest element are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nanproof.domain.box import Box
from nanproof.numerics.dtypes import INT64
from nanproof.ops.call import Call
from nanproof.ops.flow import length
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.reducing import shape_without

NUMERIC = ("float32", "float64", "float16", "int32", "int64")


def _place(call: Call, x: Box) -> Box:
    """Any position along the axis: no class fits, the result isn't a number of the operand's kind."""
    if x.shape is None:
        return Box(INT64, None, 0.0, INT64.max)
    axis = int(call.attr("axis", 0)) % max(len(x.shape), 1)
    shape = shape_without(x.shape, (axis,), bool(call.attr("keepdims", 1)))
    most = length(call, x.shape[axis : axis + 1])[1]
    if 0 in shape:
        return Box(INT64, shape, float("inf"), -float("inf"))
    return Box(INT64, shape, 0.0, min(max(most - 1.0, 0.0), INT64.max))


def _run(sign: float) -> Callable[..., Any]:
    def run(xp: Any, x: Any, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Any:
        find = xp.argmax if sign > 0 else xp.argmin
        if not select_last_index:
            return find(x, axis=axis, keepdims=bool(keepdims))
        last = find(xp.flip(x, axis=axis), axis=axis, keepdims=bool(keepdims))
        return x.shape[axis] - 1 - last

    return run


CASES = (
    Case((Operand((3, 4)),)),
    Case((Operand((3, 4)),), {"axis": -1, "keepdims": 0}),
    Case((Operand((2, 3, 4)),), {"axis": 1, "select_last_index": 1}),
    Case((Operand((5,)),), {"keepdims": 0}),
)

ARG_MAX = Op(
    "ArgMax", run=_run(1.0), bound=_place, exact=True, result="int64", samples=Samples(cases=CASES, dtypes=NUMERIC)
)

ARG_MIN = Op(
    "ArgMin", run=_run(-1.0), bound=_place, exact=True, result="int64", samples=Samples(cases=CASES, dtypes=NUMERIC)
)

OPS = (ARG_MAX, ARG_MIN)
