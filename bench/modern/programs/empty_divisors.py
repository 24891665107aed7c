"""Divisions by what can be 0: a deviation of one value, a count of nothing, a sum of what vanished."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..case import Case, Input


class Advantages(nn.Module):
    """M25: the deviation of one advantage is 0 / 0, and the epsilon comes after."""

    def forward(self, a: Tensor) -> Tensor:
        return (a - a.mean()) / (a.std() + 1e-8)


class AdvantagesSafe(nn.Module):
    """Repaired: the deviation of the batch as it is, which exists for one advantage, too."""

    def forward(self, a: Tensor) -> Tensor:
        return (a - a.mean()) / (a.std(correction=0) + 1e-8)


class GroupRewards(nn.Module):
    """M26: statistics of a group over the rewards that could be scored."""

    def forward(self, r: Tensor, scored: Tensor) -> Tensor:
        kept = scored.float()
        count = kept.sum(1, keepdim=True)
        mean = (r * kept).sum(1, keepdim=True) / count
        spread = torch.sqrt((((r - mean) * kept) ** 2).sum(1, keepdim=True) / (count - 1))
        return (r - mean) / (spread + 1e-4)


class GroupRewardsSafe(nn.Module):
    """Repaired: no count is below 1."""

    def forward(self, r: Tensor, scored: Tensor) -> Tensor:
        kept = scored.float()
        count = kept.sum(1, keepdim=True)
        mean = (r * kept).sum(1, keepdim=True) / torch.clip(count, min=1.0)
        squares = (((r - mean) * kept) ** 2).sum(1, keepdim=True)
        spread = torch.sqrt(squares / torch.clip(count - 1, min=1.0))
        return (r - mean) / (spread + 1e-4)


class IgnoredLabels(nn.Module):
    """M27: the mean over the labels that count, of which there may be none."""

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(logits, labels, ignore_index=-100)


class IgnoredLabelsSafe(nn.Module):
    """Repaired: the sum, divided by at least 1."""

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        total = F.cross_entropy(logits, labels, ignore_index=-100, reduction="sum")
        return total / torch.clip((labels != -100).sum(), min=1)


class Contrastive(nn.Module):
    """M29: an anchor whose class appears once has no positives to average over."""

    def forward(self, features: Tensor, same: Tensor) -> Tensor:
        logp = F.log_softmax(features @ features.t() / 0.1, 1)
        positives = same.float() * (1 - torch.eye(6))
        return -((positives * logp).sum(1) / positives.sum(1)).mean()


class ContrastiveSafe(nn.Module):
    """Repaired: a count below 1e-6 becomes 1."""

    def forward(self, features: Tensor, same: Tensor) -> Tensor:
        logp = F.log_softmax(features @ features.t() / 0.1, 1)
        positives = same.float() * (1 - torch.eye(6))
        count = positives.sum(1)
        return -((positives * logp).sum(1) / torch.where(count < 1e-6, 1.0, count)).mean()


class MinSnr(nn.Module):
    """M35: the weight of a timestep whose signal is gone."""

    def forward(self, kept: Tensor) -> Tensor:
        snr = kept / (1 - kept)
        return torch.clip(snr, max=5.0) / snr


class MinSnrSafe(nn.Module):
    """Repaired: as for predictions of the velocity."""

    def forward(self, kept: Tensor) -> Tensor:
        snr = kept / (1 - kept)
        return torch.clip(snr, max=5.0) / (snr + 1)


class Router(nn.Module):
    """M36: shares of the chosen experts, whose sigmoids may all have vanished."""

    def forward(self, logits: Tensor) -> Tensor:
        shares = torch.topk(torch.sigmoid(logits), 4).values
        return shares / shares.sum(-1, keepdim=True)


class RouterSafe(nn.Module):
    """Repaired: in float32, and 1e-20 is added to the sum."""

    def forward(self, logits: Tensor) -> Tensor:
        shares = torch.topk(torch.sigmoid(logits.float()), 4).values
        return shares / (shares.sum(-1, keepdim=True) + 1e-20)


class AspectRatio(nn.Module):
    """M47: boxes that are padding have no height."""

    def forward(self, w1: Tensor, h1: Tensor, w2: Tensor, h2: Tensor) -> Tensor:
        return 4 / math.pi**2 * (torch.atan(w1 / h1) - torch.atan(w2 / h2)) ** 2


class AspectRatioSafe(nn.Module):
    """Repaired: 1e-6 is added to heights."""

    def forward(self, w1: Tensor, h1: Tensor, w2: Tensor, h2: Tensor) -> Tensor:
        return 4 / math.pi**2 * (torch.atan(w1 / (h1 + 1e-6)) - torch.atan(w2 / (h2 + 1e-6))) ** 2


class SigmoidAttention(nn.Module):
    """M48: attention by sigmoids, normalised by a sum that can vanish."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        shares = torch.sigmoid(q @ k.t())
        return (shares @ v) / shares.sum(1, keepdim=True)


