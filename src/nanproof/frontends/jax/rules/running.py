"""Running sums, products and extremes along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.frontends.jax.translating import Equation, UnmappedError

if TYPE_CHECKING:
    from nanproof.frontends.jax.translating import Rule, Translator
    from nanproof.frontends.jax.writing import Block


def cumulative(op: str) -> Rule:
    """The primitive is an ONNX operator."""

    def rule(_: Translator, block: Block, eqn: Equation) -> str:
        axis = block.constant(int(eqn.params["axis"]), np.int64)
        return block.add(op, eqn.inputs[0], axis, reverse=int(eqn.params["reverse"]))

    return rule


def extreme(op: str, *, largest: bool) -> Rule:
    """By doubling: each step takes the extreme of what lies twice as far back."""

    def rule(_: Translator, block: Block, eqn: Equation) -> str:
        kind, axis = eqn.operands[0], int(eqn.params["axis"])
        size = kind.shape[axis]
        if not isinstance(size, (int, np.integer)):
            raise UnmappedError("a running extreme along an axis of open size")
        x = eqn.inputs[0]
        distance = 1
        while distance < size:
            widths = [0] * (2 * kind.rank)
            widths[axis + kind.rank * bool(eqn.params["reverse"])] = distance
            start = distance if eqn.params["reverse"] else 0
            shifted = block.add("Slice", block.add("Pad", x, block.ints(widths), block.constant(_least(kind.dtype, largest=largest))),
                                block.ints([start]), block.ints([start + int(size)]), block.ints([axis]))  # fmt: skip
            x = block.add(op, x, shifted)
            distance *= 2
        return x if x != eqn.inputs[0] else block.add("Identity", x)

    return rule


def _least(dtype: np.dtype[Any], *, largest: bool) -> object:
    """What leaves the other operand of Max (or Min) as it is."""
    if dtype.kind in "iu":
        return np.asarray(np.iinfo(dtype).min if largest else np.iinfo(dtype).max, dtype)
    return np.asarray(-np.inf if largest else np.inf, dtype)


RULES: dict[str, Rule] = {
    "cumsum": cumulative("CumSum"),
    "cumprod": cumulative("CumProd"),
    "cummax": extreme("Max", largest=True),
    "cummin": extreme("Min", largest=False),
}
