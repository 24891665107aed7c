"""Operators that move data: sound on random partitions, against ONNX Runtime."""

from __future__ import annotations

import pytest
from tests.ops.soundness import check_case

from nanproof.ops import filling, gathering, padding, scattering, selecting, shaping, slicing
from nanproof.ops.record import Op

OPS = (*shaping.OPS, *slicing.OPS, *filling.OPS, *gathering.OPS, *padding.OPS, *selecting.OPS, *scattering.OPS)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_holds_what_the_runtime_computes(op: Op) -> None:
    """Every case of the record, in each of its dtypes, on a few random Boxes."""
    ran = 0
    for n, case in enumerate(op.samples.cases):
        for dtype in (case.dtypes or op.samples.dtypes)[:3]:
            for seed in range(8):
                outcome = check_case(op, case, dtype, 1000 * n + seed)
                if outcome == "no kernel":
                    outcome = check_case(op, case, dtype, 1000 * n + seed, runtime="reference")
                ran += outcome == "ran"
    assert ran or not op.samples.cases
