"""Sums of products: matrix products in their general form."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from nanproof.frontends.jax.rules.shaping import reshaped, transposed
from nanproof.frontends.jax.translating import Equation, UnmappedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanproof.frontends.jax.translating import Rule, Translator
    from nanproof.frontends.jax.writing import Block


def _dot_general(_: Translator, block: Block, eqn: Equation) -> str:
    """MatMul of [batch..., free, contracted] with [batch..., contracted, free]: axes in order, several free ones as one."""
    wanted = eqn.results[0].dtype
    if "c" in {operand.dtype.kind for operand in eqn.operands}:
        raise UnmappedError("complex numbers are not followed")
    x, y = (
        name if kind.dtype == wanted else block.cast(name, wanted)
        for name, kind in zip(eqn.inputs, eqn.operands, strict=True)
    )
    (along_x, along_y), (batch_x, batch_y) = eqn.params["dimension_numbers"]
    free_x = [axis for axis in range(eqn.operands[0].rank) if axis not in (*along_x, *batch_x)]
    free_y = [axis for axis in range(eqn.operands[1].rank) if axis not in (*along_y, *batch_y)]
    shape_x, shape_y = eqn.operands[0].shape, eqn.operands[1].shape
    batch = [shape_x[axis] for axis in batch_x]
    if not batch_x and len(along_x) == 1 and len(free_y) == 1:
        return _with_matrix(block, (x, free_x, along_x), (y, free_y, along_y))
    x = _folded(block, transposed(block, x, (*batch_x, *free_x, *along_x)), shape_x, (batch_x, free_x, along_x))
    y = _folded(block, transposed(block, y, (*batch_y, *along_y, *free_y)), shape_y, (batch_y, along_y, free_y))
    result = block.add("MatMul", x, y)
    if len(free_x) == 1 and len(free_y) == 1:
        return result
    return reshaped(block, result, [*batch, *(shape_x[a] for a in free_x), *(shape_y[a] for a in free_y)])


def _with_matrix(block: Block, left: Any, right: Any) -> str:
    """The usual product: the last axis of x with one of a matrix."""
    (x, free_x, along_x), (y, free_y, along_y) = left, right
    return block.add("MatMul", transposed(block, x, (*free_x, *along_x)), transposed(block, y, (*along_y, *free_y)))


def _folded(block: Block, x: str, shape: Sequence[Any], groups: tuple[Any, Any, Any]) -> str:
    """The axes of the second and third group as one axis each."""
    if all(len(group) == 1 for group in groups[1:]):
        return x
    sizes = [*(shape[axis] for axis in groups[0]), *(prod(shape[axis] for axis in group) for group in groups[1:])]
    return reshaped(block, x, sizes)


RULES: dict[str, Rule] = {"dot_general": _dot_general}
