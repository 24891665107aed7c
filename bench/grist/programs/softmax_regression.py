"""MNIST softmax regression, the tutorial of 2016, with its cross entropy by hand. Fourteen programs differ in little."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..blocks import constant, truncated, uniform, zeros
from ..case import ANY, PIXEL, ZERO_START, Case, Input, Span, Training, pm
from ..known import LOG_P, SOFTMAX, spread

Start = tuple[Callable[[], nn.Parameter], Callable[[], nn.Parameter]]


class SoftmaxRegression(nn.Module):
    """One linear layer, softmax, and the logarithm of what comes out. The loss is summed, or averaged over the batch."""

    def __init__(self, start: Start, *, mean: bool) -> None:
        super().__init__()
        self.W, self.b, self.mean = start[0](), start[1](), mean

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        p = torch.softmax(x @ self.W + self.b, 1)  # site: softmax
        terms = y * torch.log(p)  # site: log p
        return -terms.sum(1).mean() if self.mean else -terms.sum()


class Clipped(SoftmaxRegression):
    """Repaired: p is at least 1e-10."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        p = torch.softmax(x @ self.W + self.b, 1)
        terms = y * torch.log(torch.clip(p, 1e-10, 1.0))
        return -terms.sum(1).mean() if self.mean else -terms.sum()


class Fused(SoftmaxRegression):
    """Repaired: the logarithm of the softmax as one operation."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        terms = y * F.log_softmax(x @ self.W + self.b, 1)
        return -terms.sum(1).mean() if self.mean else -terms.sum()


class Rectified(SoftmaxRegression):
    """A layer helper puts a ReLU behind the softmax, too: no effect on values."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        p = torch.softmax(x @ self.W + self.b, 1)  # site: softmax
        terms = y * torch.log(torch.relu(p))  # site: log p
        return -terms.sum(1).mean()


class Discarded(SoftmaxRegression):
    """The author clips p and throws the result away."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        p = torch.softmax(x @ self.W + self.b, 1)  # site: softmax
        torch.clip(p, 1e-15, 1.0)
        terms = y * torch.log(p)  # site: log p
        return -terms.sum(1).mean()


class Kept(SoftmaxRegression):
    """Repaired: the result of that clip is used."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        p = torch.clip(torch.softmax(x @ self.W + self.b, 1), 1e-15, 1.0)
        terms = y * torch.log(p)
        return -terms.sum(1).mean()


ZEROS: Start = (partial(zeros, 784, 10), partial(zeros, 10))
SMALL: Start = (partial(truncated, 0.1, 784, 10), partial(constant, 0.1, 10))
WIDE: Start = (partial(uniform, -1.0, 1.0, 784, 10), partial(zeros, 10))
OURS = "ours: p is clipped to [1e-10, 1] before the logarithm"


def program(
    name: str,
    title: str,
    step: float,
    *,
    mean: bool,
    batch: int = 100,
    optimizer: str = "sgd",
    start: Start = ZEROS,
    weights: dict[str, Span] | None = None,
    module: type[SoftmaxRegression] = SoftmaxRegression,
    repaired: type[SoftmaxRegression] = Clipped,
    repair: str = OURS,
    notes: str = "",
) -> Case:
    """One of the programs. The batch of the module is 4; the one that training uses is ``batch``."""
    ranges = weights or {"W": ZERO_START}
    return Case(
        id=name,
        title=title,
        module=partial(module, start, mean=mean),
        repaired=partial(repaired, start, mean=mean),
        repair=repair,
        inputs=(Input("x", (4, 784), PIXEL), Input("y", (4, 10), PIXEL, "one-hot")),
        weights=ranges,
        defect=(LOG_P,),
        others=(SOFTMAX,),
        training=Training(optimizer, step, batch),  # type: ignore[arg-type]
        trigger=spread(last=f"W:{min(1.0, -ranges['W'][0])}", x=1.0),
        debar=True,
        notes=notes,
    )


CASES = (
    program("3", "tutorial from an earlier bug study", 0.005, mean=False, optimizer="adam",
            weights={"W": (-1.0, 2.0), "b": (-0.83, 1.9)},
            repair="proposed upstream, not merged: p is clipped to [1e-10, 1] before the logarithm"),
    program("10", "beginner tutorial, a question about its odd batch size", 0.005, mean=False, batch=205,
            notes="The developers only lowered the learning rate, which keeps the defect."),
    program("18", "regression with logging to TensorBoard", 0.5, mean=True, batch=50, start=SMALL,
            weights={"W": pm(0.599), "b": ANY}),
    program("19", "a redundant ReLU behind the softmax", 0.2, mean=True, batch=50, module=Rectified),
    program("20", "tutorial, newer copy", 0.01, mean=True,
            repair="proposed upstream, not merged: p is clipped to [1e-10, 1] before the logarithm"),
    program("21", "official beginner example", 0.01, mean=False, repaired=Fused,
            repair="ours: the logarithm of the softmax as one operation"),
    program("25", "beginner tutorial, mean loss and a large step", 0.6, mean=True,
            weights={"W": (-0.131, 0.153), "b": (-0.108, 0.09)}),
    program("30", "lecture notes", 0.01, mean=False, notes="The same settings as 21."),
    program("45a", "digit classification, step 0.5, batch 50", 0.5, mean=True, batch=50),
    program("48b", "digit classification, step 0.5, batch 100", 0.5, mean=True),
    program("50", "one layer, step 0.05", 0.05, mean=True),
    program("52", "a mean around a loss that is already one number", 0.005, mean=False,
            notes="The mean of one number changes nothing and is left out."),
    program("59", "uniform start and a clip without effect", 0.01, mean=True, start=WIDE,
            weights={"W": (-2.99974, 2.99961)}, module=Discarded, repaired=Kept,
            repair="what the author meant: the clip to [1e-15, 1] is used",
            notes="The program updates W and b by hand with a summed gradient; the step here is the mean's."),
    program("60", "regression that saves and reloads its model", 0.01, mean=False),
)  # fmt: skip
