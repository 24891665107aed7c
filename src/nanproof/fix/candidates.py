"""Which rewrites may answer a finding: those whose pattern lies around the node that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanproof.fix.changes import Path, Rewriting
from nanproof.fix.rewrites import REWRITES
from nanproof.fix.sheet import Sheet, sheets

if TYPE_CHECKING:
    from onnx import ModelProto

    from nanproof.findings import Finding

UP, DOWN = 10, 6
"""How many nodes before and after the failing one are looked at for the root of a pattern."""
MOST = 300


@dataclass(frozen=True)
class Place:
    """A node of a model that a finding names."""

    path: Path
    sheet: Sheet
    index: int


class Candidates:
    """The candidates for the findings of one model, which doesn't change while this is in use."""

    def __init__(self, model: ModelProto, varying: frozenset[str] = frozenset()) -> None:
        self.varying = varying
        self.sheets = list(sheets(model, varying))

    def places(self, finding: Finding) -> list[Place]:
        """The nodes that a finding names: its own first, then those with the same cause."""
        found: list[Place] = []
        for name in (finding.node, *finding.also):
            place = self._named(name, finding.op if name == finding.node else None)
            if place is not None:
                found.append(place)
        return found

    def _named(self, name: str, op: str | None) -> Place | None:
        near: Place | None = None
        for path, sheet in self.sheets:
            for index in self._indexes(sheet, name):
                place = Place(path, sheet, index)
                if op is None or sheet.nodes[index].op_type == op:
                    return place
                near = near or place
        return near

    @staticmethod
    def _indexes(sheet: Sheet, name: str) -> Iterator[int]:
        yield from sheet.by_name.get(name, ())
        if name in sheet.makers:
            yield sheet.makers[name]

    def rewritings(self, finding: Finding) -> list[Rewriting]:
        """Every rewrite that fits around the nodes of a finding, nearest first within one rank of the table."""
        places = self.places(finding)
        if not places:
            return []
        found: dict[str, dict[tuple[Path, str], None]] = {}
        for place in places:
            for rewrite_name, value in _around(place, finding.code):
                found.setdefault(rewrite_name, {})[place.path, value] = None
        result = []
        for rewrite in REWRITES:
            hits = tuple(found.get(rewrite.name, ()))
            if hits:
                result.append(Rewriting(rewrite, hits, self.varying))
                # also each place alone: not every place around a finding has to do with it
                result += [Rewriting(rewrite, (hit,), self.varying) for hit in hits if len(hits) > 1]
        return result


def _around(place: Place, code: str) -> Iterator[tuple[str, str]]:
    """Rewrites and the values that they make anew. A match within a larger one of the same rewrite is done with that."""
    sheet = place.sheet
    near = [(index, value) for index in neighbours(sheet, place.index) for value in sheet.nodes[index].output[:1]]
    for rewrite in REWRITES:
        if not rewrite.answers(code):
            continue
        matches = [(value, match) for _, value in near if (match := rewrite.first(sheet, value))]
        covered = [set(match.found.used) for _, match in matches]
        for (value, _), used in zip(matches, covered, strict=True):
            if not any(used < other for other in covered):
                yield rewrite.name, value


def neighbours(sheet: Sheet, index: int) -> list[int]:
    """The nodes around one, nearest first: itself, what comes after it, what leads to it."""
    found = {index: None}
    after = before = [index]
    for step in range(max(UP, DOWN)):
        if step < DOWN:
            after = [user for i in after for name in sheet.nodes[i].output for user in sheet.uses.get(name, ())]
            after = [i for i in dict.fromkeys(after) if i not in found]
            found.update(dict.fromkeys(after))
        if step < UP:
            before = [sheet.makers[name] for i in before for name in sheet.nodes[i].input if name in sheet.makers]
            before = [i for i in dict.fromkeys(before) if i not in found]
            found.update(dict.fromkeys(before))
        if len(found) > MOST:
            break
    return list(found)
