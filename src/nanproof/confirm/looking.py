"""What a look at one sample shows, and who looks: a runtime that replays one sample after the other, or PyTorch with many at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from nanproof.confirm.targets import Target
from nanproof.confirm.variables import Sample

if TYPE_CHECKING:
    from nanproof.findings.finding import Finding


@dataclass(frozen=True, slots=True)
class Hit:
    """A failure that was seen: which target, what came out of its node, the outputs of the model that aren't finite, who
    saw it, and what the framework calls the operation.
    """

    target: Target
    gives: str
    outputs: tuple[str, ...] = ()
    runtime: str = ""
    function: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    """What one sample showed: the margin of every target, the failures, and for each target that is
    one number to meet exactly, how far its elements are from it, with their signs.
    """

    margins: Any
    hits: tuple[Hit, ...] = ()
    signed: Mapping[int, Any] = field(default_factory=dict)


class Looker(Protocol):
    """Evaluates samples. It may be wrong about a failure where a Judge has the last word."""

    @property
    def most(self) -> int:
        """How many samples it takes at once with profit."""

    def look(self, samples: Sequence[Sample]) -> list[Look]:
        """What each sample shows. A sample that can't be run shows nothing."""


class Judge(Protocol):
    """Says whether a failure is real, in a runtime that shares no code with the search."""

    @property
    def runtime(self) -> str:
        """Who it is, as in findings' witnesses."""

    def judged(self, sample: Sample, hit: Hit, finding: Finding) -> Hit | None:
        """The failure as it was seen there; None if nothing was."""
