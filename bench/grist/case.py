"""What a benchmark program says of itself: its module, its ranges, its defect, what else looks risky, and how it is trained.

A *site* is found in the exported graph by where the program computes it: the line of its source ends with a comment,
"site:" and a mark, and the site names that mark and the ONNX operator. The exporter keeps the line of every node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

RangeSet = Literal["ranum", "natural"]
RANGE_SETS: tuple[RangeSet, ...] = ("ranum", "natural")
Span = tuple[float, float]

ANY: Span = (-50.0, 50.0)
"""RANUM's range of every float input and of weights that start at a constant other than 0."""
ZERO_START: Span = (-10.0, 10.0)
"""RANUM's range of weights that start at 0."""
PIXEL: Span = (0.0, 1.0)
KEPT: Span = (0.1, 0.9)
"""RANUM's range of the probability to keep a unit in a dropout."""


def pm(bound: float) -> Span:
    """The span from -bound to bound."""
    return (-bound, bound)


@dataclass(frozen=True, slots=True)
class Input:
    """One input: its shape with the batch first, what it lies in, and what kind of values it takes."""

    name: str
    shape: tuple[int, ...]
    valid: Span
    role: Literal["image", "features", "one-hot", "label", "index", "noise", "uniform", "keep_prob"] = "image"
    ranum: Span = ANY
    values: tuple[Any, ...] | None = None
    """The samples that the program has in its source, where it has some."""

    def span(self, kind: RangeSet) -> Span:
        """An index keeps its valid range: outside of it there is no such class."""
        return self.valid if kind == "natural" or self.role in {"index", "uniform"} else self.ranum


@dataclass(frozen=True, slots=True)
class Site:
    """An operator that is known to fail, or known not to, by the line that computes it."""

    mark: str
    op: str
    fails_in: tuple[RangeSet, ...] = RANGE_SETS
    """The ranges in which some values really make it fail, in float32 that keeps subnormals; none: it can't."""
    phase: Literal["forward", "gradient"] = "forward"
    why: str = ""


def safe(mark: str, op: str, why: str) -> Site:
    """A site that looks risky and can't fail."""
    return Site(mark, op, (), why=why)


@dataclass(frozen=True, slots=True)
class Training:
    """How the program is trained; the module's (first) output is the loss."""

    optimizer: Literal["sgd", "adam", "adagrad", "rmsprop", "momentum"]
    learning_rate: float
    batch_size: int
    settings: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One defect of one program."""

    id: str
    title: str
    module: Callable[[], Any]
    repaired: Callable[[], Any]
    repair: str
    """What the repaired form changes, and who proposed it."""
    inputs: tuple[Input, ...]
    weights: Mapping[str, Span] = field(default_factory=dict)
    """RANUM's range of each weight. One that it folded away (a bias that starts at 0) is missing: it keeps its value."""
    natural: Mapping[str, Span] = field(default_factory=dict)
    """Where the weights' natural ranges differ from those; a weight missing in both may be [-10, 10]."""
    defect: tuple[Site, ...]
    others: tuple[Site, ...] = ()
    training: Training | None = None
    trigger: Callable[[Any, dict[str, Any]], None] | None = None
    """Set weights and inputs, within the ranges of ``trigger_in``, so that the defect shows."""
    trigger_in: RangeSet = "natural"
    reachable: Mapping[str, Span] = field(default_factory=dict)
    """Wider input ranges in which the defect is possible, where it is in neither set of ranges."""
    debar: bool = False
    """Whether DEBAR is published to find it."""
    notes: str = ""

    @property
    def sites(self) -> tuple[Site, ...]:
        return (*self.defect, *self.others)

    def make(self, *, repaired: bool = False, seed: int = 0) -> Any:
        """The module with weights from the program's own initialiser, the same for the same seed."""
        import torch

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            made = (self.repaired if repaired else self.module)()
        return made.eval()

    def ranges(self, kind: RangeSet) -> dict[str, Span]:
        """What every input and every trained weight lies in."""
        found = {item.name: item.span(kind) for item in self.inputs}
        if kind == "ranum":
            return found | dict(self.weights)
        names = [name for name, _ in self.make().named_parameters()]
        return found | {name: self.natural.get(name, self.weights.get(name, ZERO_START)) for name in names}
