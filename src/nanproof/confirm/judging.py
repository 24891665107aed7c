"""The user's own program as the judge of a failure: it must make NaN or Inf at the line that the finding names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanproof.confirm import judging_gradients
from nanproof.confirm.looking import Hit
from nanproof.confirm.variables import Sample
from nanproof.frontends.live import CannotRunLiveError, Live

if TYPE_CHECKING:
    from nanproof.findings.finding import Finding


@dataclass(slots=True)
class Program:
    """A Judge. ``fixed`` are inputs that don't vary; ``outputs`` the names of what the exported model gives."""

    live: Live
    fixed: Sample
    outputs: tuple[str, ...]

    @property
    def runtime(self) -> str:
        return self.live.runtime

    def judged(self, sample: Sample, hit: Hit, finding: Finding) -> Hit | None:
        """The failure, if the program has one born at the line of the node; where no line is known, one that shows."""
        try:
            ran = self.live.run({**self.fixed, **sample})
        except CannotRunLiveError:
            return None
        if finding.phase in {"gradient", "step"}:
            return judging_gradients.seen(ran, hit, finding, self.runtime)
        place = hit.target.step.node.location
        fitting = [b for b in ran.births if place is None or not b.file or (b.file, b.line) == (place.file, place.line)]
        if not fitting or (place is None and not ran.bad):
            return None
        birth = next((b for b in fitting if b.gives == hit.gives), fitting[0])
        outputs = tuple(self.outputs[i] if i < len(self.outputs) else f"output {i}" for i in ran.bad)
        return Hit(hit.target, birth.gives, outputs, self.runtime, birth.function)
