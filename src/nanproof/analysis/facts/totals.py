"""Rows that add up to a known total: softmax and what is made like it, and what follows for sums and averages with them.

A ``Total`` bounds the exact sum over a row of the floats at hand, none of which is negative. A softmax adds up to 1 with
the errors of its entries; a quotient e / sum(e) too, because the computed sum of n non-negative numbers is off by n
units at most; exp(x - logsumexp(x)) up to the exponential of the errors of its exponents. A float sum of such a row, or
an average weighted by it, then has the error of that sum on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, inf
from typing import NamedTuple

from nanproof.analysis.facts.made import is_number, maker, plain, resolved, same
from nanproof.analysis.facts.order import log_sum_slack
from nanproof.analysis.facts.rows import reduced_axes, rows_of
from nanproof.analysis.state import State
from nanproof.dims import bounds
from nanproof.domain.box import Box
from nanproof.model.lower import Step
from nanproof.numerics.dtypes import DType
from nanproof.numerics.reductions import sum_error
from nanproof.numerics.runtimes import error_form, softmax_form

DEEP = 6
FAR = 100.0
"""exp(-100) of an element is nothing beside a row that has exp(0), even where there are 10**30 of them."""

_SUM, _LSE = frozenset({"ReduceSum"}), frozenset({"ReduceLogSumExp"})


class Total(NamedTuple):
    """Bounds of the sum over a row of numbers that are never negative, and of how many there are."""

    lo: float
    hi: float
    n: float


def total(state: State, slot: int, axis: int, depth: int = DEEP) -> Total | None:
    """What the rows of a value along an axis (counted from the end) add up to; None where nothing is known."""
    box = state.hulls[slot] if slot >= 0 else None
    if box is None or type(box) is not Box or not plain(box) or box.hull()[0] < 0.0 or box.shape is None or depth == 0:
        return None
    if not -len(box.shape) <= axis < 0 or state.setting.keeps_float32(box.dtype):
        return None
    least, most = bounds(box.shape[axis], state.setting.dims)
    slot = resolved(state, slot)
    step = state.makers.get(slot)
    if least < 1 or most is None or step is None or step.op is None or step.branches or step.node.domain:
        return None
    return _made(state, step, axis, float(most), depth - 1)


def _made(state: State, step: Step, axis: int, n: float, depth: int) -> Total | None:
    name, inputs = step.node.op, step.inputs
    box = state.hulls[step.outputs[0]]
    assert box is not None
    assert box.shape is not None
    dtype, rank = box.dtype, len(box.shape)
    if name == "Exp":
        drift = _exponents(state, inputs[0], axis, n)
        return None if drift is None else _around(drift, n)
    if name == "Softmax":
        if int(step.attrs.get("axis", -1)) % rank != axis % rank:  # type: ignore[arg-type]
            return None
        form = softmax_form(state.setting.runtime, dtype, n)
        off = form.relative + (form.ulps + 2.0) * dtype.unit
        return _around(off + n * ((form.quanta + 1.0) * dtype.quantum + form.absolute), n)
    if name == "Div":
        return _share(state, inputs[0], inputs[1], axis, n)
    if name == "Mul":
        return _share_by_inverse(state, step, axis, n) or _weighted(state, step, axis, n, depth)
    if name == "Identity":
        return total(state, inputs[0], axis, depth)
    if name == "TopK" and int(step.attrs.get("axis", -1)) % rank == axis % rank:  # type: ignore[arg-type]
        # the largest of n is no less than their mean, and is among those that are picked
        whole = total(state, inputs[0], axis, depth)
        picked = step.attrs.get("largest", 1) and whole is not None
        return Total(whole.lo / whole.n * (1.0 - 2.0**-50), whole.hi, n) if picked and whole is not None else None
    if name == "Where" and any(is_number(state, slot, 0.0) for slot in inputs[1:]):
        kept = inputs[2] if is_number(state, inputs[1], 0.0) else inputs[1]
        whole = total(state, kept, axis, depth) if _same_shape(state, kept, step.outputs[0]) else None
        return None if whole is None else whole._replace(lo=0.0)
    return None


def _around(off: float, n: float) -> Total | None:
    return Total(1.0 - off, 1.0 + off, n) if off < 0.5 else None


def _same_shape(state: State, first: int, second: int) -> bool:
    a, b = state.hulls[first], state.hulls[second]
    return a is not None and b is not None and a.shape is not None and a.shape == b.shape


def _exponents(state: State, slot: int, axis: int, n: float) -> float | None:
    """How far sum(exp(d)) is from 1, where d is a log-softmax: the errors of d, exp of them, and exp's own."""
    box = state.hulls[slot]
    if box is None or not plain(box) or box.shape is None:
        return None
    dtype, runtime = box.dtype, state.setting.runtime
    step = maker(state, slot, {"LogSoftmax", "Sub"})
    reach = min(-box.hull()[0], FAR) if box.hull()[0] < 0.0 else 0.0
    if step is None:
        return None
    if step.node.op == "LogSoftmax":
        rank = len(box.shape)
        if int(step.attrs.get("axis", -1)) % rank != axis % rank:  # type: ignore[arg-type]
            return None
        form = softmax_form(runtime, dtype, n, log=True)
        off = form.absolute + (form.relative + (2.0 * form.ulps + 2.0) * dtype.unit) * reach
    else:
        source = state.hulls[step.inputs[0]]
        rows = rows_of(state, step.inputs[1], _LSE, step.inputs[0])
        if rows is None or source is None or not plain(source) or rows[1] != (axis % len(box.shape),):
            return None
        wide = state.setting.accumulator(dtype)
        off = (min(source.hull()[1] - source.hull()[0], 746.0) + n + 8.0) * wide.unit
        off += 2.0 * log_sum_slack(state, step.inputs[0], source.hull()) + 2.0 * dtype.unit * reach
    form = error_form(runtime, "exp", dtype)
    rate = form.relative + (2.0 * form.ulps + 2.0) * dtype.unit
    # an element further down than FAR adds at most exp(-FAR) * 2 to the sum, whatever its error
    return (
        expm1(min(off, 1.0)) * (1.0 + rate)
        + rate
        + n * (form.absolute + (form.quanta + 1.0) * dtype.quantum + 2.0 * exp(-FAR))
    )


