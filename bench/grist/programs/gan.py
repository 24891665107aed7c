"""31: a generative adversarial network of fully connected layers on MNIST."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from ..blocks import Dropout, truncated, zeros
from ..case import KEPT, Case, Input, Site, Training, pm, safe
from ..known import DROPOUT

GENERATOR = (100, 256, 512, 1024, 784)
DISCRIMINATOR = (784, 1024, 512, 256, 1)


def layers(sizes: Sequence[int]) -> tuple[nn.ParameterList, nn.ParameterList]:
    """Weights and biases."""
    return (
        nn.ParameterList([truncated(0.02, rows, columns) for rows, columns in pairwise(sizes)]),
        nn.ParameterList([zeros(columns) for columns in sizes[1:]]),
    )


class Adversarial(nn.Module):
    """The losses of the discriminator and of the generator. One logarithm lacks the epsilon that the others have."""

    def __init__(self) -> None:
        super().__init__()
        self.g_weights, self.g_biases = layers(GENERATOR)
        self.d_weights, self.d_biases = layers(DISCRIMINATOR)
        self.dropout = Dropout()

    def generate(self, z: Tensor) -> Tensor:
        for weight, bias in zip(list(self.g_weights)[:-1], list(self.g_biases)[:-1], strict=True):
            z = torch.relu(z @ weight + bias)
        return torch.tanh(z @ self.g_weights[-1] + self.g_biases[-1])

    def judge(self, image: Tensor, keep_prob: Tensor) -> Tensor:
        for weight, bias in zip(list(self.d_weights)[:-1], list(self.d_biases)[:-1], strict=True):
            image = self.dropout(torch.relu(image @ weight + bias), keep_prob)
        return torch.sigmoid(image @ self.d_weights[-1] + self.d_biases[-1])

    def forward(self, x: Tensor, z: Tensor, keep_prob: Tensor) -> tuple[Tensor, Tensor]:
        real, made = self.judge(x, keep_prob), self.judge(self.generate(z), keep_prob)
        known = torch.log(real)  # site: log real
        caught = torch.log(1 - made + 1e-8)  # site: log 1-made
        passed = torch.log(made + 1e-8)  # site: log made
        return -(known + caught).mean(), -passed.mean()


class Repaired(Adversarial):
    """Repaired: the epsilon everywhere."""

    def forward(self, x: Tensor, z: Tensor, keep_prob: Tensor) -> tuple[Tensor, Tensor]:
        real, made = self.judge(x, keep_prob), self.judge(self.generate(z), keep_prob)
        known = torch.log(real + 1e-2)
        caught = torch.log(1 - made + 1e-2)
        passed = torch.log(made + 1e-2)
        return -(known + caught).mean(), -passed.mean()


def doubt(module: Any, batch: dict[str, Any]) -> None:
    """White images that the discriminator holds for made up, without any doubt."""
    with torch.no_grad():
        for weight in module.d_weights:
            weight.fill_(0.11)
        module.d_weights[-1].fill_(-0.11)
    batch["x"].fill_(1.0)


CASES = (
    Case(
        id="31",
        title="adversarial network of fully connected layers",
        module=Adversarial,
        repaired=Repaired,
        repair="an alternative that the program has in a comment: 1e-2 is added inside every logarithm",
        inputs=(
            Input("x", (4, 784), pm(1.0)),
            Input("z", (4, 100), pm(5.0), "noise"),
            Input("keep_prob", (), (0.3, 0.3), "keep_prob", KEPT),
        ),
        weights={
            **{f"{part}_weights.{place}": pm(0.12) for part in "gd" for place in range(4)},
            "d_weights.3": (-0.118, 0.116),
        },
        defect=(Site("log real", "Log", why="the sigmoid is exactly 0 below about -88.7, and no epsilon is added"),),
        others=(
            safe("log 1-made", "Log", "1 - made is at least 0, and 1e-8 is added to the difference"),
            safe("log made", "Log", "its operand is at least 1e-8"),
            DROPOUT,
        ),
        training=Training("adam", 0.0002, 100),
        trigger=doubt,
        debar=True,
        notes="Each loss trains its own half, in turn; only the discriminator's is watched. The first output is its loss.",
    ),
)
