"""The options on findings and reports that commands share: which findings count, and how the report is written."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from nanproof.cli import values
from nanproof.cli.color import colored
from nanproof.cli.config import Settings
from nanproof.cli.files import is_report, read, write
from nanproof.findings.errors import InputError
from nanproof.frontends.opening import file_of

if TYPE_CHECKING:
    from nanproof.findings.report import Report


def add_selection(command: argparse.ArgumentParser) -> None:
    """Add the options that say which findings count."""
    which = command.add_argument_group("which findings count")
    which.add_argument("--select", action="append", default=[], metavar="CODES",
                       help="only these codes; starts of codes such as NP1 are fine; commas or repeatable")  # fmt: skip
    which.add_argument("--ignore", action="append", default=[], metavar="CODES", help="all but these codes")
    which.add_argument("--baseline", metavar="FILE", help="leave out the findings in this file")
    which.add_argument(
        "--write-baseline", metavar="FILE", help="accept the findings of this run: write them to a baseline"
    )


def add_output(command: argparse.ArgumentParser) -> None:
    """Add the options that say how the report is written."""
    how = command.add_argument_group("output")
    how.add_argument(
        "--format",
        type=values.choice("--format", values.FORMATS),
        metavar="|".join(values.FORMATS),
        default="rich",
        help="rich (default): for people",
    )
    how.add_argument("--output", metavar="FILE",
                     help="write the report there; a file that nanproof did not write is never replaced")  # fmt: skip
    how.add_argument("-q", "--quiet", action="store_true", help="a line a finding")
    how.add_argument("-v", "--verbose", action="store_true", help="every note, every reason; a traceback for a bug")
    how.add_argument("--no-color", action="store_true", help="no colours, even on a terminal")


def selected(options: argparse.Namespace) -> Settings:
    """What the options say of which findings count."""
    return Settings(
        select=values.codes(options.select, "--select"),
        ignore=values.codes(options.ignore, "--ignore"),
        baseline=Path(options.baseline) if options.baseline else None,
    )


def check_files(options: argparse.Namespace) -> None:
    """Refuse an impossible output before the work, not after it."""
    for option, path in (("--output", options.output), ("--write-baseline", options.write_baseline)):
        if path is not None:
            _writable(Path(path), option, options.target)


def _writable(path: Path, option: str, target: str) -> None:
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: there is no folder {path.parent}")
    if path.exists() and _same(path, file_of(target)):
        raise InputError(f"{option} {path}: that is the model itself; name another file")


def _same(path: Path, other: Path) -> bool:
    return other.exists() and path.samefile(other)


def baseline_of(settings: Settings) -> frozenset[str]:
    """The ids that the baseline knows."""
    if settings.baseline is None:
        return frozenset()
    from nanproof.report import baseline

    return baseline.read(read(settings.baseline, "baseline"), str(settings.baseline))


def kept(report: Report, settings: Settings, known: frozenset[str], write_baseline: str | None) -> Report:
    """Keep the selected codes, then leave out what a baseline knows: the given one, or the one that is written now."""
    from nanproof.findings.selection import keep, without

    report = keep(report, settings.select, settings.ignore)
    if write_baseline is not None:
        from nanproof.report import baseline

        write(
            Path(write_baseline),
            baseline.text(report),
            lambda content: f'"{baseline.KEY}"' in content,
            "--write-baseline",
        )
        known = frozenset(finding.id for finding in report.found)
    return without(report, known) if known else report


def emit(report: Report, options: argparse.Namespace) -> None:
    """Write the report where and how the options say."""
    text = _text(report, options, paint=options.output is None and colored(sys.stdout, forbidden=options.no_color))
    if options.output is not None:
        write(Path(options.output), text, is_report, "--output")
    else:
        sys.stdout.write(text)


def _text(report: Report, options: argparse.Namespace, *, paint: bool) -> str:
    """The report in the format that was asked for. Each format is imported only when it is."""
    if options.format == "json":
        from nanproof.report import json_format

        return json_format.text(report)
    if options.format == "sarif":
        from nanproof.report import sarif

        return sarif.text(report)
    if options.format == "github":
        from nanproof.report import github

        return github.text(report)
    from nanproof.report import terminal

    detail = -1 if options.quiet else 1 if options.verbose else 0
    return terminal.paint(report, detail) if paint else terminal.text(report, detail)
