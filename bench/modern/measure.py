"""What nanproof says of both forms of each case."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import nanproof
from nanproof.findings import InputError
from nanproof.findings.finding import Finding

from .case import Case
from .jax_forms import arrays


@dataclass(frozen=True, slots=True)
class Answer:
    """One case: whether the defective form is flagged with a right code and phase, and whether the repaired one is silent."""

    id: str
    title: str
    framework: str
    phase: str
    flagged: bool
    silent: bool
    said: tuple[str, ...]
    """What is said of the defective form."""
    left: tuple[str, ...]
    """What is still said of the repaired one."""
    error: str = ""
    seconds: float = 0.0


def answers(cases: Iterable[Case]) -> list[Answer]:
    """The answers to all of them."""
    return [answer(case) for case in cases]


def answer(case: Case) -> Answer:
    """Check both forms as their user would."""
    begun = time.perf_counter()
    try:
        defective, repaired = found(case, case.defective()), found(case, case.repaired())
    except InputError as error:
        return Answer(case.id, case.title, case.framework, case.phase, False, False, (), (), str(error))
    return Answer(
        id=case.id,
        title=case.title,
        framework=case.framework,
        phase=case.phase,
        flagged=any(is_right(case, finding) for finding in defective),
        silent=all(finding.is_note for finding in repaired),
        said=tuple(map(told, defective)),
        left=tuple(told(finding) for finding in repaired if not finding.is_note),
        seconds=time.perf_counter() - begun,
    )


def found(case: Case, module: Any) -> tuple[Finding, ...]:
    """The findings of one form, in the ranges of the case."""
    if case.framework == "JAX":
        given = arrays(case.example())
        return tuple(nanproof.check(module, inputs=given, ranges=case.ranges(), phase=case.phase).findings)
    weights = {name for name, _ in module.named_parameters()}
    inputs = {name: value for name, value in case.example().items() if name not in weights}
    ranges = {name: span for name, span in case.ranges().items() if name in inputs or name in weights}
    report = nanproof.check(
        module.eval(), inputs=inputs, ranges=ranges, phase=case.phase, dims=case.dims, dynamic=case.dynamic, mode="eval"
    )
    return tuple(report.findings)


def is_right(case: Case, finding: Finding) -> bool:
    """A right code in the right phase; a note counts only where the outputs stay finite."""
    return finding.phase == case.phase and finding.code.startswith(case.codes) and (case.masked or not finding.is_note)


def told(finding: Finding) -> str:
    """A finding in one line."""
    where = f" at {finding.location}" if finding.location else ""
    return f"{finding.code} {finding.op} {finding.phase}{' (note)' if finding.is_note else ''}{where}"


def rows(found: Iterable[Answer]) -> list[dict[str, Any]]:
    """For the results file."""
    return [asdict(one) for one in found]
