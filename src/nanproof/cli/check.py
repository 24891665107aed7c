"""``nanproof check``: prove that a model never computes NaN or Inf, or list where it can."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nanproof.cli import output, question
from nanproof.cli.progress import progress

if TYPE_CHECKING:
    from argparse import _SubParsersAction


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command with all of its options."""
    command = commands.add_parser(
        "check",
        help="check a model for NaN and Inf",
        description="Prove that a model never computes NaN or Inf, or list where it can.",
    )
    question.add(command)
    output.add_selection(command)
    output.add_output(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check the target, write the report, and return the exit code."""
    settings = question.settings_of(options, output.selected(options))
    question.readable(options)
    output.check_files(options)
    known = output.baseline_of(settings)
    with progress(f"checking {options.target}", show=not options.quiet):
        report = question.checked(options, settings)
    report = output.kept(report, settings, known, options.write_baseline)
    output.emit(report, options)
    return report.exit_code
