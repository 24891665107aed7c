"""What a comparison of gradients is about: a module, example inputs, and a loss of its outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Case:
    """One module with its loss, made anew by each call of ``make``: (module, inputs, loss)."""

    name: str
    make: Callable[[], tuple[nn.Module, tuple[Any, ...], Any]]
    random: bool = False
    """Whether the module draws random numbers, so that only what doesn't depend on them can be compared."""
    unsupported: str = ""
    """A word of the sentence that says why it can't be built."""
    mode: str = "train"
    double: bool = False
    """Whether the runtime computes it in float64 only."""


class Function(nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Any:
        return self.function(x)


class Function2(Function):
    def forward(self, x: Tensor, y: Tensor) -> Any:  # type: ignore[override]
        return self.function(x, y)


def weighed(outputs: Any) -> Tensor:
    """A loss in which every element has a weight of its own."""
    found = outputs if isinstance(outputs, Tensor) else next(o for o in outputs if isinstance(o, Tensor))
    size = found.numel()
    weights = torch.linspace(0.5, 1.5, size).reshape(found.shape) if size else torch.zeros(found.shape)
    return (found * weights.to(found.dtype)).sum()


def of(
    name: str, function: Callable[[Tensor], Any], *shape: int, low: float = -2.0, high: float = 2.0, **more: Any
) -> Case:
    """A function of one tensor in a range."""

    def make() -> tuple[nn.Module, tuple[Any, ...], Any]:
        x = torch.rand(shape or (3, 5)) * (high - low) + low
        return Function(function), (x.requires_grad_(),), weighed

    return Case(name, make, **more)


def at(name: str, function: Callable[[Tensor], Any], *values: float, **more: Any) -> Case:
    """A function at chosen points, where its derivative may be NaN or Inf."""

    def make() -> tuple[nn.Module, tuple[Any, ...], Any]:
        return Function(function), (torch.tensor(values).requires_grad_(),), weighed

    return Case(name, make, **more)


def layer(name: str, module: Callable[[], nn.Module], *inputs: Callable[[], Any], **more: Any) -> Case:
    """A module of torch.nn on its inputs."""

    def make() -> tuple[nn.Module, tuple[Any, ...], Any]:
        made = module()
        return made, tuple(one() for one in inputs), more.get("loss", weighed)

    return Case(name, make, **{key: value for key, value in more.items() if key != "loss"})


def loss(name: str, function: Any, prediction: Callable[[], Any], *rest: Callable[[], Any], **more: Any) -> Case:
    """A loss function on the outputs of a layer."""

    def make() -> tuple[nn.Module, tuple[Any, ...], Any]:
        x = prediction()
        return nn.Identity(), (x.requires_grad_(), *(one() for one in rest)), function

    return Case(name, make, **more)


def normal(*shape: int) -> Callable[[], Tensor]:
    return lambda: torch.randn(shape)


def uniform(*shape: int, low: float = 0.05, high: float = 0.95) -> Callable[[], Tensor]:
    return lambda: torch.rand(shape) * (high - low) + low


def whole(most: int, *shape: int) -> Callable[[], Tensor]:
    return lambda: torch.randint(0, most, shape)
