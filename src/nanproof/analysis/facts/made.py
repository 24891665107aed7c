"""How a value was made: which step made it, and whether two values are the same."""

from __future__ import annotations

import numpy as np

from nanproof.analysis.state import State
from nanproof.domain.box import NINF, PINF, Box
from nanproof.model.lower import Step

DEEP = 6
"""How many operators that only hand a value on are looked through."""


_IDLE = frozenset(
    {"Identity", "Max", "Min", "Mul", "Div", "Add", "Sub", "Cast", "CastLike", "Where", "Expand", "Reshape"}
)


def passed(state: State, slot: int) -> int | None:
    """The operand that a step hands on as it is: x * 1, x + 0, max(-Inf, x), a Where that is decided, a Cast to the
    dtype that it has. None for a step that does something.
    """
    step = state.makers.get(slot) if slot >= 0 else None
    if step is None or step.node.op not in _IDLE or step.op is None or step.node.domain:
        return None
    name, inputs = step.node.op, step.inputs
    if name == "Identity":
        return inputs[0]
    kept = _kept(state, name, inputs)
    if kept is None:
        return None
    own, other = state.hulls[slot], state.hulls[kept]
    if own is None or other is None or type(own) is not Box or type(other) is not Box:
        return None
    fits = own.dtype is other.dtype and own.shape is not None and own.shape == other.shape
    return kept if fits else None


def _kept(state: State, name: str, inputs: tuple[int, ...]) -> int | None:
    """Which operand would be the result, if it has its shape and dtype."""
    if name in {"Cast", "CastLike", "Expand", "Reshape"}:
        return inputs[0]
    if name == "Where":
        condition = state.hulls[inputs[0]]
        if condition is None or condition.flags or not condition.has_finite:
            return None
        lo, hi = condition.hull()
        return inputs[1] if lo >= 1.0 else inputs[2] if hi <= 0.0 else None
    if len(inputs) != 2:
        return None
    neutral = 1.0 if name in {"Mul", "Div"} else 0.0
    for kept, other in (inputs, inputs[::-1])[: 1 if name in {"Sub", "Div"} else 2]:
        if name in {"Max", "Min"}:
            box = state.hulls[other]
            if box is not None and not box.has_finite and box.flags == (NINF if name == "Max" else PINF):
                return kept
        elif is_number(state, other, neutral):
            return kept
    return None


def maker(state: State, slot: int, ops: frozenset[str] | set[str]) -> Step | None:
    """The step that made a value, if it is one of these operators; what hands a value on is looked through."""
    for _ in range(DEEP):
        step = state.makers.get(slot) if slot >= 0 else None
        if step is None:
            return None
        if step.node.op in ops and passed(state, slot) is None:
            return step
        before = passed(state, slot)
        if before is None:
            return None
        slot = before
    return None


def resolved(state: State, slot: int) -> int:
    """The first of all slots that a value was handed on from."""
    for _ in range(DEEP):
        before = passed(state, slot)
        if before is None:
            return slot
        slot = before
    return slot


def same(state: State, first: int, second: int, depth: int = 4) -> bool:
    """Whether two slots surely hold the same tensor: one value, or the same computation twice."""
    if first == second:
        return first >= 0
    first, second = resolved(state, first), resolved(state, second)
    if first == second:
        return first >= 0
    one, two = state.makers.get(first), state.makers.get(second)
    if one is None or two is None or depth == 0 or one.op is None or one.branches or two.branches:
        return _same_constant(state, first, second)
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


def is_number(state: State, slot: int, value: float) -> bool:
    """Whether every element of a value is one known number."""
    box = state.hulls[slot] if slot >= 0 else None
    return box is not None and box.is_point and box.lo == value


def plain(*boxes: Box | None) -> bool:
    """Finite tensors only: a rule about rows says nothing of NaN and Inf."""
    return all(box is not None and not box.flags and box.dtype.is_float and box.has_finite for box in boxes)
