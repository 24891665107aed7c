"""TensorFuzz's network with a softmax that is unstable on purpose, and its fork: 11a-c and 16a-c.

In each variant all but one of the risky operations are guarded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..blocks import uniform, zeros
from ..case import PIXEL, Case, Input, Site, Training, pm, safe


class Network(nn.Module):
    """784 - 200 - 100 - 10 with ReLU: the logits."""

    def __init__(self) -> None:
        super().__init__()
        self.W1, self.b1 = uniform(-0.25, 0.25, 784, 200), zeros(200)
        self.W2, self.b2 = uniform(-0.25, 0.25, 200, 100), zeros(100)
        self.W3, self.b3 = uniform(-0.25, 0.25, 100, 10), zeros(10)

    def logits(self, x: Tensor) -> Tensor:
        first = torch.relu(x.flatten(1) @ self.W1 + self.b1)
        second = torch.relu(first @ self.W2 + self.b2)
        return second @ self.W3 + self.b3


class Division(Network):
    """11a: the numerator is clipped, the divisor isn't and can be 0."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        logits = self.logits(x)
        top = torch.exp(torch.clip(logits, -87.0, 87.0))  # site: exp clipped
        total = torch.exp(logits).sum(1, keepdim=True)  # site: exp
        p = top / total  # site: div
        return -(y * torch.log(p + 1e-7)).sum(1).mean()  # site: log


class Exponential(Network):
    """11b: the exponential of the divisor overflows; the loss itself stays finite."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        logits = self.logits(x)
        top = torch.exp(torch.clip(logits, -87.0, 87.0))  # site: exp clipped
        total = torch.exp(logits).sum(1, keepdim=True)  # site: exp
        p = top / total  # site: div
        return -(y * torch.log(torch.clip(p, 1e-6, 1.0))).sum(1).mean()  # site: log


class Logarithm(Network):
    """11c: nothing is guarded, as upstream has it."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        grown = torch.exp(self.logits(x))  # site: exp
        p = grown / grown.sum(1, keepdim=True)  # site: div
        return -(y * torch.log(p)).sum(1).mean()  # site: log


class ForkExponential(Network):
    """16a: as 11b, with the absolute value of p."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        logits = self.logits(x)
        top = torch.exp(torch.clip(logits, -87.0, 87.0))  # site: exp clipped
        total = torch.exp(logits).sum(1, keepdim=True)  # site: exp
        p = top / total  # site: div
        return -(y * torch.log(torch.clip(torch.abs(p), 1e-6, 1.0))).sum(1).mean()  # site: log


class ForkLogarithm(Network):
    """16b: logits are clipped between the least of the batch and 87."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        logits = self.logits(x)
        grown = torch.exp(torch.maximum(torch.clip(logits, max=87.0), logits.min()))  # site: exp capped
        p = grown / grown.sum(1, keepdim=True)  # site: div; sum
        return -(y * torch.log(torch.abs(p))).sum(1).mean()  # site: log


class ForkDivision(Network):
    """16c: as 16b, with an epsilon inside the logarithm."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        logits = self.logits(x)
        grown = torch.exp(torch.maximum(torch.clip(logits, max=87.0), logits.min()))  # site: exp capped
        p = grown / grown.sum(1, keepdim=True)  # site: div; sum
        return -(y * torch.log(torch.abs(p) + 1e-6)).sum(1).mean()  # site: log


class Repaired(Network):
    """Repaired: the framework's own logarithm of the softmax."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return -(y * F.log_softmax(self.logits(x), 1)).sum(1).mean()


def low(module: Any, batch: dict[str, Any]) -> None:
    """All logits far below 0: every exponential is 0."""
    _fill(module, batch, -0.25, -0.25)


def high(module: Any, batch: dict[str, Any]) -> None:
    """All logits far above 0."""
    _fill(module, batch, 0.25, 0.25)


def far(module: Any, batch: dict[str, Any]) -> None:
    """One logit far below the others, which stay small."""
    _fill(module, batch, 0.25, 0.0)
    with torch.no_grad():
        module.W3[:, 0] = -0.25


def _fill(module: Any, batch: dict[str, Any], inner: float, last: float) -> None:
    with torch.no_grad():
        module.W1.fill_(abs(inner))
        module.W2.fill_(abs(inner))
        module.W3.fill_(last)
    batch["x"].fill_(1.0)


EXP = Site("exp", "Exp", why="overflows above 88.72")
DIV = Site("div", "Div", why="0 / 0 once all logits of a row are below about -104")
LOG = Site("log", "Log", why="a share is 0 once its logit is about 104 below the others")
CAPPED = Site("exp capped", "Exp", why="overflows only where the least logit of the batch is above 88.72")
SUM = Site("sum", "ReduceSum", why="six exponentials of 87 are more than the largest float32")
CLIPPED = safe("exp clipped", "Exp", "its operand is at most 87")
GUARDED = safe("log", "Log", "its operand is at least 1e-7 unless the division failed")


def program(
    name: str,
    module: Callable[[], Any],
    defect: Site,
    others: tuple[Site, ...],
    *,
    last: float,
    trigger: Callable[[Any, dict[str, Any]], None],
) -> Case:
    """One variant; ``last`` is the bound of the last layer in RANUM."""
    return Case(
        id=name,
        title=f"{'fork of ' if name.startswith('16') else ''}TensorFuzz's network, {defect.mark} variant",
        module=module,
        repaired=Repaired,
        repair="ours: the framework's logarithm of the softmax; upstream is unstable on purpose",
        inputs=(Input("x", (4, 28, 28, 1), pm(1.0)), Input("y", (4, 10), PIXEL, "one-hot")),
        weights={"W1": pm(0.75), "W2": pm(0.75), "W3": pm(last)},
        defect=(defect,),
        others=others,
        training=Training("sgd", 0.01, 100),
        trigger=trigger,
        debar=True,
    )


CASES = (
    program("11a", Division, DIV, (EXP, CLIPPED, GUARDED), last=0.75, trigger=low),
    program("11b", Exponential, EXP, (DIV, CLIPPED, GUARDED), last=0.749, trigger=high),
    program("11c", Logarithm, LOG, (EXP, DIV), last=0.748, trigger=far),
    program("16a", ForkExponential, EXP, (DIV, CLIPPED, GUARDED), last=0.749, trigger=high),
    program("16b", ForkLogarithm, LOG, (CAPPED, DIV, SUM), last=0.748, trigger=far),
    program("16c", ForkDivision, DIV, (CAPPED, SUM, GUARDED), last=0.746, trigger=low),
)
