"""``nanproof op``: what nanproof knows of an operator."""

from __future__ import annotations

import argparse
from inspect import isfunction
from typing import TYPE_CHECKING

from nanproof.findings.errors import InputError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from nanproof.ops.record import Op


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "op",
        help="show what is known of an operator such as Log",
        description="What nanproof knows of an operator: where it fails, how it is bounded and rounded.",
    )
    command.add_argument("name", nargs="?", metavar="NAME", help="the name of an ONNX operator")
    command.add_argument("--list", action="store_true", help="list all operators that have a bound")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the record of an operator, or the list of all."""
    from nanproof.findings.names import hint
    from nanproof.ops import OPS

    if options.name is None or options.list:
        print("\n".join(sorted(full_name(op) for op in OPS)))
        return 0
    wanted = options.name.lower()
    fitting = [op for op in OPS if wanted in {op.name.lower(), full_name(op).lower()}]
    if not fitting:
        known = [full_name(op) for op in OPS]
        raise InputError(
            f'there is no record of an operator "{options.name}": {hint(options.name, known)} (all: nanproof op --list)'
        )
    print("\n\n".join(describe(op) for op in fitting))
    return 0


def full_name(op: Op) -> str:
    """The name with its domain, where that isn't ONNX's own."""
    return f"{op.domain}.{op.name}" if op.domain else op.name


def describe(op: Op) -> str:
    """The record as text: the condition of each rule, what can overflow, how it is bounded."""
    from nanproof.findings.rules import find

    def titled(code: str) -> str:
        rule = find(code)
        return f"{code} ({rule.title})" if rule else code

    lines = [full_name(op)]
    for need in op.requires:
        only = f" ({need.only} operands)" if need.only else ""
        lines.append(f"  fails at   {need.text}{only}: {titled(need.code)}")
    if op.overflow:
        lines.append(f"  overflows  {titled(op.overflow)}")
    if not op.requires and not op.overflow:
        lines.append("  fails at   nothing: finite operands give a finite result")
    lines += [f"  derivative is not finite at {condition.invalid()}" for condition in op.smooth]
    lines.append(f"  bound      {_bound(op)}")
    lines.append(f"  rounding   {_rounding(op)}")
    if op.grain:
        lines.append(f"  grain      operands {', '.join(map(str, op.grain))} are followed element by element")
    lines.append(f"  tested at  {', '.join(f'{point:g}' for point in op.samples.points)}")
    lines.append(f"  tested in  {', '.join(op.samples.dtypes)}")
    return "\n".join(lines)


def _bound(op: Op) -> str:
    """The class of the bound with the first sentence of why it holds."""
    name = getattr(op.bound, "__name__", type(op.bound).__name__).strip("_")
    name = "a rule of its own" if name in {"<lambda>", "partial"} else name.replace("_", " ")
    about = getattr(op.bound, "text", None) or (getattr(op.bound, "__doc__", None) if isfunction(op.bound) else None)
    first = " ".join((about or "").split("\n\n")[0].split()).split(". ")[0].rstrip(".")
    return f"{name}: {first}" if first else name


def _rounding(op: Op) -> str:
    if op.exact:
        return "none: values are moved, selected or compared"
    return f"that of {op.error}, by runtime" if op.error else "correct rounding in the tensor's dtype"
