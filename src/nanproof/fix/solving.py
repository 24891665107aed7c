"""From findings to fixes: candidates in order of rank, each verified twice, the best of them kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from nanproof.findings import Finding, Fix, Report
from nanproof.fix.candidates import Candidates
from nanproof.fix.changes import Change, Rewriting, Touched, changed
from nanproof.fix.draft import NotHereError
from nanproof.fix.guards import guards
from nanproof.fix.judge import Judge, spots
from nanproof.fix.limits import APART, NEAR
from nanproof.fix.rewrite import KEEPS
from nanproof.fix.sample import Sampled, Sampler, Watched
from nanproof.fix.wording import fix_of, nothing_proved

if TYPE_CHECKING:
    from onnx import ModelProto

PROVED = 3
"""So many proved changes are compared at most."""
HARD = 4
"""So many rejected changes are looked at again at high effort."""


@dataclass(frozen=True, slots=True)
class Proved:
    """A change that passed both verifications."""

    change: Change
    model: ModelProto
    report: Report
    sampled: Sampled
    hard: bool = False
    """Whether the proof needs effort "high"."""
    touched: Touched = field(default_factory=Touched)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A change that did not, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """All that was tried for one finding."""

    finding: Finding
    proved: tuple[Proved, ...]
    rejected: tuple[Rejected, ...]


@dataclass(frozen=True, slots=True)
class Solution:
    """What came of all findings together."""

    model: ModelProto
    """The model with every fix in it."""
    report: Report
    """The report on the original, with the fixes of each finding."""
    after: Report
    """The report on the changed model."""
    attempts: tuple[Attempt, ...]
    open: tuple[Finding, ...]
    """The findings that no change is proved for."""
    chosen: Mapping[str, Proved] = field(default_factory=dict)
    """The change that was made for a finding, by the finding's id; several may share one."""


class Solver:
    """Looks for changes of one model."""

    def __init__(
        self, judge: Judge, sampler: Sampler, varying: frozenset[str], *, every: bool = False, wide: bool = False
    ) -> None:
        self.judge, self.sampler, self.varying = judge, sampler, varying
        self.every, self.wide = every, wide

    def solve(self, model: ModelProto, report: Report, wanted: Sequence[Finding]) -> Solution:
        """Fix one finding after the other, each on the model that the fixes before it have made."""
        current, state = model, report
        fixes: dict[str, tuple[Fix, ...]] = {}
        attempts: dict[str, Attempt] = {}
        last: tuple[Fix, ...] = ()
        chosen: dict[str, Proved] = {}
        open_ones, moved = list(wanted), True
        while open_ones and moved:
            moved = False
            for finding in tuple(open_ones):
                alive = next((f for f in state.found if spots([f]) & spots([finding])), None)
                if alive is None:  # another fix took it along
                    fixes[finding.id] = last
                    open_ones.remove(finding)
                    continue
                attempt = attempts[finding.id] = replace(self.attempt(current, state, alive), finding=finding)
                if attempt.proved:
                    best = attempt.proved[0]
                    current, state, moved = best.model, best.report, True
                    shown = attempt.proved if self.every else attempt.proved[:1]
                    chosen[finding.id] = best
                    fixes[finding.id] = last = tuple(fix_of(p.change, p.sampled, hard=p.hard) for p in shown)
                    open_ones.remove(finding)
        findings = tuple(replace(f, fixes=fixes.get(f.id, ())) for f in report.findings)
        notes = [nothing_proved(finding, attempts[finding.id].rejected) for finding in open_ones]
        answered = replace(report, findings=findings, notes=(*report.notes, *notes))
        return Solution(current, answered, state, tuple(attempts.values()), tuple(open_ones), chosen)

    def attempt(self, model: ModelProto, before: Report, finding: Finding) -> Attempt:
        """Try the candidates for one finding."""
        proved: list[Proved] = []
        rejected: list[Rejected] = []
        waiting: list[Change] = []
        for change in self._candidates(model, finding):
            if proved and self._enough(proved, change):
                break
            found = self._tried(model, before, finding, change, hard=False)
            if isinstance(found, Proved):
                proved.append(found)
            else:
                rejected.append(found)
                waiting.append(change)
        if not proved and self.judge.can_try_harder:
            for change in waiting[:HARD]:
                found = self._tried(model, before, finding, change, hard=True)
                if isinstance(found, Proved):
                    proved.append(found)
                    break
        proved.sort(key=_rank)
        return Attempt(finding, tuple(proved), tuple(rejected))

    def _enough(self, proved: list[Proved], change: Change) -> bool:
        """Whether the search may end before a candidate."""
        best = min(proved, key=_rank)
        near = best.sampled.ulps is not None and best.sampled.ulps <= NEAR
        worse = best.change.keeps == KEEPS and change.keeps != KEEPS
        if self.every:
            return len(proved) >= 2 * PROVED
        return near or worse or len(proved) >= PROVED

    def _candidates(self, model: ModelProto, finding: Finding) -> Iterator[Change]:
        candidates = Candidates(model, self.varying)
        rewritings: list[Rewriting] = candidates.rewritings(finding)
        yield from (r for r in rewritings if r.keeps == KEEPS)
        yield from (r for r in rewritings if r.keeps != KEEPS)
        places = candidates.places(finding)
        if len(places) == 1:
            yield from guards(places[0], finding, wide=self.wide)
        elif places:
            # the same cause at several nodes: one guard at each of them
            for several in zip(*(list(guards(place, finding, wide=self.wide)) for place in places), strict=False):
                first = several[0]
                yield replace(first, places=tuple(place for guard in several for place in guard.places))

    def _tried(
        self, model: ModelProto, before: Report, finding: Finding, change: Change, *, hard: bool
    ) -> Proved | Rejected:
        try:
            after, touched = changed(model, change)
        except NotHereError as reason:
            return Rejected(change.name, str(reason))
        ruling = self.judge.rule(after, before, finding, hard=hard)
        if not ruling.accepted or ruling.report is None:
            return Rejected(change.name, ruling.why)
        outputs = tuple(item.name for item in model.graph.output)
        sampled = self.sampler.compare(model, after, Watched(touched.changed, outputs, touched.free))
        if sampled.failing is not None:
            return Rejected(change.name, f"{sampled.where} isn't finite at a sampled point")
        if sampled.relative > APART:
            return Rejected(change.name, "ordinary outputs change by more than 1 %")
        return Proved(change, after, ruling.report, sampled, hard, touched)


def _rank(proved: Proved) -> tuple[bool, bool, float]:
    """Rewrites that keep the value first, then what changes least."""
    ulps = proved.sampled.ulps
    return proved.change.keeps != KEEPS, proved.hard, 0.0 if ulps is None else max(ulps, NEAR)
