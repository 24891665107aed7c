"""Distances and norms: their derivatives at 0 are what torch's kernels make them, 0 for equal points."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any


def table() -> dict[Any, Callable[..., Any]]:
    """By operator."""
    import torch

    aten = torch.ops.aten
    return {
        aten._cdist_forward.default: between,
        aten._cdist_backward.default: between_back,
        aten._pdist_forward.default: within,
        aten._pdist_backward.default: within_back,
        aten.hypot.default: hypotenuse,
        aten._weight_norm_interface_backward.default: weight_norm_back,
    }


def between(x: Any, y: Any, p: float, mode: int | None) -> Any:
    """The distances of all rows of x from all rows of y."""
    return _lengths(x.unsqueeze(-2) - y.unsqueeze(-3), p)


def _lengths(apart: Any, p: float) -> Any:
    import torch

    apart = torch.abs(apart)
    if p == 0.0:
        return (apart != 0).to(apart.dtype).sum(-1)
    if p == 1.0:
        return apart.sum(-1)
    if p == 2.0:
        return torch.sqrt((apart * apart).sum(-1))
    if p == inf:
        return apart.amax(-1)
    return torch.pow(torch.pow(apart, p).sum(-1), 1.0 / p)


def between_back(grad: Any, x: Any, y: Any, p: float, distances: Any) -> Any:
    """The gradient of x; 0 where points are the same."""
    return _each(x.unsqueeze(-2) - y.unsqueeze(-3), (grad, distances), p).sum(-2)


def _each(apart: Any, about: tuple[Any, Any], p: float) -> Any:
    """What one distance gives back to the first of its two points."""
    import torch

    scale, size = (value.unsqueeze(-1) for value in about)
    if p == 0.0:
        return torch.zeros_like(apart)
    if p == 1.0:
        return scale * torch.sign(apart)
    if p == inf:
        return scale * torch.sign(apart) * (apart.abs() == size).to(apart.dtype)
    if p == 2.0:
        return torch.where(size == 0, 0.0, scale * apart / size)
    if p < 2.0:
        each = torch.sign(apart) * torch.pow(apart.abs(), p - 1.0) * scale / torch.pow(size, p - 1.0)
        return torch.where((size == 0) | ((apart == 0) & (p < 1.0)), 0.0, each)
    return torch.where(size == 0, 0.0, apart * torch.pow(apart.abs(), p - 2.0) * scale / torch.pow(size, p - 1.0))


def within(x: Any, p: float = 2.0) -> Any:
    """The distances of all rows from the rows after them."""
    import torch

    first, second = torch.triu_indices(x.shape[0], x.shape[0], 1).unbind(0)
    return _lengths(x.index_select(0, first) - x.index_select(0, second), p)


def within_back(grad: Any, x: Any, p: float, distances: Any) -> Any:
    """The gradient of x; 0 where points are the same."""
    import torch

    first, second = torch.triu_indices(x.shape[0], x.shape[0], 1).unbind(0)
    each = _each(x.index_select(0, first) - x.index_select(0, second), (grad, distances), p)
    return torch.zeros_like(x).index_add(0, first, each).index_add(0, second, -each)


def hypotenuse(x: Any, y: Any) -> Any:
    """sqrt(x * x + y * y) without overflow on the way, as the library's hypot."""
    import torch

    long, short = torch.maximum(x.abs(), y.abs()), torch.minimum(x.abs(), y.abs())
    share = short / torch.where(long == 0, 1.0, long)
    return long * torch.sqrt(1.0 + share * share)


def weight_norm_back(grad: Any, v: Any, g: Any, norms: Any, dim: int) -> tuple[Any, Any]:
    """The gradients of direction and length of a normalised weight."""
    axes = [axis for axis in range(v.ndim) if axis != dim % v.ndim]
    along = (grad * v).sum(axes, keepdim=True)
    return (g / norms) * (grad - v * (along / (norms * norms))), along / norms
