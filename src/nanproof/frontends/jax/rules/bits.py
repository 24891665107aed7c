"""The bits of integers: shifts and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nanproof.frontends.jax.translating import Equation
from nanproof.frontends.jax.writing import onnx_type

if TYPE_CHECKING:
    from nanproof.frontends.jax.translating import Rule, Translator
    from nanproof.frontends.jax.writing import Block


def _unsigned(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    return np.dtype(f"uint{8 * dtype.itemsize}")


def logical(direction: str) -> Rule:
    """A shift that fills up with zeros; ONNX has it for unsigned numbers, so the bits of others are read as such."""

    def rule(_: Translator, block: Block, eqn: Equation) -> str:
        kind = eqn.operands[0].dtype
        if eqn.operands[0].is_unsigned:
            return block.add("BitShift", *eqn.inputs, direction=direction)
        other = onnx_type(_unsigned(kind))
        shifted = block.add("BitShift", *(block.add("BitCast", x, to=other) for x in eqn.inputs), direction=direction)
        return block.add("BitCast", shifted, to=onnx_type(kind))

    return rule


def _arithmetic(_: Translator, block: Block, eqn: Equation) -> str:
    """Division by a power of two, rounded down."""
    x, count = eqn.inputs
    if eqn.operands[0].is_unsigned:
        return block.add("BitShift", x, count, direction="RIGHT")
    kind = eqn.operands[0].dtype
    two = block.constant(2, kind)
    most = block.constant(8 * kind.itemsize - 2, kind)  # past that the result is the sign alone, as it is there
    divisor = block.add("Pow", two, block.add("Min", count, most))
    rest = block.add("Mod", x, divisor)
    return block.add("Div", block.add("Sub", x, rest), divisor)


def _population_count(_: Translator, block: Block, eqn: Equation) -> str:
    """The sum of all bits, one by one."""
    kind = eqn.operands[0].dtype
    plain = _unsigned(kind)
    x = eqn.inputs[0] if kind == plain else block.add("BitCast", eqn.inputs[0], to=onnx_type(plain))
    one = block.constant(1, plain)
    bits = [
        block.add("BitwiseAnd", block.add("BitShift", x, block.constant(k, plain), direction="RIGHT"), one)
        for k in range(8 * kind.itemsize)
    ]
    total = bits[0]
    for bit in bits[1:]:
        total = block.add("Add", total, bit)
    return total if kind == plain else block.add("BitCast", total, to=onnx_type(kind))


RULES: dict[str, Rule] = {
    "shift_left": logical("LEFT"),
    "shift_right_logical": logical("RIGHT"),
    "shift_right_arithmetic": _arithmetic,
    "population_count": _population_count,
}
