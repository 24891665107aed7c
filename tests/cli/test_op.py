from __future__ import annotations

from typing import Any

import pytest

from nanproof.cli.op import describe, full_name
from nanproof.ops import OPS, Op


def test_a_record(run: Any) -> None:
    code, out, _ = run("op", "log")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "Log"
    assert lines[1] == "  fails at   x <= 0: NP101 (log of a value that can be 0 or negative)"
    assert "  derivative is not finite at x <= 0" in lines
    assert any(line.startswith("  bound      increasing: ") for line in lines)
    assert "  rounding   that of log, by runtime" in lines


def test_an_operator_that_can_not_fail(run: Any) -> None:
    assert "  fails at   nothing: finite operands give a finite result\n" in run("op", "Neg")[1]


def test_the_list(run: Any) -> None:
    names = run("op")[1].splitlines()
    assert names == sorted(full_name(op) for op in OPS)
    assert run("op", "--list")[1].splitlines() == names


def test_an_unknown_operator(run: Any) -> None:
    code, _, err = run("op", "Lgo")
    assert code == 2
    assert err == 'nanproof: there is no record of an operator "Lgo": did you mean "Log"? (all: nanproof op --list)\n'


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_record_can_be_described(op: Op) -> None:
    text = describe(op)
    assert text.startswith(full_name(op))
    assert "<" not in text.split("bound")[1].split("\n")[0]
