"""Facts that intervals miss: what a value is, not only how large its operands are.

Each rule looks at how the operands of one step were made and meets the step's
result with what follows. A rule holds in floats, for every runtime: it rests on
monotone rounding and on exact zeros, never on algebra over the reals.

======================================  =============================================================
x - max(x), max(x) - min(x) and so on   one sign, and the extreme row element gives exactly 0
sum(exp(x - max(x)))                    at least exp(0), since the largest element contributes that
sum(softmax(x))                         1, up to the errors of the softmax and of the sum
x / sum(x), x >= 0                      at most 1: the rounded sum of non-negatives is no less than
                                        any of them
d / sqrt(mean(d * d) + eps)             at most sqrt(n), and the same for sums, norms and reciprocals
======================================  =============================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, prod, sqrt

import numpy as np

from nanproof.analysis.state import State
from nanproof.dims import bounds
from nanproof.domain.box import Box
from nanproof.domain.partition import Blocks, blocks_of, pack
from nanproof.model.lower import Step
from nanproof.numerics.reductions import sum_error
from nanproof.numerics.runtimes import error_form, softmax_form, widen

Rule = Callable[[State, Step, Sequence["Box | None"]], "tuple[float, float] | None"]

_SAME_ROWS = frozenset({"Identity", "Unsqueeze", "Squeeze", "Reshape", "Expand", "Flatten"})
"""Operators that leave a reduced tensor's elements in row-major order."""

DEEP = 6


