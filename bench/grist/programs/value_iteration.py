"""15: a value iteration network plans moves on a map of 8x8 fields."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..blocks import normal
from ..case import Case, Input, Training, safe
from ..known import LOG_P, SOFTMAX


class ValueIteration(nn.Module):
    """Ten iterations of one convolution, then the values at the asked positions, and the labelled logarithm of their softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = normal(0.01, 150)
        self.w0, self.w1 = normal(0.01, 150, 2, 3, 3), normal(0.01, 1, 150, 1, 1)
        self.w, self.w_fb = normal(0.01, 10, 1, 3, 3), normal(0.01, 10, 1, 3, 3)
        self.w_o = normal(0.01, 10, 8)

    def scores(self, maps: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        hidden = F.conv2d(maps.permute(0, 3, 1, 2), self.w0.flip(2, 3), self.bias, padding=1)
        reward = F.conv2d(hidden, self.w1)
        q = F.conv2d(reward, self.w.flip(2, 3), padding=1)
        for _ in range(10):
            value = q.amax(1, keepdim=True)
            kernel = torch.cat((self.w, self.w_fb), 1).flip(2, 3)
            q = F.conv2d(torch.cat((reward, value), 1), kernel, padding=1)
        which = torch.arange(maps.shape[0]).repeat_interleave(rows.shape[1])
        return q.permute(0, 2, 3, 1)[which, rows.reshape(-1), columns.reshape(-1)] @ self.w_o

    def forward(self, maps: Tensor, rows: Tensor, columns: Tensor, moves: Tensor) -> Tensor:
        p = torch.softmax(self.scores(maps, rows, columns), 1)  # site: softmax
        return -torch.log(p).gather(1, moves.unsqueeze(1)).mean()  # site: log p; position


class Repaired(ValueIteration):
    """Repaired: the cross entropy of the scores as one operation."""

    def forward(self, maps: Tensor, rows: Tensor, columns: Tensor, moves: Tensor) -> Tensor:
        scores = self.scores(maps, rows, columns)
        return -F.log_softmax(scores, 1).gather(1, moves.unsqueeze(1)).mean()


def distant(module: Any, batch: dict[str, Any]) -> None:
    """Large rewards and kernels whose values grow in every iteration; the labelled move is the least likely."""
    with torch.no_grad():
        for weight in (module.w0, module.w1, module.w, module.w_fb):
            weight.fill_(0.068)
        module.w_fb.fill_(0.1)
        module.w_o[:, 0], module.w_o[:, 1:] = -0.08, 0.08
    batch["maps"].fill_(10.0)
    batch["moves"].fill_(0)


CASES = (
    Case(
        id="15",
        title="value iteration network",
        module=ValueIteration,
        repaired=Repaired,
        repair="upstream's: the cross entropy of the scores as one operation",
        inputs=(
            Input("maps", (2, 8, 8, 2), (0.0, 10.0)),
            Input("rows", (2, 10), (1.0, 6.0), "index"),
            Input("columns", (2, 10), (1.0, 6.0), "index"),
            Input("moves", (20,), (0.0, 7.0), "index"),
        ),
        weights={
            "bias": (-0.0749, 0.0732), "w0": (-0.094, 0.0946), "w1": (-0.0686, 0.0694),
            "w": (-0.0893, 0.0942), "w_fb": (-0.0942, 0.1041), "w_o": (-0.0803, 0.0834),
        },
        defect=(LOG_P,),
        others=(SOFTMAX, safe("position", "GatherElements", "positions and moves are valid indices")),
        training=Training("rmsprop", 0.001, 12, {"eps": 1e-6, "centered": 1.0}),
        trigger=distant,
        debar=True,
        notes="RANUM finds no system test. Channel 0 of a map is 0 or 1, channel 1 lies in [0, 10].",
    ),
)  # fmt: skip
