"""The entry point: pick the command, and turn every way to fail into one clear message and an exit code.

0 nothing found, 1 findings, 2 bad usage or input, 3 a bug of our own, 130 interrupted. Nothing heavy is imported
before a command needs it.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from nanproof import __version__
from nanproof.cli import check, confirm, fix, op, rule
from nanproof.findings.errors import InputError, InternalError
from nanproof.findings.names import one_of
from nanproof.findings.wording import printable

CLEAN, FOUND, USAGE, BUG, INTERRUPTED = 0, 1, 2, 3, 130
COMMANDS = (check, confirm, fix, rule, op)


class Parser(argparse.ArgumentParser):
    """An argument parser that raises instead of ending the process, so that all errors look alike."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see {self.prog} --help)")


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = Parser(
        prog="nanproof",
        description="Prove that a deep-learning model never computes NaN or Inf, or see where it does.",
        epilog="exit codes: 0 nothing found, 1 findings, 2 bad usage or input, 3 a bug in nanproof",
    )
    top.add_argument("--version", action="version", version=f"nanproof {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        command.register(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that can't show a letter in a name is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run(given)
        sys.stdout.flush()
    except InputError as error:
        return _complain(str(error), USAGE)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has left. Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLEAN
    except MemoryError:
        return _complain("out of memory: give the process more, or check a smaller part of the model", USAGE)
    except Exception as error:  # noqa: BLE001 - the last line of defence, and it hides nothing
        return _bug(error, given)
    return code


def _run(given: list[str]) -> int:
    names = [command.__name__.rpartition(".")[2] for command in COMMANDS]
    if given and not given[0].startswith("-"):
        one_of(given[0], names, "the command")
    options = parser().parse_args(given)
    if options.command is None:
        parser().print_help()
        return USAGE
    code: int = options.run(options)
    return code


def _complain(message: str, code: int) -> int:
    shown = "\n".join(printable(line) for line in message.splitlines())
    print(f"nanproof: {shown}", file=sys.stderr)
    return code


def _bug(error: Exception, given: Sequence[str]) -> int:
    """Say how to report a bug of our own; the traceback only where asked for."""
    verbose = any(argument == "--verbose" or (argument[:1] == "-" and set(argument[1:]) == {"v"}) for argument in given)
    if verbose:
        import traceback

        traceback.print_exception(error)
    first = (str(error).splitlines() or [""])[0]
    what = f"{type(error).__name__}: {first}" if first else type(error).__name__
    if isinstance(error, InternalError):  # says itself what it was
        what = first
    how = "with the traceback above" if verbose else "with the output of the same command and -v"
    return _complain(f"{what}\nthis is a bug in nanproof {__version__}, not in your model: report it {how}", BUG)
