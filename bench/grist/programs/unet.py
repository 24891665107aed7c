"""17: a U-Net that segments discs in images of 572x572, with a softmax by hand and the dice loss."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..blocks import Dropout, constant, truncated
from ..case import KEPT, PIXEL, Case, Input, Site, Training, pm
from ..known import DROPOUT


class Convolution(nn.Module):
    """3x3 without padding; dropout of its raw result, then bias and ReLU."""

    def __init__(self, inward: int, outward: int, std: float) -> None:
        super().__init__()
        self.dropout = Dropout()
        self.weight, self.bias = truncated(std, outward, inward, 3, 3), constant(0.1, outward)

    def forward(self, x: Tensor, keep_prob: Tensor) -> Tensor:
        kept = self.dropout(F.conv2d(x, self.weight), keep_prob)
        return torch.relu(kept + self.bias.reshape(-1, 1, 1))


class Pair(nn.Module):
    """Two of them."""

    def __init__(self, inward: int, outward: int, std: float) -> None:
        super().__init__()
        self.first, self.second = Convolution(inward, outward, std), Convolution(outward, outward, std)

    def forward(self, x: Tensor, keep_prob: Tensor) -> Tensor:
        return self.second(self.first(x, keep_prob), keep_prob)


class Up(nn.Module):
    """Twice the size, half the channels."""

    def __init__(self, inward: int, std: float) -> None:
        super().__init__()
        self.weight, self.bias = truncated(std, inward, inward // 2, 2, 2), constant(0.1, inward // 2)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(F.conv_transpose2d(x, self.weight, self.bias, stride=2))


class UNet(nn.Module):
    """Three levels of 16, 32 and 64 channels. The exponential of the output map is unguarded."""

    def __init__(self) -> None:
        super().__init__()
        self.D0, self.D1, self.D2 = Pair(1, 16, 0.11785), Pair(16, 32, 0.08333), Pair(32, 64, 0.05893)
        self.U1d, self.U1 = Up(64, 0.05893), Pair(64, 32, 0.05893)
        self.U0d, self.U0 = Up(32, 0.08333), Pair(32, 16, 0.08333)
        self.Wout, self.bout = truncated(0.08333, 2, 16, 1, 1), constant(0.1, 2)

    def scores(self, x: Tensor, keep_prob: Tensor) -> Tensor:
        outer = self.D0(x.permute(0, 3, 1, 2), keep_prob)
        inner = self.D1(F.max_pool2d(outer, 2), keep_prob)
        lowest = self.D2(F.max_pool2d(inner, 2), keep_prob)
        middle = self.U1(torch.cat((crop(inner, 272), self.U1d(lowest)), 1), keep_prob)
        highest = self.U0(torch.cat((crop(outer, 536), self.U0d(middle)), 1), keep_prob)
        return torch.relu(F.conv2d(highest, self.Wout, self.bout)).permute(0, 2, 3, 1)

    def forward(self, x: Tensor, y: Tensor, keep_prob: Tensor) -> Tensor:
        grown = torch.exp(self.scores(x, keep_prob))  # site: exp
        p = grown / grown.sum(3, keepdim=True)  # site: share; class sum
        return -2 * (p * y).sum() / (1e-5 + p.sum() + y.sum())  # site: dice


class Repaired(UNet):
    """Repaired: the maximum of each pixel's channels is subtracted first."""

    def forward(self, x: Tensor, y: Tensor, keep_prob: Tensor) -> Tensor:
        scores = self.scores(x, keep_prob)
        grown = torch.exp(scores - scores.amax(3, keepdim=True))
        p = grown / grown.sum(3, keepdim=True)
        return -2 * (p * y).sum() / (1e-5 + p.sum() + y.sum())


def crop(x: Tensor, side: int) -> Tensor:
    """The middle of an image."""
    start = (x.shape[2] - side) // 2
    return x[:, :, start : start + side, start : start + side]


def swollen(module: Any, batch: dict[str, Any]) -> None:
    """Weights that add up: the output map passes 88.72."""
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if "bias" not in name and name != "bout":
                weight.fill_(0.1)
    batch["x"].fill_(1.0)


BIAS = {
    "D0": (0.0964, 0.103),
    "D1": (0.0993, 0.1006),
    "D2": (0.0999, 0.1001),
    "U1": (0.0984, 0.1018),
    "U0": (0.0837, 0.1158),
}
WEIGHT = {
    "D0": (0.671, 0.706), "D1": (0.5, 0.5), "D2": (0.353, 0.353), "U1": (0.354, 0.353), "U0": (0.499, 0.5),
}  # fmt: skip

CASES = (
    Case(
        id="17",
        title="U-Net with dice loss",
        module=UNet,
        repaired=Repaired,
        repair="upstream's: the maximum of each pixel's channels is subtracted before the exponential",
        inputs=(
            Input("x", (1, 572, 572, 1), PIXEL),
            Input("y", (1, 532, 532, 2), PIXEL, "one-hot"),
            Input("keep_prob", (), (0.75, 1.0), "keep_prob", KEPT),
        ),
        weights={
            **{f"{level}.{part}.weight": pm(bound)
               for level, bounds in WEIGHT.items() for part, bound in zip(("first", "second"), bounds, strict=True)},
            **{f"{level}.{part}.bias": span for level, span in BIAS.items() for part in ("first", "second")},
            "U1d.weight": pm(0.353), "U1d.bias": (0.0993, 0.1006), "U0d.weight": pm(0.499), "U0d.bias": (0.0887, 0.1098),
            "Wout": (-0.458, 0.475), "bout": (0.0089, 0.1908),
        },
        defect=(Site("exp", "Exp", why="the output map isn't negative and isn't bounded either"),),
        others=(
            Site("share", "Div", why="inf / inf once the exponential overflows; the divisor itself is at least 2"),
            Site("class sum", "ReduceSum", why="two exponentials may add up past the largest float32"),
            Site("dice", "Div", ("ranum",), why="positive with real labels; labels in [-50, 50] can make it 0"),
            DROPOUT,
        ),
        training=Training("momentum", 0.2, 1, {"momentum": 0.2}),
        trigger=swollen,
        notes="The learning rate decays by 0.95 every 32 steps. The one defect that GRIST misses.",
    ),
)  # fmt: skip
