"""Many elements to one: sums, products, extremes, places of extremes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nanproof.frontends.jax.translating import Equation, UnmappedError

if TYPE_CHECKING:
    from nanproof.frontends.jax.translating import Rule, Translator
    from nanproof.frontends.jax.writing import Block


def reduced(op: str) -> Rule:
    """The reduction over the axes of the equation, which go away."""

    def rule(_: Translator, block: Block, eqn: Equation) -> str:
        axes = [int(axis) for axis in eqn.params["axes"]]
        if not axes:
            return block.add("Identity", eqn.inputs[0])
        return block.add(op, eqn.inputs[0], block.ints(axes), keepdims=0)

    return rule


def truth(op: str) -> Rule:
    """All of many truth values: the least of them as numbers; any: the largest."""

    def rule(_: Translator, block: Block, eqn: Equation) -> str:
        axes = [int(axis) for axis in eqn.params["axes"]]
        if not eqn.operands[0].is_bool:
            raise UnmappedError("a reduction by the bits of integers")
        if not axes:
            return block.add("Identity", eqn.inputs[0])
        return block.cast(block.add(op, block.cast(eqn.inputs[0], np.int32), block.ints(axes), keepdims=0), bool)

    return rule


def place(op: str) -> Rule:
    """Where the extreme is; the first one of several."""

    def rule(_: Translator, block: Block, eqn: Equation) -> str:
        (axis,) = eqn.params["axes"]
        x = block.cast(eqn.inputs[0], np.int32) if eqn.operands[0].is_bool else eqn.inputs[0]
        found = block.add(op, x, axis=int(axis), keepdims=0)
        return found if eqn.results[0].dtype == np.int64 else block.cast(found, eqn.results[0].dtype)

    return rule


def _reduce_xor(_: Translator, block: Block, eqn: Equation) -> str:
    if not eqn.operands[0].is_bool:
        raise UnmappedError("a reduction by the bits of integers")
    axes = block.ints([int(axis) for axis in eqn.params["axes"]])
    total = block.add("ReduceSum", block.cast(eqn.inputs[0], np.int32), axes, keepdims=0)
    return block.cast(block.add("Mod", total, block.constant(2, np.int32)), bool)


RULES: dict[str, Rule] = {
    "reduce_sum": reduced("ReduceSum"),
    "reduce_prod": reduced("ReduceProd"),
    "reduce_max": reduced("ReduceMax"),
    "reduce_min": reduced("ReduceMin"),
    "reduce_and": truth("ReduceMin"),
    "reduce_or": truth("ReduceMax"),
    "reduce_xor": _reduce_xor,
    "argmax": place("ArgMax"),
    "argmin": place("ArgMin"),
}