def _share(state: State, value: int, divisor: int, axis: int, n: float, *, steps: float = 1.0) -> Total | None:
    """E / sum(e), or over something no less than that."""
    box, under = state.hulls[value], state.hulls[divisor]
    if box is None or under is None or not plain(box, under) or box.hull()[0] < 0.0 or under.hull()[0] <= 0.0:
        return None
    exactly = _is_sum(state, divisor, value, axis)
    if not exactly and not any(_is_sum(state, slot, value, axis) for slot in _below(state, divisor)):
        return None
    dtype, wide = box.dtype, state.setting.accumulator(box.dtype)
    off = 1.01 * n * wide.unit + (2.0 + 2.0 * steps) * dtype.unit + (n + 1.0) * steps * dtype.quantum
    found = _around(off, n)
    return found if exactly or found is None else found._replace(lo=0.0)


def _below(state: State, slot: int) -> tuple[int, ...]:
    """What a value is no less than, for values that are never negative."""
    step = maker(state, slot, {"Add", "Max", "Clip"})
    if step is None:
        return ()
    if step.node.op == "Clip":
        return step.inputs[:1] if len(step.inputs) < 3 or step.inputs[2] < 0 else ()
    boxes = [state.hulls[s] for s in step.inputs]
    fine = step.node.op == "Max" or all(box is not None and plain(box) and box.hull()[0] >= 0.0 for box in boxes)
    return step.inputs if fine else ()


def _is_sum(state: State, slot: int, value: int, axis: int) -> bool:
    box = state.hulls[value]
    rows = rows_of(state, slot, _SUM, value)
    return rows is not None and box is not None and box.shape is not None and rows[1] == (axis % len(box.shape),)


def _share_by_inverse(state: State, step: Step, axis: int, n: float) -> Total | None:
    for value, inverse in (step.inputs, step.inputs[::-1]):
        divided = maker(state, inverse, {"Reciprocal", "Div"})
        if divided is not None and (divided.node.op == "Reciprocal" or is_number(state, divided.inputs[0], 1.0)):
            box = state.hulls[divided.inputs[-1]]
            # the inverse must be a normal number
            if box is not None and plain(box) and 0.0 < box.hull()[1] <= 0.25 / box.dtype.tiny:
                found = _share(state, value, divided.inputs[-1], axis, n, steps=3.0)
                if found is not None:
                    return found
    return None


def _weighted(state: State, step: Step, axis: int, n: float, depth: int) -> Total | None:
    """P * t, for t that is never negative."""
    for value, factor in (step.inputs, step.inputs[::-1]):
        box = state.hulls[factor]
        if box is None or not plain(box) or box.hull()[0] < 0.0 or not _same_shape(state, value, step.outputs[0]):
            continue
        whole = total(state, value, axis, depth)
        if whole is not None:
            lo, hi = box.hull()
            slack, floor = 2.0 * box.dtype.unit, n * box.dtype.quantum
            return Total(max(whole.lo * lo * (1.0 - slack) - floor, 0.0), whole.hi * hi * (1.0 + slack) + floor, n)
    return None


