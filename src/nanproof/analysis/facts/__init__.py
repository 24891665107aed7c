"""Facts that intervals miss: what a value is, not only how large its operands are.

Each rule looks at how the operands of one step were made and meets the step's
result with what follows. A rule holds in floats, for every runtime: it rests on
monotone rounding and on exact zeros, never on algebra over the reals; where a
runtime's functions and sums err, the bound has their error.

=======================================  ============================================================
x - max(x), |x| - x, x - floor(x),       one sign: ``order`` finds a chain of steps that only go up from
sum(x) - x, max(a, b) - min(a, b)        the one operand to the other
(p + q) - i, i a share of both           at least max(p, q), up to 4 units (the union of two areas)
x / y where |x| <= y                     within 1: x / (x + p), x / sum(x), x / max|x|
x / sqrt(x * x + ...)                    within 1, d / sqrt(mean(d * d) + eps) within sqrt(n), up to some
                                         units; the same for norms, reciprocals and powers
where(|x| > e, x, 1)                     never 0: ``away`` follows conditions to the values they compare
sum(exp(x - max(x)))                     at least exp(0), since the largest element contributes that
sum(softmax(x))                          1, up to the errors of the softmax and of the sum
=======================================  ============================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf

import numpy as np

from nanproof.analysis.facts.away import DIVISORS as DIVISORS
from nanproof.analysis.facts.away import apart
from nanproof.analysis.facts.away import sides as sides
from nanproof.analysis.facts.order import fraction, ordered
from nanproof.analysis.facts.places import ROWS as ROWS
from nanproof.analysis.facts.places import alive_rows as alive_rows
from nanproof.analysis.facts.quotients import inverse_product, quotient, union
from nanproof.analysis.facts.signs import contraction_with_itself, even_product, mixture, row_with_itself
from nanproof.analysis.facts.softmax_rows import holds_exp_of_0, holds_one_exp_of_0, mean_of_exp_of_0
from nanproof.analysis.facts.totals import averaged, largest, prefixes, sum_of_squares, summed
from nanproof.analysis.state import State
from nanproof.domain.box import ALL, NINF, PINF, Box
from nanproof.domain.partition import Blocks, blocks_of, pack
from nanproof.model.lower import Step

Rule = Callable[[State, Step, Sequence["Box | None"]], "tuple[float, float] | None"]


def limits(state: State, step: Step, operands: Sequence[Box | None]) -> tuple[float, float] | None:
    """Bounds on the first result of a step that follow from how its operands were made."""
    low, high = -inf, inf
    for rule in RULES.get(step.node.op, ()):
        found = rule(state, step, operands)
        if found is not None:
            low, high = max(low, found[0]), min(high, found[1])
    return None if (low, high) == (-inf, inf) else (low, high)


def met(box: Box, low: float, high: float) -> Box:
    """A Box cut to bounds that surely hold; an infinity past a bound goes with the values past it."""
    blocks = blocks_of(box)
    empty = np.greater(blocks.lo, blocks.hi)
    lo, hi = (np.where(empty, end, np.clip(end, low, high)) for end in (blocks.lo, blocks.hi))
    gone = (NINF if low > -inf else 0) | (PINF if high < inf else 0)
    spots = None if blocks.spots is None else blocks.spots & np.uint8(~gone & ALL)
    result = pack(box.dtype, box.shape, box.cuts, Blocks(lo, hi, spots))
    result.known = box.known
    return result


RULES: Mapping[str, tuple[Rule, ...]] = {
    "Add": (holds_one_exp_of_0, mixture),
    "Sub": (ordered, union, fraction),
    "ReduceSum": (holds_exp_of_0, summed),
    "ReduceMax": (holds_exp_of_0, largest),
    "ReduceSumSquare": (sum_of_squares,),
    "CumSum": (prefixes,),
    "MatMul": (averaged, row_with_itself),
    "Einsum": (contraction_with_itself,),
    "ReduceMean": (mean_of_exp_of_0,),
    "Div": (quotient,),
    "Mul": (inverse_product, apart, even_product),
    "Abs": (apart,),
}
