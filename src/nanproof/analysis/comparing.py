"""What a comparison says of the values that it compares, where it holds and where it doesn't."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import numpy as np

from nanproof.domain.box import NAN, NINF, PINF, Box
from nanproof.domain.partition import Blocks, blocks_of, pack
from nanproof.model.lower import Step
from nanproof.numerics.rounding import next_down, next_up

_COMPARISONS = {"Greater": ">", "GreaterOrEqual": ">=", "Less": "<", "LessOrEqual": "<=", "Equal": "=="}
_MIRRORED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "=="}
_NEGATED = {">": "not >", ">=": "not >=", "<": "not <", "<=": "not <=", "==": "not =="}
_TESTS = frozenset({"IsNaN", "IsInf"})


@dataclass(frozen=True, slots=True)
class Fact:
    """What a chosen branch knows: slot ``relation`` other slot, or a test of a slot."""

    slot: int
    relation: str
    other: int = -1
    step: Step | None = None


def facts_of(makers: Mapping[int, Step], slot: int, truth: bool, depth: int = 0) -> list[Fact]:
    """What the truth (or falsity) of a boolean value says of the values it compares."""
    step = makers.get(slot)
    if step is None or depth > 8:
        return []
    name = step.node.op
    if name == "Not":
        return facts_of(makers, step.inputs[0], not truth, depth + 1)
    if (name == "And" and truth) or (name == "Or" and not truth):
        both = [facts_of(makers, s, truth, depth + 1) for s in step.inputs]
        return both[0] + both[1]
    if name in _TESTS:
        return [Fact(step.inputs[0], name if truth else f"not {name}", step=step)]
    if name in _COMPARISONS:
        a, b = step.inputs
        relation = _COMPARISONS[name]
        pairs = [(a, relation, b), (b, _MIRRORED[relation], a)]
        return [Fact(x, r if truth else _NEGATED[r], y) for x, r, y in pairs]
    return []


def under(box: Box, fact: Fact, other: Box | None) -> Box | None:
    """A Box cut to the elements for which a fact holds; None where nothing is cut."""
    blocks = blocks_of(box)
    lo, hi = np.asarray(blocks.lo, float), np.asarray(blocks.hi, float)
    lost = 0
    if fact.relation in _TESTS or fact.relation.startswith("not Is"):
        return _tested(box, blocks, fact)
    assert other is not None
    low, high = other.hull()
    if low > high and not other.flags:
        return None
    if other.flags & NAN and fact.relation.startswith("not"):
        return None  # a comparison with NaN is false whatever the value
    # end points of the finite values that the comparison lets through; infinite operands allow all
    least, most = -inf, inf
    relation = fact.relation
    float_like = box.dtype.is_float
    if not other.flags & PINF:
        if relation in ("<", "not >="):
            most = next_down(box.dtype, high) if float_like else high - 1
        elif relation in ("<=", "not >", "=="):
            most = high
        lost |= PINF if relation in ("<", "<=", "==", "not >", "not >=") else 0
    if not other.flags & NINF:
        if relation in (">", "not <="):
            least = next_up(box.dtype, low) if float_like else low + 1
        elif relation in (">=", "not <", "=="):
            least = low
        lost |= NINF if relation in (">", ">=", "==", "not <", "not <=") else 0
    if not relation.startswith("not"):
        lost |= NAN
    if relation == "not ==":
        lost |= _unequal(other)
        lo, hi = _without_end(box, lo, hi, other)
    return _cut(box, blocks, (np.maximum(lo, least), np.minimum(hi, most)), lost)


def _unequal(other: Box) -> int:
    """An operand that differs from a certain infinity isn't that infinity."""
    return other.flags if other.flags in (PINF, NINF) and not other.has_finite else 0


def _without_end(box: Box, lo: np.ndarray, hi: np.ndarray, other: Box) -> tuple[np.ndarray, np.ndarray]:
    """Values that differ from a known number: an end point that is that number moves inward."""
    if not other.is_point:
        return lo, hi
    value = float(other.lo)
    up = next_up(box.dtype, value) if box.dtype.is_float else value + 1
    down = next_down(box.dtype, value) if box.dtype.is_float else value - 1
    return np.where(lo == value, up, lo), np.where(hi == value, down, hi)


def _tested(box: Box, blocks: Blocks, fact: Fact) -> Box | None:
    """Under IsNaN or IsInf, or their opposite."""
    nothing = np.full(np.shape(blocks.lo), inf), np.full(np.shape(blocks.hi), -inf)
    usual = np.asarray(blocks.lo, float), np.asarray(blocks.hi, float)
    if fact.relation == "IsNaN":
        return _cut(box, blocks, nothing, PINF | NINF)
    if fact.relation == "not IsNaN":
        return _cut(box, blocks, usual, NAN)
    assert fact.step is not None
    signs = PINF if fact.step.attrs.get("detect_positive", 1) else 0
    signs |= NINF if fact.step.attrs.get("detect_negative", 1) else 0
    if fact.relation == "IsInf":
        return _cut(box, blocks, nothing, NAN | ((PINF | NINF) & ~signs))
    return _cut(box, blocks, usual, signs)


def _cut(box: Box, blocks: Blocks, ends: tuple[np.ndarray, np.ndarray], lost: int) -> Box | None:
    lo, hi = ends
    empty = lo > hi
    lo, hi = np.where(empty, inf, lo), np.where(empty, -inf, hi)
    spots = None if blocks.spots is None else blocks.spots & np.uint8(~lost & 7)
    if spots is not None and not spots.any():
        spots = None
    return pack(box.dtype, box.shape, box.cuts, Blocks(lo, hi, spots))