# -- what follows -------------------------------------------------------------------------------


def _summed(state: State, dtype: DType, n: float, magnitude: float, *, products: bool = False) -> float:
    wide = state.setting.accumulator(dtype)
    return (
        sum_error(n + products, magnitude, wide, dtype)
        + products * (n + 1.0) * wide.quantum
        + 2.0 * dtype.unit * magnitude
    )


def _own(state: State, step: Step) -> tuple[int, Box] | None:
    """The axis (from the end) of a reduction along one axis, and what it reduces."""
    box = state.hulls[step.inputs[0]]
    axes = reduced_axes(state, step)
    if box is None or not plain(box) or box.shape is None or axes is None or len(axes) != 1:
        return None
    return axes[0] - len(box.shape), box


def summed(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """Sums over rows with a total: of the row itself, and of its products with other numbers."""
    own = _own(state, step)
    if own is None:
        return None
    axis, box = own
    found: tuple[float, float] | None = None
    whole = total(state, step.inputs[0], axis)
    if whole is not None:
        error = _summed(state, box.dtype, whole.n, whole.hi)
        found = max(whole.lo - error, 0.0), whole.hi + error
    product = maker(state, step.inputs[0], {"Mul"})
    if product is None:
        return found
    if same(state, *product.inputs):
        return _both(found, squares(state, product.inputs[0], axis))
    for weights, values in (product.inputs, product.inputs[::-1]):
        whole = total(state, weights, axis) if _same_shape(state, weights, step.inputs[0]) else None
        if whole is not None:
            found = _both(found, _average(state, whole, state.hulls[values], box.dtype))
    return found


def _both(one: tuple[float, float] | None, two: tuple[float, float] | None) -> tuple[float, float] | None:
    if one is None or two is None:
        return one or two
    return max(one[0], two[0]), min(one[1], two[1])


def squares(state: State, slot: int, axis: int) -> tuple[float, float] | None:
    """sum(p * p) for n numbers that add up to t: between t * t / n and t * t."""
    whole, box = total(state, slot, axis), state.hulls[slot]
    if whole is None or box is None:
        return None
    wide = state.setting.accumulator(box.dtype)
    # squares are never negative: the computed sum is off by a share of itself, and what underflows
    rate, floor = (whole.n + 4.0) * wide.unit + 2.0 * box.dtype.unit, (whole.n + 2.0) * wide.quantum + box.dtype.quantum
    least, most = whole.lo * whole.lo / whole.n, whole.hi * whole.hi
    return max(least * (1.0 - 1.01 * rate) - floor, 0.0), most * (1.0 + 1.01 * rate) + floor


def sum_of_squares(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """ReduceSumSquare of a row with a total."""
    own = _own(state, step)
    return None if own is None else squares(state, step.inputs[0], own[0])


def _average(state: State, whole: Total, values: Box | None, dtype: DType) -> tuple[float, float] | None:
    """An average with weights that add up to a total lies between the ends of what is averaged."""
    if values is None or not plain(values):
        return None
    lo, hi = values.hull()
    ends = [t * v for t in whole[:2] for v in (lo, hi)]
    error = _summed(state, dtype, whole.n, whole.hi * max(-lo, hi, 0.0), products=True)
    return min(ends) - error, max(ends) + error


def averaged(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """softmax(scores) @ values: within the values."""
    a, b = operands
    if (
        a is None
        or b is None
        or a.shape is None
        or b.shape is None
        or not plain(a, b)
        or state.setting.keeps_float32(a.dtype)
    ):
        return None
    whole = total(state, step.inputs[0], -1)
    if whole is not None:
        return _average(state, whole, b, a.dtype)
    whole = total(state, step.inputs[1], -2 if len(b.shape) > 1 else -1)
    return None if whole is None else _average(state, whole, a, a.dtype)


def prefixes(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """The prefix sums of a row with a total: between 0 and that."""
    box, place = operands[0], state.hulls[step.inputs[1]]
    if box is None or box.shape is None or place is None or place.known is None or place.known.size != 1:
        return None
    axis = int(place.known.reshape(-1)[0])
    whole = total(state, step.inputs[0], axis if axis < 0 else axis - len(box.shape))
    return None if whole is None else (0.0, whole.hi + _summed(state, box.dtype, whole.n, whole.hi))


def largest(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """The largest of n numbers is no less than their mean; that of exp(x - max(x)) is exp(0)."""
    own = _own(state, step)
    whole = None if own is None else total(state, step.inputs[0], own[0])
    return None if whole is None else (whole.lo / whole.n * (1.0 - 2.0**-50), inf)
