"""Reductions over rows: which axes, and whether a result is laid out beside the rows it came from."""

from __future__ import annotations

import numpy as np

from nanproof.analysis.facts.made import DEEP, passed, same
from nanproof.analysis.state import State
from nanproof.model.lower import Step

_SAME_ROWS = frozenset({"Identity", "Unsqueeze", "Squeeze", "Reshape", "Expand", "Flatten"})
"""Operators that leave a reduced tensor's elements in row-major order."""


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
        before = passed(state, at)
        if before is None and step.node.op not in _SAME_ROWS:
            return None
        at = step.inputs[0] if before is None else before
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
