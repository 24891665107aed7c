"""What many of the programs are built from: initialisers as TensorFlow 1 has them, and its dropout."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def zeros(*shape: int) -> nn.Parameter:
    """All 0."""
    return nn.Parameter(torch.zeros(shape))


def constant(value: float, *shape: int) -> nn.Parameter:
    """All the same."""
    return nn.Parameter(torch.full(shape, value))


def normal(std: float, *shape: int) -> nn.Parameter:
    """Normal around 0."""
    return nn.Parameter(torch.randn(shape) * std)


def truncated(std: float, *shape: int) -> nn.Parameter:
    """Normal around 0, drawn again beyond two standard deviations."""
    return nn.Parameter(nn.init.trunc_normal_(torch.empty(shape), 0.0, std, -2 * std, 2 * std))


def uniform(low: float, high: float, *shape: int) -> nn.Parameter:
    """Uniform between the two."""
    return nn.Parameter(torch.empty(shape).uniform_(low, high))


def fan(rows: int, columns: int) -> nn.Parameter:
    """Uniform with the bound sqrt(6 / (rows + columns))."""
    bound = (6 / (rows + columns)) ** 0.5
    return uniform(-bound, bound, rows, columns)


class Dropout(nn.Module):
    """Keep each unit with the given probability, and divide by it."""

    def forward(self, units: Tensor, keep_prob: Tensor) -> Tensor:
        scaled = units / keep_prob  # site: dropout
        return scaled * torch.floor(keep_prob + torch.rand_like(units))
