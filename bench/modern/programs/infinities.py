"""Infinities that meet: Inf - Inf, 0 x Inf, masks that leave nothing, logarithms of schedules that end with 0."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..case import Case, Input

LEAST = -torch.inf


class Divergence(nn.Module):
    """M07: the exponential of a difference of log probabilities."""

    def forward(self, r: Tensor, p: Tensor) -> Tensor:
        return (torch.exp(r - p) - (r - p) - 1).mean()


class DivergenceSafe(nn.Module):
    """Repaired: the exponent is at most 20."""

    def forward(self, r: Tensor, p: Tensor) -> Tensor:
        apart = r - p
        return (torch.exp(torch.clip(apart, max=20.0)) - apart - 1).mean()


class PolicyRatio(nn.Module):
    """M08: an infinite ratio times an advantage of 0."""

    def forward(self, k: Tensor, a: Tensor) -> Tensor:
        ratio = torch.exp(-k)
        return -torch.minimum(ratio * a, torch.clip(ratio, 0.8, 1.2) * a).mean()


class PolicyRatioSafe(nn.Module):
    """Repaired: the exponent stays within 20."""

    def forward(self, k: Tensor, a: Tensor) -> Tensor:
        ratio = torch.exp(torch.clip(-k, -20.0, 20.0))
        return -torch.minimum(ratio * a, torch.clip(ratio, 0.8, 1.2) * a).mean()


class UncleanPadding(nn.Module):
    """M84: a key that is masked away, whose value was never set: 0 times NaN."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.full((8, 4), torch.nan))
        self.register_buffer("used", torch.arange(8) < 5)

    def forward(self, s: Tensor, v: Tensor) -> Tensor:
        values = torch.cat((v, self.cache[5:]))
        return torch.softmax(torch.where(self.used, s, LEAST), -1) @ values


class CleanPadding(UncleanPadding):
    """Repaired: values that are masked away are 0."""

    def forward(self, s: Tensor, v: Tensor) -> Tensor:
        values = torch.where(self.used[:, None], torch.cat((v, self.cache[5:])), 0.0)
        return torch.softmax(torch.where(self.used, s, LEAST), -1) @ values


class Window(nn.Module):
    """M85: a sliding window of 4 over 12 places of which only the first are real: late rows see nothing."""

    def allowed(self, real: Tensor) -> Tensor:
        places = torch.arange(12)
        back = places[:, None] - places[None, :]
        return (back >= 0) & (back < 4) & (places[None, :] < real)

    def forward(self, s: Tensor, real: Tensor) -> Tensor:
        return torch.softmax(torch.where(self.allowed(real), s, LEAST), -1)


class WindowSafe(Window):
    """Repaired: rows that see nothing see everything."""

    def forward(self, s: Tensor, real: Tensor) -> Tensor:
        allowed = self.allowed(real)
        open_rows = allowed | ~allowed.any(-1, keepdim=True)
        return torch.softmax(torch.where(open_rows, s, LEAST), -1)


class MergedStates(nn.Module):
    """M86: two attention states are merged; both may be empty."""

    def forward(self, x: Tensor, y: Tensor, no_x: Tensor, no_y: Tensor) -> Tensor:
        a, b = torch.where(no_x, LEAST, x), torch.where(no_y, LEAST, y)
        most = torch.maximum(a, b)
        return most + torch.log2(torch.exp2(a - most) + torch.exp2(b - most))


class MergedStatesSafe(nn.Module):
    """Repaired: the larger is at least -1e30, and 1e-10 is added to the sum."""

    def forward(self, x: Tensor, y: Tensor, no_x: Tensor, no_y: Tensor) -> Tensor:
        a, b = torch.where(no_x, LEAST, x), torch.where(no_y, LEAST, y)
        most = torch.clip(torch.maximum(a, b), min=-1e30)
        return most + torch.log2(torch.exp2(a - most) + torch.exp2(b - most) + 1e-10)


class Gumbel(nn.Module):
    """M92: noise from an exponential sample that can be exactly 0."""

    def forward(self, logits: Tensor, sample: Tensor) -> Tensor:
        return torch.softmax(logits - torch.log(sample), -1)


class GumbelSafe(nn.Module):
    """Repaired: the sampler leaves 0 out."""

    def forward(self, logits: Tensor, sample: Tensor) -> Tensor:
        return torch.softmax(logits - torch.log(torch.clip(sample, min=1.2e-38)), -1)


class SecondOrder(nn.Module):
    """M96: a solver's second-order step to a noise of 0: its logarithm is infinite, and a ratio of steps 0."""

    def forward(self, m0: Tensor, m1: Tensor, sigma: Tensor) -> Tensor:
        target = torch.log(torch.sqrt(1 - sigma**2)) - torch.log(sigma)
        ratio = 0.5 / (target - 1.0)
        return m0 + (m0 - m1) / ratio


