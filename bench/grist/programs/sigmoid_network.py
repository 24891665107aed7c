"""9a and 9b: one hidden layer of sigmoids, sigmoid outputs, and a binary cross entropy by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ..blocks import zeros
from ..case import PIXEL, Case, Input, Site, Span, Training


class SigmoidNetwork(nn.Module):
    """784 - 512 - 10 without biases, every output for itself."""

    def __init__(self) -> None:
        super().__init__()
        self.W1, self.W2 = zeros(784, 512), zeros(512, 10)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        hidden = torch.sigmoid(x @ self.W1)
        p = torch.sigmoid(hidden @ self.W2)
        hit = -y * torch.log(p)  # site: log p
        miss = (1 - y) * torch.log(1 - p)  # site: log 1-p
        return (hit - miss).sum(1).mean()


class Clipped(SigmoidNetwork):
    """Repaired: both logarithms see at least 1e-10."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        hidden = torch.sigmoid(x @ self.W1)
        p = torch.sigmoid(hidden @ self.W2)
        hit = -y * torch.log(torch.clip(p, 1e-10, 1.0))
        miss = (1 - y) * torch.log(torch.clip(1 - p, 1e-10, 1.0))
        return (hit - miss).sum(1).mean()


LOG_P = Site("log p", "Log", why="the sigmoid is exactly 0 below about -88.7")
LOG_REST = Site("log 1-p", "Log", why="the sigmoid rounds to 1 above about 16.6")


def saturate(module: Any, batch: dict[str, Any]) -> None:
    """Half of the outputs far below 0, the others far above."""
    with torch.no_grad():
        module.W1.fill_(1.0)
        module.W2[:, ::2], module.W2[:, 1::2] = -1.0, 1.0
    batch["x"].fill_(1.0)


def program(name: str, defect: Site, other: Site, weights: dict[str, Span]) -> Case:
    """The one program, once for each of its two defects."""
    return Case(
        id=name,
        title="sigmoid network with a binary cross entropy by hand",
        module=SigmoidNetwork,
        repaired=Clipped,
        repair="the developers': p and 1 - p are clipped to [1e-10, 1]",
        inputs=(Input("x", (4, 784), PIXEL), Input("y", (4, 10), PIXEL, "one-hot")),
        weights=weights,
        defect=(defect,),
        others=(other,),
        training=Training("sgd", 0.5, 100),
        trigger=saturate,
        debar=True,
        notes="RANUM's ranges are those of weights drawn anew from a standard normal; the program starts at 0.",
    )


CASES = (
    program("9a", LOG_REST, LOG_P, {"W1": (-13.66, 13.76), "W2": (-10.49, 10.16)}),
    program("9b", LOG_P, LOG_REST, {"W1": (-13.16, 13.4), "W2": (-9.92, 10.15)}),
)
