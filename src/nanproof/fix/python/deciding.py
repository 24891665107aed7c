"""From the changes of a graph to one change of the program: all of them together if that holds, else one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from nanproof.findings import Finding
from nanproof.findings.wording import place
from nanproof.fix.changes import Rewriting
from nanproof.fix.python.placing import alternatives
from nanproof.fix.python.trying import Texts, Trial, Tried, counted
from nanproof.fix.python.writing import Placement

if TYPE_CHECKING:
    from nanproof.fix.solving import Proved, Solution

TRIES = 12
"""So many changed programs are loaded at most: each takes seconds."""


@dataclass(frozen=True)
class ProgramFix:
    """The change of a program, and of each finding that it answers."""

    texts: Texts = field(default_factory=dict)
    before: Texts = field(default_factory=dict)
    diff: str = ""
    """All of it."""
    diffs: dict[str, str] = field(default_factory=dict)
    """The part of each finding, by its id."""
    tried: Tried | None = None
    notes: tuple[str, ...] = ()


@dataclass(eq=False)
class _Wanted:
    finding: Finding
    proved: Proved
    ways: list[tuple[Placement, ...]]


def in_program(trial: Trial, solution: Solution) -> ProgramFix:
    """Make what was proved of the graph in the program's files, and see that it holds there."""
    wanted: list[_Wanted] = []
    notes: list[str] = []
    for finding in solution.report.found:
        proved = solution.chosen.get(finding.id)
        if proved is None:
            continue
        lines = proved.touched.lines
        ways = alternatives(trial.files, proved.change, lines) if isinstance(proved.change, Rewriting) else []
        if ways:
            wanted.append(_Wanted(finding, proved, ways))
    if not wanted:
        return ProgramFix()
    allowed = counted(solution.after.found)
    hard = any(w.proved.hard for w in wanted)
    first = trial.tried(_together([w.ways[0] for w in wanted]), allowed, hard=hard)
    if first.accepted and len(wanted) == len(solution.chosen):
        return _made(trial, [(w, w.ways[0]) for w in wanted], first, _several(wanted))
    kept, last = _one_by_one(trial, solution, wanted, notes)
    return _made(trial, kept, last, tuple(notes)) if kept and last is not None else ProgramFix(notes=tuple(notes))


def _one_by_one(
    trial: Trial, solution: Solution, wanted: Sequence[_Wanted], notes: list[str]
) -> tuple[list[tuple[_Wanted, tuple[Placement, ...]]], Tried | None]:
    """Add the change of one finding after the other, each on top of those that hold."""
    kept: list[tuple[_Wanted, tuple[Placement, ...]]] = []
    last: Tried | None = None
    allowed = counted(solution.report.found)
    tries = 0
    for one in wanted:
        left = allowed - Counter({(one.finding.code, one.finding.op): 1})
        reasons: list[str] = []
        for way in one.ways:
            if tries == TRIES:
                reasons.append("too many changes were tried")
                break
            tries += 1
            found = trial.tried(_together([*(w for _, w in kept), way]), left, hard=one.proved.hard)
            if found.accepted:
                kept.append((one, way))
                last, allowed = found, left
                break
            reasons.append(found.why)
        else:
            why = f": {reasons[0]}" if reasons else ""
            notes.append(f"{one.finding.code} at {place(one.finding)}: the change of the source doesn't hold{why}")
    return kept, last


def _together(ways: Sequence[tuple[Placement, ...]]) -> list[Placement]:
    """All placements, each expression once."""
    found: dict[tuple[object, str], Placement] = {}
    for placement in (p for way in ways for p in way):
        found.setdefault((placement.sketch.source.path, str(placement.span)), placement)
    return list(found.values())


def _made(
    trial: Trial, kept: Sequence[tuple[_Wanted, tuple[Placement, ...]]], tried: Tried, notes: tuple[str, ...]
) -> ProgramFix:
    diffs = {one.finding.id: trial.alone(way, tried) for one, way in kept}
    sources = {path: trial.files.source(str(path)) for path in tried.texts}
    before = {path: source.data for path, source in sources.items() if source is not None}
    return ProgramFix(tried.texts, before, tried.diff, diffs, tried, notes)


def _several(wanted: Sequence[_Wanted]) -> tuple[str, ...]:
    """A note for each finding that several expressions of its line could have been meant by."""
    notes = []
    for one in wanted:
        if len(one.ways) > 1:
            others = "; ".join(
                f"`{p.sketch.source.text(p.root)}`" for p in dict.fromkeys(p for way in one.ways for p in way)
            )
            notes.append(
                f"{one.finding.code} at {place(one.finding)}: several expressions fit there: {others}; the first is changed"
            )
    return tuple(notes)


def with_diffs(solution: Solution, program: ProgramFix) -> Solution:
    """The solution whose fixes say what to change in the program."""
    report = solution.report
    findings = tuple(
        replace(f, fixes=(replace(f.fixes[0], diff=program.diffs[f.id]), *f.fixes[1:]))
        if f.id in program.diffs and f.fixes
        else f
        for f in report.findings
    )
    return replace(solution, report=replace(report, findings=findings, notes=(*report.notes, *program.notes)))
