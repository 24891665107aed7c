"""Which front end a live object is for. A new framework is a package with `matches` and `export`, and its name here."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from nanproof.findings.errors import InputError
from nanproof.frontends.live import CannotRunLiveError, Live
from nanproof.frontends.programs.objects import Program
from nanproof.frontends.request import Request

LEAVES = (
    "nanproof.frontends.torch", "nanproof.frontends.keras", "nanproof.frontends.tensorflow", "nanproof.frontends.jax",
)  # fmt: skip
"""Packages, each imported only when it is asked; `matches` of one must not import its framework."""


class Writer(Protocol):
    """Writes an ONNX file, with its data beside it where it is large."""

    def __call__(self, path: Path) -> None: ...


@dataclass(frozen=True, slots=True)
class Exported:
    """What a front end makes of a program."""

    save: Writer
    runtime: str
    notes: list[str] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)


class Leaf(Protocol):
    """What a front end's package offers."""

    def matches(self, program: Program) -> bool:
        """Whether a program is of this framework; without importing it."""

    def export(self, program: Program, request: Request, label: str) -> Exported:
        """The program as ONNX. Raises InputError with one clear sentence."""

    # A leaf may also offer `live(program, request, names, label) -> Live`: the program in its own framework, whose
    # inputs are called as the exported model calls them. It raises CannotRunLiveError.


def live_of(program: Program, request: Request, names: Sequence[str], label: str) -> Live:
    """The program in its own framework. Raises CannotRunLiveError where it can't be run like that."""
    make = getattr(leaf_of(program, label), "live", None)
    if make is None:
        raise CannotRunLiveError(f"{label} can't be run in its own framework yet")
    return make(program, request, names, label)  # type: ignore[no-any-return]


def leaf_of(program: Program, label: str) -> Leaf:
    """The front end for a program."""
    for name in LEAVES:
        leaf: Any = importlib.import_module(name)
        if leaf.matches(program):
            return leaf  # type: ignore[no-any-return]
    model = program.model
    kind = f"{type(model).__module__}.{type(model).__qualname__}".removeprefix("builtins.")
    raise InputError(
        f"{label} is a {kind}, which is no model: name an nn.Module, a function that makes one, or (module, inputs)"
    )
