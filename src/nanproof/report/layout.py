"""A Report as styled lines: values that a terminal paints and a file takes as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from nanproof.findings import wording
from nanproof.findings.finding import Finding
from nanproof.findings.report import Report
from nanproof.findings.rule import Rule
from nanproof.findings.rules import find
from nanproof.findings.verdict import Verdict
from nanproof.report.level import level, title

Span = tuple[str, str]
"""A text and the name of its style; '' is plain."""
Line = tuple[Span, ...]

QUIET, NORMAL, VERBOSE = -1, 0, 1
SHOWN = 6
"""How many items of one kind are listed before the rest is counted."""
REASONS = 3
"""How many steps of an explanation are shown unless asked for all."""
INDENT = "  "


def lines(report: Report, detail: int = NORMAL) -> Iterator[Line]:
    """The whole report. Quiet: a line a finding and the summary. Verbose: every note, reason and advice in full."""
    advised: set[str] = set()
    for finding in report.found:
        if detail <= QUIET:
            yield _one_line(finding)
            continue
        yield from _finding(finding, detail, advise=finding.code not in advised)
        yield ()
        advised.add(finding.code)
    if detail > QUIET:
        about = [*_notes(report, detail), *_about(report, detail)]
        yield from about
        if about:
            yield ()
    yield _summary(report)
    if advised:
        yield (("why, with examples: nanproof rule " + min(advised), "dim"),)


def plain(styled: Iterable[Line]) -> str:
    """The lines without their styles."""
    return "".join("".join(wording.printable(text) for text, _ in line).rstrip() + "\n" for line in styled)


def _headline(finding: Finding) -> Line:
    mark = "~" if finding.weak else ""
    return ((f"{finding.code}{mark}", level(finding)), (f" {title(finding)}", "bold"))


def _one_line(finding: Finding) -> Line:
    mark = "~" if finding.weak else ""
    seen = f" {wording.place(finding)}: {wording.seen(finding)}"
    return ((f"{finding.code}{mark}", level(finding)), (seen, ""))


def _where(finding: Finding) -> Line:
    node = f"node {finding.node}"
    if finding.location is None:
        return ((INDENT, ""), (node, "where"))
    source = f"   {finding.source.strip()}" if finding.source and finding.source.strip() else ""
    return ((INDENT, ""), (str(finding.location), "where"), (source, ""), (f"   {node}", "dim"))


def _finding(finding: Finding, detail: int, *, advise: bool) -> Iterator[Line]:
    yield _headline(finding)
    yield _where(finding)
    yield ((INDENT + wording.seen(finding), ""),)
    for reason in _reasons(finding.because, detail):
        yield ((INDENT + "because " + reason, ""),)
    yield from _outcome(finding)
    for text in (wording.reaches(finding), wording.also(finding)):
        if text:
            yield ((INDENT + text, ""),)
    for fix in finding.fixes:
        proved = f"   {fix.proved}" if fix.proved else "   (not proved)"
        yield (INDENT + "fix: ", "good"), (fix.text, ""), (proved, "dim")
    rule = find(finding.code)
    if advise and rule and not finding.fixes:
        yield (INDENT + "advice: ", "good"), (_advice(rule, detail), "")
    if detail >= VERBOSE:
        yield ((INDENT + finding.id, "dim"),)


def _outcome(finding: Finding) -> Iterator[Line]:
    outcome = wording.certainty(finding)
    if outcome:
        style = "error" if finding.verdict is not Verdict.POSSIBLE else "warning"
        yield ((INDENT + outcome, style),)


def _reasons(because: Sequence[str], detail: int) -> Iterator[str]:
    shown = because if detail >= VERBOSE else because[:REASONS]
    yield from shown
    if len(shown) < len(because):
        yield f"... {wording.plural(len(because) - len(shown), 'earlier reason')}, shown with -v"


def _advice(rule: Rule, detail: int) -> str:
    """All of the advice, or its first sentence."""
    if detail >= VERBOSE:
        return rule.advice
    return rule.advice.split(". ", 1)[0].rstrip(".")


def _some(items: Sequence[str], detail: int, more: str) -> Iterator[Line]:
    """The items as notes; beyond a few they are counted only, unless asked for."""
    shown = items if detail >= VERBOSE or len(items) <= SHOWN else items[: SHOWN - 1]
    for item in shown:
        yield ("note: ", "note"), (item, "")
    if len(shown) < len(items):
        yield ("note: ", "note"), (f"{len(items) - len(shown)} more {more}, shown with -v", "")


def _notes(report: Report, detail: int) -> Iterator[Line]:
    """The findings that are notes only."""
    yield from _some([wording.note(f) for f in report.findings if f.is_note], detail, "of these")


def _about(report: Report, detail: int) -> Iterator[Line]:
    """What holds for the check as a whole: operators not known, ranges assumed, whatever gave up."""
    unknown = wording.unknown_operators(report.unknown_ops, report.weaker)
    if unknown:
        yield ("note: ", "note"), (unknown, "")
    assumed = [wording.assumed_range(a) for a in report.assumed_ranges]
    yield from _some(assumed, detail, "ranges were assumed")
    yield from _some(report.notes, detail, "notes")


def _summary(report: Report) -> Line:
    return ((wording.summary(report), "bold" if report.found else "good"),)
