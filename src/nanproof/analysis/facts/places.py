"""What a value is at a place that depends on the row: positions in a sequence, triangles, and conditions on them.

A causal mask compares positions: column <= row. Which elements that chooses can't be said in blocks where the length
is open, but on the diagonal (column = row) it can. A ``Place`` gives each axis of a tensor an index that is an affine
expression of free row indices; followed back through the steps that made the value, a Range becomes such an expression
itself, a comparison becomes true, false or open, and a Where its chosen branch. All of it is integer arithmetic, or
numbers that are picked and never computed: there is nothing to round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from nanproof.analysis.facts.rows import reduced_axes
from nanproof.analysis.state import State
from nanproof.dims import Size, interval
from nanproof.domain.box import NAN, NINF, Box
from nanproof.model.lower import Step
from nanproof.numerics.dtypes import DType

DEEP = 24
EXACT = 2.0**24
"""Up to here every integer is a float32."""


@dataclass(frozen=True, slots=True)
class Affine:
    """A constant (a size), plus whole multiples of free indices, plus some number between ``low`` and ``high``."""

    base: Size
    terms: Mapping[int, int] = field(default_factory=dict)
    low: int = 0
    high: int = 0

    def plus(self, other: Affine, sign: int = 1) -> Affine:
        """The sum, or the difference."""
        terms = dict(self.terms)
        for index, factor in other.terms.items():
            terms[index] = terms.get(index, 0) + sign * factor
        low, high = sorted((sign * other.low, sign * other.high))
        left = {i: f for i, f in terms.items() if f}
        return Affine(self.base + sign * other.base, left, self.low + low, self.high + high)

    def times(self, factor: int) -> Affine:
        """A multiple."""
        low, high = sorted((factor * self.low, factor * self.high))
        terms = {i: f * factor for i, f in self.terms.items()} if factor else {}
        return Affine(self.base * factor, terms, low, high)

    @property
    def fixed(self) -> Size | None:
        """The constant, if it is nothing else."""
        return None if self.terms or self.low or self.high else self.base


Place: TypeAlias = "tuple[Affine, ...]"
"""An index for each axis, from the last to the first."""


@dataclass(frozen=True, slots=True)
class Site:
    """The free indices of a place, with their sizes, in a state."""

    state: State
    sizes: Mapping[int, Size]

    def is_at_least(self, value: Affine, least: int) -> bool | None:
        """Whether an expression is at least a number for all its indices; None where that differs or isn't known."""
        low, high = value.base - least + value.low, value.base - least + value.high
        for index, factor in value.terms.items():
            reach = (self.sizes[index] - 1) * factor
            low, high = (low + reach, high) if factor < 0 else (low, high + reach)
        dims = self.state.setting.dims
        bottom, top = interval(low, dims)[0], interval(high, dims)[1]
        if bottom is not None and bottom >= 0:
            return True
        return False if top is not None and top < 0 else None

    # -- the way back ------------------------------------------------------------------------

    def step(self, slot: int) -> Step | None:
        """The step that made a value, if it is one whose meaning is known here."""
        step = self.state.makers.get(slot) if slot >= 0 else None
        return None if step is None or step.op is None or step.branches or step.node.domain else step

    def box(self, slot: int) -> Box | None:
        """The hull of a value with a known shape."""
        box = self.state.hulls[slot] if slot >= 0 else None
        return None if box is None or type(box) is not Box or box.shape is None else box

    def seen_from(self, place: Place, outer: int, inner: int) -> Place | None:
        """The same element in an operand that broadcasts to the result: an axis of length 1 has index 0."""
        box, whole = self.box(inner), self.box(outer)
        if box is None or whole is None or box.shape is None or len(box.shape) > len(place):
            return None
        assert whole.shape is not None
        found = []
        for n, size, at in zip(reversed(box.shape), reversed(whole.shape), place, strict=False):
            if n not in {1, size}:
                return None  # it may be 1 or that size: there is no telling
            found.append(Affine(0) if n == 1 else at)
        return tuple(found)

    def origin(self, step: Step, place: Place) -> tuple[int, Place] | None:
        """Which element of which operand a step that only moves elements puts at a place."""
        name, slot = step.node.op, step.inputs[0]
        if name == "Concat":
            return self._piece(step, place)
        inner = self._moved(step, slot, place) if name in _MOVING else None
        return None if inner is None else (slot, inner)

    def _moved(self, step: Step, slot: int, place: Place) -> Place | None:
        name = step.node.op
        box, whole = self.box(slot), self.box(step.outputs[0])
        if box is None or whole is None or box.shape is None or whole.shape is None:
            return None
        rank = len(box.shape)
        if name in {"Identity", "Cast", "CastLike"} or (name == "Expand" and rank <= len(place)):
            return self.seen_from(place, step.outputs[0], slot)
        if name in {"Unsqueeze", "Squeeze", "Reshape", "Flatten"}:
            # axes of length 1 come and go; the others keep their order
            indices = [at for n, at in zip(reversed(whole.shape), place, strict=True) if n != 1]
            if [n for n in whole.shape if n != 1] != [n for n in box.shape if n != 1]:
                return None
            rest = iter(indices)
            return tuple(Affine(0) if n == 1 else next(rest) for n in reversed(box.shape))
        if name == "Transpose":
            order = step.attrs.get("perm") or tuple(reversed(range(rank)))
            assert isinstance(order, tuple)
            inner = {int(axis): place[rank - 1 - i] for i, axis in enumerate(order)}  # type: ignore[arg-type]
            return tuple(inner[axis] for axis in reversed(range(rank)))
        return self._before_slice(step, place, rank)

    def _before_slice(self, step: Step, place: Place, rank: int) -> Place | None:
        """A slice with known starts from the front and steps of 1."""
        starts, axes, steps = (self._whole_numbers(step, i) for i in (1, 3, 4))
        if starts is None or min(starts, default=0) < 0 or (steps is not None and set(steps) != {1}):
            return None
        if (axes is None and len(step.inputs) > 3 and step.inputs[3] >= 0) or (
            steps is None and len(step.inputs) > 4 and step.inputs[4] >= 0
        ):
            return None
        found = list(place)
        for axis, start in zip(range(len(starts)) if axes is None else axes, starts, strict=True):
            at = rank - 1 - axis % rank
            found[at] = found[at].plus(Affine(start))
        return tuple(found)

    def _whole_numbers(self, step: Step, position: int) -> list[int] | None:
        slot = step.inputs[position] if position < len(step.inputs) else -1
        box = self.state.hulls[slot] if slot >= 0 else None
        if box is None:
            return None
        if box.known is not None and box.known.dtype.kind in "iu":
            return [int(n) for n in box.known.reshape(-1)]
        return [int(box.lo)] if box.is_point and box.shape == (1,) else None

    def _piece(self, step: Step, place: Place) -> tuple[int, Place] | None:
        """The operand of a Concat in which an index falls for sure."""
        whole = self.box(step.outputs[0])
        if whole is None or whole.shape is None:
            return None
        rank = len(whole.shape)
        axis = int(step.attrs.get("axis", 0)) % rank  # type: ignore[arg-type]
        at, before = rank - 1 - axis, Affine(0)
        for slot in step.inputs:
            box = self.box(slot)
            if box is None or box.shape is None or len(box.shape) != rank:
                return None
            index = place[at].plus(before, -1)
            behind = Affine(box.shape[axis] - 1).plus(index, -1)
            if self.is_at_least(index, 0) and self.is_at_least(behind, 0):
                return slot, (*place[:at], index, *place[at + 1 :])
            before = before.plus(Affine(box.shape[axis]))
        return None

    # -- integers ----------------------------------------------------------------------------

    def number(self, slot: int, place: Place, depth: int = DEEP) -> Affine | None:
        """A whole number at a place, as an expression of the indices."""
        box = self.box(slot)
        if box is None or depth == 0:
            return None
        if box.known is not None and box.known.size == 1 and not box.dtype.is_float:
            (item,) = box.known.reshape(-1).tolist()
            return Affine(item if not isinstance(item, (bool, float)) else int(item))
        if box.is_point and float(box.lo).is_integer():
            return Affine(int(box.lo))
        found = self._computed(slot, box, place, depth)
        if found is None and box.dtype.is_integer and box.has_finite:
            low, high = box.hull()
            return Affine(0, {}, int(low), int(high))  # some number
        return found

    def _computed(self, slot: int, box: Box, place: Place, depth: int) -> Affine | None:
        step = self.step(slot)
        if step is None or not (box.dtype.is_integer or (box.dtype.is_float and self._is_exact(box))):
            return None
        name = step.node.op
        if name == "Range":
            start, by = (self.number(step.inputs[i], (), depth - 1) for i in (0, 2))
            if start is None or by is None or start.fixed is None or not isinstance(by.fixed, int):
                return None
            return place[0].times(by.fixed).plus(start)
        if name in {"Add", "Sub"}:
            a, b = (self._operand(step, slot, place, i, depth) for i in (0, 1))
            if a is None or b is None or not self._fits(box, box.dtype):
                return None
            return a.plus(b, 1 if name == "Add" else -1)
        if name in {"Cast", "CastLike"} and not self._fits(self.box(step.inputs[0]), box.dtype):
            return None
        inner = self.origin(step, place)
        return None if inner is None else self.number(*inner, depth - 1)

    @staticmethod
    def _fits(box: Box | None, dtype: DType) -> bool:
        """Whether no element is beyond a dtype, or at its very end, as one that has wrapped around may be."""
        if box is None or box.flags:
            return False
        lo, hi = box.hull()
        return dtype.min < lo and hi < dtype.max

    def _is_exact(self, box: Box) -> bool:
        lo, hi = box.hull()
        return not box.flags and box.dtype.bits >= 32 and lo >= -EXACT and hi <= EXACT

    def _operand(self, step: Step, slot: int, place: Place, position: int, depth: int) -> Affine | None:
        inner = self.seen_from(place, slot, step.inputs[position])
        return None if inner is None else self.number(step.inputs[position], inner, depth - 1)

    # -- conditions --------------------------------------------------------------------------

    def truth(self, slot: int, place: Place, depth: int = DEEP) -> bool | None:
        """Whether a condition is true, or a number other than 0, at a place; None where it isn't known."""
        box, step = self.box(slot), self.step(slot)
        if box is None or depth == 0:
            return None
        lo, hi = box.hull()
        if not box.flags and (lo > 0 or hi < 0 or lo == hi == 0):
            return bool(lo != 0)
        if step is None:
            return None
        name = step.node.op
        if name in {"And", "Or"}:
            each = [self._truth_of(step, slot, place, i, depth) for i in (0, 1)]
            if name == "And":
                return False if False in each else True if each == [True, True] else None
            return True if True in each else False if each == [False, False] else None
        if name == "Not":
            inner = self._truth_of(step, slot, place, 0, depth)
            return None if inner is None else not inner
        if name in _COMPARISONS:
            return self._compared(step, slot, place, depth)
        if name == "Trilu":
            kept = self._kept(step, place)
            return False if kept is False else self.truth(step.inputs[0], place, depth - 1) if kept else None
        if name == "Where":
            chosen = self._truth_of(step, slot, place, 0, depth)
            return None if chosen is None else self._truth_of(step, slot, place, 1 if chosen else 2, depth)
        if name in {"Cast", "CastLike"} and not box.dtype.is_bool:
            source = self.box(step.inputs[0])
            if source is None or source.dtype.is_float:
                return None  # a fraction may become 0
        before = self.origin(step, place)
        return None if before is None else self.truth(*before, depth - 1)

    def _truth_of(self, step: Step, slot: int, place: Place, position: int, depth: int) -> bool | None:
        inner = self.seen_from(place, slot, step.inputs[position])
        return None if inner is None else self.truth(step.inputs[position], inner, depth - 1)

    def _compared(self, step: Step, slot: int, place: Place, depth: int) -> bool | None:
        a, b = (self._operand(step, slot, place, i, depth) for i in (0, 1))
        name = step.node.op
        if a is None or b is None:
            # a triangle of ones, compared with 0
            other = self.box(step.inputs[1])
            if name != "Equal" or other is None or not other.is_point or other.lo != 0:
                return None
            truth = self._truth_of(step, slot, place, 0, depth)
            return None if truth is None else not truth
        d = b.plus(a, -1)
        if name == "LessOrEqual":
            return self.is_at_least(d, 0)
        if name == "Less":
            return self.is_at_least(d, 1)
        e = a.plus(b, -1)
        if name == "GreaterOrEqual":
            return self.is_at_least(e, 0)
        if name == "Greater":
            return self.is_at_least(e, 1)
        if self.is_at_least(d, 0) and self.is_at_least(e, 0):
            return True
        return False if self.is_at_least(d, 1) or self.is_at_least(e, 1) else None

    def _kept(self, step: Step, place: Place) -> bool | None:
        """Whether a triangle keeps an element."""
        shift = Affine(0)
        if len(step.inputs) > 1 and step.inputs[1] >= 0:
            found = self.number(step.inputs[1], ())
            if found is None:
                return None
            shift = found
        if len(place) < 2:
            return None
        beyond = place[0].plus(place[1], -1).plus(shift, -1)
        return self.is_at_least(beyond if step.attrs.get("upper", 1) else beyond.times(-1), 0)

    # -- finite elements ---------------------------------------------------------------------

    def alive(self, slot: int, place: Place, depth: int = DEEP) -> bool:
        """Whether an element is surely neither -Inf nor NaN."""
        box = self.box(slot)
        if box is None or depth == 0:
            return False
        if not box.flags & (NAN | NINF):
            return True
        step = self.step(slot)
        if step is None:
            return self._stored(slot, place)
        name = step.node.op
        if name == "Where":
            chosen = self._truth_of(step, slot, place, 0, depth)
            positions = (1, 2) if chosen is None else (1,) if chosen else (2,)
            return all(self._alive_in(step, slot, place, i, depth) for i in positions)
        if name == "Add":
            lows = [other.hull()[0] for other in map(self.box, step.inputs) if other is not None and other.has_finite]
            if len(lows) < 2 or not sum(lows) >= box.dtype.min:
                return False  # finite numbers may add up to -Inf
            return all(self._alive_in(step, slot, place, i, depth) for i in (0, 1))
        if name == "Trilu":
            kept = self._kept(step, place)
            return kept is False or self.alive(step.inputs[0], place, depth - 1)
        if name in {"Cast", "CastLike"}:
            source = self.box(step.inputs[0])
            if source is None or not source.has_finite or source.hull()[0] < box.dtype.min:
                return False
        inner = self.origin(step, place)
        return inner is not None and self.alive(*inner, depth - 1)

    def _alive_in(self, step: Step, slot: int, place: Place, position: int, depth: int) -> bool:
        inner = self.seen_from(place, slot, step.inputs[position])
        return inner is not None and self.alive(step.inputs[position], inner, depth - 1)

    def _stored(self, slot: int, place: Place) -> bool:
        """Whether a stored mask is finite on the diagonal (or in a column) that a place runs along."""
        box = self.state.boxes[slot]
        if box is None or box.known is None or box.known.dtype.kind != "f" or box.known.ndim < 2 or len(place) < 2:
            return False
        column, row = place[:2]
        if len(row.terms) != 1 or not isinstance(row.base, int) or not isinstance(column.base, int):
            return False
        (index,) = row.terms
        rows, columns = box.known.shape[-2:]
        if row.terms[index] != 1 or not set(column.terms) <= {index}:
            return False
        at = np.arange(rows)
        along = (at - row.base) * column.terms.get(index, 0) + column.base
        fits = (along >= 0) & (along < columns)
        return bool(np.isfinite(box.known[..., at[fits], along[fits]]).all())


