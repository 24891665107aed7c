"""What optimisers are made of, as PyTorch's kernels compute it: in float32 within one operator, whatever type it is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def table() -> dict[Any, Callable[..., Any]]:
    """By operator."""
    import torch

    aten = torch.ops.aten
    return {
        aten.addcmul.default: plus_product,
        aten.addcdiv.default: plus_quotient,
        aten.lerp.Scalar: between,
        aten.pow.Scalar: power,
    }


def plus_product(x: Any, one: Any, two: Any, *, value: Any = 1) -> Any:
    """The scale goes to the first factor: 0.001 * g * g overflows later than g * g."""
    (a, b, c), back = _wide(x, one, two)
    return back(a + b * value * c)


def plus_quotient(x: Any, one: Any, two: Any, *, value: Any = 1) -> Any:
    """The scale goes to the numerator."""
    (a, b, c), back = _wide(x, one, two)
    return back(a + b * value / c)


def between(x: Any, end: Any, weight: Any) -> Any:
    """From whichever end is nearer."""
    (a, b), back = _wide(x, end)
    apart = b - a
    return back(a + apart * weight if weight < 0.5 else b - apart * (1 - weight))


def power(base: Any, exponent: Any) -> Any:
    """A number to the power of a tensor, as a tensor of the same type."""
    import torch

    return torch.pow(torch.full((), base, dtype=exponent.dtype), exponent)


def _wide(*tensors: Any) -> tuple[tuple[Any, ...], Callable[[Any], Any]]:
    """The tensors in the type that kernels compute in, and the way back to their own."""
    import torch

    dtype = tensors[0].dtype
    if dtype not in {torch.float16, torch.bfloat16}:
        return tensors, lambda y: y
    return tuple(t.to(torch.float32) for t in tensors), lambda y: y.to(dtype)
