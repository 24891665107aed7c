"""Arithmetic and functions of each element by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanproof.frontends.jax.translating import Equation, UnmappedError
from nanproof.frontends.jax.writing import OWN

if TYPE_CHECKING:
    from nanproof.frontends.jax.translating import Rule, Translator
    from nanproof.frontends.jax.writing import Block


def unspread(block: Block, eqn: Equation) -> list[str]:
    """The operands, with values in the place of copies of them where another operand has the whole shape: ONNX broadcasts."""
    names = list(eqn.inputs)
    whole = [
        n
        for n, name in enumerate(names)
        if name not in block.book.spread and eqn.operands[n].shape == eqn.results[0].shape
    ]
    return [block.book.spread.get(name, name) for name in names] if whole else names


def same(op: str, domain: str = "", **attributes: Any) -> Rule:
    """The primitive is an ONNX operator of the same operands."""

    def rule(_: Translator, block: Block, eqn: Equation) -> str:
        return block.add(op, *unspread(block, eqn), domain=domain, **attributes)

    return rule


def logic(op: str, bitwise: str) -> Rule:
    """One operator for truth values, another for the bits of integers."""

    def rule(_: Translator, block: Block, eqn: Equation) -> str:
        return block.add(op if eqn.operands[0].is_bool else bitwise, *unspread(block, eqn))

    return rule


def numeric(op: str, of_bools: str) -> Rule:
    """One operator for numbers, another for truth values."""

    def rule(_: Translator, block: Block, eqn: Equation) -> str:
        return block.add(of_bools if eqn.operands[0].is_bool else op, *unspread(block, eqn))

    return rule


def like(block: Block, eqn: Equation, value: float) -> str:
    """A number in the type of the first operand."""
    return block.constant(value, eqn.operands[0].dtype)


def _identity(_: Translator, block: Block, eqn: Equation) -> list[str]:
    return list(eqn.inputs)


def _ne(_: Translator, block: Block, eqn: Equation) -> str:
    if eqn.operands[0].is_bool:
        return block.add("Xor", *eqn.inputs)
    if eqn.inputs[0] == eqn.inputs[1] and eqn.operands[0].is_float:
        return block.add("IsNaN", eqn.inputs[0])
    return block.add("Not", block.add("Equal", *eqn.inputs))


def _eq(_: Translator, block: Block, eqn: Equation) -> str:
    if eqn.inputs[0] == eqn.inputs[1] and eqn.operands[0].is_float:
        return block.add("Not", block.add("IsNaN", eqn.inputs[0]))
    return block.add("Equal", *eqn.inputs)


def _neg(_: Translator, block: Block, eqn: Equation) -> str:
    if eqn.operands[0].is_unsigned:
        return block.add("Sub", like(block, eqn, 0), *eqn.inputs)
    return block.add("Neg", *eqn.inputs)


def _rem(_: Translator, block: Block, eqn: Equation) -> str:
    return block.add("Mod", *eqn.inputs, fmod=1)


def _integer_pow(_: Translator, block: Block, eqn: Equation) -> str:
    """Repeated squaring, as jax lowers it; a negative power is one over that."""
    (x,) = eqn.inputs
    power = int(eqn.params["y"])
    if power == 0:
        return block.add("Expand", like(block, eqn, 1), block.shape(eqn.results[0].shape))
    left, square, result = abs(power), x, ""
    while left:
        if left & 1:
            result = block.add("Mul", result, square) if result else square
        left >>= 1
        if left:
            square = block.add("Mul", square, square)
    if power < 0:
        return block.add("Div", like(block, eqn, 1), result)
    return block.add("Identity", result) if result == x else result


def _pow(_: Translator, block: Block, eqn: Equation) -> str:
    if any(operand.is_bool for operand in eqn.operands):
        raise UnmappedError("a power of truth values")
    return block.add("Pow", *eqn.inputs)


def _square(_: Translator, block: Block, eqn: Equation) -> str:
    return block.add("Mul", *eqn.inputs, *eqn.inputs)


def _rsqrt(_: Translator, block: Block, eqn: Equation) -> str:
    return block.add("Reciprocal", block.add("Sqrt", *eqn.inputs))


def _erfc(_: Translator, block: Block, eqn: Equation) -> str:
    return block.add("Sub", like(block, eqn, 1), block.add("Erf", *eqn.inputs))


def _is_finite(_: Translator, block: Block, eqn: Equation) -> str:
    if not eqn.operands[0].is_float:
        return block.add("Expand", block.constant(True), block.shape(eqn.results[0].shape))
    return block.add("Not", block.add("Or", block.add("IsNaN", *eqn.inputs), block.add("IsInf", *eqn.inputs)))


def _round(_: Translator, block: Block, eqn: Equation) -> str:
    """Ties to even are ONNX's; ties away from 0 are made of floors."""
    (x,) = eqn.inputs
    if int(eqn.params["rounding_method"]) == 1:
        return block.add("Round", x)
    size = block.add("Abs", x)
    whole = block.add("Floor", size)
    up = block.add("GreaterOrEqual", block.add("Sub", size, whole), like(block, eqn, 0.5))
    rounded = block.add("Where", up, block.add("Add", whole, like(block, eqn, 1)), whole)
    return block.add("Mul", block.add("Sign", x), rounded)


_SAME = {
    "sub": "Sub", "div": "Div", "sqrt": "Sqrt", "exp": "Exp", "log": "Log", "tanh": "Tanh", "logistic": "Sigmoid",
    "erf": "Erf", "sin": "Sin", "cos": "Cos", "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh",
    "cosh": "Cosh", "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh", "floor": "Floor", "ceil": "Ceil", "abs": "Abs", "sign": "Sign",
    "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual",
    "eq_to": "Equal", "lt_to": "Less", "le_to": "LessOrEqual",
}  # fmt: skip
_OWN = {
    "log1p": "Log1p", "expm1": "Expm1", "exp2": "Exp2", "cbrt": "Cbrt", "erf_inv": "ErfInv", "atan2": "Atan2",
    "lgamma": "Lgamma", "digamma": "Digamma",
}  # fmt: skip
_PASSED = (
    "copy", "copy_p", "stop_gradient", "optimization_barrier", "name", "device_put", "sharding_constraint", "layout_constraint",
    "reduce_precision_barrier", "pvary", "pbroadcast", "reshard", "random_clone", "conj_real", "pin", "unpin",
)  # fmt: skip

RULES: dict[str, Rule] = {
    **{name: same(op) for name, op in _SAME.items()},
    **{name: same(op, OWN) for name, op in _OWN.items()},
    **dict.fromkeys(_PASSED, _identity),
    "add": numeric("Add", "Or"),
    "add_any": numeric("Add", "Or"),
    "mul": numeric("Mul", "And"),
    "max": numeric("Max", "Or"),
    "min": numeric("Min", "And"),
    "and": logic("And", "BitwiseAnd"),
    "or": logic("Or", "BitwiseOr"),
    "xor": logic("Xor", "BitwiseXor"),
    "not": logic("Not", "BitwiseNot"),
    "eq": _eq,
    "ne": _ne,
    "neg": _neg,
    "rem": _rem,
    "pow": _pow,
    "integer_pow": _integer_pow,
    "square": _square,
    "rsqrt": _rsqrt,
    "erfc": _erfc,
    "is_finite": _is_finite,
    "round": _round,
}
