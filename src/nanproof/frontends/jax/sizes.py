"""Open sizes: what the user asks to keep open, and expressions over them as nodes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanproof.findings.errors import InputError

if TYPE_CHECKING:
    from nanproof.frontends.jax.writing import Block

_BINARY = {ast.Add: "Add", ast.Sub: "Sub", ast.Mult: "Mul"}


def written(block: Block, text: str) -> str:
    """The value of an expression over sizes, as jax writes it: ``2*n + 3``, ``floordiv(n, 2)``, ``n^2``, ``max(n, 4)``."""
    tree = ast.parse(text.replace("^", "**"), mode="eval")
    return _value(block, tree.body, text)


def _value(block: Block, tree: ast.expr, text: str) -> str:
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
        return block.ints([tree.value])
    if isinstance(tree, ast.Name):
        return block.book.sizes[tree.id]
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return block.add("Neg", _value(block, tree.operand, text))
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Pow):
        assert isinstance(tree.right, ast.Constant)
        factor = result = _value(block, tree.left, text)
        for _ in range(int(tree.right.value) - 1):  # type: ignore[arg-type]
            result = block.add("Mul", result, factor)
        return result
    if isinstance(tree, ast.BinOp) and type(tree.op) in _BINARY:
        return block.add(_BINARY[type(tree.op)], _value(block, tree.left, text), _value(block, tree.right, text))
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        return _called(block, tree.func.id, [_value(block, part, text) for part in tree.args], text)
    raise InputError(f"the size {text} can't be written as ONNX: give that axis a size of its own")


def _called(block: Block, name: str, operands: list[str], text: str) -> str:
    if name in {"max", "min"}:
        return block.add(name.capitalize(), *operands)
    if name in {"floordiv", "mod"}:
        rest = block.add("Mod", *operands)  # the sign of the divisor, as Python's
        if name == "mod":
            return rest
        return block.add("Div", block.add("Sub", operands[0], rest), operands[1])
    raise InputError(f"the size {text} can't be written as ONNX: give that axis a size of its own")
