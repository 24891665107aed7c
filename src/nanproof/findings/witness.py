"""The concrete tensors that make a site fail."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Witness:
    """Where the failing test and its tensors are, and in which runtime it was replayed."""

    test: str
    tensors: str
    runtime: str
    summary: str = ""
