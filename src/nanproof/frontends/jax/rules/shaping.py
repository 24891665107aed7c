"""Where elements are: shapes, axes, copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.frontends.jax.translating import Equation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanproof.frontends.jax.translating import Rule, Translator
    from nanproof.frontends.jax.writing import Block


def reshaped(block: Block, x: str, sizes: Sequence[Any]) -> str:
    """The elements of x, in order, in another shape (0 is a size of 0)."""
    return block.add("Reshape", x, block.shape(sizes), allowzero=1)


def transposed(block: Block, x: str, order: Sequence[int]) -> str:
    """The axes of x in another order; x itself if that is theirs."""
    order = [int(axis) for axis in order]
    return x if order == sorted(order) else block.add("Transpose", x, perm=order)


def _broadcast_in_dim(_: Translator, block: Block, eqn: Equation) -> str:
    """Axes of size 1 where the operand has none, then as many copies as wanted."""
    x = eqn.inputs[0]
    kept = [int(axis) for axis in eqn.params["broadcast_dimensions"]]
    result, operand = eqn.results[0], eqn.operands[0]
    new = [axis for axis in range(result.rank) if axis not in kept]
    if new and operand.rank:
        x = block.add("Unsqueeze", x, block.ints(new))
    grows = any(
        result.shape[axis] != operand.shape[kept.index(axis)] if axis in kept else not same_size(result.shape[axis], 1)
        for axis in range(result.rank)
    )
    if not grows and not (new and not operand.rank):
        return x if x != eqn.inputs[0] else block.add("Identity", x)
    copies = block.add("Expand", x, block.shape(result.shape))
    block.book.spread[copies] = x
    return copies


def same_size(one: Any, other: Any) -> bool:
    """Whether two sizes are known to be equal; open ones are, if they are the same expression."""
    return bool(one == other)


def _reshape(_: Translator, block: Block, eqn: Equation) -> str:
    order = eqn.params.get("dimensions")
    x = eqn.inputs[0] if order is None else transposed(block, eqn.inputs[0], order)
    return reshaped(block, x, eqn.results[0].shape)


def _squeeze(_: Translator, block: Block, eqn: Equation) -> str:
    axes = [int(axis) for axis in eqn.params["dimensions"]]
    return block.add("Squeeze", eqn.inputs[0], block.ints(axes)) if axes else block.add("Identity", eqn.inputs[0])


def _expand_dims(_: Translator, block: Block, eqn: Equation) -> str:
    return block.add("Unsqueeze", eqn.inputs[0], block.ints(eqn.params["dimensions"]))


def _transpose(_: Translator, block: Block, eqn: Equation) -> str:
    return block.add("Transpose", eqn.inputs[0], perm=[int(axis) for axis in eqn.params["permutation"]])


def _concatenate(_: Translator, block: Block, eqn: Equation) -> str:
    axis = int(eqn.params["dimension"])
    result = block.add("Concat", *eqn.inputs, axis=axis)
    if all(same_size(operand.shape[axis], 1) for operand in eqn.operands):
        block.book.rows[result] = axis, eqn.inputs
    return result


def _stack(_: Translator, block: Block, eqn: Equation) -> str:
    axis = int(eqn.params["axis"])
    return block.add("Concat", *(block.add("Unsqueeze", x, block.ints([axis])) for x in eqn.inputs), axis=axis)


def _unstack(_: Translator, block: Block, eqn: Equation) -> list[str]:
    axis = int(eqn.params["axis"])
    parts = block.emit("Split", eqn.inputs[0], outputs=len(eqn.results), axis=axis, num_outputs=len(eqn.results))
    return [block.add("Squeeze", part, block.ints([axis])) for part in parts]


def _split(_: Translator, block: Block, eqn: Equation) -> list[str]:
    sizes = block.shape(eqn.params["sizes"])
    return block.emit("Split", eqn.inputs[0], sizes, outputs=len(eqn.results), axis=int(eqn.params["axis"]))


def _tile(_: Translator, block: Block, eqn: Equation) -> str:
    return block.add("Tile", eqn.inputs[0], block.shape(eqn.params["reps"]))


def _rev(_: Translator, block: Block, eqn: Equation) -> str:
    axes = [int(axis) for axis in eqn.params["dimensions"]]
    if not axes:
        return block.add("Identity", eqn.inputs[0])
    count, least = len(axes), np.iinfo(np.int64).min
    return block.add(
        "Slice", eqn.inputs[0], block.ints([-1] * count), block.ints([least] * count), block.ints(axes), block.ints([-1] * count)
    )  # fmt: skip


RULES: dict[str, Rule] = {
    "broadcast_in_dim": _broadcast_in_dim,
    "reshape": _reshape,
    "squeeze": _squeeze,
    "expand_dims": _expand_dims,
    "transpose": _transpose,
    "concatenate": _concatenate,
    "stack": _stack,
    "unstack": _unstack,
    "split": _split,
    "tile": _tile,
    "rev": _rev,
}
