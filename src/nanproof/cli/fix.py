"""``nanproof fix``: the change that holds, proved by analysis and by runs, and the model with it made."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from nanproof.cli import output, question
from nanproof.cli.progress import progress
from nanproof.findings.errors import InputError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from nanproof.cli.config import Settings
    from nanproof.findings.report import Report
    from nanproof.fix.run import Fixed


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command with all of its options."""
    command = commands.add_parser(
        "fix",
        help="find changes of a model that hold, and make them",
        description="For each finding, find a change of the model after which it is proved safe, and make it.",
    )
    question.add(command)
    output.add_selection(command)
    how = command.add_argument_group("the fix")
    how.add_argument("-o", "--write", dest="patched", metavar="FILE", help="write the model with all fixes made")
    how.add_argument("--force", action="store_true", help="replace FILE if it is there")
    how.add_argument("--apply", action="store_true",
                     help="make the shown changes of the program's source; a file that git doesn't have as it is "
                     "is copied to FILE.orig first")  # fmt: skip
    how.add_argument("--all", dest="every", action="store_true", help="every fix that is proved, not only the best")
    how.add_argument("--samples", type=_count, default=None, metavar="N",
                     help="how many points both models are run on (default: 1000)")  # fmt: skip
    output.add_output(command)
    command.set_defaults(run=run)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) > 1_000_000:
        raise InputError(f'--samples: "{text}" is no number of samples; say 0 to 1000000')
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Fix the target; 0 if nothing is left to find, 1 if something is."""
    settings = question.settings_of(options, output.selected(options))
    question.readable(options)
    output.check_files(options)
    known = output.baseline_of(settings)
    if options.patched is not None:
        from nanproof.fix.patch import writable
        from nanproof.frontends.opening import file_of

        if Path(options.patched).exists() and Path(options.patched).samefile(file_of(options.target)):
            raise InputError(f"-o {options.patched}: that is the model itself; name another file")
        writable(Path(options.patched), force=options.force)

    def choose(report: Report) -> Report:
        return output.kept(report, settings, known, options.write_baseline)

    with progress(f"fixing {options.target}", show=not options.quiet):
        fixed = _fixed(options, settings, choose)
    report = choose(fixed.report)
    output.emit(report, options)
    if fixed.diff and options.format == "rich" and not options.quiet:
        print(f"\n{fixed.diff}", end="")
    if options.apply:
        print(_applied(fixed), file=sys.stderr)
    if options.patched is not None:
        fixed.save(options.patched, force=options.force)
        print(_written(options.patched, fixed), file=sys.stderr)
    made = fixed.program.tried if options.apply else None
    return choose(fixed.after if made is None or made.report is None else made.report).exit_code


def _fixed(options: argparse.Namespace, settings: Settings, choose: object) -> Fixed:
    from dataclasses import asdict

    import nanproof

    return nanproof.fix(
        options.target,
        ranges=settings.ranges,
        dims=settings.dims,
        roles=settings.roles,
        weights=settings.weights or "model",
        runtime=settings.runtime,
        effort=settings.effort or "normal",
        time_limit=settings.time_limit,
        every=options.every,
        samples=options.samples,
        choose=choose,  # type: ignore[arg-type]
        **asdict(question.request_of(options)),
    )


def _written(path: str, fixed: Fixed) -> str:
    left = len(fixed.after.found)
    state = "nothing is left to find in it" if not left else f"{left} of its findings have no fix that is proved"
    return f"{path}: written; {state}"


def _applied(fixed: Fixed) -> str:
    if not fixed.diff:
        return "nothing was written: no fix leads to a line of the program's source"
    from nanproof.frontends.programs.frames import shown

    lines = []
    for path, copy in fixed.apply().items():
        kept = "" if copy is None else f"; the old text is in {shown(str(copy))}"
        lines.append(f"{shown(str(path))}: changed{kept}")
    return "\n".join(lines)
