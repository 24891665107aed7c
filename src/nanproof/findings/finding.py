"""A site whose verdict isn't safe, with its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from nanproof.findings.fix import Fix
from nanproof.findings.location import Location
from nanproof.findings.verdict import Verdict
from nanproof.findings.witness import Witness

PHASES = ("forward", "gradient", "step")
BORN = ("nan", "+inf", "-inf")
EMPTY = (float("inf"), float("-inf"))
"""The interval of an operand that holds no value at all, such as an empty tensor."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One operand of one node that can go wrong, and all that we know about it."""

    id: str
    """The same in every run on the same model; see :func:`stable_id`."""
    code: str
    op: str
    node: str
    operand: int
    """Which input of the node; -1 is the result."""
    operand_name: str
    interval: tuple[float, float]
    """What the operand lies in; :data:`EMPTY` if it has no element."""
    may: tuple[str, ...]
    """What is born here out of finite values: some of 'nan', '+inf', '-inf'."""
    invalid: str
    """The failing values as a condition, such as 'x <= 0'."""
    needs: str
    """What the operator needs, to end the sentence 'log needs ...', such as 'more than 0'."""
    verdict: Verdict
    phase: str = "forward"
    note: str | None = None
    """None for a finding; otherwise why this is only a note."""
    location: Location | None = None
    source: str | None = None
    """The text of the source line."""
    because: tuple[str, ...] = ()
    """Why the interval is what it is, nearest reason first."""
    reaches: tuple[str, ...] = ()
    """The outputs, losses or gradients that the NaN or Inf flows to."""
    witness: Witness | None = None
    """What was seen to fail, if anything was."""
    fixes: tuple[Fix, ...] = ()
    also: tuple[str, ...] = ()
    """Further nodes with the same cause."""
    weak: bool = False
    """Whether the verdict rests on an operator that has no bound."""
    hazard: str = ""
    """The code of what fails at the node itself, where ``code`` says what that means for a gradient."""

    def __post_init__(self) -> None:
        lo, hi = self.interval
        if not lo <= hi and self.interval != EMPTY:
            raise ValueError(f"the interval of {self.node} must be ordered, got [{lo}, {hi}]")
        if self.phase not in PHASES:
            raise ValueError(f"a phase is one of {', '.join(PHASES)}, got {self.phase!r}")
        if not set(self.may) <= set(BORN):
            raise ValueError(f"what is born is one of {', '.join(BORN)}, got {self.may}")
        if self.verdict is Verdict.SAFE:
            raise ValueError(f"{self.node} is safe: that is no finding")

    @property
    def breaks(self) -> str:
        """The code of the requirement that fails at the node."""
        return self.hazard or self.code

    @property
    def is_note(self) -> bool:
        """Whether this is worth a line only, and doesn't count as found."""
        return self.note is not None


def stable_id(code: str, *names: str) -> str:
    """The identity of a finding: its code and a short hash of names that unrelated edits leave alone.

    Give it names of the model (node, operand), never positions, counts, intervals or paths of files.
    """
    # A separator that no name contains keeps ("a", "bc") and ("ab", "c") apart.
    digest = blake2b("\0".join(names).encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
    return f"{code}-{digest}"
