"""1: a small network chooses an affine warp of a cluttered digit, which a convolutional network then classifies."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..blocks import Dropout, normal, zeros
from ..case import ANY, KEPT, PIXEL, ZERO_START, Case, Input, Training, safe
from ..known import DROPOUT, LOG_P, SOFTMAX

SIDE = 40


class Warp(nn.Module):
    """Bilinear samples of an image at the points that an affine map sends a raster to."""

    def __init__(self) -> None:
        super().__init__()
        line = torch.linspace(-1.0, 1.0, SIDE)
        across, down = line.repeat(SIDE), line.repeat_interleave(SIDE)
        self.register_buffer("raster", torch.stack((across, down, torch.ones(SIDE * SIDE))))

    def forward(self, image: Tensor, theta: Tensor) -> Tensor:
        batch = image.shape[0]
        points = theta.reshape(batch, 2, 3) @ self.raster
        px, py = ((points[:, axis].reshape(-1) + 1) * SIDE / 2 for axis in range(2))  # site: scale
        x0, y0 = torch.floor(px).to(torch.int64), torch.floor(py).to(torch.int64)
        x1, y1 = torch.clip(x0 + 1, 0, SIDE - 1), torch.clip(y0 + 1, 0, SIDE - 1)
        x0, y0 = torch.clip(x0, 0, SIDE - 1), torch.clip(y0, 0, SIDE - 1)
        base = torch.arange(batch).repeat_interleave(SIDE * SIDE) * SIDE * SIDE
        flat = image.reshape(-1)
        corners = [flat[base + row * SIDE + column] for row, column in ((y0, x0), (y1, x0), (y0, x1), (y1, x1))]
        left, right = x1.float() - px, px - x0.float()
        above, below = y1.float() - py, py - y0.float()
        shares = (left * above, left * below, right * above, right * below)
        return sum(share * corner for share, corner in zip(shares, corners, strict=True)).reshape(batch, 1, SIDE, SIDE)


class SpatialTransformer(nn.Module):
    """The warp, two convolutions with stride 2, 1,024 units, ten classes; the cross entropy summed."""

    def __init__(self) -> None:
        super().__init__()
        self.dropout, self.warp = Dropout(), Warp()
        self.W_loc1, self.b_loc1 = zeros(1600, 20), normal(0.01, 20)
        self.W_loc2 = zeros(20, 6)
        self.b_loc2 = nn.Parameter(torch.tensor([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]))
        self.W_conv1, self.b_conv1 = zeros(16, 1, 3, 3), normal(0.01, 16)
        self.W_conv2, self.b_conv2 = zeros(16, 16, 3, 3), normal(0.01, 16)
        self.W_fc1, self.b_fc1 = zeros(1600, 1024), normal(0.01, 1024)
        self.W_fc2, self.b_fc2 = zeros(1024, 10), normal(0.01, 10)

    def logits(self, x: Tensor, keep_prob: Tensor) -> Tensor:
        located = self.dropout(torch.tanh(x @ self.W_loc1 + self.b_loc1), keep_prob)
        theta = torch.tanh(located @ self.W_loc2 + self.b_loc2)
        warped = self.warp(x, theta)
        # TensorFlow pads an even size on the far side only
        first = torch.relu(F.conv2d(F.pad(warped, (0, 1, 0, 1)), self.W_conv1, self.b_conv1, stride=2))
        second = torch.relu(F.conv2d(F.pad(first, (0, 1, 0, 1)), self.W_conv2, self.b_conv2, stride=2))
        units = self.dropout(torch.relu(second.flatten(1) @ self.W_fc1 + self.b_fc1), keep_prob)
        return units @ self.W_fc2 + self.b_fc2

    def forward(self, x: Tensor, y: Tensor, keep_prob: Tensor) -> Tensor:
        p = torch.softmax(self.logits(x, keep_prob), 1)  # site: softmax
        return -(y * torch.log(p)).sum()  # site: log p


class Repaired(SpatialTransformer):
    """Repaired: the cross entropy of the logits as one operation."""

    def forward(self, x: Tensor, y: Tensor, keep_prob: Tensor) -> Tensor:
        return -(y * F.log_softmax(self.logits(x, keep_prob), 1)).sum()


def trained(module: Any, batch: dict[str, Any]) -> None:
    """The identity as the warp, white images, and weights that tell two classes far apart."""
    with torch.no_grad():
        for weight in (module.W_conv1, module.W_conv2, module.W_fc1):
            weight.fill_(0.5)
        module.W_fc2[:, 0], module.W_fc2[:, 1] = -1.0, 1.0
    batch["x"].fill_(1.0)


CASES = (
    Case(
        id="1",
        title="spatial transformer on cluttered digits",
        module=SpatialTransformer,
        repaired=Repaired,
        repair="upstream's: the cross entropy of the logits as one operation",
        inputs=(
            Input("x", (2, 1600), PIXEL),
            Input("y", (2, 10), PIXEL, "one-hot"),
            Input("keep_prob", (), (0.8, 1.0), "keep_prob", KEPT),
        ),
        weights={
            "W_loc1": ZERO_START, "b_loc1": ANY, "W_loc2": ZERO_START, "b_loc2": ANY,
            "W_conv1": ZERO_START, "b_conv1": (-0.0559, 0.0617), "W_conv2": ZERO_START, "b_conv2": (-0.0435, 0.0386),
            "W_fc1": ZERO_START, "b_fc1": (-0.0948, 0.0944), "W_fc2": ZERO_START, "b_fc2": (-0.0205, 0.0363),
        },
        defect=(LOG_P,),
        others=(SOFTMAX, DROPOUT, safe("scale", "Div", "the divisor is the constant 2")),
        training=Training("adam", 0.001, 101),
        trigger=trained,
        debar=True,
        notes="All weight matrices start at 0, so that the first loss is 10 log 10 whatever the image.",
    ),
)  # fmt: skip