class FirstOrder(nn.Module):
    """Repaired: the last step is of first order."""

    def forward(self, m0: Tensor, m1: Tensor, sigma: Tensor) -> Tensor:
        return m0 + sigma * (m0 - m1)


class LogInterpolation(nn.Module):
    """M98: a schedule that ends with 0, interpolated between logarithms."""

    def forward(self, s: Tensor) -> Tensor:
        whole = torch.cat((s, torch.zeros(1)))
        return torch.exp(torch.lerp(torch.log(whole), torch.log(torch.roll(whole, 1)), 0.5))


class GeometricMean(nn.Module):
    """Repaired: the geometric mean without logarithms."""

    def forward(self, s: Tensor) -> Tensor:
        whole = torch.cat((s, torch.zeros(1)))
        return torch.sqrt(whole * torch.roll(whole, 1))


LOGS = (-200.0, 0.0)
CASES = (
    Case(
        id="M07", title="divergence of two policies", source="huggingface/trl#3015", framework="PyTorch",
        defective=Divergence, repaired=DivergenceSafe, repair="the exponent is at most 20",
        inputs=(Input("r", (8,), LOGS), Input("p", (8,), LOGS)), codes=("NP201",), trigger={"r": 0.0, "p": -100.0},
    ),
    Case(
        id="M08", title="ratio of policies times an advantage of 0", source="radixark/miles PR 1363", framework="PyTorch",
        defective=PolicyRatio, repaired=PolicyRatioSafe, repair="the exponent stays within 20",
        inputs=(Input("k", (8,), (-200.0, 200.0)), Input("a", (8,), (-5.0, 5.0))), codes=("NP201", "NP213"),
        trigger={"k": -100.0, "a": 0.0},
    ),
    Case(
        id="M84", title="value of a masked key that was never set", source="pytorch/pytorch#101967", framework="PyTorch",
        defective=UncleanPadding, repaired=CleanPadding, repair="values that are masked away are 0",
        inputs=(Input("s", (3, 8), (-10.0, 10.0)), Input("v", (5, 4), (-1.0, 1.0))), codes=("NP215", "NP213"), trigger={},
    ),
    Case(
        id="M85", title="sliding window over padding alone", source="huggingface/transformers#45491", framework="PyTorch",
        defective=Window, repaired=WindowSafe, repair="rows that see nothing see everything",
        inputs=(Input("s", (12, 12), (-10.0, 10.0)), Input("real", (), (1.0, 12.0), "int64")), codes=("NP117",),
        trigger={"real": 3},
    ),
    Case(
        id="M86", title="two empty attention states", source="flashinfer-ai/flashinfer#4051", framework="CUDA",
        defective=MergedStates, repaired=MergedStatesSafe, repair="a floor of -1e30, and 1e-10 in the sum",
        inputs=(
            Input("x", (6,), (-50.0, 50.0)), Input("y", (6,), (-50.0, 50.0)),
            Input("no_x", (6,), (0.0, 1.0), "bool"), Input("no_y", (6,), (0.0, 1.0), "bool"),
        ),
        codes=("NP212",), trigger={"no_x": True, "no_y": True},
        notes="The repaired form gives a finite floor where both states are empty.",
    ),
    Case(
        id="M92", title="exponential sample of exactly 0", source="pytorch/pytorch#101620", framework="PyTorch",
        defective=Gumbel, repaired=GumbelSafe, repair="the sampler leaves 0 out",
        inputs=(Input("logits", (4, 6), (-20.0, 20.0)), Input("sample", (4, 6), (0.0, 100.0))), codes=("NP101",),
        trigger={"sample": 0.0},
    ),
    Case(
        id="M96", title="second-order step to a noise of 0", source="huggingface/diffusers#9007", framework="PyTorch",
        defective=SecondOrder, repaired=FirstOrder, repair="the last step is of first order",
        inputs=(Input("m0", (8,), (-5.0, 5.0)), Input("m1", (8,), (-5.0, 5.0)), Input("sigma", (1,), (0.0, 0.1))),
        codes=("NP101",), trigger={"sigma": 0.0},
    ),
    Case(
        id="M98", title="interpolated logarithms of a schedule that ends with 0", source="huggingface/diffusers PR 14374",
        framework="PyTorch", defective=LogInterpolation, repaired=GeometricMean, repair="the mean without logarithms",
        inputs=(Input("s", (3,), (0.1, 15.0)),), codes=("NP101", "NP212"), trigger={},
    ),
)  # fmt: skip
