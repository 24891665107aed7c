"""Programs that tests open by name: what fails in them is known."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Classifier(nn.Module):
    """A softmax, then its logarithm."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.example_inputs = (torch.rand(2, 4), torch.eye(3)[:2])

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        p = torch.softmax(self.layer(x), -1)
        return -(y * torch.log(p)).sum()


class Mended(Classifier):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return -(y * functional.log_softmax(self.layer(x), -1)).sum()


class Inside(nn.Module):
    """The infinity is cut off before it reaches the output."""

    example_inputs = (torch.rand(3),)

    def forward(self, x: Tensor) -> Tensor:
        return torch.log(x).clamp(min=-100.0)


class MendedInside(Inside):
    def forward(self, x: Tensor) -> Tensor:
        return torch.log(x.clamp(min=1e-6))


class OnlyExported(nn.Module):
    """The exporter writes log(sigmoid(x)), which the exported form can't stand; PyTorch's own function can."""

    example_inputs = (torch.rand(3),)

    def forward(self, x: Tensor) -> Tensor:
        return functional.logsigmoid(x)


def factory() -> Classifier:
    return Classifier()
