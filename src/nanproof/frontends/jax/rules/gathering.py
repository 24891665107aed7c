"""Elements at computed places: XLA's gather in its general form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.frontends.jax.rules.indexing import CLIP, FILL, Window, mode_of
from nanproof.frontends.jax.rules.shaping import same_size, transposed
from nanproof.frontends.jax.rules.slicing import sliced
from nanproof.frontends.jax.translating import Equation, Type

if TYPE_CHECKING:
    from nanproof.frontends.jax.translating import Rule, Translator
    from nanproof.frontends.jax.writing import Block


def _gather(_: Translator, block: Block, eqn: Equation) -> str:
    """Gather along one axis where that says it all, else GatherND of tuples."""
    x, indices = eqn.inputs
    numbers, sizes = eqn.params["dimension_numbers"], tuple(eqn.params["slice_sizes"])
    operand, result = eqn.operands[0], eqn.results[0]
    batched = tuple(zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True))
    indexed = tuple(numbers.start_index_map)
    named = {*indexed, *(axis for axis, _ in batched)}
    short = [a for a in range(operand.rank) if a not in named and not same_size(sizes[a], operand.shape[a])]
    x = sliced(block, x, short, [0] * len(short), [sizes[axis] for axis in short])
    operand = Type(operand.dtype, tuple(sizes[a] if a in short else operand.shape[a] for a in range(operand.rank)))
    gone = frozenset((*numbers.collapsed_slice_dims, *numbers.operand_batching_dims))
    window = Window(operand, eqn.operands[1], indexed, batched, gone, sizes)
    mode = mode_of(eqn.params, promised=CLIP)
    starts, inside = window.starts(block, indices, mode)
    found, order = _found(block, x, window, starts)
    # where the axes of the result come from: offset axes are the window's, in the operand's order; others the batch's
    window_axes = [axis for axis in range(operand.rank) if axis not in gone]
    sources: list[Any] = []
    batch = iter(range(len(window.batch)))
    for axis in range(result.rank):
        offset = tuple(numbers.offset_dims)
        sources.append(("window", window_axes[offset.index(axis)]) if axis in offset else ("batch", next(batch)))
    found = transposed(block, found, [order.index(source) for source in sources])
    if mode == FILL and inside is not None:
        found = _filled(block, found, inside, (eqn, sources))
    return found if found in block.made and found != x else block.add("Identity", found)


def _found(block: Block, x: str, window: Window, starts: dict[int, str]) -> tuple[str, list[Any]]:
    """The elements, and what each axis of them is."""
    batch = [("batch", number) for number in range(len(window.batch))]
    inner = [("window", axis) for axis in window.inner]
    if not window.named:
        return block.add("Expand", x, block.shape([*window.batch, *window.operand.shape])), [
            *batch, *(("window", axis) for axis in window.whole),
        ]  # fmt: skip
    if len(window.named) == 1 and not window.batched:
        (axis,) = window.named
        places = window.places(block, starts)[axis]
        before = [("window", other) for other in range(axis)]
        after = [("window", other) for other in range(axis + 1, window.operand.rank)]
        return block.add("Gather", x, places, axis=axis), [*before, *batch, *inner, *after]
    moved = transposed(block, x, [*window.named, *window.whole])
    found = block.add("GatherND", moved, window.together(block, window.places(block, starts)))
    return found, [*batch, *inner, *(("window", axis) for axis in window.whole)]


def _filled(block: Block, found: str, inside: str, about: tuple[Equation, list[Any]]) -> str:
    """What lies outside is the filling value, NaN for floats unless the program says another."""
    eqn, sources = about
    kind = eqn.results[0].dtype
    fill = eqn.params.get("fill_value")
    if fill is None:
        fill = _missing(eqn.results[0])
    missing = [axis for axis, (what, _) in enumerate(sources) if what == "window"]
    mask = block.add("Unsqueeze", inside, block.ints(missing)) if missing else inside
    return block.add("Where", mask, found, block.constant(fill, kind))


def _missing(kind: Type) -> Any:
    """What JAX fills in by itself: NaN, the lowest of signed integers, the largest of unsigned ones, true."""
    if kind.is_float:
        return np.nan
    if kind.is_bool:
        return True
    limits = np.iinfo(kind.dtype)
    return limits.max if kind.is_unsigned else limits.min


RULES: dict[str, Rule] = {"gather": _gather}
