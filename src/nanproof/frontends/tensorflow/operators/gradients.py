"""Gradients of functions of one tensor, which TensorFlow has operators for: of the gradient, and of the operand or the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanproof.frontends.tensorflow.context import Context, Translation
from nanproof.frontends.tensorflow.operators.elementwise import SELU_ALPHA, SELU_SCALE
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call


def _where_positive(c: Context, grad: Tensor, x: Tensor, otherwise: Tensor) -> Tensor:
    return c.op("Where", c.op("Greater", x, c.like(0, x)), grad, otherwise)


def _relu(c: Context, call: Call, grad: Tensor, x: Tensor) -> Tensor:
    return _where_positive(c, grad, x, c.like(0, grad))


def _relu6(c: Context, call: Call, grad: Tensor, x: Tensor) -> Tensor:
    inside = c.op("And", c.op("Greater", x, c.like(0, x)), c.op("Less", x, c.like(6, x)))
    return c.op("Where", inside, grad, c.like(0, grad))


def _leaky(c: Context, call: Call, grad: Tensor, x: Tensor) -> Tensor:
    return _where_positive(c, grad, x, c.op("Mul", grad, c.like(call.get("alpha", 0.2), grad)))


def _elu(c: Context, call: Call, grad: Tensor, y: Tensor) -> Tensor:
    below = c.op("Less", y, c.like(0, y))
    return c.op("Where", below, c.op("Mul", c.op("Add", y, c.like(1, y)), grad), grad)


def _selu(c: Context, call: Call, grad: Tensor, y: Tensor) -> Tensor:
    below = c.op("Less", y, c.like(0, y))
    left = c.op("Mul", grad, c.op("Add", y, c.like(SELU_ALPHA * SELU_SCALE, y)))
    return c.op("Where", below, left, c.op("Mul", grad, c.like(SELU_SCALE, grad)))


def _softplus(c: Context, call: Call, grad: Tensor, x: Tensor) -> Tensor:
    """Grad / (exp(-x) + 1), where the Inf of a large exponential ends as 0: grad * sigmoid(x)."""
    return c.op("Mul", grad, c.op("Sigmoid", x))


def _softsign(c: Context, call: Call, grad: Tensor, x: Tensor) -> Tensor:
    root = c.op("Add", c.op("Abs", x), c.like(1, x))
    return c.op("Div", grad, c.op("Mul", root, root))


def _sigmoid(c: Context, call: Call, y: Tensor, grad: Tensor) -> Tensor:
    return c.op("Mul", c.op("Mul", grad, y), c.op("Sub", c.like(1, y), y))


def _tanh(c: Context, call: Call, y: Tensor, grad: Tensor) -> Tensor:
    return c.op("Mul", grad, c.op("Sub", c.like(1, y), c.op("Mul", y, y)))


def _sqrt(c: Context, call: Call, y: Tensor, grad: Tensor) -> Tensor:
    return c.op("Div", c.op("Mul", c.like(0.5, grad), grad), y)


def _rsqrt(c: Context, call: Call, y: Tensor, grad: Tensor) -> Tensor:
    half = c.op("Mul", c.like(-0.5, grad), grad)
    return c.op("Mul", half, c.op("Mul", c.op("Mul", y, y), y))


def _reciprocal(c: Context, call: Call, y: Tensor, grad: Tensor) -> Tensor:
    return c.op("Mul", c.op("Neg", grad), c.op("Mul", y, y))


TRANSLATIONS: dict[str, Translation] = {
    "EluGrad": _elu,
    "InvGrad": _reciprocal,
    "LeakyReluGrad": _leaky,
    "ReciprocalGrad": _reciprocal,
    "Relu6Grad": _relu6,
    "ReluGrad": _relu,
    "RsqrtGrad": _rsqrt,
    "SeluGrad": _selu,
    "SigmoidGrad": _sigmoid,
    "SoftplusGrad": _softplus,
    "SoftsignGrad": _softsign,
    "SqrtGrad": _sqrt,
    "TanhGrad": _tanh,
}
