"""PyTorch's own function for an ONNX operator, where the two mean the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

PLAIN = {
    "Add": "add", "Sub": "sub", "Mul": "mul", "Neg": "neg", "Reciprocal": "reciprocal", "Abs": "abs", "Exp": "exp",
    "Log": "log", "Sqrt": "sqrt", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Asin": "asin", "Acos": "acos",
    "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Asinh": "asinh", "Acosh": "acosh",
    "Atanh": "atanh", "Erf": "erf", "Sigmoid": "sigmoid", "Floor": "floor", "Ceil": "ceil", "Round": "round",
    "Sign": "sign", "Pow": "pow", "MatMul": "matmul", "Relu": "relu",
}  # fmt: skip
_ONE_PERCENT = 0.009999999776482582  # as a float32, which attributes of ONNX are
LAYERS = {"Softplus": "softplus", "Softsign": "softsign", "HardSwish": "hardswish", "Mish": "mish"}


def function(name: str, attrs: Mapping[str, Any]) -> Callable[..., Any] | None:
    """A function of tensors; None where PyTorch has no counterpart or the attributes change the meaning."""
    import torch
    from torch.nn import functional

    if name == "Div":
        return lambda x, y: torch.div(x, y) if x.is_floating_point() else torch.div(x, y, rounding_mode="trunc")
    if name == "Gelu":
        return lambda x: functional.gelu(x, approximate=attrs.get("approximate", "none"))
    if name == "Elu":
        return lambda x: functional.elu(x, alpha=attrs.get("alpha", 1.0))
    if name == "LeakyRelu":
        return lambda x: functional.leaky_relu(x, attrs.get("alpha", _ONE_PERCENT))
    if name in {"Softmax", "LogSoftmax"}:
        layer = functional.softmax if name == "Softmax" else functional.log_softmax
        return lambda x: layer(x, dim=attrs.get("axis", -1))
    if attrs:
        return None
    if name in PLAIN:
        return getattr(torch, PLAIN[name])  # type: ignore[no-any-return]
    return getattr(functional, LAYERS[name]) if name in LAYERS else None


def call(function: Callable[..., Any], operands: list[Any]) -> Any:
    """A function of tensors applied to NumPy arrays; bfloat16 goes through its bits."""
    import numpy as np
    import torch

    tensors = []
    for x in operands:
        array = np.array(x)
        if array.dtype.name == "bfloat16":
            tensors.append(torch.from_numpy(array.view(np.int16)).view(torch.bfloat16))
        else:
            tensors.append(torch.from_numpy(array))
    with torch.no_grad():
        result = function(*tensors)
    return (result.double() if result.dtype is torch.bfloat16 else result).numpy()


def torch_and_namespace() -> tuple[Any, Any]:
    """PyTorch, and its array namespace for conditions and records."""
    import torch

    from nanproof.numerics.arrays import torch_namespace

    return torch, torch_namespace()
