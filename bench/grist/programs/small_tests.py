"""Unit tests of libraries, each changed so that it fails: 4 (graph auto-encoder), 5 (ranking loss), 13 (softmax of edges)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ..case import PIXEL, Case, Input, Site, safe


class DivergenceOfItself(nn.Module):
    """4: an encoder that gives its input as mean and as log variance; the term has log where exp belongs."""

    def forward(self, x: Tensor) -> Tensor:
        terms = 1 + x - x**2 - torch.log(x)  # site: log
        return -0.5 * terms.sum(1).mean()


class DivergenceRepaired(nn.Module):
    """Repaired: exp, of at most 10."""

    def forward(self, x: Tensor) -> Tensor:
        terms = 1 + x - x**2 - torch.exp(torch.clip(x, max=10.0))
        return -0.5 * terms.sum(1).mean()


class RankingLoss(nn.Module):
    """5: groups of one good and two bad scores, softmax, and a square root where log belongs."""

    def forward(self, s: Tensor, t: Tensor) -> Tensor:
        scores = torch.cat((s[0::3], s[1::3], s[2::3]), 1)
        labels = torch.cat((t[0::3], t[1::3], t[2::3]), 1)
        p = torch.softmax(scores, 1)  # site: softmax
        return -(labels * torch.sqrt(p)).sum(1).mean()  # site: sqrt


class RankingRepaired(nn.Module):
    """Repaired: an epsilon inside the root."""

    def forward(self, s: Tensor, t: Tensor) -> Tensor:
        scores = torch.cat((s[0::3], s[1::3], s[2::3]), 1)
        labels = torch.cat((t[0::3], t[1::3], t[2::3]), 1)
        return -(labels * torch.sqrt(torch.softmax(scores, 1) + 1e-10)).sum(1).mean()


class EdgeShares(nn.Module):
    """13: the share of every edge in its group, of logarithms where exponentials belong."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("groups", torch.tensor([0, 0, 0, 1, 1, 1]))

    def forward(self, v: Tensor) -> Tensor:
        logs = torch.log(v)  # site: log
        sums = torch.zeros(2).scatter_add(0, self.groups, logs)
        return logs / sums[self.groups]  # site: div


class EdgesRepaired(EdgeShares):
    """Repaired: exponentials, the maximum of each group subtracted first, and 1e-16 added to its sum."""

    def forward(self, v: Tensor) -> Tensor:
        tops = torch.full((2,), -torch.inf).scatter_reduce(0, self.groups, v, "amax")
        grown = torch.exp(v - tops[self.groups])
        sums = torch.zeros(2).scatter_add(0, self.groups, grown)
        return grown / (sums[self.groups] + 1e-16)


def nothing(_module: Any, batch: dict[str, Any]) -> None:
    """An edge of 0."""
    batch["v"][0] = 0.0


def negative(_module: Any, batch: dict[str, Any]) -> None:
    """A negative log variance, which is an ordinary one."""
    batch["x"][0, 1] = -1.0


CASES = (
    Case(
        id="4",
        title="divergence of a graph auto-encoder that encodes nothing",
        module=DivergenceOfItself,
        repaired=DivergenceRepaired,
        repair="upstream's: exp of the log variance, clipped to at most 10",
        inputs=(Input("x", (3, 2), (-1.0, 2.0), "features", values=((2.0, 2.0), (2.0, 2.0), (2.0, 2.0))),),
        defect=(Site("log", "Log", why="a log variance is negative as often as not"),),
        trigger=negative,
        notes="There is nothing to train.",
    ),
    Case(
        id="5",
        title="ranking loss with a square root",
        module=RankingLoss,
        repaired=RankingRepaired,
        repair="as upstream for its logarithm: an epsilon inside",
        inputs=(
            Input("s", (6, 1), PIXEL, "features"),
            Input("t", (6, 1), PIXEL, "label", values=((1.0,), (0.0,), (0.0,), (0.0,), (1.0,), (0.0,))),
        ),
        defect=(
            Site("sqrt", "Sqrt", (), "gradient",
                 why="the derivative at 0 is infinite; a share is 0 only with scores that differ by more than 103.97"),
        ),
        others=(safe("softmax", "Softmax", "the row's maximum is subtracted first"),),
        reachable={"s": (-60.0, 60.0)},
        notes="With scores in [-50, 50] the shares stay above 0, so nothing can fail there. There is nothing to train.",
    ),
    Case(
        id="13",
        title="shares of edges with logarithms",
        module=EdgeShares,
        repaired=EdgesRepaired,
        repair="upstream's: exponentials, the group's maximum subtracted, 1e-16 added to the sum",
        inputs=(Input("v", (6,), (0.0, 2.0), "features"),),
        defect=(Site("log", "Log", why="0 is an ordinary value of an edge"),),
        others=(Site("div", "Div", why="the logarithms of a group add up to 0 if the product of its values is 1"),),
        trigger=nothing,
        notes="There is nothing to train; the output is the vector of shares.",
    ),
)  # fmt: skip
