"""Give frameworks a seed when a program imports them, so that its random weights are the same every time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from nanproof.frontends.programs.importing import after_import

SEEDS: Mapping[str, Callable[[Any], object]] = MappingProxyType(
    {
        "torch": lambda torch: torch.manual_seed(0),
        "tensorflow": lambda tensorflow: tensorflow.random.set_seed(0),
        "keras": lambda keras: keras.utils.set_random_seed(0),
    }
)
"""What seeds a framework, once it is imported. Others ask for a seed wherever they draw."""


def seed_frameworks() -> None:
    """From now on, a framework is seeded when it is imported; those that are there already, now."""
    after_import(SEEDS)
