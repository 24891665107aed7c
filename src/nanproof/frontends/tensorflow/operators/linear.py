"""Products of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanproof.frontends.tensorflow.context import Context, Translation
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call


def _matmul(c: Context, call: Call, a: Tensor, b: Tensor) -> Tensor:
    return c.op(
        "MatMul",
        c.transpose(a, (1, 0)) if call.get("transpose_a", False) else a,
        c.transpose(b, (1, 0)) if call.get("transpose_b", False) else b,
    )


def _batched(c: Context, call: Call, a: Tensor, b: Tensor) -> Tensor:
    return c.op(
        "MatMul",
        c.swapped(a) if call.get("adj_x", False) or call.get("grad_x", False) else a,
        c.swapped(b) if call.get("adj_y", False) or call.get("grad_y", False) else b,
    )


def _einsum(c: Context, call: Call, *operands: Tensor) -> Tensor:
    return c.op("Einsum", *operands, equation=call.text("equation"))


def _bias_add(c: Context, call: Call, x: Tensor, bias: Tensor) -> Tensor:
    if call.text("data_format", "NHWC") == "NCHW":
        bias = c.op("Unsqueeze", bias, c.ints(list(range(1, c.rank(x) - 1))))
    return c.op("Add", x, bias)


def _bias_add_v1(c: Context, call: Call, x: Tensor, bias: Tensor) -> Tensor:
    return c.op("Add", x, bias)


def _bias_add_grad(c: Context, call: Call, grad: Tensor) -> Tensor:
    rank = c.rank(grad)
    kept = 1 if call.text("data_format", "NHWC") == "NCHW" else rank - 1
    return c.op("ReduceSum", grad, c.ints([axis for axis in range(rank) if axis != kept]), keepdims=0)


def _determinant(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.op("Det", x)


def _cross(c: Context, call: Call, a: Tensor, b: Tensor) -> Tensor:
    def part(x: Tensor, places: list[int]) -> Tensor:
        return c.op("Gather", x, c.ints(places), axis=-1)

    one = c.op("Mul", part(a, [1, 2, 0]), part(b, [2, 0, 1]))
    return c.op("Sub", one, c.op("Mul", part(a, [2, 0, 1]), part(b, [1, 2, 0])))


TRANSLATIONS: dict[str, Translation] = {
    "BatchMatMul": _batched,
    "BatchMatMulV2": _batched,
    "BatchMatMulV3": _batched,
    "BiasAdd": _bias_add,
    "BiasAddGrad": _bias_add_grad,
    "BiasAddV1": _bias_add_v1,
    "Cross": _cross,
    "Einsum": _einsum,
    "MatMul": _matmul,
    "MatrixDeterminant": _determinant,
}
