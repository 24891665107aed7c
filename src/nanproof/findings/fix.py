"""A change that makes a finding go away."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("advice", "rewrite", "guard", "clip")


@dataclass(frozen=True, slots=True)
class Fix:
    """One change: what it is, the text to write, and for what it was proved (None: advice that nobody proved)."""

    title: str
    text: str
    proved: str | None = None
    kind: str = "advice"
    """advice; rewrite: another way to compute the same; guard: an operand kept off its edge; clip: values cut to a range."""
    ulps: float | None = None
    """The largest change of an output seen on ordinary inputs, in units in the last place; None if it wasn't measured."""
    samples: int = 0
    """How many points the changed model was run on."""
    diff: str | None = None
    """The change of the user's program, as a unified diff."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"the kind of a fix is one of {', '.join(KINDS)}, got {self.kind!r}")
