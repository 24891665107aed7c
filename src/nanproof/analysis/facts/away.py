"""How far a value stays away from 0 on both sides: the hole in an interval that a guard leaves.

``where(|x| > e, x, 1)`` is an interval around 0 without a neighbourhood of 0. No Box can say so, but a step that needs a
divisor other than 0 can ask: the answer follows the way that the value was made, and what conditions say where they
chose it. Distances are those of the computed floats: a comparison is exact, |x| and -x are exact, products round
monotonically, and a computed square that isn't 0 is at least the smallest number of its type.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from nanproof.analysis.facts.made import is_number, maker, plain, same
from nanproof.analysis.state import State
from nanproof.domain.box import Box
from nanproof.domain.partition import Blocks, blocks_of, pack
from nanproof.model.lower import Step
from nanproof.numerics.dtypes import DType
from nanproof.numerics.rounding import next_up

DEEP = 8

COMPARISONS = {"Greater": ">", "GreaterOrEqual": ">=", "Less": "<", "LessOrEqual": "<=", "Equal": "=="}
MIRRORED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "==", "!=": "!="}
_DENIED = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "==": "!="}

_MOVED = frozenset({"Reshape", "Transpose", "Unsqueeze", "Squeeze", "Flatten", "Expand", "Slice", "Gather", "Split",
                    "Tile", "Concat"})  # fmt: skip
"""Operators that put elements elsewhere: a condition on the result says nothing of the operand at the same place."""


class Given(NamedTuple):
    """A boolean value that is known to be true, or false, where a value counts."""

    slot: int
    truth: bool


def away(state: State, slot: int, given: tuple[Given, ...] = (), depth: int = DEEP) -> float:
    """A number that no element of a value is closer to 0 than (0: nothing is known), where the conditions hold."""
    box = state.hulls[slot] if slot >= 0 else None
    if box is None or not plain(box) or state.setting.keeps_float32(box.dtype):
        return 0.0
    lo, hi = box.hull()
    if lo > 0.0 or hi < 0.0:
        return max(lo, -hi)
    said = max((_said(state, g.slot, g.truth, slot, depth) for g in given), default=0.0)
    step = state.makers.get(slot)
    if depth == 0 or step is None or step.op is None or step.node.domain:
        return said
    return max(said, _made(state, step, given, depth - 1, said))


def _made(state: State, step: Step, given: tuple[Given, ...], depth: int, said: float) -> float:
    """The same, by the way that the value was made."""
    name, inputs = step.node.op, step.inputs
    if name in _MOVED:
        return min(away(state, slot, (), depth) for slot in (inputs if name == "Concat" else inputs[:1]))
    if name in {"Identity", "Neg", "Abs"}:
        return away(state, inputs[0], given, depth)
    if name in {"Max", "Min"}:
        return min(away(state, slot, given, depth) for slot in inputs)
    if name == "Where":
        pairs = zip(inputs[1:], (True, False), strict=True)
        return min(away(state, slot, (*given, Given(inputs[0], truth)), depth) for slot, truth in pairs)
    if name == "Sign":
        return 1.0 if said > 0.0 or away(state, inputs[0], given, depth) > 0.0 else 0.0
    if name in {"Floor", "Ceil", "Round", "Cast", "CastLike"} and said > 0.0:
        source = state.hulls[inputs[0]]
        whole = name not in {"Cast", "CastLike"} or (source is not None and not source.dtype.is_float)
        return 1.0 if whole else said
    if name == "Mul":
        one = away(state, inputs[0], given, depth)
        other = away(state, inputs[1], given, depth) if one > 0.0 else 0.0
        return _rounded_down(one * other, state.hulls[inputs[0]])
    return 0.0


def _rounded_down(size: float, box: Box | None) -> float:
    """A product after rounding; 0 where it might underflow to that."""
    if box is None or size < box.dtype.tiny:
        return 0.0
    return min(size * (1.0 - 2.0 * box.dtype.unit), box.dtype.max)


def _said(state: State, condition: int, truth: bool, slot: int, depth: int) -> float:
    """How far from 0 a value is where a condition is true (or false)."""
    step = maker(state, condition, {"Not", "And", "Or", "Cast", *COMPARISONS})
    if step is None or depth == 0:
        return 0.0
    name, inputs = step.node.op, step.inputs
    if name == "Not":
        return _said(state, inputs[0], not truth, slot, depth - 1)
    if name in {"And", "Or"}:
        each = [_said(state, s, truth, slot, depth - 1) for s in inputs]
        return max(each) if (name == "And") == truth else min(each)
    if name == "Cast":
        return _beyond(state, inputs[0], "!=", (0.0, 0.0), slot) if truth else 0.0
    a, b = (state.hulls[s] for s in inputs)
    if a is None or b is None or not plain(a, b):
        return 0.0
    relation = COMPARISONS[name] if truth else _DENIED[COMPARISONS[name]]
    one = _beyond(state, inputs[0], relation, b.hull(), slot)
    return max(one, _beyond(state, inputs[1], MIRRORED[relation], a.hull(), slot))


def _beyond(state: State, measured: int, relation: str, ends: tuple[float, float], slot: int) -> float:
    """How far from 0 a value is if a measure of it (itself, its negative, size or square) compares so with a number."""
    box = state.hulls[measured]
    if box is None or not plain(box):
        return 0.0
    dtype = box.dtype
    above, below = _least_above(dtype, relation, ends), _least_above(dtype, MIRRORED[relation], (-ends[1], -ends[0]))
    if same(state, measured, slot):
        return max(above, below)
    step = maker(state, measured, {"Abs", "Neg", "Mul", "Pow"})
    if step is None or not same(state, step.inputs[0], slot):
        return 0.0
    if step.node.op == "Neg":
        return max(above, below)
    if step.node.op == "Abs":
        return above
    if step.node.op == "Mul" and same(state, *step.inputs):
        # a product that rounds to n quanta is more than half of that
        return sqrt(max(above * (1.0 - 2.0 * dtype.unit) - dtype.quantum, above / 4.0))
    if step.node.op == "Pow" and is_number(state, step.inputs[1], 2.0):
        return sqrt(max(above * (1.0 - 8.0 * dtype.unit) - 2.0 * dtype.quantum, 0.0))
    return 0.0


def _least_above(dtype: DType, relation: str, ends: tuple[float, float]) -> float:
    """The smallest positive size of what is so related to a number between these ends; 0 if it may be 0 or below."""
    lo, hi = ends
    if relation == "!=":
        return dtype.quantum if lo == hi == 0.0 else 0.0
    if relation == ">":
        return next_up(dtype, lo) if lo >= 0.0 else 0.0
    return max(lo, 0.0) if relation in {">=", "=="} else 0.0


def apart(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """|x| and x * x of a value that stays away from 0."""
    box = operands[0]
    if box is None or not plain(box) or (step.node.op == "Mul" and not same(state, *step.inputs)):
        return None
    far = away(state, step.inputs[0])
    if far > 0.0 and step.node.op == "Mul":
        far = _rounded_down(far * far, box)
    return (far, inf) if far > 0.0 else None


DIVISORS = {"Div": 1, "Reciprocal": 0, "Mod": 1}
"""Which operand mustn't be 0."""


def sides(state: State, step: Step, operands: Sequence[Box | None]) -> list[list[Box | None]] | None:
    """The operands with a divisor around 0 as its negative and its positive part; None where it may be 0."""
    position = DIVISORS[step.node.op]
    box = operands[position]
    if box is None or not plain(box):
        return None
    lo, hi = box.hull()
    far = away(state, step.inputs[position]) if lo <= 0.0 <= hi else 0.0
    if far <= 0.0:
        return None
    cut = [part for part in (within(box, -inf, -far), within(box, far, inf)) if part.has_finite]
    return [[*operands[:position], part, *operands[position + 1 :]] for part in cut]


def within(box: Box, low: float, high: float) -> Box:
    """The part of a Box without special values that lies between two numbers; blocks without one are empty."""
    blocks = blocks_of(box)
    lo, hi = np.maximum(blocks.lo, low), np.minimum(blocks.hi, high)
    empty = lo > hi
    return pack(box.dtype, box.shape, box.cuts, Blocks(np.where(empty, inf, lo), np.where(empty, -inf, hi), None))
