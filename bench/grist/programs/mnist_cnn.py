"""MNIST networks of two convolutions, with the cross entropy by hand: 6, 7, 8, 24, 29, 45b, 55, 58; of one: 44."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..blocks import Dropout, constant, truncated
from ..case import ANY, KEPT, PIXEL, Case, Input, Span, Training, pm
from ..known import DROPOUT, LOG_P, SOFTMAX, spread


class Body(nn.Module):
    """Two convolutions of 5x5 with pooling, 1,024 units, ten classes."""

    def __init__(self, *, mean: bool = False) -> None:
        super().__init__()
        self.mean, self.dropout = mean, Dropout()
        self.W1, self.b1 = truncated(0.1, 32, 1, 5, 5), constant(0.1, 32)
        self.W2, self.b2 = truncated(0.1, 64, 32, 5, 5), constant(0.1, 64)
        self.W3, self.b3 = truncated(0.1, 3136, 1024), constant(0.1, 1024)
        self.W4, self.b4 = truncated(0.1, 1024, 10), constant(0.1, 10)

    def units(self, x: Tensor) -> Tensor:
        first = F.max_pool2d(torch.relu(F.conv2d(x.reshape(-1, 1, 28, 28), self.W1, self.b1, padding=2)), 2)
        second = F.max_pool2d(torch.relu(F.conv2d(first, self.W2, self.b2, padding=2)), 2)
        return torch.relu(second.flatten(1) @ self.W3 + self.b3)


class TwoConvolutions(Body):
    """With dropout, and the cross entropy by hand."""

    def forward(self, x: Tensor, y: Tensor, keep_prob: Tensor) -> Tensor:
        kept = self.dropout(self.units(x), keep_prob)
        p = torch.softmax(kept @ self.W4 + self.b4, 1)  # site: softmax
        terms = y * torch.log(p)  # site: log p
        return -terms.sum(1).mean() if self.mean else -terms.sum()


class Clipped(TwoConvolutions):
    """Repaired: p is at least 1e-10."""

    def forward(self, x: Tensor, y: Tensor, keep_prob: Tensor) -> Tensor:
        kept = self.dropout(self.units(x), keep_prob)
        p = torch.softmax(kept @ self.W4 + self.b4, 1)
        terms = y * torch.log(torch.clip(p, 1e-10, 1.0))
        return -terms.sum(1).mean() if self.mean else -terms.sum()


class Added(TwoConvolutions):
    """Repaired: 1e-9 is added to p."""

    def forward(self, x: Tensor, y: Tensor, keep_prob: Tensor) -> Tensor:
        kept = self.dropout(self.units(x), keep_prob)
        p = torch.softmax(kept @ self.W4 + self.b4, 1)
        return -(y * torch.log(p + 1e-9)).sum()


class Plain(Body):
    """Without dropout."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        p = torch.softmax(self.units(x) @ self.W4 + self.b4, 1)  # site: softmax
        return -(y * torch.log(p)).sum()  # site: log p


