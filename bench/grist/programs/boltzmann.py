"""Restricted Boltzmann machines, trained by one step of contrastive divergence: 22, 51, 62 and 63."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..blocks import normal, zeros
from ..case import PIXEL, ZERO_START, Case, Input, Site, Span, Training, safe


class FreeEnergy(nn.Module):
    """Minus log(1 + exp(.)) of every hidden unit and the bias of what is visible, averaged over the batch."""

    def forward(self, v: Tensor, weight: Tensor, v_bias: Tensor, h_bias: Tensor) -> Tensor:
        activations = F.linear(v, weight, h_bias)
        grown = torch.exp(activations)  # site: exp
        hidden = torch.log(1 + grown).sum(1)  # site: log 1+exp
        return (-hidden - v @ v_bias).mean()


class StableEnergy(nn.Module):
    """Repaired: softplus, which doesn't form the exponential of a large number."""

    def forward(self, v: Tensor, weight: Tensor, v_bias: Tensor, h_bias: Tensor) -> Tensor:
        hidden = F.softplus(F.linear(v, weight, h_bias)).sum(1)
        return (-hidden - v @ v_bias).mean()


class Boltzmann(nn.Module):
    """784 visible and 500 hidden units. The uniform numbers that samples are drawn by are inputs."""

    def __init__(self, energy: type[nn.Module]) -> None:
        super().__init__()
        self.W, self.v_bias, self.h_bias = normal(0.01, 500, 784), zeros(784), zeros(500)
        self.energy = energy()

    def forward(self, v: Tensor, u_h: Tensor, u_v: Tensor) -> Tensor:
        h = torch.relu(torch.sign(torch.sigmoid(F.linear(v, self.W, self.h_bias)) - u_h))
        again = torch.relu(torch.sign(torch.sigmoid(F.linear(h, self.W.t(), self.v_bias)) - u_v))
        seen = self.energy(v, self.W, self.v_bias, self.h_bias)
        return seen - self.energy(again.detach(), self.W, self.v_bias, self.h_bias)


class Machine(Boltzmann):
    """As the programs have it."""

    def __init__(self) -> None:
        super().__init__(FreeEnergy)


class StableMachine(Boltzmann):
    """Repaired."""

    def __init__(self) -> None:
        super().__init__(StableEnergy)


def bright(module: Any, batch: dict[str, Any]) -> None:
    """White images and weights near their upper ends: sums of more than 88.72."""
    with torch.no_grad():
        module.W.fill_(0.13)
        module.h_bias.fill_(10.0)
    batch["v"].fill_(1.0)


def program(name: str, title: str, weight: Span, training: Training, notes: str = "") -> Case:
    """One of the programs."""
    return Case(
        id=name,
        title=title,
        module=Machine,
        repaired=StableMachine,
        repair="ours: softplus; an issue upstream proposes to bound the exponent",
        inputs=(
            Input("v", (4, 784), PIXEL),
            Input("u_h", (4, 500), PIXEL, "uniform"),
            Input("u_v", (4, 784), PIXEL, "uniform"),
        ),
        weights={"W": weight, "v_bias": ZERO_START, "h_bias": ZERO_START},
        defect=(Site("exp", "Exp", why="the exponential overflows above 88.72; both energies have one"),),
        others=(safe("log 1+exp", "Log", "its operand is at least 1"),),
        training=training,
        trigger=bright,
        notes=notes,
    )


CASES = (
    program("22", "contrastive divergence on binary digits", (-0.1385, 0.1407), Training("sgd", 0.1, 64)),
    program("51", "machine on binary digits", (-0.13976, 0.13577), Training("sgd", 0.1, 64)),
    program("62", "machine on Fashion-MNIST", (-0.14161, 0.13407), Training("adam", 0.005, 64)),
    program("63", "machine on grey digits", (-0.1368, 0.1356), Training("adam", 0.005, 64)),
)
