"""Operators that stand alone: medians, diagonals, products, bilinear forms, random slopes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def table() -> dict[Any, Callable[..., Any]]:
    """By operator."""
    import torch

    aten = torch.ops.aten
    return {
        aten.median.default: lambda x: median(x.flatten(), 0)[0],
        aten.median.dim: median,
        aten.diagonal_scatter.default: onto_diagonal,
        aten.diagonal_backward.default: diagonal_back,
        aten._trilinear.default: trilinear,
        aten.prod.default: product,
        aten.cumprod.default: running_product,
        aten.max.dim: largest,
        aten.rrelu_with_noise_functional.default: random_slope,
    }


def median(x: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    """The lower of the two in the middle."""
    ordered, places = x.sort(dim)
    middle = (x.shape[dim] - 1) // 2
    values, indices = ordered.narrow(dim, middle, 1), places.narrow(dim, middle, 1)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def largest(x: Any, dim: int, keepdim: bool = False) -> Any:
    """Of truth values, for which ONNX has no ArgMax; others stay as they are."""
    import torch

    if x.dtype is not torch.bool:
        return NotImplemented
    values, indices = x.to(torch.uint8).max(dim, keepdim)
    return values.to(torch.bool), indices


def onto_diagonal(x: Any, source: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The tensor with a diagonal replaced."""
    import torch

    dim1, dim2 = dim1 % x.ndim, dim2 % x.ndim
    rows, columns = torch.arange(x.shape[dim1]), torch.arange(x.shape[dim2])
    on_it = columns[None, :] - rows[:, None] == offset
    place = (rows - max(-offset, 0)).clamp(0, source.shape[-1] - 1)
    spread = source.index_select(source.ndim - 1, place).unsqueeze(-1)
    moved = x.movedim((dim1, dim2), (-2, -1))
    return torch.where(on_it, spread, moved).movedim((-2, -1), (dim1, dim2))


def diagonal_back(grad: Any, sizes: Sequence[int], offset: int, dim1: int, dim2: int) -> Any:
    """The gradient on the diagonal, 0 elsewhere."""
    return onto_diagonal(grad.new_zeros(sizes), grad, offset, dim1, dim2)


def trilinear(
    one: Any, two: Any, three: Any, expand1: Sequence[int], expand2: Sequence[int], expand3: Sequence[int],
    sumdim: Sequence[int], _unroll: int = 1,
) -> Any:  # fmt: skip
    """A sum of products of three."""
    for axis in sorted(expand1):
        one = one.unsqueeze(axis)
    for axis in sorted(expand2):
        two = two.unsqueeze(axis)
    for axis in sorted(expand3):
        three = three.unsqueeze(axis)
    found = one * two * three
    return found.sum(list(sumdim)) if sumdim else found


def product(x: Any, dtype: Any = None) -> Any:
    """The product of all elements."""
    return (x if dtype is None else x.to(dtype)).flatten().prod(0)


def running_product(x: Any, dim: int, dtype: Any = None) -> Any:
    """The products of the first n elements, for every n."""
    import torch

    x = (x if dtype is None else x.to(dtype)).movedim(dim, -1)
    at = torch.arange(x.shape[-1])
    return torch.where(at[None, :] <= at[:, None], x.unsqueeze(-2), 1.0).prod(-1).movedim(-1, dim)


def random_slope(
    x: Any, noise: Any, lower: float = 0.125, upper: float = 1 / 3, training: bool = False, generator: Any = None
) -> tuple[Any, Any]:  # fmt: skip
    """RReLU: negative elements times random numbers, or times their mean."""
    import torch

    if not training:
        slope = (lower + upper) / 2
        return torch.where(x >= 0, x, x * slope), noise
    slopes = torch.where(x <= 0, torch.rand_like(x) * (upper - lower) + lower, 1.0)
    return x * slopes, slopes
