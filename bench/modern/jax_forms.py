"""Forms that are JAX functions: what they are called with, and whether what they give is finite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def arrays(batch: Mapping[str, Any]) -> dict[str, Any]:
    """PyTorch's tensors as NumPy's arrays."""
    return {name: np.asarray(value) for name, value in batch.items()}


def finite(function: Any, batch: Mapping[str, Any], *, backward: bool) -> bool:
    """Whether the results of the compiled function are finite, or all of its gradients."""
    import jax

    given = list(arrays(batch).values())
    compiled = jax.jit(jax.grad(function, argnums=tuple(range(len(given)))) if backward else function)
    return all(bool(np.isfinite(leaf).all()) for leaf in jax.tree_util.tree_leaves(compiled(*given)))
