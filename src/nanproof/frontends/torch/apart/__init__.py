"""How operators are taken apart that torch doesn't take apart for ONNX, or not so that gradients come out right.

Each function computes what torch's own kernel computes, at singular points too: a difference would be a finding about
nothing. The comparison of gradients in the tests holds all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nanproof.frontends.torch.joint import stock


def decompositions() -> dict[Any, Callable[..., Any]]:
    """By operator: torch's own decompositions where its ONNX translation gives results that gradients can't use, and ours."""
    from nanproof.frontends.torch.apart import bags, convolution, distances, pooling, remaining

    return {
        **_kept_apart(),
        **bags.table(),
        **convolution.table(),
        **distances.table(),
        **pooling.table(),
        **remaining.table(),
    }


def _kept_apart() -> dict[Any, Callable[..., Any]]:
    """Operators whose further results (saved means, counts) their ONNX translation doesn't give as torch does."""
    import torch

    aten = torch.ops.aten
    return stock(
        [
            aten.native_batch_norm.default,
            aten._native_batch_norm_legit.default,
            aten._native_batch_norm_legit.no_stats,
            aten._native_batch_norm_legit_functional.default,
            aten.nll_loss_forward.default,
            aten.nll_loss2d_forward.default,
        ]
    )
