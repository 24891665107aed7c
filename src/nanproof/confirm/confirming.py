"""From the report of a check to one with evidence: witnesses that a replay has shown to fail, and further proofs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from nanproof.analysis import Options, analyse
from nanproof.confirm.looking import Hit
from nanproof.confirm.problem import Problem, Space, Subject, posed
from nanproof.confirm.search import COMBINED, MODES, How, Outcome, Search
from nanproof.confirm.sizes import choices
from nanproof.confirm.summary import summary
from nanproof.confirm.variables import BOTH, VARY, CannotVaryError, Sample
from nanproof.execution.onnx_runtime import CannotRunError
from nanproof.findings import wording
from nanproof.findings.names import one_of
from nanproof.findings.report import Report
from nanproof.findings.verdict import Verdict
from nanproof.findings.witness import Witness
from nanproof.frontends.live import CannotRunLiveError
from nanproof.model.lower import lower
from nanproof.model.ranges import decide, decide_sizes
from nanproof.model.roles import Role, infer
from nanproof.ops import lookup

if TYPE_CHECKING:
    from nanproof.confirm.search import Progress
    from nanproof.findings.finding import Finding
    from nanproof.frontends.live import Live
    from nanproof.frontends.opened import Opened

LOOKS = 3000
"""Replays that one choice of sizes may take, unless it is told otherwise."""
SECONDS = 60.0
"""Seconds that the whole search may take, unless it is told otherwise."""
MOST_BYTES = 1 << 28
"""Stored weights that a test brings along; a program with more has to make or load them itself."""
PROOF_SECONDS = 20.0
"""Seconds that the analysis may take to prove what the first starts have not broken."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to confirm.

    mode      "combined", "random" or "gradient"
    seed      the same one gives the same witnesses
    seconds   the most that the search may take in all; ``looks`` the most replays for one choice of sizes
    vary      "both", "inputs" or "weights": what a witness may choose, of that which has a range
    prove     whether to ask the analysis at high effort for a proof of what the first starts leave open
    minimise  whether to bring witnesses closer to ordinary inputs
    device    where PyTorch searches: "cpu", "cuda"
    keep      which findings of a report count; the others are left out
    """

    mode: str = COMBINED
    seed: int = 0
    seconds: float = SECONDS
    looks: int = LOOKS
    vary: str = BOTH
    prove: bool = True
    minimise: bool = False
    device: str = "cpu"
    progress: Progress = field(default=lambda text: None)
    keep: Callable[[Report], Report] = field(default=lambda report: report)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The tensors that make one finding fail, as a replay has shown."""

    finding: Finding
    problem: Problem
    sample: Sample
    hit: Hit

    @property
    def result(self) -> str:
        """The name of what the failing node makes."""
        return self.problem.subject.program.names[self.hit.target.step.outputs[0]]

    @property
    def tensors(self) -> Sample:
        """All inputs, and the weights that were chosen."""
        return self.problem.feeds(self.sample)

    @property
    def weights(self) -> Sample:
        """The stored weights of the model; none where they would make a test too large."""
        model = self.problem.subject.model
        stored = {n: s for n, s in model.graph.constants.items() if model.roles.get(n) is Role.WEIGHT}
        if sum(source.nbytes for source in stored.values()) > MOST_BYTES:
            return {}
        return {name: source.array() for name, source in stored.items()}

    @property
    def inputs(self) -> dict[str, str]:
        """The inputs of the model among the tensors, and their dtypes."""
        graph = self.problem.subject.model.graph
        names = [item.name for item in graph.inputs if item.name not in graph.constants]
        return {name: self.tensors[name].dtype.name for name in names if name in self.tensors}

    def in_onnx(self) -> Evidence | None:
        """The same failure as the exported model shows it in a runtime of ONNX; None if it doesn't."""
        hit = self.problem.in_onnx(self.sample, self.hit)
        return None if hit is None else replace(self, hit=hit)

    @property
    def witness(self) -> Witness:
        """What the report says of it, before it is written anywhere."""
        shown = summary(self.problem.variables, self.sample, self.hit.gives)
        return Witness(shown, self.hit.runtime, self.hit.outputs)


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The new report, and the evidence of each confirmed finding by its id."""

    report: Report
    evidence: Mapping[str, Evidence]


def confirmed(opened: Opened, report: Report, options: Options, wanted: Wanted | None = None) -> Confirmed:
    """Look for a witness of every finding, and for a proof of the rest. Replays run what the model was read from."""
    how = wanted or Wanted()
    one_of(how.mode, MODES, "the way to search")
    one_of(how.vary, VARY, "what to vary")
    started = time.perf_counter()
    work = _Work(opened, options, how, report)
    work.run()
    seconds = report.seconds + time.perf_counter() - started
    return Confirmed(replace(work.told(), seconds=seconds), work.evidence)


class _Work:
    """One confirmation: the report so far, the evidence, and what was tried."""

    def __init__(self, opened: Opened, options: Options, how: Wanted, report: Report) -> None:
        assert opened.source is not None
        self.opened, self.source = opened, opened.source
        self.options, self.how, self.report = options, how, how.keep(report)
        self.notes: list[str] = []
        model = opened.model
        if options.roles:
            roles = {name: Role(role) for name, role in options.roles.items()}
            model = replace(model, roles=infer(model.graph, roles))
        self.model = model
        self.until = time.perf_counter() + how.seconds
        self.evidence: dict[str, Evidence] = {}
        self.best: dict[str, float] = {}
        self.tried = 0
        self.ended = "work"
        self.refused = ""
        self.proof_asked = options.effort == "high" or not how.prove

    def open(self) -> list[Finding]:
        """The findings that a replay could show and none has."""
        return [f for f in self.report.found if f.id not in self.evidence and why_not(f) is None]

    def run(self) -> None:
        if not self.open():
            return
        subject = Subject(
            self.model, lower(self.model, lookup), self.source, self.report.runtime, self._live(), self.how.device
        )
        ranges = decide(self.model, self.options.ranges, self.options.weights)  # type: ignore[arg-type]
        dims, _ = decide_sizes(self.model, self.options.dims)
        for sizes in choices(dims):
            findings = self.open()
            if not findings or time.perf_counter() >= self.until:
                return
            try:
                problem = posed(subject, findings, Space(ranges, sizes, self.how.vary))
            except (CannotVaryError, CannotRunError) as error:
                self.refused = str(error)
                return
            self._search(problem)

    def _live(self) -> Live | None:
        """The program in its own framework; what keeps it from running there is noted."""
        if self.opened.live is None:
            return None
        try:
            return self.opened.live()
        except CannotRunLiveError as error:
            self.notes.append(wording.not_live(str(error)))
            return None

    def _search(self, problem: Problem) -> None:
        left = max(0.0, self.until - time.perf_counter())
        how = How(self.how.mode, self.how.seed, left, self.how.looks, self.how.progress)
        search = Search(problem, how, frozenset(range(len(problem.findings))))
        more = search.start()
        self._take(problem, search.outcome)
        if not more:
            return
        if not self.proof_asked:
            self._prove()
            gone = {f.id for f in self.open()}
            search.forget({n for n, f in enumerate(problem.findings) if f.id not in gone})
        self._take(problem, search.improve())

    def _take(self, problem: Problem, outcome: Outcome) -> None:
        for number, (sample, hit) in outcome.hits.items():
            finding = problem.findings[number]
            self.evidence.setdefault(finding.id, Evidence(finding, problem, sample, hit))
        for number, margin in outcome.best.items():
            name = problem.findings[number].id
            self.best[name] = min(margin, self.best.get(name, margin))
        self.tried = max(self.tried, problem.looks)
        self.ended = outcome.ended

    def _prove(self) -> None:
        """Replace the report by that of high effort, which has fewer findings or the same."""
        self.proof_asked = True
        limit = PROOF_SECONDS if self.options.time_limit is None else self.options.time_limit
        left = min(limit, max(0.0, self.until - time.perf_counter()))
        closer = analyse(self.model, replace(self.options, effort="high", time_limit=left))
        known = {f.id for f in closer.findings}
        if all(name in known for name in self.evidence):
            self.report = self.how.keep(closer)

    def told(self) -> Report:
        """The report with verdicts, witnesses, and notes on what stays open."""
        findings = tuple(self._with_evidence(f) for f in self.report.findings)
        notes = [self._note(f) for f in self.report.found if f.id not in self.evidence and f.may]
        sites = self.report.sites
        moved = sum(
            f.verdict is Verdict.CONFIRMED and old.verdict is Verdict.POSSIBLE
            for f, old in zip(findings, self.report.findings, strict=True)
        )
        moved = min(moved, sites.possible)
        counts = replace(sites, possible=sites.possible - moved, confirmed=sites.confirmed + moved)
        return replace(self.report, findings=findings, sites=counts, notes=(*self.report.notes, *self.notes, *notes))

    def _with_evidence(self, finding: Finding) -> Finding:
        evidence = self.evidence.get(finding.id)
        if evidence is None:
            return finding
        verdict = finding.verdict if finding.verdict is Verdict.INEVITABLE else Verdict.CONFIRMED
        return replace(finding, verdict=verdict, witness=evidence.witness)

    def _note(self, finding: Finding) -> str:
        why = why_not(finding) or self.refused
        if why:
            return wording.not_searched(finding, why)
        return wording.left_open(finding, self.tried, self.best.get(finding.id), self.ended)


def why_not(finding: Finding) -> str | None:
    """Why no replay can show a finding; None if one can."""
    if finding.is_note:
        return "it is only a note"
    if not finding.may:
        return "no NaN or Inf is born there"
    if finding.op == "Output":
        return "the file itself stores the NaN or Inf"
    return None
