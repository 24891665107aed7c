"""Every law for every operator: a new record is tested by being there."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import settings

from nanproof.ops import OPS, Op
from nanproof.testing import LAWS, check

# Boxes drawn for a law, case and dtype, from the profile's number of examples. Each comes with six tensors.
EFFORT = max(5, settings().max_examples // 8)
SHOWN = 6


def ids(op: Op) -> str:
    return f"{op.domain}.{op.name}" if op.domain else op.name


@pytest.mark.parametrize("op", OPS, ids=ids)
@pytest.mark.parametrize("law", LAWS)
def test_law(op: Op, law: str) -> None:
    found = list(islice(check(op, effort=EFFORT, laws=(law,)), 40))
    broken = [b for b in found if b.law != "untested"]
    assert not broken, f"{len(broken)} or more breaches:\n" + "\n".join(map(str, broken[:SHOWN]))
    if found:
        pytest.skip(f"{len(found)} of the cases are run by no runtime: {found[0]}")


def test_every_operator_has_cases() -> None:
    from nanproof.testing.single import cases

    assert not [op.name for op in OPS if not cases(op)]
