"""Where an equation comes from: the line of the user's program, and whether it is a step backwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nanproof.frontends.programs.frames import is_ours, is_users, shown

BACKWARD = "transpose("
DERIVED = "jvp("
BIND = ("jax", "_src", "core.py")
"""Where JAX applies a primitive: what is further in is a derivative's own code."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Finds lines; ``owners`` are folders of installed packages that count as the user's."""

    owners: tuple[str, ...] = ()
    seen: dict[int, tuple[Any, str]] = field(default_factory=dict)
    calls: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def line(self, equation: Any) -> str:
        """'file:line' of the user's innermost frame; '' if the equation keeps none."""
        traceback = equation.source_info.traceback
        if traceback is None:
            return ""
        found = self.seen.get(id(traceback))
        if found is None:
            found = self.seen[id(traceback)] = (traceback, self._line(traceback))
        return found[1]

    def _line(self, traceback: Any) -> str:
        for frame in traceback.frames:  # the innermost first
            if is_ours(frame.file_name):
                break  # further out is the script that asked for the check
            if frame.line_num and is_users(frame.file_name, self.owners):
                return f"{shown(frame.file_name)}:{frame.line_num}"
        return ""

    def call(self, equation: Any) -> str:
        """A number for the call in the program that an equation comes of: what is computed for its derivative has the same."""
        traceback = equation.source_info.traceback
        if traceback is None:
            return ""
        codes, places = traceback.raw_frames()
        frames = []
        for code, place in reversed(list(zip(codes, places, strict=True))):  # the outermost first
            if Path(code.co_filename).parts[-3:] == BIND:
                break
            frames.append((code, place))
        return self.calls.setdefault(tuple(frames), str(len(self.calls)))

    @staticmethod
    def is_derived(equation: Any) -> bool:
        """Whether an equation is of a function together with its derivative."""
        return DERIVED in str(equation.source_info.name_stack)

    @staticmethod
    def is_backward(equation: Any) -> bool:
        """Whether an equation is a step of the backward pass."""
        return BACKWARD in str(equation.source_info.name_stack)


def has_backward(jaxpr: Any) -> bool:
    """Whether any equation of a jaxpr, or of one within it, is a step of a backward pass."""
    from jax.extend.core import jaxprs_in_params

    return any(
        Lines.is_backward(equation) or any(has_backward(inner) for inner in jaxprs_in_params(equation.params))
        for equation in jaxpr.eqns
    )
