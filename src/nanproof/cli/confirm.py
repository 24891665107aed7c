"""``nanproof confirm``: tests that fail for what a check has found, or proofs that nothing can."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from nanproof.cli import output, question, values
from nanproof.cli.config import Settings
from nanproof.cli.progress import progress
from nanproof.findings.errors import InputError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from nanproof.findings.report import Report

SECONDS = 60.0
MODES = ("combined", "random", "gradient")
VARY = ("both", "inputs", "weights")


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command with all of its options."""
    command = commands.add_parser(
        "confirm",
        help="find tensors that make each finding fail, or prove that there are none",
        description="Check a model, then look for tensors in range that make each finding fail in a real runtime. "
        "What no search can break is given to the analysis once more, at high effort.",
    )
    question.add(command)
    _add_search(command)
    output.add_selection(command)
    output.add_output(command)
    command.set_defaults(run=run)


def _add_search(command: argparse.ArgumentParser) -> None:
    how = command.add_argument_group("the search")
    how.add_argument(
        "-o", "--tests", metavar="DIR", help="write a pytest file and its tensors for each confirmed finding there"
    )
    how.add_argument("--search", type=values.choice("--search", MODES), metavar="|".join(MODES), default="combined",
                     help="combined (default): many starts, then gradients from the best of them")  # fmt: skip
    how.add_argument("--vary", type=values.choice("--vary", VARY), metavar="|".join(VARY), default="both",
                     help="what a witness may choose, of that which has a range (default: both)")  # fmt: skip
    how.add_argument(
        "--seed", type=_seed, metavar="N", default=0, help="the same seed gives the same witnesses (default: 0)"
    )
    how.add_argument("--search-limit", type=_limit, metavar="SECONDS", default=SECONDS,
                     help=f"what the search may take in all (default: {SECONDS:g})")  # fmt: skip
    how.add_argument("--no-proof", action="store_true", help="do not ask for proofs of what the search leaves open")
    how.add_argument("--minimise", action="store_true", help="bring witnesses closer to ordinary inputs")


def _seed(text: str) -> int:
    number = values.number(text, "--seed")
    if number < 0 or number != int(number):
        raise InputError(f"--seed {text}: a seed is a whole number from 0 up")
    return int(number)


def _limit(text: str) -> float:
    return values.duration(text, "--search-limit")


def run(options: argparse.Namespace) -> int:
    """Check the target, look for witnesses, write tests and the report, and return the exit code."""
    settings = question.settings_of(options, output.selected(options))
    question.readable(options)
    output.check_files(options)
    known = output.baseline_of(settings)
    with progress(f"checking {options.target}", show=not options.quiet):
        checked = question.checked(options, settings)
    with progress(f"searching {options.target}", show=not options.quiet) as say:
        report = _confirmed(checked, options, _filter(options, settings, known), say)
    report = output.kept(report, settings, known, options.write_baseline)
    output.emit(report, options)
    return report.exit_code


def _filter(options: argparse.Namespace, settings: Settings, known: frozenset[str]) -> Callable[[Report], Report]:
    """Which findings are worth a search; a new baseline takes up those of the old one, too."""
    skipped = frozenset[str]() if options.write_baseline else known
    return lambda report: output.kept(report, settings, skipped, None)


def _confirmed(
    checked: Report, options: argparse.Namespace, keep: Callable[[Report], Report], say: Callable[[str], None]
) -> Report:
    from nanproof.confirm.checked import Checked
    from nanproof.confirm.confirming import Wanted, confirmed

    assert isinstance(checked, Checked)
    assert checked.opened is not None
    assert checked.options is not None
    wanted = Wanted(
        mode=options.search,
        seed=options.seed,
        seconds=options.search_limit,
        vary=options.vary,
        prove=not options.no_proof,
        minimise=options.minimise,
        progress=say,
        keep=keep,
    )
    found = confirmed(checked.opened, checked, checked.options, wanted)
    if options.tests is None:
        return found.report
    from nanproof.confirm.emit import emitted

    return emitted(found, Path(options.tests), checked.opened)
