"""Optimisers and their helpers, each as the graph of one update."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..case import Case, Input


class Rescaled(nn.Module):
    """M38: an update is brought back to its norm, which can be 0."""

    def forward(self, u: Tensor) -> Tensor:
        v = u / (torch.sqrt((u * u).mean(1, keepdim=True)) + 1e-8)
        return v * (torch.linalg.norm(u) / torch.linalg.norm(v))


class RescaledSafe(nn.Module):
    """Repaired: the new norm is at least 1e-8."""

    def forward(self, u: Tensor) -> Tensor:
        v = u / (torch.sqrt((u * u).mean(1, keepdim=True)) + 1e-8)
        return v * (torch.linalg.norm(u) / torch.clip(torch.linalg.norm(v), min=1e-8))


class LossScale(nn.Module):
    """M82: the scale is halved on every overflow, without an end; gradients are divided by it."""

    def forward(self, g: Tensor, scale: Tensor, overflow: Tensor) -> Tensor:
        return g * (1 / torch.where(overflow, scale * 0.5, scale))


class LossScaleSafe(nn.Module):
    """Repaired: a least scale."""

    def forward(self, g: Tensor, scale: Tensor, overflow: Tensor) -> Tensor:
        return g * (1 / torch.clip(torch.where(overflow, scale * 0.5, scale), min=1.0))


class GradientNorm(nn.Module):
    """M105: the squares of large gradients overflow, though their norm doesn't, and the update is all 0."""

    def forward(self, g: Tensor) -> Tensor:
        return g * (1.0 / (torch.sqrt((g * g).sum()) + 1e-6))


class GradientNormSafe(nn.Module):
    """Repaired: scaled by the largest one first."""

    def forward(self, g: Tensor) -> Tensor:
        scaled = g / torch.clip(g.abs().max(), min=1e-12)
        return scaled * (1.0 / (torch.sqrt((scaled * scaled).sum()) + 1e-6))


CASES = (
    Case(
        id="M38", title="update brought back to its norm", source="microsoft/dion PR 24", framework="PyTorch",
        defective=Rescaled, repaired=RescaledSafe, repair="the new norm is at least 1e-8",
        inputs=(Input("u", (8, 16), (-1.0, 1.0)),), codes=("NP103",), trigger={"u": 0.0},
    ),
    Case(
        id="M82", title="loss scale that decays to 0", source="Junjue-Wang/FactSeg#6", framework="PyTorch",
        defective=LossScale, repaired=LossScaleSafe, repair="a least scale of 1",
        inputs=(Input("g", (8,), (-100.0, 100.0)), Input("scale", (1,), (1e-45, 65536.0)),
                Input("overflow", (1,), (0.0, 1.0), "bool")),
        codes=("NP103", "NP104", "NP205"), trigger={"scale": 1e-45, "overflow": True},
        notes="One step of the loop, after any number of earlier ones.",
    ),
    Case(
        id="M105", title="norm of large gradients", source="ray-project/ray PR 45055", framework="PyTorch",
        defective=GradientNorm, repaired=GradientNormSafe, repair="scaled by the largest one first",
        inputs=(Input("g", (128,), (-1e19, 1e19)),), codes=("NP204", "NP202", "NP207"), masked=True,
        notes="The infinity ends in 1 / inf: the update is all 0.",
    ),
)  # fmt: skip
