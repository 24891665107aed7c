"""Finite forward, NaN or Inf backward: where traps, roots at 0, arc cosines at their edge, equal singular values."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..case import Case, Input


class PiecewiseTrap(nn.Module):
    """M01: the branch that isn't chosen overflows, and its derivative is 0 times infinity."""

    def forward(self, a: Tensor) -> Tensor:
        return torch.where(a <= 0, torch.exp(a), 1 + a).sum()


class PiecewiseSafe(nn.Module):
    """Repaired: the exponential sees a harmless number where it isn't chosen."""

    def forward(self, a: Tensor) -> Tensor:
        low = a <= 0
        return torch.where(low, torch.exp(torch.where(low, a, 0.0)), 1 + a).sum()


class DistanceTrap(nn.Module):
    """M03: log(0) forward, which nan_to_num repairs forward only."""

    def forward(self, x: Tensor) -> Tensor:
        near = F.conv2d(x, torch.ones(1, 1, 3, 3), padding=1)
        return torch.nan_to_num(-0.35 * torch.log(near), 0.0, 0.0, 0.0).sum()


class DistanceSafe(nn.Module):
    """Repaired: places without neighbours are chosen first, and log sees 1 there."""

    def forward(self, x: Tensor) -> Tensor:
        near = F.conv2d(x, torch.ones(1, 1, 3, 3), padding=1)
        some = near > 0
        return torch.where(some, -0.35 * torch.log(torch.where(some, near, 1.0)), 0.0).sum()


def _edges(image: Tensor) -> Tensor:
    across = torch.tensor([[1.0, 0.0, -1.0]] * 3)
    kernels = torch.stack((across, across.t())).unsqueeze(1)
    return (F.conv2d(image, kernels) ** 2).sum(1)


class GradientMagnitude(nn.Module):
    """M16: the edges of a constant image are 0."""

    def forward(self, image: Tensor) -> Tensor:
        return torch.sqrt(_edges(image)).mean()


class GradientMagnitudeSafe(nn.Module):
    """Repaired: a small number inside the root."""

    def forward(self, image: Tensor) -> Tensor:
        return torch.sqrt(_edges(image) + 1e-6).mean()


class PowerSpectrum(nn.Module):
    """M17: a root that is squared again, of a bin that can be empty."""

    def forward(self, re: Tensor, im: Tensor) -> Tensor:
        return ((torch.sqrt(re**2 + im**2) / 256) ** 2).sum()


class PowerSpectrumSafe(nn.Module):
    """Repaired: without the root."""

    def forward(self, re: Tensor, im: Tensor) -> Tensor:
        return ((re**2 + im**2) / 256**2).sum()


class SteepLayers(nn.Module):
    """M80: activations stay below 1 while eight slopes of 3 multiply on the way back, on top of a loss scale, in float16."""

    def forward(self, z: Tensor) -> Tensor:
        weight = 3 * torch.eye(16, dtype=z.dtype)
        for _ in range(8):
            z = torch.tanh(z @ weight)
        return z.float().sum() * 65536.0


class SteepLayersSafe(nn.Module):
    """Repaired: in float32, and the gradient of that."""

    def forward(self, z: Tensor) -> Tensor:
        weight = 3 * torch.eye(16)
        z = z.float()
        for _ in range(8):
            z = torch.tanh(z @ weight)
        return z.sum()


CASES = (
    Case(
        id="M01", title="where around an exponential", source="pytorch/pytorch#68425", framework="PyTorch",
        defective=PiecewiseTrap, repaired=PiecewiseSafe, repair="a second where feeds the branch a harmless constant",
        inputs=(Input("a", (8,), (-100.0, 100.0)),), codes=("NP3", "NP201", "NP213"), trigger={"a": 100.0}, phase="gradient",
    ),
    Case(
        id="M03", title="log(0) repaired by nan_to_num", source="kornia/kornia#4183", framework="PyTorch",
        defective=DistanceTrap, repaired=DistanceSafe, repair="log of 1 where there is no neighbour",
        inputs=(Input("x", (1, 1, 16, 16), (0.0, 1.0)),), codes=("NP3", "NP101", "NP103", "NP104", "NP213"), trigger={"x": 0.0},
        phase="gradient",
    ),
    Case(
        id="M16", title="edge map of a constant image", source="photosynthesis-team/piq#308", framework="PyTorch",
        defective=GradientMagnitude, repaired=GradientMagnitudeSafe, repair="a small number inside the root",
        inputs=(Input("image", (1, 1, 9, 9), (0.0, 1.0)),), codes=("NP3", "NP103", "NP104"), trigger={"image": 0.0},
        phase="gradient",
    ),
    Case(
        id="M17", title="power of a spectrum by way of its magnitude", source="Trusted-AI/adversarial-robustness-toolbox#1658",
        framework="PyTorch", defective=PowerSpectrum, repaired=PowerSpectrumSafe, repair="without the root",
        inputs=(Input("re", (33,), (-50.0, 50.0)), Input("im", (33,), (-50.0, 50.0))), codes=("NP3", "NP103", "NP104"),
        trigger={"re": 0.0, "im": 0.0}, phase="gradient",
    ),
    Case(
        id="M80", title="gradient overflow while activations are small", source="unslothai/unsloth-zoo PR 866", framework="PyTorch",
        defective=SteepLayers, repaired=SteepLayersSafe, repair="float32 without a loss scale",
        inputs=(Input("z", (4, 16), (-0.01, 0.01), "float16"),), codes=("NP2", "NP3"), trigger={"z": 1e-6},
        phase="gradient",
    ),
)  # fmt: skip