_MOVING = frozenset({"Identity", "Cast", "CastLike", "Expand", "Unsqueeze", "Squeeze", "Reshape", "Flatten", "Transpose",
                     "Slice"})  # fmt: skip
_COMPARISONS = frozenset({"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"})


def row_is_alive(state: State, slot: int, axis: int) -> bool:
    """Whether every row of a value along an axis surely has an element that is neither -Inf nor NaN.

    Tried are the diagonal, from either end, and the first and the last element of the row.
    """
    box = state.hulls[slot] if slot >= 0 else None
    if box is None or type(box) is not Box or not box.shape:
        return False
    shape = tuple(reversed(box.shape))
    at = len(shape) - 1 - axis % len(shape)
    sizes = dict(enumerate(shape))
    site = Site(state, sizes)
    if interval(shape[at], state.setting.dims)[0] in {None, 0}:
        return False
    free = [Affine(0, {i: 1}) for i in range(len(shape))]
    candidates = [Affine(0), Affine(shape[at] - 1)]
    for i, n in enumerate(shape):
        if i != at and n != 1 and site.is_at_least(Affine(shape[at] - n), 0):
            candidates += [free[i], free[i].plus(Affine(shape[at] - n))]
    return any(site.alive(slot, (*free[:at], c, *free[at + 1 :])) for c in candidates)


ROWS = frozenset({"Softmax", "LogSoftmax", "ReduceMax", "ReduceLogSumExp"})
"""Operators that ask for it."""


def alive_rows(state: State, step: Step, operands: Sequence[Box | None]) -> bool:
    """Whether -Inf is among the elements, but in every row one that is larger."""
    box = operands[0]
    if box is None or type(box) is not Box or not box.flags & NINF or not box.shape:
        return False
    if step.node.op in {"Softmax", "LogSoftmax"}:
        return row_is_alive(state, step.inputs[0], int(step.attrs.get("axis", -1)))  # type: ignore[arg-type]
    axes = reduced_axes(state, step)
    return axes is not None and any(row_is_alive(state, step.inputs[0], axis) for axis in axes)
