"""28a-d: a network for stochastic computing. Activations stay in [-1, 1]; a scale for each unit is carried along."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..blocks import normal, uniform, zeros
from ..case import PIXEL, Case, Input, RangeSet, Site, Span, Training, safe


class ScaledProduct(nn.Module):
    """x times w in units of the scales; the new scale is what that took away."""

    def __init__(self, guard: float) -> None:
        super().__init__()
        self.guard = guard

    def forward(self, x: Tensor, w: Tensor, scale: Tensor, gain: Tensor) -> tuple[Tensor, Tensor]:
        most = scale.max()
        share = scale / (most + self.guard)  # site: share
        sums = torch.abs(w).sum(0) + self.guard
        scaled = gain * ((x * share) @ w) / sums  # site: sums
        return torch.clip(scaled, -1.0, 1.0), most * sums / (gain + self.guard)  # site: gain


class ScaledSum(nn.Module):
    """x plus b in units of the scale."""

    def forward(self, x: Tensor, b: Tensor, scale: Tensor) -> Tensor:
        return torch.clip(2 * ((x + b / scale) / 2), -1.0, 1.0)  # site: shift


class GuardedProduct(ScaledProduct):
    """Repaired: gains of at least 1e-3, and sums and scales that can't be 0."""

    def forward(self, x: Tensor, w: Tensor, scale: Tensor, gain: Tensor) -> tuple[Tensor, Tensor]:
        most = scale.max()
        share = scale / (most + 1e-6)
        sums = torch.abs(w).sum(0) + 1e-3
        held = torch.clip(gain, min=1e-3)
        scaled = held * ((x * share) @ w) / sums
        return torch.clip(scaled, -1.0, 1.0), most * sums / held


class Network(nn.Module):
    """784 - 128 - 10 with a gain for each unit, or for each layer."""

    def __init__(self, product: type[ScaledProduct], *, guard: float, zero: bool, squared: bool) -> None:
        super().__init__()
        self.squared = squared
        self.product, self.sum = product(guard), ScaledSum()
        self.w1, self.wout = zeros(784, 128) if zero else normal(1.0, 784, 128), normal(1.0, 128, 10)
        self.b1, self.bout = normal(1.0, 128), normal(1.0, 10)
        self.g1, self.g2 = (uniform(0.0, 16.0, size) for size in ((1, 1) if squared else (128, 10)))

    def penalty(self, tensor: Tensor) -> Tensor:
        """What lies beyond [-1, 1], or the squares."""
        if self.squared:
            return 0.0006 * (tensor**2).sum()
        return 0.25 * (2 * (torch.abs(tensor) - torch.clip(torch.abs(tensor), -1.0, 1.0))).sum()

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        hidden, scale = self.product(x, self.w1, torch.ones(1, 784), self.g1)
        hidden = self.sum(hidden, self.b1, scale)
        output, scale = self.product(hidden, self.wout, scale, self.g2)
        logits = self.sum(output, self.bout, scale) * scale
        loss = -(y * F.log_softmax(logits, 1)).sum(1).mean()  # site: log softmax
        return loss + sum(self.penalty(tensor) for tensor in (self.w1, self.wout, self.b1, self.bout))


def no_gain(module: Any, _batch: dict[str, Any]) -> None:
    """A divisor of exactly 0: the gain is 0, or what takes the guard away."""
    with torch.no_grad():
        module.g1[0] = -module.product.guard


def no_column(module: Any, _batch: dict[str, Any]) -> None:
    """A unit without any weight."""
    with torch.no_grad():
        module.w1[:, 0] = 0.0


BOTH: tuple[RangeSet, ...] = ("ranum", "natural")
LATER = "a scale is 0 or infinite only once a gain or a column of weights is 0"


def program(name: str, ranges: dict[str, Span], *, guarded: bool, squared: bool, gains: bool) -> Case:
    """One of the four: guarded or not, with one or the other penalty, the defect in the gain or in the column sums."""
    made = partial(Network, guard=1e-7 if guarded else 0.0, zero=guarded, squared=squared)
    # a gain is drawn from [0, 16]: with the guard on top it is never 0
    fails: tuple[RangeSet, ...] = ("ranum",) if guarded else BOTH
    gain = Site("gain", "Div", fails, why="the gain is 0, or takes the guard away")
    sums = Site("sums", "Div", () if guarded else BOTH, why="a column of weights is all 0")
    return Case(
        id=name,
        title=f"stochastic computing, {'squared' if squared else 'own'} penalty, {'gain' if gains else 'column sum'} as divisor",
        module=partial(made, ScaledProduct),
        repaired=partial(made, GuardedProduct),
        repair="after upstream's 1e-6 on the gain: gains are at least 1e-3, and column sums get 1e-3 too",
        inputs=(Input("x", (4, 784), PIXEL), Input("y", (4, 10), PIXEL, "one-hot")),
        weights=ranges,
        natural={"g1": (0.0, 16.0), "g2": (0.0, 16.0)},
        defect=(gain,) if gains else (sums,),
        others=(
            sums if gains else gain,
            Site("share", "Div", fails, why=LATER),
            Site("shift", "Div", () if guarded else BOTH, why="guarded sums keep scales from 0" if guarded else LATER),
            safe("log softmax", "LogSoftmax", "the row's maximum is subtracted first"),
        ),
        training=Training("adam", 0.1, 500),
        trigger=no_gain if gains else no_column,
        trigger_in="ranum" if guarded else "natural",
        debar=True,
        notes="The program starts w1 at 0." if guarded else "RANUM holds gains of one element for constants." if squared else "",
    )  # fmt: skip


CASES = (
    program("28a", {"w1": (-10.0, 10.0), "wout": (-9.37, 9.45), "b1": (-6.9, 6.92), "bout": (-6.42, 7.65),
                    "g1": (-15.46, 31.61), "g2": (-7.17, 22.12)}, guarded=True, squared=False, gains=True),
    program("28b", {"w1": (-12.14, 12.0), "wout": (-9.07, 9.53), "b1": (-7.74, 8.25), "bout": (-7.44, 5.79),
                    "g1": (-15.94, 31.9), "g2": (-13.02, 30.0)}, guarded=False, squared=False, gains=False),
    program("28c", {"w1": (-13.57, 13.72), "wout": (-10.84, 9.78), "b1": (-7.5, 7.24), "bout": (-9.42, 8.27),
                    "g1": (0.0, 16.0), "g2": (0.0, 16.0)}, guarded=False, squared=True, gains=True),
    program("28d", {"w1": (-12.13, 12.48), "wout": (-9.43, 9.74), "b1": (-7.93, 7.26), "bout": (-3.87, 4.44),
                    "g1": (0.0, 16.0), "g2": (0.0, 16.0)}, guarded=False, squared=True, gains=False),
)  # fmt: skip
