"""Every test case of the onnx package whose operators all have records: real outputs lie in the Boxes."""

from __future__ import annotations

import pytest

from nanproof.ops import OPS
from nanproof.testing.node_cases import collected, examined, node_case_report, report_text

NAMES = sorted({f"{op.domain}.{op.name}" if op.domain else op.name for op in OPS} | {"If", "Loop", "Scan"})
FUNCTIONS = "without a record"
"""Functions that the loader expands into operators with records."""

ENOUGH = 0.95
LIMITS: dict[str, str] = {}
"""Cases known to be wrong, and why. A case that is right again must leave this table."""


@pytest.mark.parametrize("name", [*NAMES, "several operators", FUNCTIONS])
def test_node_cases(name: str) -> None:
    tested = sorted(collected().keys() - {*NAMES, "several operators"}) if name == FUNCTIONS else [name]
    outcomes = [outcome for op in tested for outcome in examined(op)]
    wrong = {outcome.name: outcome.wrong[0] for outcome in outcomes if outcome.wrong}
    unknown = [line for case, line in wrong.items() if case not in LIMITS]
    assert not unknown, "\n".join(unknown[:6])
    gone = [outcome.name for outcome in outcomes if outcome.name in LIMITS and outcome.name not in wrong]
    assert not gone, f"no longer a limit: {gone}"


def test_most_cases_are_answered() -> None:
    """By more than "any value": what ``make bench`` shows operator by operator."""
    shares = node_case_report(samples=0)
    total = shares[-1]
    print(report_text(shares))  # noqa: T201  # pytest shows it with -rP
    assert total.tried > 1000
    assert total.answered >= ENOUGH * total.tried
