"""Changes of a model, and how they are made: a message in, a new message out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from nanproof.findings.location import Location
from nanproof.fix.draft import Draft, NotHereError, replace_node
from nanproof.fix.rewrite import Rewrite
from nanproof.fix.sheet import at
from nanproof.frontends.onnx.location import locate

if TYPE_CHECKING:
    from onnx import ModelProto

Path = tuple["int | str", ...]


@dataclass(frozen=True, slots=True)
class Touched:
    """What a change did: the values that are computed in another way, and what they are computed from."""

    changed: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    lines: tuple[Location, ...] = ()
    """The lines of the user's program that compute what was replaced."""


class Change(Protocol):
    """Something that can be done to a model."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def keeps(self) -> str: ...

    @property
    def kind(self) -> str:
        """A kind of :class:`nanproof.findings.Fix`."""
        ...

    def apply(self, model: ModelProto) -> Touched:
        """Change a message in place; NotHereError if it doesn't fit."""
        ...


@dataclass(frozen=True)
class Rewriting:
    """A rewrite at one or several places, each by the path of its graph and the value that it makes anew."""

    rewrite: Rewrite
    places: tuple[tuple[Path, str], ...]
    varying: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.rewrite.name

    @property
    def title(self) -> str:
        return self.rewrite.title

    @property
    def keeps(self) -> str:
        return self.rewrite.keeps

    @property
    def kind(self) -> str:
        return "guard" if self.name.startswith("guard") else "rewrite"

    def apply(self, model: ModelProto) -> Touched:
        free: list[str] = []
        lines: list[Location] = []
        for path, value in self.places:
            sheet = at(model, path, self.varying)
            match = self.rewrite.first(sheet, value)
            if match is None:
                raise NotHereError(f"{self.name} doesn't fit {value} any more")
            line = locate(sheet.nodes[match.root], {})
            lines += [line] if line is not None else []
            draft = Draft(sheet, sheet.nodes[match.root], self.name)
            free += replace_node(sheet, match.root, draft, self.rewrite.build(draft, match))
        outermost = tuple(value for path, value in self.places if not path)
        return Touched(outermost, tuple(dict.fromkeys(free)), tuple(lines))


def changed(model: ModelProto, change: Change) -> tuple[ModelProto, Touched]:
    """A copy of a model with a change made, and what that did."""
    import onnx

    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy, change.apply(copy)
