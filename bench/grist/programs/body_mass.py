"""40, 41 and 42: softmax regression from weight and height to thin, normal or fat. The three differ in logging only."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..blocks import zeros
from ..case import PIXEL, ZERO_START, Case, Input, Site, Training
from ..known import SOFTMAX, spread


class BodyMass(nn.Module):
    """Two features, three classes, the cross entropy summed."""

    def __init__(self) -> None:
        super().__init__()
        self.W, self.b = zeros(2, 3), zeros(3)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        p = torch.softmax(x @ self.W + self.b, 1)  # site: softmax
        return -(y * torch.log(p)).sum()  # site: log p


class Clipped(BodyMass):
    """Repaired: p is at least 1e-10."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        p = torch.softmax(x @ self.W + self.b, 1)
        return -(y * torch.log(torch.clip(p, 1e-10, 1.0))).sum()


def program(name: str, title: str) -> Case:
    """One of the three."""
    return Case(
        id=name,
        title=f"body-mass regression, {title}",
        module=BodyMass,
        repaired=Clipped,
        repair="ours: p is clipped to [1e-10, 1] before the logarithm",
        inputs=(Input("x", (4, 2), (0.35, 1.0), "features"), Input("y", (4, 3), PIXEL, "one-hot")),
        weights={"W": ZERO_START},
        defect=(
            Site(
                "log p", "Log", ("ranum",), why="real people with weights of at most 10 give logits that differ by 56"
            ),
        ),
        others=(SOFTMAX,),
        training=Training("sgd", 0.01, 100),
        trigger=spread(last="W:10.0", x=50.0),
        trigger_in="ranum",
        notes="Ordinary training gets there in nine minutes, with weights above 16.",
    )


CASES = (program("40", "plain"), program("41", "with a summary writer"), program("42", "with named scopes"))
