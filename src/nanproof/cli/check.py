"""``nanproof check``: prove that a model never computes NaN or Inf, or list where it can."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from nanproof.cli import values
from nanproof.cli.color import colored
from nanproof.cli.config import Settings, load, merge
from nanproof.cli.files import is_report, read, write
from nanproof.cli.progress import progress
from nanproof.findings.errors import InputError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from nanproof.findings.report import Report

OTHERS = (
    ".pt",
    ".pth",
    ".pt2",
    ".bin",
    ".ckpt",
    ".keras",
    ".h5",
    ".pbtxt",
    ".py",
    ".safetensors",
    ".tflite",
    ".gguf",
    ".npz",
)
"""Suffixes of models that no front end reads yet."""
TEXTS = (".onnxtxt", ".onnxtext")
"""Suffixes of ONNX's text form."""


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command with all of its options."""
    command = commands.add_parser(
        "check",
        help="check a model for NaN and Inf",
        description="Prove that a model never computes NaN or Inf, or list where it can.",
    )
    command.add_argument("target", metavar="TARGET", help="an ONNX file, or its text form with the suffix .onnxtxt")
    command.set_defaults(run=run)

    what = command.add_argument_group("what to check")
    what.add_argument("--range", dest="ranges", action="append", default=[], metavar="NAME=LO,HI",
                      help="what an input or weight lies in; NAME may be a wildcard for inputs; repeatable")  # fmt: skip
    what.add_argument("--dim", dest="dims", action="append", default=[], metavar="NAME=LO..HI",
                      help="the sizes that a named dimension may have; repeatable")  # fmt: skip
    what.add_argument("--role", dest="roles", action="append", default=[], metavar="NAME=ROLE",
                      help=f"what a value is for ({', '.join(values.ROLES)}); NAME may be a wildcard; repeatable")  # fmt: skip
    what.add_argument("--weights", type=values.choice("--weights", values.WEIGHTS), metavar="|".join(values.WEIGHTS),
                      help="model: the stored values (default); architecture: any values around them")  # fmt: skip
    what.add_argument("--runtime", type=values.choice("--runtime", values.RUNTIMES), metavar="|".join(values.RUNTIMES),
                      help="whose arithmetic the verdicts hold for (default: onnxruntime for an ONNX file)")  # fmt: skip
    what.add_argument(
        "--config", metavar="FILE", help="settings (default: the nearest nanproof.toml or pyproject.toml)"
    )

    which = command.add_argument_group("which findings count")
    which.add_argument("--select", action="append", default=[], metavar="CODES",
                       help="only these codes; starts of codes such as NP1 are fine; commas or repeatable")  # fmt: skip
    which.add_argument("--ignore", action="append", default=[], metavar="CODES", help="all but these codes")
    which.add_argument("--baseline", metavar="FILE", help="leave out the findings in this file")
    which.add_argument(
        "--write-baseline", metavar="FILE", help="accept the findings of this run: write them to a baseline"
    )

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


def run(options: argparse.Namespace) -> int:
    """Check the target, write the report, and return the exit code."""
    settings = merge(load(options.config, Path.cwd()), _given(options))
    _readable(options.target)
    for option, path in (("--output", options.output), ("--write-baseline", options.write_baseline)):
        if path is not None:
            _writable(Path(path), option, options.target)
    known = _baseline(settings)
    with progress(f"checking {options.target}", show=not options.quiet):
        report = _check(options.target, settings)
    report = _filter(report, settings, known, options.write_baseline)
    _emit(report, options)
    return report.exit_code


def _given(options: argparse.Namespace) -> Settings:
    """What the options on the command line say."""
    return Settings(
        ranges=values.named(options.ranges, "--range", "NAME=LO,HI", values.ends),
        dims=values.named(options.dims, "--dim", "NAME=LO..HI", values.sizes),
        roles=values.named(options.roles, "--role", "NAME=ROLE", values.role),
        weights=options.weights,
        runtime=options.runtime,
        select=values.codes(options.select, "--select"),
        ignore=values.codes(options.ignore, "--ignore"),
        baseline=Path(options.baseline) if options.baseline else None,
    )


def _readable(target: str) -> None:
    """Refuse what can't be a model that we read, before anything is imported for it."""
    path = Path(target)
    if not path.exists():
        raise InputError(f"{target} does not exist{_nearby(path)}")
    if path.suffix.lower() in OTHERS:
        raise InputError(
            f"{target}: {path.suffix} files can't be checked yet; export the model to ONNX and check that file"
        )


def _nearby(path: Path) -> str:
    """A guess at the file that was meant: one like it in the same folder."""
    from nanproof.findings.names import hint

    try:
        names = [item.name for item in path.parent.iterdir() if item.suffix in {".onnx", *TEXTS}]
    except OSError:
        return ""
    guess = hint(path.name, names)
    return f": {guess}" if guess.startswith("did") else ""


def _writable(path: Path, option: str, target: str) -> None:
    """Refuse an impossible output before the work, not after it."""
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: there is no folder {path.parent}")
    if path.exists() and path.samefile(target):
        raise InputError(f"{option} {path}: that is the model itself; name another file")


def _check(target: str, settings: Settings) -> Report:
    import nanproof

    model: object = target
    if Path(target).suffix.lower() in TEXTS:
        from nanproof.frontends.onnx import load_text
        from nanproof.ops import lookup

        model = load_text(read(Path(target), "model"), known=lambda domain, op: lookup(domain, op) is not None)
        model.path = target
    return nanproof.check(
        model,  # type: ignore[arg-type]
        ranges=settings.ranges,
        dims=settings.dims,
        roles=settings.roles,
        weights=settings.weights or "model",
        runtime=settings.runtime,
    )


def _baseline(settings: Settings) -> frozenset[str]:
    if settings.baseline is None:
        return frozenset()
    from nanproof.report import baseline

    return baseline.read(read(settings.baseline, "baseline"), str(settings.baseline))


def _filter(report: Report, settings: Settings, known: frozenset[str], write_baseline: str | None) -> Report:
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


def _emit(report: Report, options: argparse.Namespace) -> None:
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
