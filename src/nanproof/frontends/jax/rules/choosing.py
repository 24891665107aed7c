"""Choosing between values: select, clamp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanproof.frontends.jax.rules.elementwise import unspread
from nanproof.frontends.jax.translating import Equation

if TYPE_CHECKING:
    from nanproof.frontends.jax.translating import Rule, Translator
    from nanproof.frontends.jax.writing import Block


def _select_n(translator: Translator, block: Block, eqn: Equation) -> str:
    """The first case where the index is false or 0, the next where it is true or 1, and so on."""
    which, *cases = unspread(block, eqn)
    if len(cases) == 1:
        return block.add("Identity", cases[0])
    if eqn.operands[0].is_bool:
        return block.add("Where", which, cases[1], cases[0])
    result = cases[-1]
    for number in reversed(range(len(cases) - 1)):
        chosen = block.add("Equal", which, block.constant(number, eqn.operands[0].dtype))
        result = block.add("Where", chosen, cases[number], result)
    return result


def _clamp(_: Translator, block: Block, eqn: Equation) -> str:
    """The lower limit is applied first: where it is above the upper one, the upper one is the result."""
    low, x, high = eqn.inputs
    if not eqn.operands[0].rank and not eqn.operands[2].rank:
        return block.add("Clip", x, low, high)
    return block.add("Min", block.add("Max", x, low), high)


RULES: dict[str, Rule] = {"select_n": _select_n, "clamp": _clamp}
