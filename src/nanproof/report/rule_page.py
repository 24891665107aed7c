"""The page of a rule, in Markdown: for ``nanproof rule``, for the docs site and for SARIF viewers."""

from __future__ import annotations

from collections.abc import Iterable

from nanproof.findings import wording
from nanproof.findings.rule import Example, Rule


def markdown(rule: Rule) -> str:
    """The whole page."""
    return f"""# {rule.code}: {rule.title}

{rule.summary}

## Why it happens

{rule.why}

## Fails

{_example(rule.bad)}

## Holds

{_example(rule.good)}

## What to do

{rule.advice}
"""


def index(rules: Iterable[Rule], link: str = "{code}.md") -> str:
    """A table of all rules, each linked to its page."""
    rows = [f"| [{rule.code}]({link.format(code=rule.code)}) | {rule.title} | {rule.family} |" for rule in rules]
    return "\n".join(["# Rules", "", "| code | what | family |", "|---|---|---|", *rows]) + "\n"


def line(rule: Rule) -> str:
    """One line for a list in a terminal."""
    return f"{rule.code}  {rule.title}"


def _example(example: Example) -> str:
    ranges = ", ".join(f"{name} in {wording.interval(lo, hi)}" for name, (lo, hi) in example.ranges.items())
    parts = [f"With {ranges}"] if ranges else []
    if example.back:
        parts.append(f"{', '.join(example.back)} on the way back")
    if example.update:
        parts.append(f"{', '.join(example.update)} in the optimiser's step")
    text = f"```\n{example.model.strip()}\n```"
    return f"{', '.join(parts)}:\n\n{text}" if parts else text
