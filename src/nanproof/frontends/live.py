"""A program that can be run as it is, in its own framework: what confirms a failure is the user's own code, not our reading of it.

A front end offers it beside the export; one for an object in this process runs it here, one for ``file.py:name`` in a child.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Arrays = Mapping[str, Any]
"""NumPy arrays by the names that the exported model gives to inputs and weights."""


class CannotRunLiveError(Exception):
    """A program can't be run on these arrays; the text says why."""


@dataclass(frozen=True, slots=True)
class Birth:
    """An operation of the framework that made NaN or Inf out of operands without, and the user's innermost line for it."""

    function: str
    gives: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run showed: the positions of the outputs that aren't finite, and where NaN and Inf were born.

    ``spoilt`` are the gradients that aren't finite, by the names of the exported training graph, where there are any.
    """

    bad: tuple[int, ...] = ()
    births: tuple[Birth, ...] = ()
    spoilt: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Training:
    """How the program is trained. ``settings`` are further arguments of the framework's optimiser."""

    optimizer: str = "sgd"
    learning_rate: float = 0.01
    settings: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trained:
    """The weights after training, whether all of them and the loss were finite all the way, and the last loss."""

    weights: Arrays
    finite: bool
    loss: float


class Live(Protocol):
    """A program in its own framework. Arrays that it isn't given keep what the program itself has."""

    @property
    def runtime(self) -> str:
        """The name of the framework, as in findings' witnesses."""

    @property
    def plain(self) -> bool:
        """Whether it takes all of its inputs by the names that the exported model has for them."""

    def run(self, values: Arrays) -> Ran:
        """Run it once on inputs and weights. Raises CannotRunLiveError."""

    def hold(self, weights: Arrays) -> None:
        """From now on these are its weights, where it has tensors of these names."""

    def initial(self, seed: int) -> Arrays:
        """All weights as the program's own initialiser makes them for a seed; those that it has, where it has none."""

    def trained(self, weights: Arrays, steps: Sequence[Sequence[Arrays]], how: Training) -> Trained:
        """Real steps of a real optimiser from some weights: each step is on the mean loss of its examples."""

    def close(self) -> None:
        """End what it keeps running."""
