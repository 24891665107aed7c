"""Tensors made of nothing: numbers in a row, random ones, sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nanproof.frontends.jax.rules.shaping import reshaped
from nanproof.frontends.jax.translating import Equation
from nanproof.frontends.jax.writing import onnx_type

if TYPE_CHECKING:
    from nanproof.frontends.jax.translating import Rule, Translator, Type
    from nanproof.frontends.jax.writing import Block

INT64 = np.dtype(np.int64)


def counting(block: Block, size: object, dtype: np.dtype[np.generic] = INT64) -> str:
    """0, 1, 2, ... up to a size."""
    if isinstance(size, (int, np.integer)):
        return block.constant(np.arange(int(size)), dtype)
    end = block.add("Squeeze", block.size(size))
    row = block.add("Range", block.constant(0, np.int64), end, block.constant(1, np.int64))
    return row if dtype == np.int64 else block.cast(row, dtype)


def _iota(_: Translator, block: Block, eqn: Equation) -> str:
    result, along = eqn.results[0], int(eqn.params["dimension"])
    row = counting(block, result.shape[along], result.dtype)
    if result.rank == 1:
        return block.add("Identity", row)
    row = reshaped(block, row, [result.shape[along] if axis == along else 1 for axis in range(result.rank)])
    return block.add("Expand", row, block.shape(result.shape))


def bits_of(block: Block, result: Type) -> str:
    """Random bits of an integer type: any of its values."""
    limits = np.iinfo(result.dtype)
    low, high = float(limits.min), float(limits.max)
    if int(high) > limits.max:
        high = float(np.nextafter(high, 0.0))
    like = block.add("ConstantOfShape", block.shape(result.shape))
    numbers = block.add("RandomUniformLike", like, dtype=onnx_type(np.float64), low=low, high=high)
    # attributes are float32, which can't say the largest number
    return block.cast(block.add("Clip", numbers, block.constant(low), block.constant(high)), result.dtype)


def _random_bits(_: Translator, block: Block, eqn: Equation) -> list[str]:
    return [bits_of(block, result) for result in eqn.results]


def _random_key(_: Translator, block: Block, eqn: Equation) -> str:
    """A key is a number that nothing is known of."""
    return bits_of(block, eqn.results[0])


def _rng_uniform(_: Translator, block: Block, eqn: Equation) -> str:
    """Between two ends: low + u * (high - low)."""
    low, high = eqn.inputs
    share = block.add("RandomUniformLike", block.add("ConstantOfShape", block.shape(eqn.results[0].shape)),
                      dtype=onnx_type(eqn.results[0].dtype), low=0.0, high=1.0)  # fmt: skip
    return block.add("Add", low, block.add("Mul", share, block.add("Sub", high, low)))


def _dim_as_value(_: Translator, block: Block, eqn: Equation) -> str:
    return block.cast(block.add("Squeeze", block.size(eqn.params["dim"])), eqn.results[0].dtype)


def _empty(_: Translator, block: Block, eqn: Equation) -> str:
    """A place whose content nobody reads."""
    return block.add("Expand", block.constant(0, eqn.results[0].dtype), block.shape(eqn.results[0].shape))


RULES: dict[str, Rule] = {
    "iota": _iota,
    "random_bits": _random_bits,
    "threefry2x32": _random_bits,
    "threefry4x32": _random_bits,
    "philox2x32": _random_bits,
    "philox4x32": _random_bits,
    "rng_bit_generator": _random_bits,
    "iota_2x32_shape": _random_bits,
    "random_seed": _random_key,
    "random_wrap": _random_key,
    "random_unwrap": _random_key,
    "random_split": _random_key,
    "random_fold_in": _random_key,
    "empty": _empty,
    "empty2": _empty,
    "rng_uniform": _rng_uniform,
    "dim_as_value": _dim_as_value,
}
