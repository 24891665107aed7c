"""Lecture snippets on the cost of a softmax. Without a model: 23, 27, 46, 57. On eight samples: 32, 34, 47, 54."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..blocks import zeros
from ..case import PIXEL, ZERO_START, Case, Input, Site, Training
from ..known import LOG_P, SOFTMAX, spread


class Cost(nn.Module):
    """Three rows of five random scores, labels as class numbers, the mean of the cross entropies."""

    def forward(self, z: Tensor, t: Tensor) -> Tensor:
        p = torch.softmax(z, 1)  # site: softmax
        hot = torch.zeros(3, 5).scatter(1, t.unsqueeze(1), 1.0)
        return (hot * -torch.log(p)).sum(1).mean()  # site: log p


class CostRepaired(nn.Module):
    """Repaired: the logarithm of the softmax as one operation."""

    def forward(self, z: Tensor, t: Tensor) -> Tensor:
        hot = torch.zeros(3, 5).scatter(1, t.unsqueeze(1), 1.0)
        return (hot * -F.log_softmax(z, 1)).sum(1).mean()


class Samples(nn.Module):
    """Four features, three classes, labels as class numbers."""

    def __init__(self, biases: int, *, mean: bool) -> None:
        super().__init__()
        self.W, self.b, self.mean = zeros(4, 3), zeros(biases), mean

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        p = torch.softmax(x @ self.W + self.b, 1)  # site: softmax
        hot = torch.zeros(8, 3).scatter(1, t.unsqueeze(1), 1.0)
        terms = hot * -torch.log(p)  # site: log p
        return terms.sum(1).mean() if self.mean else terms.sum()


class SamplesRepaired(Samples):
    """Repaired: the logarithm of the softmax as one operation."""

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        hot = torch.zeros(8, 3).scatter(1, t.unsqueeze(1), 1.0)
        terms = hot * -F.log_softmax(x @ self.W + self.b, 1)
        return terms.sum(1).mean() if self.mean else terms.sum()


class OneHot(nn.Module):
    """The same with labels that are one-hot from the start."""

    def __init__(self) -> None:
        super().__init__()
        self.W, self.b = zeros(4, 3), zeros(1, 3)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        p = torch.softmax(x @ self.W + self.b, 1)  # site: softmax
        return -(y * torch.log(p)).sum(1).mean()  # site: log p


class OneHotRepaired(OneHot):
    """Repaired: the logarithm of the softmax as one operation."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return -(y * F.log_softmax(x @ self.W + self.b, 1)).sum(1).mean()


ROWS = ((1, 2, 1, 1), (2, 1, 3, 2), (3, 1, 3, 4), (4, 1, 5, 5), (1, 7, 5, 5), (1, 2, 5, 6), (1, 6, 6, 6), (1, 7, 7, 7))
CLASSES = (2, 2, 2, 1, 1, 1, 0, 0)
X = Input("x", (8, 4), (1.0, 7.0), "features", values=ROWS)
OURS = "ours: the logarithm of the softmax as one operation"


def snippet(name: str, labels: tuple[int, ...] | None, notes: str = "") -> Case:
    """A snippet without a model; RANUM freezes the ``labels`` of some."""
    return Case(
        id=name,
        title="cost of a softmax of random scores",
        module=Cost,
        repaired=CostRepaired,
        repair=OURS,
        inputs=(Input("z", (3, 5), PIXEL, "features"), Input("t", (3,), (0.0, 4.0), "index", values=labels)),
        defect=(Site("log p", "Log", (), why="scores that differ by at most 100 keep every share above 0"),),
        others=(SOFTMAX,),
        reachable={"z": (-60.0, 60.0)},
        notes=f"There is nothing to train; fails only with scores beyond [-51.9, 51.9]. {notes}".strip(),
    )


def samples(name: str, title: str, biases: int, *, mean: bool) -> Case:
    """A regression on the eight samples."""
    return Case(
        id=name,
        title=f"softmax regression on eight samples, {title}",
        module=partial(Samples, biases, mean=mean),
        repaired=partial(SamplesRepaired, biases, mean=mean),
        repair=OURS,
        inputs=(X, Input("t", (8,), (0.0, 2.0), "index", values=CLASSES)),
        weights={"W": ZERO_START, "b": ZERO_START},
        defect=(LOG_P,),
        others=(SOFTMAX,),
        training=Training("sgd", 0.1, 8),
        trigger=wide,
    )


def wide(module: Any, _batch: dict[str, Any]) -> None:
    """Weights that set the samples' own logits far apart."""
    with torch.no_grad():
        module.W[:, 0], module.W[:, 1] = -10.0, 10.0


CASES = (
    snippet("23", (3, 1, 4)),
    snippet("27", (3, 1, 2)),
    samples("32", "loss summed", 1, mean=False),
    samples("34", "loss averaged", 1, mean=True),
    snippet("46", (2, 1, 0)),
    samples("47", "a bias for each class", 3, mean=True),
    Case(
        id="54",
        title="softmax regression on eight samples, one-hot labels and Adam",
        module=OneHot,
        repaired=OneHotRepaired,
        repair=OURS,
        inputs=(
            X,
            Input("y", (8, 3), PIXEL, "one-hot", values=tuple(tuple(float(i == c) for i in range(3)) for c in CLASSES)),
        ),
        weights={"W": ZERO_START, "b": ZERO_START},
        defect=(LOG_P,),
        others=(SOFTMAX,),
        training=Training("adam", 0.1, 8),
        trigger=spread(last="W:10.0"),
    ),
    snippet("57", None, "RANUM keeps the labels as an input."),
)
