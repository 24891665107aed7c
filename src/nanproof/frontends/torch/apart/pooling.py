"""The way back through pooling and padding: where each element of the result came from is known from the sizes alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nanproof.frontends.torch.apart.convolution import spread


def table() -> dict[Any, Callable[..., Any]]:
    """By operator."""
    import torch

    aten = torch.ops.aten
    return {
        aten.avg_pool2d_backward.default: averages_back,
        aten.avg_pool3d_backward.default: averages_back,
        aten._adaptive_avg_pool2d_backward.default: adaptive_averages_back,
        aten.adaptive_max_pool2d.default: adaptive_largest,
        aten.adaptive_max_pool2d_backward.default: adaptive_largest_back,
        aten.replication_pad1d_backward.default: replicas_back,
        aten.replication_pad2d_backward.default: replicas_back,
        aten.replication_pad3d_backward.default: replicas_back,
    }


def averages_back(
    grad: Any, x: Any, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], ceil_mode: bool,
    count_include_pad: bool, divisor: int | None,
) -> Any:  # fmt: skip
    """Each element of the gradient, divided by how many it is the average of, goes to all of them."""
    import torch

    rank = len(kernel)
    kernel, padding = list(kernel), list(padding) * (rank if len(padding) == 1 else 1)
    stride = list(stride) * (rank if len(stride) == 1 else 1) or kernel
    sizes, outer = x.shape[-rank:], x.shape[:-rank]
    ones = torch.ones([1, 1, *kernel], dtype=grad.dtype)
    how = (stride, padding, [1] * rank, 1)
    flat = grad.reshape(-1, 1, *grad.shape[-rank:])
    if divisor is not None:
        flat = flat / divisor
    elif count_include_pad and not ceil_mode:
        flat = flat / _product(kernel)
    else:
        flat = flat / _counts(sizes, (kernel, stride, padding), grad.shape[-rank:], edge=count_include_pad).to(
            grad.dtype
        )
    return spread(flat, ones, sizes, how).reshape(*outer, *sizes)


def _counts(sizes: Sequence[int], how: tuple[list[int], ...], out: Sequence[int], *, edge: bool) -> Any:
    """Of how many elements each result is the average; with ``edge``, padding counts, too."""
    import torch

    count: Any = None
    for axis, (size, kernel, stride, pad, many) in enumerate(zip(sizes, *how, out, strict=True)):
        begin = torch.arange(many) * stride - pad
        end = (begin + kernel).clamp(max=size + pad)
        if not edge:
            begin, end = begin.clamp(min=0), end.clamp(max=size)
        along = (end - begin).reshape([-1 if i == axis else 1 for i in range(len(sizes))])
        count = along if count is None else count * along
    return count


def adaptive_averages_back(grad: Any, x: Any) -> Any:
    """The averages along each axis are a product with a matrix of shares: back goes its transpose."""
    rows = _shares(x.shape[-2], grad.shape[-2], grad.dtype)
    columns = _shares(x.shape[-1], grad.shape[-1], grad.dtype)
    return rows.transpose(0, 1) @ grad @ columns


def _shares(size: int, out: int, dtype: Any) -> Any:
    import torch

    begin, end = _windows(size, out)
    at = torch.arange(size)
    inside = (at >= begin[:, None]) & (at < end[:, None])
    return inside.to(dtype) / (end - begin)[:, None].to(dtype)


def _windows(size: int, out: int) -> tuple[Any, Any]:
    import torch

    at = torch.arange(out)
    begin = torch.div(at * size, out, rounding_mode="floor")
    end = torch.div((at + 1) * size + out - 1, out, rounding_mode="floor")
    return begin, end


def adaptive_largest(x: Any, sizes: Sequence[int]) -> tuple[Any, Any]:
    """The largest element of each window, and where it is among all elements of the plane."""
    import torch

    height, width = x.shape[-2:]
    (top, bottom), (left, right) = _windows(height, sizes[0]), _windows(width, sizes[1])
    rows, columns = torch.arange(height), torch.arange(width)
    in_rows = (rows >= top[:, None]) & (rows < bottom[:, None])
    in_columns = (columns >= left[:, None]) & (columns < right[:, None])
    inside = in_rows[:, None, :, None] & in_columns[None, :, None, :]
    windows = torch.where(inside, x[..., None, None, :, :], -torch.inf).flatten(-2)
    found = windows.max(-1)
    return found.values, found.indices


def adaptive_largest_back(grad: Any, x: Any, indices: Any) -> Any:
    """Every element of the gradient goes where the largest was."""
    import torch

    flat = torch.zeros_like(x).flatten(-2)
    return flat.scatter_add(-1, indices.flatten(-2), grad.flatten(-2)).reshape(x.shape)


def replicas_back(grad: Any, x: Any, padding: Sequence[int]) -> Any:
    """Each element gets the sum of what its copies have got."""
    import torch

    rank = len(padding) // 2
    for axis in range(rank):
        before, size = padding[2 * axis], x.shape[-1 - axis]
        many = grad.shape[-1 - axis]
        source = (torch.arange(many) - before).clamp(0, size - 1)
        shape = list(grad.shape)
        shape[-1 - axis] = size
        where = source.reshape([-1] + [1] * axis).expand(grad.shape)
        grad = grad.new_zeros(shape).scatter_add(-1 - axis, where, grad)
    return grad


def _product(sizes: Sequence[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total
