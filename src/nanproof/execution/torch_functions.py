"""PyTorch's own function for an ONNX operator, where the two mean the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

PLAIN = {
    "Add": "add", "Sub": "sub", "Mul": "mul", "Neg": "neg", "Reciprocal": "reciprocal", "Abs": "abs", "Exp": "exp",
    "Log": "log", "Sqrt": "sqrt", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Asin": "asin", "Acos": "acos",
    "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Asinh": "asinh", "Acosh": "acosh",
    "Atanh": "atanh", "Erf": "erf", "Sigmoid": "sigmoid", "Floor": "floor", "Ceil": "ceil", "Round": "round",
    "Sign": "sign", "Pow": "pow", "Log1p": "log1p", "Expm1": "expm1",
    "Exp2": "exp2", "ErfInv": "erfinv", "Atan2": "atan2", "MatMul": "matmul", "Relu": "relu",
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
    if name in {"Conv", "ConvTranspose"}:
        return _convolution(attrs) if name == "Conv" else _transposed(attrs)
    if name in {"MaxPool", "AveragePool"}:
        return _pooling(name, attrs)
    if attrs:
        return None
    if name in PLAIN:
        return getattr(torch, PLAIN[name])  # type: ignore[no-any-return]
    return getattr(functional, LAYERS[name]) if name in LAYERS else None


def _convolution(attrs: Mapping[str, Any]) -> Callable[..., Any] | None:
    """Convolution of images with one to three axes; padding chosen by the runtime is left to others."""
    from torch.nn import functional

    if attrs.get("auto_pad", "NOTSET") not in {"NOTSET", "VALID"}:
        return None
    pads = tuple(attrs.get("pads", ()))

    def convolve(x: Any, w: Any, b: Any = None) -> Any:
        rank = len(w.shape) - 2
        ones = (1,) * rank
        before, after = pads[:rank] or (0,) * rank, pads[rank:] or (0,) * rank
        if before != after:
            flat = [p for pair in reversed(tuple(zip(before, after, strict=True))) for p in pair]
            x, before = functional.pad(x, flat), (0,) * rank
        layer = (functional.conv1d, functional.conv2d, functional.conv3d)[rank - 1]
        return layer(x, w, b, attrs.get("strides", ones), before, attrs.get("dilations", ones), attrs.get("group", 1))

    return convolve


def _transposed(attrs: Mapping[str, Any]) -> Callable[..., Any] | None:
    """Transposed convolution with the same padding on both sides."""
    from torch.nn import functional

    pads = tuple(attrs.get("pads", ()))
    rank = len(pads) // 2
    if attrs.get("auto_pad", "NOTSET") != "NOTSET" or pads[:rank] != pads[rank:] or "output_shape" in attrs:
        return None

    def convolve(x: Any, w: Any, b: Any = None) -> Any:
        rank = len(w.shape) - 2
        layer = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)[rank - 1]
        ones, zeros = (1,) * rank, (0,) * rank
        return layer(
            x, w, b, tuple(attrs.get("strides", ones)), pads[:rank] or zeros, tuple(attrs.get("output_padding", zeros)),
            attrs.get("group", 1), tuple(attrs.get("dilations", ones)),
        )  # fmt: skip

    return convolve


def _pooling(name: str, attrs: Mapping[str, Any]) -> Callable[..., Any] | None:
    """Pooling over floor-sized windows with the same padding on both sides, and without indices."""
    from torch.nn import functional

    window = tuple(attrs["kernel_shape"])
    rank = len(window)
    pads = tuple(attrs.get("pads", (0,) * (2 * rank)))
    strides, spread = (tuple(attrs.get(key, (1,) * rank)) for key in ("strides", "dilations"))
    plain = attrs.get("auto_pad", "NOTSET") == "NOTSET" and not attrs.get("ceil_mode", 0) and 1 <= rank <= 3
    if not plain or pads[:rank] != pads[rank:] or any(2 * p > w for p, w in zip(pads, window, strict=False)):
        return None
    if name == "MaxPool":
        layer = (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)[rank - 1]
        return lambda x: layer(x, window, strides, pads[:rank], spread)
    if set(spread) != {1}:
        return None
    mean: Any = (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d)[rank - 1]
    counted = bool(attrs.get("count_include_pad", 0))
    return lambda x: mean(x, window, strides, pads[:rank], count_include_pad=counted)


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
