"""Two more MNIST classifiers: 12 (a perceptron under skorch) and 14 (LeNet-5)."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..blocks import truncated, zeros
from ..case import PIXEL, Case, Input, Training, pm, safe
from ..known import LOG_P, SOFTMAX, spread


class Perceptron(nn.Module):
    """784 - 98 - 10; the wrapper takes the logarithm of the module's softmax. Dropout is left out, as when it is evaluated."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.output = nn.Linear(784, 98), nn.Linear(98, 10)

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        p = torch.softmax(self.output(torch.relu(self.hidden(x))), 1)  # site: softmax
        logs = torch.log(p)  # site: log p
        return F.nll_loss(logs, t)  # site: nll


class PerceptronRepaired(Perceptron):
    """Repaired: float32's epsilon is added to p."""

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        p = torch.softmax(self.output(torch.relu(self.hidden(x))), 1)
        return F.nll_loss(torch.log(p + 1.1920929e-07), t)


class LeNet(nn.Module):
    """Three convolutions of 5x5 on digits padded to 32x32, 84 units, ten classes; the cross entropy summed."""

    def __init__(self) -> None:
        super().__init__()
        self.W1, self.b1 = truncated(0.1, 6, 1, 5, 5), zeros(6)
        self.W3, self.b3 = truncated(0.1, 16, 6, 5, 5), zeros(16)
        self.W5, self.b5 = truncated(0.1, 120, 16, 5, 5), zeros(120)
        self.W6, self.b6 = truncated(0.1, 120, 84), zeros(84)
        self.W7, self.b7 = truncated(0.1, 84, 10), zeros(10)

    def logits(self, x: Tensor) -> Tensor:
        first = F.max_pool2d(torch.relu(F.conv2d(x.permute(0, 3, 1, 2), self.W1, self.b1)), 2)
        second = F.max_pool2d(torch.relu(F.conv2d(first, self.W3, self.b3)), 2)
        third = torch.relu(F.conv2d(second, self.W5, self.b5)).flatten(1)
        return torch.relu(third @ self.W6 + self.b6) @ self.W7 + self.b7

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        p = torch.softmax(self.logits(x), 1)  # site: softmax
        return -(y * torch.log(p)).sum()  # site: log p


class LeNetRepaired(LeNet):
    """Repaired: the cross entropy of the logits as one operation."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return -(y * F.log_softmax(self.logits(x), 1)).sum()


def unlucky(module: Any, batch: dict[str, Any]) -> None:
    """White images, of which the true class is all but ruled out."""
    with torch.no_grad():
        module.hidden.weight.fill_(0.1)
        module.output.weight[0], module.output.weight[1:] = -0.3, 0.3
    batch["x"].fill_(1.0)
    batch["t"].fill_(0)


CASES = (
    Case(
        id="12",
        title="perceptron trained through skorch",
        module=Perceptron,
        repaired=PerceptronRepaired,
        repair="upstream's: float32's epsilon is added to p inside the logarithm",
        inputs=(Input("x", (4, 784), PIXEL), Input("t", (4,), (0.0, 9.0), "index")),
        weights={
            "hidden.weight": pm(0.1071), "hidden.bias": (-0.1043, 0.1033),
            "output.weight": pm(0.3029), "output.bias": (-0.1436, 0.1972),
        },
        defect=(LOG_P,),
        others=(SOFTMAX, safe("nll", "NegativeLogLikelihoodLoss", "the batch isn't empty and no label is ignored")),
        training=Training("sgd", 0.1, 128),
        trigger=unlucky,
        notes="The loss shows only the share of the true class; any other that is 0 gives a NaN gradient.",
    ),
    Case(
        id="14",
        title="LeNet-5",
        module=LeNet,
        repaired=LeNetRepaired,
        repair="an alternative that the program has in a comment: the cross entropy of the logits",
        inputs=(Input("x", (2, 32, 32, 1), PIXEL), Input("y", (2, 10), PIXEL, "one-hot")),
        weights={
            "W1": (-0.59, 0.595), "W3": (-0.592, 0.596), "W5": pm(0.6), "W6": pm(0.599), "W7": (-0.591, 0.592),
        },
        defect=(LOG_P,),
        others=(SOFTMAX,),
        training=Training("sgd", 0.001, 64),
        trigger=spread(last="W7:0.5", constants={"W1": 0.2, "W3": 0.2, "W5": 0.2, "W6": 0.2}, x=1.0),
        debar=True,
    ),
)  # fmt: skip
