"""Roots, powers and logarithms outside of their domain, variances that round below 0, and guards that go wrong."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from ..case import Case, Input


class Correlation(nn.Module):
    """M49: a guard that calls small but healthy data degenerate, and gives NaN."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        dx, dy = x - x.mean(), y - y.mean()
        vx, vy = (dx * dx).mean(), (dy * dy).mean()
        eps = torch.finfo(torch.float32).eps
        r = (dx * dy).mean() / torch.sqrt(torch.clip(vx, min=eps) * torch.clip(vy, min=eps))
        return torch.where((vx < eps) | (vy < eps), torch.nan, r)


class CorrelationSafe(nn.Module):
    """Repaired: data are scaled first, and what is constant correlates with nothing."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        dx, dy = x - x.mean(), y - y.mean()
        dx, dy = (d / torch.clip(d.abs().max(), min=1e-30) for d in (dx, dy))
        return (dx * dy).mean() / torch.sqrt(torch.clip((dx * dx).mean() * (dy * dy).mean(), min=1e-6))


class LogVarianceRoot(nn.Module):
    """M97: the root of a logarithm that is negative."""

    def forward(self, beta: Tensor) -> Tensor:
        return torch.sqrt(torch.log(beta))


class LogVarianceHalf(nn.Module):
    """Repaired: the exponential of half the logarithm."""

    def forward(self, beta: Tensor) -> Tensor:
        return torch.exp(0.5 * torch.log(beta))


WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


class Similarity(nn.Module):
    """M99: fractional powers of similarities, which are negative for opposite images."""

    def forward(self, similarities: Tensor) -> Tensor:
        return torch.pow(similarities, torch.tensor(WEIGHTS)).prod(-1)


class SimilaritySafe(nn.Module):
    """Repaired: clipped at 0 first."""

    def forward(self, similarities: Tensor) -> Tensor:
        return torch.pow(torch.relu(similarities), torch.tensor(WEIGHTS)).prod(-1)


class TruncatedNormal(nn.Module):
    """M100: uniform numbers in bfloat16 reach -1, whose inverse error function is -Inf; a clip hides it."""

    def forward(self, u: Tensor) -> Tensor:
        return torch.clip(0.02 * math.sqrt(2) * _erfinv(u.float()), -2.0, 2.0)


class TruncatedNormalSafe(nn.Module):
    """Repaired: drawn strictly inside."""

    def forward(self, u: Tensor) -> Tensor:
        inside = torch.clip(u.float(), -0.9999999, 0.9999999)
        return torch.clip(0.02 * math.sqrt(2) * _erfinv(inside), -2.0, 2.0)


def _erfinv(u: Tensor) -> Tensor:
    """Giles' approximation in its simplest form (one coefficient a branch): what matters is log(1 - u^2)."""
    w = -torch.log((1 - u) * (1 + u))
    return u * torch.where(
        w < 5, 1.5014 + 0.2466 * (w - 2.5), 2.8330 + 1.0017 * (torch.sqrt(torch.clip(w, min=5.0)) - 3.0)
    )


class Remainder(nn.Module):
    """M106: the least integer modulo -1 traps in the processor."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return torch.fmod(a, b)


class RemainderSafe(nn.Module):
    """Repaired: the remainder by -1 is 0 without a division."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return torch.where(b == -1, 0, torch.fmod(a, torch.where(b == -1, -2, b)))


CASES = (
    Case(
        id="M49", title="guard of a correlation", source="Lightning-AI/torchmetrics#3150", framework="PyTorch",
        defective=Correlation, repaired=CorrelationSafe, repair="data are scaled first",
        inputs=(Input("x", (16,), (-1.0, 1.0)), Input("y", (16,), (-1.0, 1.0))), codes=("NP215",),
        trigger={"x": [5e-5 * i for i in range(16)], "y": [5e-5 * i for i in range(16)]},
    ),
    Case(
        id="M97", title="root of a log variance", source="huggingface/diffusers#14569", framework="PyTorch",
        defective=LogVarianceRoot, repaired=LogVarianceHalf, repair="the exponential of half the logarithm",
        inputs=(Input("beta", (8,), (1e-4, 0.02)),), codes=("NP102",), trigger={},
    ),
    Case(
        id="M99", title="fractional power of a similarity", source="keras-team/keras PR 23138", framework="Keras",
        defective=Similarity, repaired=SimilaritySafe, repair="clipped at 0 first",
        inputs=(Input("similarities", (4, 5), (-1.0, 1.0)),), codes=("NP106",), trigger={"similarities": -0.5},
    ),
    Case(
        id="M100", title="truncated normal start in bfloat16", source="pytorch/torchtitan#2269", framework="PyTorch",
        defective=TruncatedNormal, repaired=TruncatedNormalSafe, repair="drawn strictly inside",
        inputs=(Input("u", (64,), (-1.0, 1.0), "bfloat16"),), codes=("NP101",), masked=True,
        notes="Written out, since ONNX has no inverse error function; the clip hides the infinity.",
    ),
    Case(
        id="M106", title="least integer modulo -1", source="pytorch/pytorch#165649", framework="PyTorch",
        defective=Remainder, repaired=RemainderSafe, repair="no remainder by -1",
        inputs=(Input("a", (8,), (-(2.0**63), 2.0**63 - 1024), "int64"), Input("b", (8,), (-5.0, -1.0), "int64")),
        codes=("NP118", "NP105", "NP2"), notes="Running it ends the process.",
    ),
)  # fmt: skip
