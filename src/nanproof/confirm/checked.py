"""A report that still knows what it is about, so that evidence can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

from nanproof.findings.report import Report

if TYPE_CHECKING:
    from nanproof.analysis import Options
    from nanproof.confirm.confirming import Evidence
    from nanproof.frontends.opened import Opened


@dataclass(frozen=True, slots=True)
class Checked(Report):
    """The report of ``nanproof.check``: a Report, with the model and the question that it answers."""

    opened: Opened | None = field(default=None, repr=False, compare=False)
    options: Options | None = field(default=None, repr=False, compare=False)
    evidence: Mapping[str, Evidence] = field(default_factory=dict, repr=False, compare=False)
    """The tensors of each confirmed finding, by its id: what ``confirm`` found."""

    def confirm(
        self,
        *,
        search: str = "combined",
        seed: int = 0,
        seconds: float = 60.0,
        vary: str = "both",
        prove: bool = True,
        minimise: bool = False,
        tests: str | Path | None = None,
    ) -> Checked:
        """Look for tensors that make each finding fail, and for a proof of those that nothing breaks.

        search    "combined": many starts, then gradients; "random"; "gradient"
        seed      the same one gives the same witnesses
        seconds   the most that the search may take
        vary      "both", "inputs" or "weights": what a witness chooses, of that which has a range
        prove     whether to ask the analysis at high effort for a proof of what the first starts do not break
        minimise  whether to bring witnesses closer to ordinary inputs
        tests     a folder for a pytest file and its tensors for each confirmed finding

        A finding counts as confirmed only when a runtime that others wrote has been seen to compute NaN or Inf from
        valid tensors. Raises InputError if the model can't be run again: it was given as a Model without its file.
        """
        from nanproof.confirm.confirming import Wanted, confirmed
        from nanproof.findings.errors import InputError

        if self.opened is None or self.options is None or self.opened.source is None:
            raise InputError("a model without its file can't be run again: check the file itself, then confirm")
        wanted = Wanted(search, seed, seconds, vary=vary, prove=prove, minimise=minimise)
        found = confirmed(self.opened, self, self.options, wanted)
        report = found.report
        if tests is not None:
            from nanproof.confirm.emit import emitted

            report = emitted(found, Path(tests), self.opened)
        return of(report, self.opened, self.options, found.evidence)


def of(report: Report, opened: Opened, options: Options, evidence: Mapping[str, Evidence] | None = None) -> Checked:
    """A report together with what it is about."""
    plain = {f.name: getattr(report, f.name) for f in fields(Report)}
    return Checked(**plain, opened=opened, options=options, evidence=evidence or {})
