"""Functions of one tensor, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto

from nanproof.frontends.tensorflow.context import Context, Translation, UntranslatableError
from nanproof.frontends.tensorflow.tensors import onnx_kind
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call

_SAME = {
    "Abs": "Abs", "Acos": "Acos", "Acosh": "Acosh", "Asin": "Asin", "Asinh": "Asinh", "Atan": "Atan", "Atanh": "Atanh",
    "Ceil": "Ceil", "Cos": "Cos", "Cosh": "Cosh", "Erf": "Erf", "Exp": "Exp", "Floor": "Floor", "IsNan": "IsNaN", "Log": "Log",
    "LogicalNot": "Not", "Neg": "Neg", "Reciprocal": "Reciprocal", "Inv": "Reciprocal", "Relu": "Relu", "Rint": "Round",
    "Round": "Round", "Sigmoid": "Sigmoid", "Sign": "Sign", "Sin": "Sin", "Sinh": "Sinh", "Softplus": "Softplus",
    "Softsign": "Softsign", "Sqrt": "Sqrt", "Tan": "Tan", "Tanh": "Tanh", "Invert": "BitwiseNot",
}  # fmt: skip

SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def _same(kind: str) -> Translation:
    return lambda c, call, x: c.op(kind, x)


def _square(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.op("Mul", x, x)


def _rsqrt(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.op("Reciprocal", c.op("Sqrt", x))


def _log1p(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.op("Log", c.op("Add", c.like(1, x), x))


def _expm1(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.op("Sub", c.op("Exp", x), c.like(1, x))


def _erfc(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.op("Sub", c.like(1, x), c.op("Erf", x))


def _relu6(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.op("Clip", x, c.like(0, x), c.like(6, x))


def _leaky(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.op("LeakyRelu", x, alpha=call.get("alpha", 0.2))


def _elu(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.op("Elu", x, alpha=1.0)


def _selu(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.op("Selu", x, alpha=SELU_ALPHA, gamma=SELU_SCALE)


def _cast(c: Context, call: Call, x: Tensor) -> Tensor:
    kind = onnx_kind(call.get("DstT"))
    if kind is None:
        raise UntranslatableError("a cast to a type that ONNX lacks")
    if x.kind == TensorProto.BOOL and kind == TensorProto.STRING:
        raise UntranslatableError("a cast to text")
    return c.op("Cast", x, to=kind)


def _is_inf(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.op("IsInf", x)


def _is_finite(c: Context, call: Call, x: Tensor) -> Tensor:
    return c.op("Not", c.op("Or", c.op("IsInf", x), c.op("IsNaN", x)))


def _clip(c: Context, call: Call, x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """``minimum(maximum(x, low), high)``: bounds may be tensors, which Clip's may not."""
    if low.rank == 0 and high.rank == 0:
        return c.op("Clip", x, low, high)
    return c.op("Min", c.op("Max", x, low), high)


TRANSLATIONS: dict[str, Translation] = {
    **{name: _same(kind) for name, kind in _SAME.items()},
    "Cast": _cast,
    "ClipByValue": _clip,
    "Elu": _elu,
    "Erfc": _erfc,
    "Expm1": _expm1,
    "IsFinite": _is_finite,
    "IsInf": _is_inf,
    "LeakyRelu": _leaky,
    "Log1p": _log1p,
    "Relu6": _relu6,
    "Rsqrt": _rsqrt,
    "Selu": _selu,
    "Square": _square,
}  # fmt: skip
