"""Where in the user's program something is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A line of a source file; lines count from 1."""

    file: str
    line: int

    def __post_init__(self) -> None:
        if self.line < 1:
            raise ValueError(f"a line number starts at 1, got {self.line}")

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"
