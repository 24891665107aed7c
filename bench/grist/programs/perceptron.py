"""48a and 61: one hidden layer of 300 units on MNIST, with dropout."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..blocks import Dropout, truncated, zeros
from ..case import KEPT, PIXEL, ZERO_START, Case, Input, Span, Training, pm
from ..known import DROPOUT, LOG_P, SOFTMAX, spread


class Perceptron(nn.Module):
    """784 - 300 - 10, the loss summed."""

    def __init__(self) -> None:
        super().__init__()
        self.dropout = Dropout()
        self.W1, self.b1 = truncated(0.1, 784, 300), zeros(300)
        self.W2, self.b2 = zeros(300, 10), zeros(10)

    def forward(self, x: Tensor, y: Tensor, keep_prob: Tensor) -> Tensor:
        hidden = self.dropout(torch.relu(x @ self.W1 + self.b1), keep_prob)
        p = torch.softmax(hidden @ self.W2 + self.b2, 1)  # site: softmax
        return -(y * torch.log(p)).sum()  # site: log p


class Clipped(Perceptron):
    """Repaired: p is at least 1e-10."""

    def forward(self, x: Tensor, y: Tensor, keep_prob: Tensor) -> Tensor:
        hidden = self.dropout(torch.relu(x @ self.W1 + self.b1), keep_prob)
        p = torch.softmax(hidden @ self.W2 + self.b2, 1)
        return -(y * torch.log(torch.clip(p, 1e-10, 1.0))).sum()


class Noisy(Perceptron):
    """With a little noise on the image, the same for the whole batch, and the loss averaged."""

    def forward(self, x: Tensor, y: Tensor, keep_prob: Tensor) -> Tensor:
        seen = x + 0.01 * torch.randn(784)
        hidden = self.dropout(torch.relu(seen @ self.W1 + self.b1), keep_prob)
        p = torch.softmax(hidden @ self.W2 + self.b2, 1)  # site: softmax
        return -(y * torch.log(p)).sum(1).mean()  # site: log p


class NoisyClipped(Perceptron):
    """Repaired: p is at least 1e-10."""

    def forward(self, x: Tensor, y: Tensor, keep_prob: Tensor) -> Tensor:
        seen = x + 0.01 * torch.randn(784)
        hidden = self.dropout(torch.relu(seen @ self.W1 + self.b1), keep_prob)
        p = torch.softmax(hidden @ self.W2 + self.b2, 1)
        return -(y * torch.log(torch.clip(p, 1e-10, 1.0))).sum(1).mean()


def program(
    name: str, title: str, forms: tuple[type[Perceptron], type[Perceptron]], kept: Span, training: Training
) -> Case:
    """One of the two."""
    return Case(
        id=name,
        title=f"perceptron with dropout, {title}",
        module=forms[0],
        repaired=forms[1],
        repair="ours: p is clipped to [1e-10, 1] before the logarithm",
        inputs=(
            Input("x", (4, 784), PIXEL),
            Input("y", (4, 10), PIXEL, "one-hot"),
            Input("keep_prob", (), kept, "keep_prob", KEPT),
        ),
        weights={"W1": pm(0.59997), "W2": ZERO_START},
        defect=(LOG_P,),
        others=(SOFTMAX, DROPOUT),
        training=training,
        trigger=spread(last="W2:10.0", constants={"W1": 0.2}, x=1.0),
        debar=True,
    )


START = {"initial_accumulator_value": 0.1}
CASES = (
    program("48a", "noise and a mean loss", (Noisy, NoisyClipped), (0.75, 1.0), Training("adagrad", 0.3, 100, START)),
    program("61", "summed loss", (Perceptron, Clipped), (1.0, 1.0), Training("adagrad", 0.01, 128, START)),
)
