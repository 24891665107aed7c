"""2a and 2b: softmax regression whose loss is a binary cross entropy of every class by itself."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..blocks import zeros
from ..case import PIXEL, Case, Input, Site, Span, Training
from ..known import LOG_P, SOFTMAX, spread


class ElementwiseEntropy(nn.Module):
    """Softmax over ten classes, then log(p) and log(1 - p), with nothing to keep them from 0."""

    def __init__(self) -> None:
        super().__init__()
        self.W, self.b = zeros(784, 10), zeros(10)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        p = torch.softmax(x @ self.W + self.b, 1)  # site: softmax
        hit = y * torch.log(p)  # site: log p
        miss = (1 - y) * torch.log(1 - p)  # site: log 1-p
        return -(hit + miss).mean()


class Clipped(ElementwiseEntropy):
    """Repaired: both logarithms see at least 1e-10."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        p = torch.softmax(x @ self.W + self.b, 1)
        hit = y * torch.log(torch.clip(p, 1e-10, 1.0))
        miss = (1 - y) * torch.log(torch.clip(1 - p, 1e-10, 1.0))
        return -(hit + miss).mean()


LOG_REST = Site("log 1-p", "Log", why="p rounds to 1 once its logit leads by about 16.6")


def program(name: str, defect: Site, other: Site, weights: dict[str, Span]) -> Case:
    """The one program, once for each of its two defects."""
    return Case(
        id=name,
        title="softmax regression with an element-wise binary cross entropy",
        module=ElementwiseEntropy,
        repaired=Clipped,
        repair="ours: p and 1 - p are clipped to [1e-10, 1]; an open issue proposes to clip the logits",
        inputs=(Input("x", (4, 784), PIXEL), Input("y", (4, 10), PIXEL, "one-hot")),
        weights=weights,
        defect=(defect,),
        others=(other, SOFTMAX),
        training=Training("adam", 0.01, 10),
        trigger=spread(last="W:1.0", x=1.0),
        debar=True,
        notes="RANUM's ranges are those of weights drawn anew from a standard normal.",
    )


CASES = (
    program("2a", LOG_P, LOG_REST, {"W": (-12.37, 12.69), "b": (-4.13, 4.99)}),
    program("2b", LOG_REST, LOG_P, {"W": (-12.01, 11.91), "b": (-3.6, 3.2)}),
)
