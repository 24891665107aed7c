"""Logistic regressions on a handful of samples that stand in the program: 26, 33, 37, 38, 53 and 56."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..blocks import zeros
from ..case import ZERO_START, Case, Input, RangeSet, Site, Span, Training


class LogisticRegression(nn.Module):
    """Sigmoid of a weighted sum, and the binary cross entropy by hand, without an epsilon."""

    def __init__(self, *shapes: tuple[int, ...]) -> None:
        super().__init__()
        self.W, self.b = (zeros(*shape) for shape in shapes)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        h = torch.sigmoid(x @ self.W + self.b)
        hit = y * torch.log(h)  # site: log h
        miss = (1 - y) * torch.log(1 - h)  # site: log 1-h
        return -(hit + miss).mean()


class Repaired(LogisticRegression):
    """Repaired: the loss of the weighted sum itself."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(x @ self.W + self.b, y)


class LinearUnit(nn.Module):
    """The same from the framework's linear layer, with its own start."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 1)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        h = torch.sigmoid(self.linear(x))
        hit = y * torch.log(h)  # site: log h
        miss = (1 - y) * torch.log(1 - h)  # site: log 1-h
        return -(hit + miss).mean()


class RepairedUnit(LinearUnit):
    """Repaired: the loss of the weighted sum itself."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.linear(x), y)


STUDY = (
    Input("x", (6, 2), (1.0, 6.0), "features",
          values=((1.0, 2.0), (2.0, 3.0), (3.0, 1.0), (4.0, 3.0), (5.0, 3.0), (6.0, 2.0))),
    Input("y", (6, 1), (0.0, 1.0), "label", values=((0.0,), (0.0,), (0.0,), (1.0,), (1.0,), (1.0,))),
)  # fmt: skip
XOR = (
    Input("x", (4, 2), (0.0, 1.0), "features", values=((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0))),
    Input("y", (4, 1), (0.0, 1.0), "label", values=((0.0,), (1.0,), (1.0,), (0.0,))),
)
POINTS = (1.0, 2.0, 3.0, 4.0, 5.0, 2.5, 3.5, 0.0, 3.1, 2.7, 2.8, 2.9)
ABOVE = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0)
LINE = (
    Input("x", (12, 1), (0.0, 5.0), "features", values=tuple((v,) for v in POINTS)),
    Input("y", (12, 1), (0.0, 1.0), "label", values=tuple((v,) for v in ABOVE)),
)
UNIT = {"linear.weight": (-1.16999, 0.56619)}
"""RANUM keeps the bias at its start."""


def steep(module: Any, _batch: dict[str, Any]) -> None:
    """Weights that the samples themselves drive to both ends."""
    with torch.no_grad():
        module.W.fill_(10.0)
        module.b.fill_(10.0)


def far(_module: Any, batch: dict[str, Any]) -> None:
    """Samples at the ends of RANUM's range: no ordinary sample fails."""
    batch["x"].fill_(-50.0)
    batch["x"][::2] = 50.0


TWO, TWO_REPAIRED = partial(LogisticRegression, (2, 1), (1,)), partial(Repaired, (2, 1), (1,))


def program(
    name: str,
    title: str,
    step: float,
    inputs: tuple[Input, ...],
    *,
    module: Callable[[], Any] = TWO,
    repaired: Callable[[], Any] = TWO_REPAIRED,
    weights: dict[str, Span] | None = None,
    fails: tuple[tuple[RangeSet, ...], tuple[RangeSet, ...]] = (("ranum", "natural"), ("ranum", "natural")),
    notes: str = "",
) -> Case:
    """One of the programs; ``fails`` are the ranges in which log(h) and log(1 - h) can fail."""
    unit = module is LinearUnit
    return Case(
        id=name,
        title=title,
        module=module,
        repaired=repaired,
        repair="ours: the binary cross entropy of the weighted sum itself",
        inputs=inputs,
        weights=weights or {"W": ZERO_START, "b": ZERO_START},
        natural={"linear.bias": (-2.1213, 2.1213)} if unit else {},
        defect=(
            Site("log h", "Log", fails[0], why="the sigmoid is exactly 0 below about -88.7"),
            Site("log 1-h", "Log", fails[1], why="the sigmoid rounds to 1 above about 16.6"),
        ),
        training=Training("sgd", step, inputs[0].shape[0]),
        trigger=far if unit else steep,
        trigger_in="ranum" if unit else "natural",
        notes=notes,
    )


CASES = (
    program("26", "tutorial on six points", 1.0, STUDY, notes="GRIST counts the two logarithms as one defect."),
    program("33", "six samples by hand", 1.0, STUDY),
    program("37", "linear layer and sigmoid on six samples", 0.01, STUDY, module=LinearUnit, repaired=RepairedUnit,
            weights=UNIT, fails=(("ranum",), ("ranum",)),
            notes="Ordinary training gets there in 26 minutes, with weights beyond RANUM's range."),
    program("38", "one unit that can't learn XOR", 0.1, XOR, module=LinearUnit, repaired=RepairedUnit,
            weights=UNIT, fails=(("ranum",), ("ranum",)), notes="Impossible with real bits and such weights."),
    program("53", "one feature, twelve samples", 1.0, LINE, module=partial(LogisticRegression, (1, 1), (1, 1)),
            repaired=partial(Repaired, (1, 1), (1, 1)), fails=(("ranum",), ("ranum", "natural")),
            notes="With x in [0, 5] the sum stays above -60, where the sigmoid isn't 0 yet."),
    program("56", "six samples, notebook of a course", 1.0, STUDY),
)  # fmt: skip
