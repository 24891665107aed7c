"""How far a step is from failing, as one number: positive while it holds, and from 0 down where it is violated.

One definition for NumPy, which reads it off a replay, and for PyTorch, which has its gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING, Any

from nanproof.numerics.dtypes import DType
from nanproof.ops.conditions import Attribute, Both, Compare, Condition, Either, Integral, Operand, Term

if TYPE_CHECKING:
    from nanproof.confirm.targets import Target

FAR = 1e300
"""The margin of an element that can't tell: it isn't finite, or nothing was computed."""
PLAIN = frozenset({"x", "y", "z", "var", "y_scale"})
"""Labels of operands that stand for the operand itself; other labels describe a quantity that the operator computes."""
SMALLEST = 1e-45


def margin(xp: Any, target: Target, operands: Sequence[Any], results: Sequence[Any], dtype: DType) -> Any:
    """The least margin of a target over all elements, as a scalar; ``dtype`` is that of the result."""
    if target.overflows:
        return _least(xp, _to_limit(xp, results[0], dtype))
    found = [_of_condition(xp, r.condition, operands, target) for r in target.requirements]
    least = found[0]
    for other in found[1:]:
        least = xp.minimum(least, other)
    return least


def _of_condition(xp: Any, condition: Condition, operands: Sequence[Any], target: Target) -> Any:
    if all(label in PLAIN for label in _labels(condition)):
        return _least(xp, condition.margin(xp, operands, target.step.attrs))
    return _spread(xp, operands[0])


def _to_limit(xp: Any, y: Any, dtype: DType) -> Any:
    """Distance to the limit in the logarithm, so that 1e30 is nearer to it than 1e3 by more than a rounding."""
    size = xp.abs(y)
    some = xp.where(size > SMALLEST, size, xp.full_like(size, SMALLEST))
    distance = log(dtype.max) - xp.log(some)
    return xp.where(xp.isinf(y), xp.full_like(distance, -1.0), distance)


def _spread(xp: Any, x: Any) -> Any:
    """For variances and norms: they vanish where the elements are alike."""
    if not x.shape or 0 in x.shape:
        return _least(xp, xp.abs(x))
    rows = xp.max(x, axis=-1) - xp.min(x, axis=-1)
    return _least(xp, rows)


def _least(xp: Any, m: Any) -> Any:
    """The least finite element. What is NaN, or infinite on its way in, says nothing about this step."""
    if 0 in m.shape:
        return xp.sum(m) + FAR
    wide = m.double() if hasattr(m, "double") else m.astype("float64")
    return xp.min(xp.where(xp.isfinite(wide), wide, xp.full_like(wide, FAR)))


def _labels(condition: Condition) -> list[str]:
    if isinstance(condition, (Both, Either)):
        return [*_labels(condition.first), *_labels(condition.second)]
    if isinstance(condition, (Compare, Integral)):
        return _term_labels(condition.term)
    return ["?"]


def _term_labels(term: Term) -> list[str]:
    if isinstance(term, Operand):
        return [term.label]
    if isinstance(term, Attribute):
        return []
    parts = [getattr(term, side) for side in ("left", "right") if hasattr(term, side)]
    return [label for part in parts for label in _term_labels(part)]
