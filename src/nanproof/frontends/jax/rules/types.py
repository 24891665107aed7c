"""Changes of type: rounding to another one, and reading the bits as another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nanproof.frontends.jax.translating import Equation, UnmappedError
from nanproof.frontends.jax.writing import onnx_type

if TYPE_CHECKING:
    from nanproof.frontends.jax.translating import Rule, Translator
    from nanproof.frontends.jax.writing import Block

# bits of exponent and mantissa -> the type that has them
_PRECISIONS = {(8, 7): "bfloat16", (5, 10): "float16"}
_BITS = {"float64": (11, 52), "float32": (8, 23), "float16": (5, 10), "bfloat16": (8, 7)}


def _convert(translator: Translator, block: Block, eqn: Equation) -> str:
    wanted, given = eqn.results[0].dtype, eqn.operands[0].dtype
    if "c" in {wanted.kind, given.kind}:
        raise UnmappedError("complex numbers are not followed")
    if wanted == given:
        return block.add("Identity", eqn.inputs[0])
    result = block.cast(eqn.inputs[0], wanted)
    if eqn.operands[0].is_bool:
        translator.casts[result] = eqn.inputs[0]
    return result


def _bitcast(_: Translator, block: Block, eqn: Equation) -> str:
    if eqn.operands[0].dtype.itemsize != eqn.results[0].dtype.itemsize:
        raise UnmappedError("the bits of a wider or narrower type")
    if eqn.operands[0].dtype == eqn.results[0].dtype:
        return block.add("Identity", eqn.inputs[0])
    return block.add("BitCast", eqn.inputs[0], to=onnx_type(eqn.results[0].dtype))


def _reduce_precision(_: Translator, block: Block, eqn: Equation) -> str:
    kept = int(eqn.params["exponent_bits"]), int(eqn.params["mantissa_bits"])
    own = _BITS.get(eqn.operands[0].dtype.name)
    if kept == own:
        return block.add("Identity", eqn.inputs[0])
    if kept not in _PRECISIONS or own is None or any(a > b for a, b in zip(kept, own, strict=True)):
        raise UnmappedError(f"a precision of {kept[0]} and {kept[1]} bits")
    import ml_dtypes

    narrow = np.dtype(ml_dtypes.bfloat16) if kept == (8, 7) else np.dtype(np.float16)
    return block.cast(block.cast(eqn.inputs[0], narrow), eqn.operands[0].dtype)


RULES: dict[str, Rule] = {
    "convert_element_type": _convert,
    "bitcast_convert_type": _bitcast,
    "reduce_precision": _reduce_precision,
}
