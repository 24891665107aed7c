"""Parts of tensors: slices at known and at computed places, and padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.frontends.jax.rules.filling import counting
from nanproof.frontends.jax.rules.shaping import reshaped, same_size
from nanproof.frontends.jax.translating import Equation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanproof.frontends.jax.translating import Rule, Translator, Type
    from nanproof.frontends.jax.writing import Block


def sliced(block: Block, x: str, axes: Sequence[int], starts: Sequence[Any], ends: Sequence[Any]) -> str:
    """From a start to an end along some axes."""
    if not axes:
        return x
    return block.add("Slice", x, block.shape(starts), block.shape(ends), block.ints(axes))


def _slice(_: Translator, block: Block, eqn: Equation) -> str:
    starts, ends = eqn.params["start_indices"], eqn.params["limit_indices"]
    steps = eqn.params["strides"] or [1] * len(starts)
    axes = [
        axis
        for axis, size in enumerate(eqn.operands[0].shape)
        if not (same_size(starts[axis], 0) and same_size(ends[axis], size) and same_size(steps[axis], 1))
    ]
    if not axes:
        return block.add("Identity", eqn.inputs[0])
    return block.add(
        "Slice", eqn.inputs[0], block.shape([starts[a] for a in axes]), block.shape([ends[a] for a in axes]),
        block.ints(axes), block.ints([int(steps[a]) for a in axes]),
    )  # fmt: skip


def clipped(block: Block, start: str, size: Any, taken: Any) -> str:
    """A start (int64) moved so that what is taken fits."""
    least = block.constant(0, np.int64)
    if isinstance(size, (int, np.integer)) and isinstance(taken, (int, np.integer)):
        return block.add("Clip", start, least, block.constant(int(size) - int(taken), np.int64))
    most = block.add("Squeeze", block.size(size - taken))
    return block.add("Clip", start, least, most)


def _dynamic_slice(_: Translator, block: Block, eqn: Equation) -> str:
    """Axis by axis, the elements from a start on; the start is moved so that they fit."""
    x, *starts = eqn.inputs
    given: Type = eqn.operands[0]
    sizes = eqn.params["slice_sizes"]
    moved = False
    for axis, (start, size) in enumerate(zip(starts, sizes, strict=False)):
        if same_size(size, given.shape[axis]):
            continue
        first = clipped(block, block.cast(start, np.int64), given.shape[axis], size)
        if same_size(size, 1):
            where = block.add("Unsqueeze", first, block.ints([0]))
        else:
            where = block.add("Add", first, counting(block, size))
        x, moved = block.add("Gather", x, where, axis=axis), True
    return x if moved else block.add("Identity", x)


def _pad(_: Translator, block: Block, eqn: Equation) -> str:
    """Between elements, then around them; a negative width takes away."""
    x, fill = eqn.inputs
    sizes = list(eqn.operands[0].shape)
    widths = [(low, high, int(inner)) for low, high, inner in eqn.params["padding_config"]]
    for axis, (_low, _high, inner) in enumerate(widths):
        if inner:
            x = spread(block, x, sizes, axis, (inner, fill))
            sizes[axis] = sizes[axis] + (sizes[axis] - 1) * inner
    edges = [(low, high) for low, high, _ in widths]
    return cut(block, padded(block, x, edges, fill), sizes, edges) or block.add("Identity", x)


def spread(block: Block, x: str, sizes: Sequence[Any], axis: int, between: tuple[int, str]) -> str:
    """With a number of copies of a value between neighbours along an axis."""
    inner, fill = between
    rank = len(sizes)
    pieces = block.add("Unsqueeze", x, block.ints([axis + 1]))
    widths = [0] * (2 * (rank + 1))
    widths[rank + 1 + axis + 1] = inner
    pieces = block.add("Pad", pieces, block.ints(widths), fill)
    merged = [size * (inner + 1) if place == axis else size for place, size in enumerate(sizes)]
    return sliced(block, reshaped(block, pieces, merged), [axis], [0], [merged[axis] - inner])


def padded(block: Block, x: str, edges: Sequence[tuple[Any, Any]], fill: str) -> str:
    """With copies of a value around it, where widths are positive."""
    low = [_positive(edge[0]) for edge in edges]
    high = [_positive(edge[1]) for edge in edges]
    if all(same_size(width, 0) for width in (*low, *high)):
        return x
    return block.add("Pad", x, block.shape([*low, *high]), fill)


def cut(block: Block, x: str, sizes: Sequence[Any], edges: Sequence[tuple[Any, Any]]) -> str:
    """Without the elements at the ends that negative widths take away."""
    axes = [axis for axis, edge in enumerate(edges) if any(_negative(width) for width in edge)]
    starts = [-edges[axis][0] if _negative(edges[axis][0]) else 0 for axis in axes]
    ends = [
        sizes[axis] + _positive(edges[axis][0]) + edges[axis][1] if _negative(edges[axis][1])
        else np.iinfo(np.int64).max
        for axis in axes
    ]  # fmt: skip
    return sliced(block, x, axes, starts, ends)


def _negative(width: Any) -> bool:
    return isinstance(width, (int, np.integer)) and bool(width < 0)


def _positive(width: Any) -> Any:
    return 0 if _negative(width) else width


RULES: dict[str, Rule] = {"slice": _slice, "dynamic_slice": _dynamic_slice, "pad": _pad}
