"""Ordinary inputs of a case: drawn from their natural ranges, by what kind of values they are."""

from __future__ import annotations

from typing import Any

from .case import Case, Input


def example(case: Case, seed: int = 0) -> dict[str, Any]:
    """One batch by name, the same for the same seed."""
    import torch

    dice = torch.Generator().manual_seed(seed)
    return {item.name: _drawn(item, dice) for item in case.inputs}


def _drawn(item: Input, dice: Any) -> Any:
    import torch

    low, high = item.valid
    if item.values is not None:
        return torch.tensor(item.values, dtype=torch.int64 if item.role == "index" else torch.float32).clone()
    if item.role == "index":
        return torch.randint(int(low), int(high) + 1, item.shape, generator=dice)
    if item.role == "one-hot":
        classes = torch.randint(0, item.shape[-1], item.shape[:-1], generator=dice)
        return torch.nn.functional.one_hot(classes, item.shape[-1]).float()
    if item.role == "label":
        return torch.randint(0, 2, item.shape, generator=dice).float()
    if item.role == "keep_prob":
        return torch.tensor(high)
    if item.role == "noise":
        return torch.randn(item.shape, generator=dice).clip(low, high)
    return torch.rand(item.shape, generator=dice) * (high - low) + low
