"""``nanproof rule``: what a code means, how it comes about, an example that fails and one that holds."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from nanproof.cli.color import colored
from nanproof.findings.errors import InputError

if TYPE_CHECKING:
    from argparse import _SubParsersAction


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "rule",
        help="explain a code such as NP101",
        description="What a code means: how it comes about, an example that fails, one that holds, and what to do.",
    )
    command.add_argument("code", nargs="?", metavar="CODE", help="a code, or the start of some, such as NP2")
    command.add_argument("--list", action="store_true", help="list all codes")
    command.add_argument("--no-color", action="store_true", help="no colours, even on a terminal")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the page of a rule, or a list."""
    from nanproof.findings.names import hint
    from nanproof.findings.rules import RULES
    from nanproof.report.rule_page import line, markdown

    if options.code is None or options.list:
        fitting = [rule for rule in RULES if rule.code.startswith((options.code or "").upper())]
        print("\n".join(line(rule) for rule in fitting))
        return 0
    wanted = options.code.strip().upper()
    exact = [rule for rule in RULES if wanted in (rule.code, rule.slug.upper())]
    fitting = exact or [rule for rule in RULES if rule.code.startswith(wanted)]
    if not fitting:
        known = [rule.code for rule in RULES]
        raise InputError(f'there is no rule "{options.code}": {hint(options.code, known)} (all: nanproof rule --list)')
    if len(fitting) > 1:
        print("\n".join(line(rule) for rule in fitting))
    elif colored(sys.stdout, forbidden=options.no_color):
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(markdown(fitting[0])))
    else:
        print(markdown(fitting[0]), end="")
    return 0
