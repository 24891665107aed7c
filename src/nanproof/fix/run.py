"""The whole of ``nanproof fix``: a model in, its report with fixes and the patched model out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanproof.findings import Finding, Report
from nanproof.fix.judge import Judge
from nanproof.fix.points import drawn_values
from nanproof.fix.python.deciding import ProgramFix, in_program, with_diffs
from nanproof.fix.python.trying import Trial
from nanproof.fix.sample import Sampler
from nanproof.fix.solving import Attempt, Solution, Solver
from nanproof.fix.targets import Target
from nanproof.model.roles import Role

if TYPE_CHECKING:
    from onnx import ModelProto

    from nanproof.analysis import Options
    from nanproof.frontends.request import Request
    from nanproof.model.graph import Model

SAMPLES = 1000
SECONDS = 2.0
"""How long one changed model is run at most."""


@dataclass(frozen=True)
class Fixed:
    """What ``nanproof.fix`` gives: ``report`` has the fixes of each finding, ``model`` has them made."""

    report: Report
    after: Report
    model: ModelProto
    folder: Path | None
    attempts: tuple[Attempt, ...] = field(default=(), repr=False)
    program: ProgramFix = field(default_factory=ProgramFix, repr=False)
    """The same as a change of the user's own Python source, where the findings' lines lead to it."""

    @property
    def diff(self) -> str:
        """All changes of the program's source, as a unified diff; "" where there is none."""
        return self.program.diff

    @property
    def fixed(self) -> bool:
        """Whether the analysis finds nothing in the patched model."""
        return not self.after.found

    def apply(self) -> dict[Path, Path | None]:
        """Write the changes of the source. Returns for each file the copy of its old text, None where git has it.

        Raises InputError, before anything is written, where a file can't be changed.
        """
        from nanproof.fix.python.applying import applied

        return applied(self.program.texts, self.program.before)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the patched model. An existing file is replaced with ``force`` only."""
        from nanproof.fix.patch import save

        save(self.model, Path(path), self.folder, force=force)


def fix(
    target: Target,
    options: Options,
    *,
    choose: Callable[[Report], Report] = lambda report: report,
    samples: int = SAMPLES,
    every: bool = False,
    witnesses: Sequence[Mapping[str, Any]] = (),
    asked: tuple[Any, Request] | None = None,
) -> Fixed:
    """Find fixes for the findings that ``choose`` keeps, and make the best one of each.

    every      keep all proved alternatives of a finding, not only the best
    witnesses  points known to fail, that the patched model has to stand
    asked      what was opened, and how: then the change is looked for in the source of a program, too
    """
    judge = Judge(options, target.folder, target.label)
    model = judge.model(target.proto)
    roles = {name: role for name, role in target.roles.items() if model.roles.get(name, role) != role}
    options = replace(options, roles={**roles, **options.roles}, runtime=options.runtime or target.runtime)
    own = tuple(note for note in target.notes if note not in model.notes)
    judge = Judge(options, target.folder, target.label, own)
    model.roles.update({name: Role(role) for name, role in options.roles.items() if name in model.roles})
    report = judge.report(target.proto)
    wanted: tuple[Finding, ...] = choose(report).found
    sampler = Sampler(drawn_values(model, options), target.folder, samples, SECONDS, tuple(witnesses), judge.model)
    varying = _varying(model, options)
    solution: Solution = Solver(judge, sampler, varying, every=every).solve(target.proto, report, wanted)
    if solution.open:
        # guards that limit more leave more room to what is computed from the guarded values
        other = Solver(judge, sampler, varying, every=every, wide=True).solve(target.proto, report, wanted)
        solution = min(solution, other, key=lambda s: len(s.open))
    program = ProgramFix()
    if asked is not None and solution.chosen:
        program = in_program(Trial(asked, target, judge, sampler), solution)
        solution = with_diffs(solution, program)
    return Fixed(solution.report, solution.after, solution.model, target.folder, solution.attempts, program)


def _varying(model: Model, options: Options) -> frozenset[str]:
    """Stored values that a rewrite must not take for constants."""
    found = {name for name in options.ranges if name in model.graph.constants}
    if options.weights != "model":
        found |= {name for name, role in model.roles.items() if role is Role.WEIGHT}
    return frozenset(found)
