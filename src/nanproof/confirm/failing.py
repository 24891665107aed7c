"""Whether a step failed: NaN or Inf in its result that its operands don't explain. One definition for NumPy and PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nanproof.ops.elementwise import Elementwise

if TYPE_CHECKING:
    from nanproof.confirm.targets import Target

INFINITE = frozenset({"NP116", "NP117", "NP212", "NP213"})
"""Rules that are about a NaN made out of infinite operands."""
GIVES = ("", "nan", "inf", "-inf")
"""What a step gives, by the number that ``failing`` answers with; nothing was born at 0."""


def failing(xp: Any, target: Target, code: str, operands: Sequence[Any], results: Sequence[Any]) -> Any:
    """What a step made out of sound operands, as a place in ``GIVES``: a 0-dimensional float array.

    Operands and results are the float arrays among them, None in the place of others.
    """
    result = results[0]
    if result is None:
        return None
    born = ~xp.isfinite(result)
    floats = [x for x in operands if x is not None]
    assert target.step.op is not None
    if isinstance(target.step.op.bound, Elementwise):
        for x in floats:
            born = born & xp.isfinite(x)
    elif code in INFINITE:
        born = born & xp.isnan(result)
        for x in floats:
            born = born & ~xp.any(xp.isnan(x))
    else:
        for x in floats:
            born = born & xp.all(xp.isfinite(x))
    nan, high, low = (xp.any(born & kind) for kind in (xp.isnan(result), result > 0, result < 0))
    return xp.where(nan, 1.0, xp.where(high, 2.0, xp.where(low, 3.0, 0.0)))
