"""Changes of a program, tried before anything is written: the changed text is loaded, exported, analysed and run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanproof.findings import Finding, InputError, Report
from nanproof.fix.draft import NotHereError
from nanproof.fix.judge import Judge
from nanproof.fix.limits import APART
from nanproof.fix.python.patching import diff, patched
from nanproof.fix.python.placing import Files
from nanproof.fix.python.writing import Placement
from nanproof.fix.sample import Sampled, Sampler, Watched
from nanproof.fix.targets import Target, open_message

if TYPE_CHECKING:
    from nanproof.frontends.request import Request

Texts = Mapping[Path, bytes]


@dataclass(frozen=True)
class Tried:
    """A change of a program that was run and analysed: accepted, or why not."""

    accepted: bool
    why: str = ""
    texts: Texts = field(default_factory=dict, repr=False)
    diff: str = ""
    target: Target | None = None
    report: Report | None = None
    sampled: Sampled | None = None


class Trial:
    """Tries changes of one program."""

    def __init__(self, target: tuple[Any, Request], original: Target, judge: Judge, sampler: Sampler) -> None:
        self.target, self.request = target
        self.original, self.judge, self.sampler = original, judge, sampler
        self.files = Files()
        self._kept: dict[tuple[tuple[Path, bytes], ...], Tried] = {}

    def tried(self, placements: Sequence[Placement], allowed: Counter[tuple[str, str]], *, hard: bool = False) -> Tried:
        """Make changes in the program's files and see whether no more is found than allowed, and outputs stay."""
        try:
            texts = self.texts(placements)
        except NotHereError as reason:
            return Tried(False, str(reason))
        key = tuple(sorted(texts.items()))
        found = self._kept.get(key)
        if found is None or (found.report is not None and hard):
            found = self._kept[key] = self._run(texts, hard=hard)
        if found.report is None or not found.accepted:
            return found
        left = counted(found.report.found)
        more = left - allowed
        if more:
            code, op = min(more)
            return replace(found, accepted=False, why=f"{code} of {op} is there, or still there")
        return found

    def texts(self, placements: Sequence[Placement]) -> dict[Path, bytes]:
        """The new text of each file."""
        files = {p.sketch.source.path: p.sketch.source for p in placements}
        return {
            path: patched(source, [p for p in placements if p.sketch.source is source])
            for path, source in files.items()
        }

    def diff(self, texts: Texts) -> str:
        """The change of all files, as one unified diff, with paths as a user would write them."""
        from nanproof.frontends.programs.frames import shown

        parts = []
        for path, data in sorted(texts.items()):
            source = self.files.source(str(path))
            assert source is not None
            parts.append(diff(source, data, shown(str(path))))
        return "".join(parts)

    def alone(self, placements: Sequence[Placement], whole: Tried) -> str:
        """The diff of some of the changes only; of all where they can't be told apart."""
        try:
            return self.diff(self.texts(placements))
        except NotHereError:
            return whole.diff

    def _run(self, texts: Texts, *, hard: bool) -> Tried:
        overlay = {str(path): data.decode("utf-8") for path, data in texts.items()}
        shown = self.diff(texts)
        try:
            after = open_message(self.target, replace(self.request, overlay=overlay))
            report = self.judge.report(after.proto, hard=hard)
        except InputError as error:
            return Tried(False, str(error), texts, shown)
        names = tuple(item.name for item in self.original.proto.graph.output)
        others = tuple(item.name for item in after.proto.graph.output)
        if len(names) != len(others):
            return Tried(False, "the program has other outputs then", texts, shown, after, report)
        watched = Watched((), names, renamed=dict(zip(names, others, strict=True)))
        sampled = self.sampler.compare(self.original.proto, after.proto, watched)
        found = Tried(True, "", texts, shown, after, report, sampled)
        if sampled.failing is not None:
            return replace(found, accepted=False, why=f"{sampled.where} isn't finite at a sampled point")
        if sampled.relative > APART:
            return replace(found, accepted=False, why="ordinary outputs change by more than 1 %")
        return found


def counted(findings: Sequence[Finding]) -> Counter[tuple[str, str]]:
    """How many alarms there are of each code and operator: what can be compared when nodes have other names."""
    found: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        found[finding.code, finding.op] += 1 + len(finding.also)
    return found
