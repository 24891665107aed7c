"""Everything that one check has to say, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType

from nanproof.findings import wording
from nanproof.findings.finding import Finding


@dataclass(frozen=True, slots=True)
class SiteCounts:
    """How many sites got which verdict. A site is one operand of one node that can go wrong."""

    total: int = 0
    safe: int = 0
    possible: int = 0
    inevitable: int = 0
    confirmed: int = 0
    reproduced: int = 0

    def __post_init__(self) -> None:
        parts = (self.safe, self.possible, self.inevitable, self.confirmed, self.reproduced)
        if min(parts) < 0 or sum(parts) != self.total:
            raise ValueError(f"the verdicts {parts} don't add up to {self.total} sites")


@dataclass(frozen=True, slots=True)
class AssumedRange:
    """A range that the user didn't give, so that verdicts rest on a documented default."""

    name: str
    lo: float
    hi: float
    role: str
    why: str


@dataclass(frozen=True, slots=True)
class Report:
    """The answer to one check."""

    target: str
    runtime: str
    seconds: float
    sites: SiteCounts
    nodes: int
    findings: tuple[Finding, ...] = ()
    """Findings and notes; a note says why it is one in its ``note``."""
    unknown_ops: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Operators without a bound, and how many nodes use them."""
    weaker: int = 0
    """How many verdicts are weaker for the unknown operators."""
    assumed_ranges: tuple[AssumedRange, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences about the whole check: what gave up, what was assumed."""

    @property
    def found(self) -> tuple[Finding, ...]:
        """The findings proper, without the notes."""
        return tuple(finding for finding in self.findings if not finding.is_note)

    @property
    def exit_code(self) -> int:
        """0 if nothing was found, else 1."""
        return 1 if self.found else 0

    def __str__(self) -> str:
        lines = [f"{finding.code} {wording.place(finding)}: {wording.seen(finding)}" for finding in self.found]
        return "\n".join([*lines, wording.summary(self)])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return f"<pre>{escape(str(self))}</pre>"