def limits(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """Bounds on the first result of a step that follow from how its operands were made."""
    low, high = -inf, inf
    for rule in RULES.get(step.node.op, ()):
        found = rule(state, step, operands)
        if found is not None:
            low, high = max(low, found[0]), min(high, found[1])
    return None if (low, high) == (-inf, inf) else (low, high)


def met(box: Box, low: float, high: float) -> Box:
    """A Box cut to bounds that surely hold; its overflow flags go with the values past them."""
    blocks = blocks_of(box)
    lo = np.clip(blocks.lo, low, high)
    hi = np.clip(blocks.hi, low, high)
    result = pack(box.dtype, box.shape, box.cuts, Blocks(lo, hi, None))
    result.known = box.known
    return result


# -- how a value was made -----------------------------------------------------------------


def maker(state: State, slot: int, ops: frozenset[str] | set[str]) -> Step | None:
    """The step that made a value, if it is one of these operators; Identity is looked through."""
    for _ in range(DEEP):
        step = state.makers.get(slot) if slot >= 0 else None
        if step is None:
            return None
        if step.node.op in ops:
            return step
        if step.node.op != "Identity":
            return None
        slot = step.inputs[0]
    return None


def same(state: State, first: int, second: int, depth: int = 4) -> bool:
    """Whether two slots surely hold the same tensor: one value, or the same computation twice."""
    if first == second:
        return first >= 0
    one, two = state.makers.get(first), state.makers.get(second)
    if one is None or two is None or depth == 0 or one.op is None or one.branches or two.branches:
        return _same_constant(state, first, second)
    if one.node.op == "Identity":
        return same(state, one.inputs[0], second, depth)
    if two.node.op == "Identity":
        return same(state, first, two.inputs[0], depth)
    if one.op is not two.op or one.node.op in _RANDOM or len(one.inputs) != len(two.inputs):
        return False
    if one.outputs.index(first) != two.outputs.index(second) or not _same_attributes(one, two):
        return False
    straight = all(same(state, a, b, depth - 1) for a, b in zip(one.inputs, two.inputs, strict=True))
    if straight or one.node.op not in _COMMUTATIVE or len(one.inputs) != 2:
        return straight
    a, b = one.inputs
    c, d = two.inputs
    return same(state, a, d, depth - 1) and same(state, b, c, depth - 1)


_COMMUTATIVE = frozenset({"Add", "Mul", "Max", "Min", "And", "Or", "Equal"})
_RANDOM = frozenset({"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli",
                     "Multinomial", "Dropout"})  # fmt: skip


def _same_constant(state: State, first: int, second: int) -> bool:
    a = state.hulls[first] if first >= 0 else None
    b = state.hulls[second] if second >= 0 else None
    if a is None or b is None or a.known is None or b.known is None:
        return False
    return a.dtype is b.dtype and a.known.shape == b.known.shape and bool(np.all(a.known == b.known))


def _same_attributes(one: Step, two: Step) -> bool:
    if one.attrs.keys() != two.attrs.keys():
        return False
    return all(bool(np.all(value == two.attrs[key])) for key, value in one.attrs.items())


def reduced_axes(state: State, step: Step) -> tuple[int, ...] | None:
    """The axes that a reduction reduces, normalised; None if they aren't known."""
    box = state.hulls[step.inputs[0]]
    if box is None or box.shape is None:
        return None
    rank = len(box.shape)
    given = step.attrs.get("axes")
    if len(step.inputs) > 1 and step.inputs[1] >= 0:
        axes = state.hulls[step.inputs[1]]
        if axes is None or axes.known is None:
            return None
        given = tuple(int(a) for a in np.ravel(axes.known))
    if not isinstance(given, tuple) or not given:
        return () if step.attrs.get("noop_with_empty_axes", 0) else tuple(range(rank))
    return tuple(sorted(int(a) % rank for a in given))  # type: ignore[arg-type]


def rows_of(
    state: State, slot: int, kinds: frozenset[str], source: int | None = None
) -> tuple[Step, tuple[int, ...]] | None:
    """The reduction that a value is, laid out so that it broadcasts back to the rows it came from.

    With ``source`` the reduction must be of that value. The value must have the
    shape of the reduction with kept axes: then inserted axes of length 1 and
    reshapes between haven't moved a row.
    """
    target = state.hulls[slot] if slot >= 0 else None
    at = slot
    for _ in range(DEEP):
        step = state.makers.get(at) if at >= 0 else None
        if step is None:
            return None
        if step.node.op in kinds:
            break
        if step.node.op not in _SAME_ROWS:
            return None
        at = step.inputs[0]
    else:
        return None
    if source is not None and not same(state, step.inputs[0], source):
        return None
    axes = reduced_axes(state, step)
    box = state.hulls[step.inputs[0]]
    if axes is None or box is None or box.shape is None or target is None or target.shape is None:
        return None
    kept = tuple(1 if i in axes else n for i, n in enumerate(box.shape))
    missing = len(kept) - len(target.shape)
    if missing < 0 or any(n != 1 for n in kept[:missing]) or kept[missing:] != target.shape:
        return None
    return step, axes


def _plain(*boxes: Box | None) -> bool:
    """Finite tensors only: a rule about rows says nothing of NaN and Inf."""
    return all(box is not None and not box.flags and box.dtype.is_float and box.has_finite for box in boxes)


# -- the rules ---------------------------------------------------------------------------

_MAX, _MIN = frozenset({"ReduceMax"}), frozenset({"ReduceMin"})


def _ordered(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """X - max(x) <= 0, x - min(x) >= 0, max(a, b) - a >= 0 and their mirror images."""
    a, b = step.inputs
    if not _plain(*operands):
        return None
    if _above(state, b, a) or _below(state, a, b):
        return -inf, 0.0
    if _above(state, a, b) or _below(state, b, a) or _extremes(state, a, b):
        return 0.0, inf
    if _extremes(state, b, a):
        return -inf, 0.0
    return None


def _extremes(state: State, upper: int, lower: int) -> bool:
    """Whether two values are the maximum and the minimum of the same rows, none of them empty."""
    high, low = rows_of(state, upper, _MAX), rows_of(state, lower, _MIN)
    if high is None or low is None or high[1] != low[1]:
        return False
    source = high[0].inputs[0]
    box = state.hulls[source]
    if box is None or box.shape is None or not _plain(box) or not same(state, source, low[0].inputs[0]):
        return False
    return all(bounds(box.shape[axis], state.setting.dims)[0] >= 1 for axis in high[1])


def _above(state: State, upper: int, lower: int) -> bool:
    """Whether one value is the maximum of the other, over rows or element by element."""
    if rows_of(state, upper, _MAX, lower) is not None:
        return True
    step = maker(state, upper, {"Max"})
    return step is not None and _same_shape(state, upper, lower) and any(same(state, s, lower) for s in step.inputs)


def _below(state: State, lower: int, upper: int) -> bool:
    if rows_of(state, lower, _MIN, upper) is not None:
        return True
    step = maker(state, lower, {"Min"})
    return step is not None and _same_shape(state, lower, upper) and any(same(state, s, upper) for s in step.inputs)


def _same_shape(state: State, first: int, second: int) -> bool:
    a, b = state.hulls[first], state.hulls[second]
    return a is not None and b is not None and a.shape is not None and a.shape == b.shape


def shifted_rows(state: State, slot: int) -> tuple[int, ...] | None:
    """The axes along which a value is x - max(x): its largest element there is exactly 0."""
    step = maker(state, slot, {"Sub"})
    if step is None or not _plain(state.hulls[slot]):
        return None
    rows = rows_of(state, step.inputs[1], _MAX, step.inputs[0])
    return None if rows is None or not _plain(*(state.hulls[s] for s in step.inputs)) else rows[1]


def _sum_of_shifted_exponentials(
    state: State, step: Step, operands: Sequence[Box | None]
) -> tuple[float, float] | None:
    """sum(exp(x - max(x))) >= exp(0): rounding a sum of non-negatives never goes below a term."""
    box = operands[0]
    exp = maker(state, step.inputs[0], {"Exp"})
    if exp is None or box is None or not _plain(box):
        return None
    axes, wanted = shifted_rows(state, exp.inputs[0]), reduced_axes(state, step)
    if axes is None or wanted is None or not set(axes) <= set(wanted) or box.shape is None:
        return None
    if any(bounds(box.shape[axis], state.setting.dims)[0] < 1 for axis in wanted):
        return None  # a sum over nothing is 0
    one = widen(error_form(state.setting.runtime, "exp", box.dtype), box.dtype, 1.0, 1.0)[0]
    return one, inf


def _sum_of_softmax(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """The sum of a softmax over its own axis: 1, up to the error of each entry and of the sum."""
    box = operands[0]
    softmax = maker(state, step.inputs[0], {"Softmax"})
    if softmax is None or box is None or box.shape is None or not _plain(box, state.hulls[softmax.inputs[0]]):
        return None
    axis = int(softmax.attrs.get("axis", -1)) % len(box.shape)  # type: ignore[arg-type]
    least, most = bounds(box.shape[axis], state.setting.dims)
    if reduced_axes(state, step) != (axis,) or least < 1 or most is None:
        return None
    dtype, n = box.dtype, float(most)
    form = softmax_form(state.setting.runtime, dtype, n)
    # of each entry: a relative error, its rounding, and what a subnormal one loses
    off = form.relative + (form.ulps + 2.0) * dtype.unit + n * ((form.quanta + 1.0) * dtype.quantum + form.absolute)
    off += sum_error(n, 1.0 + off, state.setting.accumulator(dtype), dtype) + 2.0 * dtype.unit
    return (1.0 - off, 1.0 + off) if off < 0.5 else None


_SUM = frozenset({"ReduceSum"})


def _share(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """X / sum(x) <= 1 for x >= 0 and a sum that isn't 0."""
    x, total = operands
    if x is None or total is None or not _plain(x, total) or x.hull()[0] < 0 or total.hull()[0] <= 0:
        return None
    return (0.0, 1.0) if rows_of(state, step.inputs[1], _SUM, step.inputs[0]) is not None else None


def _normalised(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """D / sqrt(mean(d * d) + eps) lies within sqrt(n), d / sqrt(sum(d * d) + eps) within 1.

    In floats: a sum of non-negative terms is no less than any of them, in whatever
    order it is rounded, so only the square, the mean, the root and the quotient
    round: a few units. A square that underflows belongs to an element below
    sqrt(tiny); the rule asks for a divisor well above that.
    """
    if not _plain(*operands):
        return None
    if step.node.op == "Div":
        return _norm_bound(state, step.inputs[0], step.inputs[1], inverse=False)
    a, b = step.inputs
    return _norm_bound(state, a, b, inverse=True) or _norm_bound(state, b, a, inverse=True)


def _norm_bound(state: State, slot: int, divisor: int, *, inverse: bool) -> tuple[float, float] | None:
    """Bounds of slot / divisor (or slot * inverse) where the divisor is a norm of the slot's own rows."""
    value = state.hulls[slot]
    assert value is not None
    root, square = (divisor, _under_root(state, divisor)) if not inverse else _inverted(state, divisor)
    scale = None
    if root is not None and _at_least(state, root, 4 * sqrt(value.dtype.tiny)):
        scale = _among(state, root, slot, _length)
    if scale is None and square is not None and _at_least(state, square, 16 * value.dtype.tiny):
        scale = _among(state, square, slot, _mean_square)
    if scale is None:
        return None
    bound = sqrt(scale) * (1.0 + 32.0 * value.dtype.unit)
    return -bound, bound


def _inverted(state: State, slot: int) -> tuple[int | None, int | None]:
    """What a value is the inverse of, and what it is the inverse square root of."""
    step = maker(state, slot, {"Reciprocal", "Pow"})
    if step is None:
        return None, None
    if step.node.op == "Reciprocal":
        return step.inputs[0], _under_root(state, step.inputs[0])
    return None, step.inputs[0] if _is_number(state, step.inputs[1], -0.5) else None


def _at_least(state: State, slot: int, least: float) -> bool:
    box = state.hulls[slot]
    return box is not None and box.hull()[0] >= least


def _among(state: State, slot: int, source: int, measure: Callable[[State, int, int], float | None]) -> float | None:
    """The measure of a value, or of what it is no less than: x + (something >= 0), max(x, ...), clip(x, least)."""
    direct = measure(state, slot, source)
    plus = maker(state, slot, {"Add", "Max", "Clip", "Expand"})
    if direct is not None or plus is None:
        return direct
    for candidate in plus.inputs:
        found = measure(state, candidate, source) if candidate >= 0 else None
        if found is not None and _others_non_negative(state, plus, candidate):
            return found
    return None


def _length(state: State, slot: int, source: int) -> float | None:
    """1 where the slot is the Euclidean norm of the rows of ``source``."""
    return 1.0 if rows_of(state, slot, frozenset({"ReduceL2"}), source) is not None else None


def _others_non_negative(state: State, plus: Step, slot: int) -> bool:
    if plus.node.op == "Clip":
        return plus.inputs[0] == slot and (len(plus.inputs) < 3 or plus.inputs[2] < 0)
    if plus.node.op != "Add":
        return True
    others = [state.hulls[s] for s in plus.inputs if s != slot]
    return all(box is not None and box.hull()[0] >= 0 for box in others)


def _under_root(state: State, slot: int) -> int | None:
    step = maker(state, slot, {"Sqrt", "Pow"})
    if step is None or (step.node.op == "Pow" and not _is_number(state, step.inputs[1], 0.5)):
        return None
    return step.inputs[0]


def _is_number(state: State, slot: int, value: float) -> bool:
    box = state.hulls[slot] if slot >= 0 else None
    return box is not None and box.is_point and box.lo == value


def _mean_square(state: State, slot: int, source: int) -> float | None:
    """The number s such that the slot is at least source_i ** 2 / s for every row element of ``source``."""
    kinds = frozenset({"ReduceMean", "ReduceSum", "ReduceSumSquare"})
    rows = rows_of(state, slot, kinds)
    if rows is None:
        return None
    step, axes = rows
    inner = step.inputs[0]
    if step.node.op != "ReduceSumSquare":
        square = maker(state, inner, {"Mul", "Pow"})
        if square is None:
            return None
        if square.node.op == "Pow" and not _is_number(state, square.inputs[1], 2.0):
            return None
        if square.node.op == "Mul" and not same(state, square.inputs[0], square.inputs[1]):
            return None
        inner = square.inputs[0]
    if not same(state, inner, source):
        return None
    box = state.hulls[inner]
    if box is None or box.shape is None:
        return None
    sizes = [bounds(box.shape[a], state.setting.dims)[1] for a in axes]
    if any(n is None for n in sizes):
        return None
    return float(prod(n for n in sizes if n is not None)) if step.node.op == "ReduceMean" else 1.0


RULES: Mapping[str, tuple[Rule, ...]] = {
    "Sub": (_ordered,),
    "ReduceSum": (_sum_of_shifted_exponentials, _sum_of_softmax),
    "Div": (_share, _normalised),
    "Mul": (_normalised,),
}
