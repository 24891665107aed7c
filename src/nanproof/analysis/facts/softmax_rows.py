"""Softmax written out: the largest element of x - max(x) is exactly 0."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod

from nanproof.analysis.facts.made import is_number, maker, plain, same
from nanproof.analysis.facts.order import MAX, may_sink
from nanproof.analysis.facts.rows import reduced_axes, rows_of
from nanproof.analysis.state import State
from nanproof.dims import bounds
from nanproof.domain.box import Box
from nanproof.model.lower import Step
from nanproof.numerics.runtimes import error_form, widen


def shifted_rows(state: State, slot: int) -> tuple[int, ...] | None:
    """The axes along which a value is x - max(x): its largest element there is exactly 0.

    Elements may be -Inf as long as the maximum isn't.
    """
    step = maker(state, slot, {"Sub"})
    if step is None or not may_sink(state.hulls[slot]):
        return None
    rows = rows_of(state, step.inputs[1], MAX, step.inputs[0])
    x, top = (state.hulls[s] for s in step.inputs)
    return None if rows is None or not may_sink(x) or not plain(top) else rows[1]


def holds_exp_of_0(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """The sum and the maximum of exp(x - max(x)) are at least exp(0).

    Rounding a sum of non-negatives never goes below a term.
    """
    box = operands[0]
    exp = maker(state, step.inputs[0], {"Exp"})
    if exp is None or box is None or not plain(box):
        return None
    axes, wanted = shifted_rows(state, exp.inputs[0]), reduced_axes(state, step)
    if axes is None or wanted is None or not set(axes) <= set(wanted) or box.shape is None:
        return None
    if any(bounds(box.shape[axis], state.setting.dims)[0] < 1 for axis in wanted):
        return None  # a sum over nothing is 0
    one = widen(error_form(state.setting.runtime, "exp", box.dtype), box.dtype, 1.0, 1.0)[0]
    return one, inf


def mean_of_exp_of_0(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """A mean of n numbers that are never negative, one of which is exp(0): at least a share of 1 / n of that."""
    found, axes, box = holds_exp_of_0(state, step, operands), reduced_axes(state, step), operands[0]
    if found is None or axes is None or box is None or box.shape is None:
        return None
    sizes = [bounds(box.shape[axis], state.setting.dims)[1] for axis in axes]
    if any(n is None for n in sizes):
        return None
    return found[0] / float(prod(n for n in sizes if n is not None)) * (1.0 - 8.0 * box.dtype.unit), inf


def holds_one_exp_of_0(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """exp(x - m) + exp(z - m) with m = max(x, z) is at least exp(0): one of the differences is 0.

    relu(x) is max(x, 0), and -m is 0 - m.
    """
    box = operands[0]
    made = [maker(state, slot, {"Exp"}) for slot in step.inputs]
    if box is None or not plain(*operands) or any(exp is None for exp in made):
        return None
    shifts = [maker(state, exp.inputs[0], {"Sub", "Neg"}) for exp in made if exp is not None]
    if any(shift is None for shift in shifts):
        return None
    # -1 stands for 0
    pairs = [shift.inputs if shift.node.op == "Sub" else (-1, shift.inputs[0]) for shift in shifts if shift is not None]
    (x, m), (z, n) = pairs
    top = maker(state, m, {"Max", "Relu"})
    slots = [s for s in (x, z, m) if s >= 0]
    if top is None or not plain(*(state.hulls[s] for s in slots)) or not same(state, m, n):
        return None
    larger = top.inputs if top.node.op == "Max" else (*top.inputs, -1)
    if not all(any(_is(state, s, t) for t in (x, z)) for s in larger):
        return None
    return widen(error_form(state.setting.runtime, "exp", box.dtype), box.dtype, 1.0, 1.0)[0], inf


def _is(state: State, slot: int, other: int) -> bool:
    if slot < 0 or other < 0:
        return slot == other or is_number(state, max(slot, other), 0.0)
    return same(state, slot, other)
