"""A change that makes a finding go away."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fix:
    """One change: what it is, the text to write, and for what it was proved (None: advice that nobody proved)."""

    title: str
    text: str
    proved: str | None = None