class PlainClipped(Body):
    """Repaired: p is at least 1e-10."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        p = torch.softmax(self.units(x) @ self.W4 + self.b4, 1)
        return -(y * torch.log(torch.clip(p, 1e-10, 1.0))).sum()


class OneConvolution(nn.Module):
    """One convolution of 16 channels, 128 units, ten classes."""

    def __init__(self) -> None:
        super().__init__()
        self.dropout = Dropout()
        self.W1, self.b1 = truncated(0.1, 16, 1, 5, 5), constant(0.1, 16)
        self.W2, self.b2 = truncated(0.1, 3136, 128), constant(0.1, 128)
        self.W3, self.b3 = truncated(0.1, 128, 10), constant(0.1, 10)

    def units(self, x: Tensor) -> Tensor:
        first = F.max_pool2d(torch.relu(F.conv2d(x.permute(0, 3, 1, 2), self.W1, self.b1, padding=2)), 2)
        return torch.relu(first.flatten(1) @ self.W2 + self.b2)

    def forward(self, x: Tensor, y: Tensor, keep_prob: Tensor) -> Tensor:
        kept = self.dropout(self.units(x), keep_prob)
        p = torch.softmax(kept @ self.W3 + self.b3, 1)  # site: softmax
        return -(y * torch.log(p)).sum()  # site: log p


class OneClipped(OneConvolution):
    """Repaired: p is at least 1e-10."""

    def forward(self, x: Tensor, y: Tensor, keep_prob: Tensor) -> Tensor:
        kept = self.dropout(self.units(x), keep_prob)
        p = torch.softmax(kept @ self.W3 + self.b3, 1)
        return -(y * torch.log(torch.clip(p, 1e-10, 1.0))).sum()


CLIP = "p is clipped to [1e-10, 1] before the logarithm"
KEEP = Input("keep_prob", (), (0.5, 1.0), "keep_prob", KEPT)
Y = Input("y", (2, 10), PIXEL, "one-hot")


def program(
    name: str,
    title: str,
    bounds: tuple[Span, Span, Span, Span],
    *,
    repaired: type[TwoConvolutions] = Clipped,
    repair: str = f"ours: {CLIP}",
    mean: bool = False,
    step: float = 0.0001,
    batch: int = 50,
    keep: Input = KEEP,
    square: bool = False,
    notes: str = "",
) -> Case:
    """A network of two convolutions with dropout. The batch of the module is 2, training uses ``batch``."""
    return Case(
        id=name,
        title=f"two convolutions, {title}",
        module=partial(TwoConvolutions, mean=mean),
        repaired=partial(repaired, mean=mean),
        repair=repair,
        inputs=(Input("x", (2, 28, 28, 1) if square else (2, 784), PIXEL), Y, keep),
        weights=weights(bounds),
        defect=(LOG_P,),
        others=(SOFTMAX, DROPOUT),
        training=Training("adam", step, batch),
        trigger=TRIGGER,
        debar=True,
        notes=notes,
    )


def weights(bounds: tuple[Span, Span, Span, Span]) -> dict[str, Span]:
    """RANUM's ranges: three times the start for weights, [-50, 50] for biases that start at 0.1."""
    return {f"W{i}": span for i, span in enumerate(bounds, 1)} | {f"b{i}": ANY for i in range(1, 5)}


TRIGGER = spread(last="W4:0.5", constants={"W1": 0.1, "W2": 0.1, "W3": 0.1}, x=1.0)
CASES = (
    program("6", "a question with the answer to clip", (pm(0.595), pm(0.6), pm(0.6), pm(0.599)),
            repair=f"the developers': {CLIP}"),
    program("7", "a question with the answer to add", (pm(0.595), pm(0.6), pm(0.6), pm(0.599)), repaired=Added,
            repair="the developers': 1e-9 is added to p inside the logarithm"),
    program("8", "another question with the answer to clip", (pm(0.595), pm(0.6), pm(0.6), pm(0.599)),
            repair=f"the developers': {CLIP}"),
    Case(
        id="24",
        title="two convolutions without dropout",
        module=Plain,
        repaired=PlainClipped,
        repair=f"ours: {CLIP}",
        inputs=(Input("x", (2, 784), PIXEL), Y),
        weights=weights((pm(0.597), pm(0.6), pm(0.6), pm(0.6))),
        defect=(LOG_P,),
        others=(SOFTMAX,),
        training=Training("adam", 0.0001, 100),
        trigger=TRIGGER,
        debar=True,
    ),
    program("29", "images as four-dimensional inputs", (pm(0.597), pm(0.6), pm(0.6), pm(0.599)), step=0.0005, batch=100,
            keep=Input("keep_prob", (), (0.5, 1.0), "keep_prob", (0.8, 1.0)), square=True,
            notes="The one program for which RANUM has a range written by hand."),
    Case(
        id="44",
        title="one convolution, from a project on relations in sentences",
        module=OneConvolution,
        repaired=OneClipped,
        repair=f"ours: {CLIP}; an issue upstream proposes the like",
        inputs=(Input("x", (2, 28, 28, 1), PIXEL), Y, KEEP),
        weights={"W1": (-0.58883, 0.59182), "W2": pm(0.59998), "W3": (-0.59791, 0.59593)} | {f"b{i}": ANY for i in (1, 2, 3)},
        defect=(LOG_P,),
        others=(SOFTMAX, DROPOUT),
        training=Training("adagrad", 0.001, 50, {"initial_accumulator_value": 0.1}),
        trigger=spread(last="W3:0.5", constants={"W1": 0.1, "W2": 0.1}, x=1.0),
        debar=True,
    ),
    program("45b", "mean loss", ((-0.58964, 0.59422), pm(0.59994), pm(0.6), (-0.59926, 0.59914)), mean=True),
    program("55", "mean loss, beside a classifier that nothing uses", ((-0.58838, 0.58966), pm(0.59972), pm(0.6), (-0.59963, 0.59939)),
            mean=True, notes="The unused classifier is left out."),
    program("58", "summed loss", ((-0.58869, 0.59278), pm(0.59983), pm(0.6), (-0.59954, 0.59959))),
)  # fmt: skip