class SigmoidAttentionSafe(nn.Module):
    """Repaired: an epsilon in the divisor."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        shares = torch.sigmoid(q @ k.t())
        return (shares @ v) / (shares.sum(1, keepdim=True) + 1e-6)


class GumbelSoftmax(nn.Module):
    """M93: a temperature of 0, which the documentation allows."""

    def forward(self, logits: Tensor, noise: Tensor, tau: Tensor) -> Tensor:
        return torch.softmax((logits + noise) / tau, -1)


class GumbelSoftmaxSafe(nn.Module):
    """Repaired: no temperature is below 0.001."""

    def forward(self, logits: Tensor, noise: Tensor, tau: Tensor) -> Tensor:
        return torch.softmax((logits + noise) / torch.clip(tau, min=1e-3), -1)


SIZES = tuple(Input(name, (8,), (0.0, 416.0)) for name in ("w1", "h1", "w2", "h2"))
CASES = (
    Case(
        id="M25", title="normalised advantages of one sample", source="DLR-RM/stable-baselines3#325", framework="PyTorch",
        defective=Advantages, repaired=AdvantagesSafe, repair="the deviation that exists for one sample, too",
        inputs=(Input("a", (64,), (-10.0, 10.0)),), codes=("NP103", "NP114", "NP213"),
        trigger={"a": [1.5]}, dynamic=("a:0=N",), dims={"N": (1, 2048)},
    ),
    Case(
        id="M26", title="statistics of a group with one reward", source="huggingface/trl PR 5773", framework="PyTorch",
        defective=GroupRewards, repaired=GroupRewardsSafe, repair="no count is below 1",
        inputs=(Input("r", (4, 8), (-5.0, 5.0)), Input("scored", (4, 8), (0.0, 1.0), "bool")), codes=("NP103",),
        trigger={"scored": [[True] + [False] * 7] * 4},
    ),
    Case(
        id="M27", title="cross entropy with every label ignored", source="pytorch/pytorch#116349", framework="PyTorch",
        defective=IgnoredLabels, repaired=IgnoredLabelsSafe, repair="the sum, divided by at least 1",
        inputs=(Input("logits", (6, 10), (-20.0, 20.0)), Input("labels", (6,), (-100.0, 9.0), "int64", (0.0, 9.0))), codes=("NP113", "NP103"),
        trigger={"labels": -100}, notes="A label of -100 is ignored.",
    ),
    Case(
        id="M29", title="contrastive loss of an anchor without positives", source="HobbitLong/SupContrast#141",
        framework="PyTorch", defective=Contrastive, repaired=ContrastiveSafe, repair="a count below 1e-6 becomes 1",
        inputs=(Input("features", (6, 16), (-1.0, 1.0)), Input("same", (6, 6), (0.0, 1.0), "bool")), codes=("NP103",),
        trigger={"same": False},
    ),
    Case(
        id="M35", title="weight of a timestep without signal", source="huggingface/diffusers PR 5238", framework="PyTorch",
        defective=MinSnr, repaired=MinSnrSafe, repair="the divisor is snr + 1",
        inputs=(Input("kept", (8,), (0.0, 0.9999)),), codes=("NP103",), trigger={"kept": 0.0},
    ),
    Case(
        id="M36", title="shares of experts whose sigmoids vanish", source="flashinfer-ai/flashinfer PR 3803", framework="CUDA",
        defective=Router, repaired=RouterSafe, repair="float32, and 1e-20 in the sum",
        inputs=(Input("logits", (4, 16), (-200.0, 200.0), "bfloat16"),), codes=("NP103",), trigger={"logits": -150.0},
    ),
    Case(
        id="M47", title="aspect ratio of boxes that are padding", source="pythonlessons/TensorFlow-2.x-YOLOv3#144",
        framework="TensorFlow", defective=AspectRatio, repaired=AspectRatioSafe, repair="1e-6 is added to heights",
        inputs=SIZES, codes=("NP103",), trigger={"w1": 0.0, "h1": 0.0},
    ),
    Case(
        id="M48", title="normaliser of sigmoid attention", source="qitianwu/DIFFormer#3", framework="PyTorch",
        defective=SigmoidAttention, repaired=SigmoidAttentionSafe, repair="an epsilon in the normaliser",
        inputs=tuple(Input(name, (6, 16), (-5.0, 5.0)) for name in "qkv"), codes=("NP103",), trigger={"q": -5.0, "k": 5.0},
    ),
    Case(
        id="M93", title="temperature of 0", source="pytorch/pytorch#184031", framework="PyTorch",
        defective=GumbelSoftmax, repaired=GumbelSoftmaxSafe, repair="no temperature is below 0.001",
        inputs=(Input("logits", (4, 10), (-20.0, 20.0)), Input("noise", (4, 10), (-3.0, 20.0)), Input("tau", (1,), (0.0, 5.0))),
        codes=("NP103",), trigger={"tau": 0.0},
    ),
)  # fmt: skip
