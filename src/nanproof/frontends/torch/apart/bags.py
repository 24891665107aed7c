"""Sums and means of bags of embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SUM, MEAN = 0, 1


def table() -> dict[Any, Callable[..., Any]]:
    """By operator."""
    import torch

    aten = torch.ops.aten
    return {
        aten._embedding_bag.default: bags,
        aten._embedding_bag_backward.default: bags_back,
        aten._embedding_bag_per_sample_weights_backward.default: shares_back,
    }


def bags(
    weight: Any, indices: Any, offsets: Any, by_frequency: bool = False, mode: int = SUM, sparse: bool = False,
    shares: Any = None, last: bool = False, padding: int = -1,
) -> Any:  # fmt: skip
    """The bags, the bag of each index, how many each has, and what the maximum needs, which isn't taken apart."""
    import torch

    if mode not in {SUM, MEAN}:
        return NotImplemented
    starts = offsets[:-1] if last else offsets
    of = (torch.arange(indices.shape[0])[:, None] >= starts[None, :]).sum(1) - 1
    counted = (indices != padding).to(weight.dtype)
    rows = weight.index_select(0, indices) * counted[:, None]
    rows = rows if shares is None else rows * shares[:, None]
    found = weight.new_zeros((starts.shape[0], weight.shape[1])).index_add(0, of, rows)
    sizes = weight.new_zeros(starts.shape[0]).index_add(0, of, counted)
    if mode == MEAN:
        found = found / sizes.clamp(min=1.0)[:, None]
    sizes = sizes.to(indices.dtype)
    return found, of, sizes, sizes


def bags_back(
    grad: Any, indices: Any, offsets: Any, of: Any, sizes: Any, largest: Any, count: int,
    by_frequency: bool, mode: int, sparse: bool, shares: Any, padding: int = -1,
) -> Any:  # fmt: skip
    """The gradient of the table."""
    import torch

    if mode not in {SUM, MEAN} or by_frequency:
        return NotImplemented
    rows = grad.index_select(0, of)
    if mode == MEAN:
        rows = rows / sizes.clamp(min=1).to(grad.dtype).index_select(0, of)[:, None]
    rows = rows if shares is None else rows * shares[:, None]
    rows = torch.where((indices == padding)[:, None], 0.0, rows)
    return grad.new_zeros((count, grad.shape[1])).index_add(0, indices, rows)


def shares_back(grad: Any, weight: Any, indices: Any, offsets: Any, of: Any, mode: int, padding: int = -1) -> Any:
    """The gradient of the weights of single elements."""
    import torch

    found = (grad.index_select(0, of) * weight.index_select(0, indices)).sum(-1)
    return torch.where(indices == padding, 0.0, found)
