"""How sure we are about a site."""

from __future__ import annotations

from enum import Enum


class Verdict(str, Enum):
    """What is known about a site, from proved safe to proved broken."""

    SAFE = "safe"
    """Proved: no input in range makes it fail."""
    POSSIBLE = "possible"
    """An alarm: failure could not be ruled out."""
    CONFIRMED = "confirmed"
    """A unit test fails: concrete weights and an input."""
    REPRODUCED = "reproduced"
    """A system test fails: a training example, then an input."""
    INEVITABLE = "inevitable"
    """Every valid input fails."""

    def __str__(self) -> str:
        return self.value
