"""The first verification: the analysis of the changed model finds nothing at the site, and nothing new elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nanproof.findings import Finding, InputError, Report

if TYPE_CHECKING:
    from onnx import ModelProto

    from nanproof.analysis import Options
    from nanproof.model.graph import Model

Spot = tuple[str, str]
"""What identifies an alarm across versions of a model: its code and its node."""
HARDER = {"low": "low", "normal": "high", "high": "high"}
"""The effort that a change is proved with: what the question was asked with, or more."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the analysis says of a changed model."""

    accepted: bool
    why: str
    report: Report | None = None


class Judge:
    """Analyses changed models under the question that the original one was asked."""

    def __init__(
        self, options: Options, folder: Path | None = None, label: str = "the model", notes: tuple[str, ...] = ()
    ) -> None:
        self.options, self.folder, self.label, self.notes = options, folder, label, notes
        self.time_limit = 5.0 if options.time_limit is None else options.time_limit

    def model(self, proto: ModelProto) -> Model:
        """A message as a Model."""
        from nanproof.frontends.onnx import load
        from nanproof.ops import lookup

        found = load(proto, known=lambda domain, op: lookup(domain, op) is not None, folder=self.folder)
        found.path, found.notes = self.label, (*self.notes, *found.notes)
        return found

    def report(self, proto: ModelProto, *, hard: bool = False) -> Report:
        """The report on a message; hard: at the effort that changes are proved with."""
        from nanproof.analysis import analyse

        options = self.options
        if hard:
            options = replace(options, effort=HARDER[options.effort], time_limit=self.time_limit)
        return analyse(self.model(proto), options)

    @property
    def can_try_harder(self) -> bool:
        """Whether there is an effort above that of the question."""
        return HARDER[self.options.effort] != self.options.effort

    def rule(self, proto: ModelProto, before: Report, target: Finding, *, hard: bool = False) -> Ruling:
        """Whether a changed model no longer has a finding, and has no other that wasn't there before."""
        try:
            after = self.report(proto, hard=hard)
        except InputError as error:
            return Ruling(False, str(error))
        if spots(after.found) & spots([target]):
            return Ruling(False, "the alarm stays", after)
        new = sorted(spots(after.found) - spots(before.found))
        if new:
            return Ruling(False, f"a new alarm: {new[0][0]} at {new[0][1]}", after)
        return Ruling(True, "", after)


def spots(findings: tuple[Finding, ...] | list[Finding]) -> set[Spot]:
    """The alarms of findings, each node with the same cause as one of its own."""
    return {(finding.code, node) for finding in findings for node in (finding.node, *finding.also)}
