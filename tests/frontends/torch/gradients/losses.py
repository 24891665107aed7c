"""Losses of torch.nn, and edges at which a gradient is NaN or Inf."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from .case import Case, at, loss, normal, uniform, whole


def _signs() -> Tensor:
    return torch.tensor([1.0, -1.0, 1.0, -1.0])


def _counts() -> Tensor:
    return torch.tensor([[1.0, 0.0, 3.0], [2.0, 5.0, 1.0]])


def _some_ignored() -> Tensor:
    return torch.tensor([0, -100, 2, 1, -100])


def _paths() -> Tensor:
    return torch.tensor([[1, 2, 1], [2, 2, 1]])


def _ctc(outputs: Tensor, targets: Tensor) -> Tensor:
    lengths = torch.tensor([6, 6]), torch.tensor([3, 3])
    return F.ctc_loss(outputs.log_softmax(-1), targets, *lengths)


LOSSES: tuple[Case, ...] = (
    loss("mse", F.mse_loss, normal(5, 3), normal(5, 3)),
    loss("l1", F.l1_loss, normal(5, 3), normal(5, 3)),
    loss("smooth l1", F.smooth_l1_loss, normal(5, 3), normal(5, 3)),
    loss("huber", F.huber_loss, normal(5, 3), normal(5, 3)),
    loss("cross entropy", F.cross_entropy, normal(5, 3), whole(3, 5)),
    loss("cross entropy, some ignored", F.cross_entropy, normal(5, 3), _some_ignored),
    loss("cross entropy, smoothed", lambda p, t: F.cross_entropy(p, t, label_smoothing=0.1), normal(5, 3), whole(3, 5)),
    loss("cross entropy, weighted", lambda p, t: F.cross_entropy(p, t, torch.tensor([1.0, 2.0, 0.5])), normal(5, 3), whole(3, 5)),
    loss("cross entropy of images", F.cross_entropy, normal(2, 3, 4, 4), whole(3, 2, 4, 4)),
    loss("cross entropy of shares", F.cross_entropy, normal(5, 3), lambda: torch.rand(5, 3).softmax(-1)),
    loss("negative log likelihood", lambda p, t: F.nll_loss(p.log_softmax(-1), t), normal(5, 3), whole(3, 5)),
    loss("binary cross entropy", F.binary_cross_entropy, uniform(5, 3), uniform(5, 3)),
    loss("binary cross entropy with logits", F.binary_cross_entropy_with_logits, normal(5, 3), uniform(5, 3)),
    loss("Kullback-Leibler", lambda p, t: F.kl_div(p.log_softmax(-1), t, reduction="batchmean"), normal(5, 3), uniform(5, 3)),
    loss("Poisson", F.poisson_nll_loss, normal(2, 3), _counts),
    loss("hinge embedding", F.hinge_embedding_loss, normal(4), _signs),
    loss("margin ranking", F.margin_ranking_loss, normal(4), normal(4), _signs),
    loss("soft margin", F.soft_margin_loss, normal(4), _signs),
    loss("multi margin", F.multi_margin_loss, normal(5, 3), whole(3, 5)),
    loss("multilabel soft margin", F.multilabel_soft_margin_loss, normal(5, 3), lambda: torch.randint(0, 2, (5, 3)).float()),
    loss("triplet margin", F.triplet_margin_loss, normal(5, 3), normal(5, 3), normal(5, 3)),
    loss("cosine embedding", F.cosine_embedding_loss, normal(4, 3), normal(4, 3), _signs),
    loss("Gaussian negative log likelihood", lambda p, t: F.gaussian_nll_loss(p, t, torch.ones_like(p) * 0.5), normal(5, 3), normal(5, 3), unsupported="number"),
    loss("CTC", _ctc, normal(6, 2, 4), _paths, unsupported="ctc"),
)  # fmt: skip
EDGES: tuple[Case, ...] = (
    at("sqrt at 0", torch.sqrt, 0.0, 1.0),
    at("where around sqrt", lambda x: torch.where(x > 0, torch.sqrt(x), 0.0), 0.0, 4.0, -1.0),
    at("where twice around sqrt", lambda x: torch.where(x > 0, torch.sqrt(torch.where(x > 0, x, 1.0)), 0.0), 0.0, 4.0, -1.0),
    at("where around log", lambda x: torch.where(x > 0, torch.log(x), 0.0), 0.0, 4.0, -1.0),
    at("where around exp", lambda x: torch.where(x <= 0, torch.exp(x), 1 + x), 100.0, -1.0),
    at("clamp inside sqrt", lambda x: x.clamp(min=1e-12).sqrt(), 0.0, 4.0),
    at("clamp after exp", lambda x: torch.exp(x).clamp(max=1e4), 100.0, 1.0),
    at("norm at 0", lambda x: x.norm()[None], 0.0, 0.0),
    at("norm 3 at 0", lambda x: x.norm(p=3)[None], 0.0, 0.0),
    at("normalize at 0", lambda x: F.normalize(x, dim=0), 0.0, 0.0),
    at("sqrt of a sum of squares at 0", lambda x: (x * x).sum().sqrt()[None], 0.0, 0.0),
    at("acos at 1", torch.acos, 1.0, 0.5),
    at("acos after clamp", lambda x: x.clamp(-1.0, 1.0).acos(), 2.0, 1.0, 0.5),
    at("asin at -1", torch.asin, -1.0, 0.5),
    at("pow 0.5 at 0", lambda x: x**0.5, 0.0, 4.0),
    at("pow 2 at 0", lambda x: x**2, 0.0, 4.0),
    at("pow of a variable exponent at 0", lambda x: x ** (x + 1.5), 0.0, 4.0),
    at("atan2 at the origin", lambda x: torch.atan2(x, x.flip(0)), 0.0, 0.0),
    at("cdist of equal points", lambda x: torch.cdist(x[:, None], x[:, None]), 1.0, 1.0, 2.0),
    at("std of equal values", lambda x: x.std()[None], 1.0, 1.0),
    at("log of a clamped value", lambda x: x.clamp(min=1e-8).log(), 0.0, 1.0),
    at("x log x at 0", lambda x: x * x.log(), 0.0, 1.0),
    at("xlogy at 0", lambda x: torch.xlogy(x, x), 0.0, 1.0),
    at("0 / 0 behind where", lambda x: torch.where(x == 0, torch.ones_like(x), torch.sin(x) / x), 0.0, 1.0),
    at("log of nan_to_num", lambda x: torch.nan_to_num(x.log(), 0.0, 0.0, 0.0), 0.0, 1.0),
    at("logsumexp of -inf", lambda x: torch.logsumexp(torch.stack((x - torch.inf, x - torch.inf)), 0), 0.0, 1.0),
    at("prod with a 0", lambda x: x.prod()[None], 0.0, 2.0, 3.0),
)  # fmt: skip
CASES = (*LOSSES, *EDGES)
