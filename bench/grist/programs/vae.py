"""Variational auto-encoders on MNIST, plain and with labels, each in a logarithm and a square-root variant: 35, 36, 39, 43, 49."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..blocks import fan, zeros
from ..case import PIXEL, RANGE_SETS, Case, Input, Site, Training, pm, safe

TINY = 1e-10
MOST = 1 + 1e-10
"""As the program has it. In float32 it is 1."""


class Coder(nn.Module):
    """Encoder and decoder of two layers of 500 softplus units each; with ``classes`` the label joins both."""

    def __init__(self, latent: int, classes: int = 0) -> None:
        super().__init__()
        self.enc_W1, self.enc_b1 = fan(784 + classes, 500), zeros(500)
        self.enc_W2, self.enc_b2 = fan(500, 500), zeros(500)
        self.enc_W_mean, self.enc_b_mean = fan(500, latent), zeros(latent)
        self.enc_W_logvar, self.enc_b_logvar = fan(500, latent), zeros(latent)
        self.dec_W1, self.dec_b1 = fan(latent + classes, 500), zeros(500)
        self.dec_W2, self.dec_b2 = fan(500, 500), zeros(500)
        self.dec_W_out, self.dec_b_out = fan(500, 784), zeros(784)

    def encode(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        first = F.softplus(seen @ self.enc_W1 + self.enc_b1)
        second = F.softplus(first @ self.enc_W2 + self.enc_b2)
        return second @ self.enc_W_mean + self.enc_b_mean, second @ self.enc_W_logvar + self.enc_b_logvar

    def decode(self, z: Tensor) -> Tensor:
        first = F.softplus(z @ self.dec_W1 + self.dec_b1)
        second = F.softplus(first @ self.dec_W2 + self.dec_b2)
        return torch.sigmoid(second @ self.dec_W_out + self.dec_b_out)


class LogVariant(Coder):
    """The second epsilon vanishes: 1 + 1e-10 is 1 in float32, and 1 - r can be 0."""

    def forward(self, x: Tensor, eps: Tensor, y: Tensor | None = None) -> Tensor:
        mean, raw = self.encode(x if y is None else torch.cat((x, y), 1))
        s = torch.clip(raw, -87.0, 87.0)
        grown = torch.exp(s)  # site: exp
        z = mean + torch.sqrt(grown) * eps  # site: sqrt
        r = self.decode(z if y is None else torch.cat((z, y), 1))
        hit = x * torch.log(r + TINY)  # site: log r
        miss = (1 - x) * torch.log(MOST - r)  # site: log 1-r
        divergence = -0.5 * (1 + s - mean**2 - grown).sum(1)  # site: latent sum
        return (divergence - (hit + miss).sum(1)).mean()


class RootVariant(Coder):
    """Logarithms are guarded; the square root may see exp(-100), whose derivative is only just finite."""

    lowest = -100.0

    def forward(self, x: Tensor, eps: Tensor, y: Tensor | None = None) -> Tensor:
        mean, raw = self.encode(x if y is None else torch.cat((x, y), 1))
        grown = torch.exp(torch.clip(raw, self.lowest, 87.0))  # site: exp
        z = mean + torch.sqrt(grown) * eps  # site: sqrt
        r = self.decode(z if y is None else torch.cat((z, y), 1))
        hit = x * torch.log(torch.clip(r, 1e-6, 1.0))  # site: log r
        miss = (1 - x) * torch.log(torch.clip(1 - r, 1e-6, 1.0))  # site: log 1-r
        divergence = -0.5 * (1 + raw - mean**2 - grown).sum(1)  # site: latent sum
        return (divergence - (hit + miss).sum(1)).mean()


class Repaired(RootVariant):
    """Repaired: logarithms guarded as in the one variant, the exponent as in the other."""

    lowest = -87.0


LOST = Site("log 1-r", "Log", why="r rounds to 1 above about 16.64, and the epsilon is lost in 1 + 1e-10")
ROOT = Site("sqrt", "Sqrt", (), "gradient",
            why="exp(-100) is 3.8e-44: 0 where subnormals are flushed, so that the derivative is NaN")  # fmt: skip


def glow(module: Any, _batch: dict[str, Any]) -> None:
    """Output weights at the upper end of their start: the sums of 500 units reach 16.64 and r is 1."""
    with torch.no_grad():
        module.dec_W_out.fill_(0.068)


def program(name: str, latent: int, classes: int, bounds: tuple[float, ...]) -> Case:
    """One variant; ``bounds`` are RANUM's of the two weights of the latent layer and of the decoder's first layer."""
    first, mean, logvar, decoder = bounds
    log = name.endswith("a")
    label = (Input("y", (4, 10), PIXEL, "one-hot"),) if classes else ()
    return Case(
        id=name,
        title=f"{'conditional ' if classes else ''}variational auto-encoder, {latent} latent, {'log' if log else 'sqrt'} variant",
        module=partial(LogVariant if log else RootVariant, latent, classes),
        repaired=partial(Repaired, latent, classes),
        repair="the benchmark's own guards, put together: operands of logarithms in [1e-6, 1], exponents in [-87, 87]",
        inputs=(Input("x", (4, 784), PIXEL), Input("eps", (4, latent), pm(6.0), "noise"), *label),
        weights={
            "enc_W1": pm(first), "enc_W2": pm(0.23238), "enc_W_mean": pm(mean), "enc_W_logvar": pm(logvar),
            "dec_W1": pm(decoder), "dec_W2": pm(0.23238), "dec_W_out": pm(0.20508),
        },
        defect=(LOST,) if log else (ROOT,),
        others=(
            safe("log r", "Log", f"its operand is at least {'1e-10' if log else '1e-6'}"),
            safe("sqrt", "Sqrt", "its operand is at least exp(-87), a normal float32") if log
            else safe("log 1-r", "Log", "its operand is at least 1e-6"),
            safe("exp", "Exp", "its operand is at most 87"),
            Site("latent sum", "ReduceSum", RANGE_SETS if latent > 5 else (),
                 why="six variances of exp(87) add up past the largest float32"),
        ),
        training=Training("adam", 0.001, 100),
        trigger=glow if log else None,
        debar=log,
        notes="RANUM stops at the square root, which it takes for a defect." if log
        else "Fails only where subnormals are flushed to 0, as TensorFlow's threads do.",
    )  # fmt: skip


CASES = (
    program("35a", 20, 0, (0.20508, 0.32216, 0.32218, 0.32221)),
    program("35b", 20, 0, (0.20508, 0.32221, 0.32222, 0.32224)),
    program("36a", 2, 0, (0.20508, 0.32736, 0.32729, 0.32744)),
    program("36b", 2, 0, (0.20507, 0.3272, 0.3277, 0.32795)),
    program("39a", 2, 0, (0.20507, 0.32756, 0.3278, 0.32775)),
    program("39b", 2, 0, (0.20508, 0.3272, 0.32748, 0.3279)),
    program("43a", 2, 10, (0.20428, 0.32783, 0.32715, 0.32475)),
    program("43b", 2, 10, (0.20428, 0.32701, 0.32734, 0.32475)),
    program("49a", 2, 10, (0.20428, 0.32774, 0.32781, 0.32471)),
    program("49b", 2, 10, (0.20428, 0.32727, 0.32763, 0.3247)),
)
