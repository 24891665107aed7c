"""Every test case of the onnx package whose operators all have records: real outputs lie in the Boxes."""

from __future__ import annotations

import pytest

from nanproof.ops import OPS
from nanproof.testing.node_cases import examined

NAMES = sorted({f"{op.domain}.{op.name}" if op.domain else op.name for op in OPS} | {"If", "Loop", "Scan"})
ENOUGH = 0.95


@pytest.mark.parametrize("name", [*NAMES, "several operators"])
def test_node_cases(name: str) -> None:
    outcomes = list(examined(name))
    wrong = [line for outcome in outcomes for line in outcome.wrong]
    assert not wrong, "\n".join(wrong[:6])
    tried = [outcome for outcome in outcomes if outcome.skipped is None]
    vague = [outcome.name for outcome in tried if not outcome.answered]
    assert len(vague) <= (1 - ENOUGH) * len(tried) + 1, (
        f"{len(vague)} of {len(tried)} answered by any value: {vague[:6]}"
    )
