"""The way back through convolutions: two convolutions and a sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def table() -> dict[Any, Callable[..., Any]]:
    """By operator."""
    import torch

    return {torch.ops.aten.convolution_backward.default: backward}


def backward(
    grad: Any, x: Any, weight: Any, _bias_sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    _output_padding: Any, groups: int, mask: Sequence[bool],
) -> tuple[Any, Any, Any]:  # fmt: skip
    """What aten.convolution_backward gives: the gradients of the input, the weight and the bias, as far as asked for."""
    import torch

    rank = x.ndim - 2
    stride, padding, dilation = (_each(value, rank) for value in (stride, padding, dilation))
    of_input = of_weight = of_bias = None
    if mask[0]:
        of_input = (
            _narrowed(torch.ops.aten.convolution.default(grad, weight, None, stride, padding, dilation, False, [0] * rank, groups), x.shape[2:])
            if transposed
            else spread(grad, weight, x.shape[2:], (stride, padding, dilation, groups))
        )  # fmt: skip
    if mask[1]:
        first, second = (grad, x) if transposed else (x, grad)
        of_weight = _of_weight(first, second, weight.shape[2:], (stride, padding, dilation, groups))
    if mask[2]:
        of_bias = grad.sum([0, *range(2, grad.ndim)])
    return of_input, of_weight, of_bias


def spread(grad: Any, weight: Any, sizes: Sequence[Any], how: tuple[list[int], list[int], list[int], int]) -> Any:
    """The transposed convolution that gives back an input of these sizes."""
    import torch

    stride, padding, dilation, groups = how
    rank = len(sizes)
    reached = [
        (grad.shape[2 + i] - 1) * stride[i] + dilation[i] * (weight.shape[2 + i] - 1) + 1 for i in range(rank)
    ]  # without padding
    zeros = [0] * rank
    if all(isinstance(size, int) for size in (*reached, *sizes)):
        more = [size + 2 * p - r for size, p, r in zip(sizes, padding, reached, strict=True)]
        if all(m < max(s, d) for m, s, d in zip(more, stride, dilation, strict=True)):
            return torch.ops.aten.convolution.default(grad, weight, None, stride, padding, dilation, True, more, groups)
    whole = torch.ops.aten.convolution.default(grad, weight, None, stride, zeros, dilation, True, zeros, groups)
    ends = [n for i in reversed(range(rank)) for n in (-padding[i], sizes[i] + padding[i] - reached[i])]
    return torch.ops.aten.constant_pad_nd.default(whole, ends, 0.0)


def _of_weight(x: Any, grad: Any, kernel: Sequence[Any], how: tuple[list[int], list[int], list[int], int]) -> Any:
    """Convolve the input with the gradient: elements of the batch are the channels of this one."""
    import torch

    stride, padding, dilation, groups = how
    batch, spatial = x.shape[0], tuple(range(2, x.ndim))
    per_group = x.shape[1] // groups
    if groups == 1:
        image = x.transpose(0, 1)
    else:
        split = x.reshape(batch, groups, per_group, *x.shape[2:])
        image = split.permute(2, 1, 0, *(i + 1 for i in spatial)).reshape(per_group, groups * batch, *x.shape[2:])
    filters = grad.transpose(0, 1)
    found = torch.ops.aten.convolution.default(
        image, filters, None, dilation, padding, stride, False, [0] * len(spatial), groups
    )
    return _narrowed(found.transpose(0, 1), kernel)


def _narrowed(x: Any, sizes: Sequence[Any]) -> Any:
    """The beginning of each spatial axis: what a stride leaves over at the end doesn't count."""
    for i, size in enumerate(sizes):
        if not (isinstance(size, int) and isinstance(x.shape[2 + i], int) and x.shape[2 + i] == size):
            x = x.narrow(2 + i, 0, size)
    return x


def _each(value: Any, rank: int) -> list[int]:
    given = list(value) if isinstance(value, (list, tuple)) else [value]
    return given * rank if len(given) == 1 else given
