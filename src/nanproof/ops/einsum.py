"""Einsum: sums of products named by letters."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from nanproof.dims import ShapeError, Size, broadcast
from nanproof.domain.box import Box, Shape
from nanproof.ops.call import Call
from nanproof.ops.flow import computed, length, product_flags, repeated, settled, sum_flags, without_finite
from nanproof.ops.matmul import product_ends
from nanproof.ops.record import Case, Op, Operand, Samples


def _einsum(call: Call, *boxes: Box) -> Box:
    """Any product of one element of each operand, added up as often as the summed letters say."""
    dtype = boxes[0].dtype
    shape, counts = _layout(call, boxes)
    if shape is not None and 0 in shape:
        return Box(dtype, shape, inf, -inf)
    if counts[0] > 0 and any(without_finite(b) for b in boxes):
        return Box(dtype, shape, inf, -inf)
    first = boxes[0]
    lo, hi = first.hull()
    flags, void = first.flags, not lo <= hi
    lo, hi = (0.0, 0.0) if void else (lo, hi)
    reach = max(-lo, hi, 1.0)
    for box in boxes[1:]:
        low, high = box.hull()
        flags = product_flags(Box(dtype, (), lo, hi, flags), box)
        void = void or not low <= high
        low, high = (low, high) if low <= high else (0.0, 0.0)
        lo, hi = product_ends((lo, hi), (low, high))
        reach *= max(-low, high, 1.0)
    operands = float(len(boxes))
    sums = repeated(lo, hi, *counts)
    result = computed(call, dtype, sums, counts[1] + operands, products=len(boxes) > 1)
    born, slack = result.born, 0.0
    if len(boxes) > 2:
        # products in between, and sums of some letters before others: they may overflow where the whole doesn't
        accumulator = call.setting.accumulator(dtype)
        whole = reach * max(counts[1], 1.0)
        born |= 0 if whole <= accumulator.max * 0.5 else 7
        slack = min(whole * operands * (counts[1] + operands) * accumulator.quantum, accumulator.max)
        slack += max(abs(sums.below), sums.above) * operands * (counts[1] + operands) * accumulator.unit
    ends = (result.lo, result.hi, slack if slack < inf else 0.0)
    return settled(call, dtype, (shape, None), ends, flags=sum_flags(flags), empty=void and counts[0] > 0, born=born)


def _layout(call: Call, boxes: tuple[Box, ...]) -> tuple[Shape, tuple[float, float]]:
    """The shape of the result, and the least and largest number of terms."""
    equation = call.attr("equation", "")
    text = (equation.decode() if isinstance(equation, bytes) else str(equation)).replace(" ", "")
    left, _, right = text.partition("->")
    terms = left.split(",")
    if "->" not in text:
        letters = left.replace(",", "").replace("...", "")
        right = ("..." if "..." in left else "") + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    if any(b.shape is None for b in boxes) or len(terms) != len(boxes):
        return None, (0.0, inf)
    sizes: dict[str, Size] = {}
    spread: tuple[Size, ...] = ()
    for term, box in zip(terms, boxes, strict=True):
        assert box.shape is not None
        shape = box.shape
        before, dots, after = term.partition("...")
        extra = len(shape) - len(before) - len(after)
        if extra < 0 or "." in before + after:
            raise ShapeError(f'the term "{term[:40]}" of an Einsum does not name the {len(shape)} axes of its input')
        if dots:
            spread = broadcast(spread, shape[len(before) : len(before) + extra])
        elif extra:
            return None, (0.0, inf)
        own = [*shape[: len(before)], *shape[len(shape) - len(after) :]]
        for letter, size in zip(before + after, own, strict=True):
            if letter not in sizes or sizes[letter] == 1 or (isinstance(size, int) and size != 1):
                sizes[letter] = size
    before, dots, after = right.partition("...")
    shape = (*(sizes[c] for c in before), *(spread if dots else ()), *(sizes[c] for c in after))
    summed = [size for letter, size in sizes.items() if letter not in right]
    return shape, length(call, [*summed, *(() if dots else spread)])


def _run(xp: Any, *operands: Any, equation: str = "") -> Any:
    return (xp if hasattr(xp, "einsum") else np).einsum(equation, *operands)


def _case(equation: str, *shapes: tuple[int, ...]) -> Case:
    return Case(tuple(Operand(s) for s in shapes), {"equation": equation})


EINSUM = Op(
    "Einsum",
    run=_run,
    bound=_einsum,
    overflow="NP206",
    infinite="NP213",
    samples=Samples(
        (0.0, 1.0, -1.0, 1e19, -1e19, 1e-30),
        (
            _case("ij,jk->ik", (3, 4), (4, 2)),
            _case("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
            _case("bhid,bhjd->bhij", (1, 2, 3, 4), (1, 2, 3, 4)),
            _case("...ij->...ji", (2, 3, 4)),
            _case("ij->i", (3, 4)),
            _case("i,i", (4,), (4,)),
        ),
        ("float32", "float64"),
    ),
)

OPS = (EINSUM,)
