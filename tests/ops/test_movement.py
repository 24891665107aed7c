"""Operators that move data: sound on random partitions, against ONNX Runtime or the reference."""

from __future__ import annotations

import pytest
from tests.ops.soundness import check_case

from nanproof.ops import (
    filling,
    gathering,
    padding,
    quantization,
    resizing,
    scattering,
    selecting,
    shaping,
    slicing,
)
from nanproof.ops.record import Op

MODULES = (filling, gathering, padding, quantization, resizing, scattering, selecting, shaping, slicing)
OPS = tuple(op for module in MODULES for op in module.OPS)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_holds_what_the_runtime_computes(op: Op) -> None:
    """Every case of the record, in two of its dtypes, on a few random Boxes."""
    ran = 0
    for n, case in enumerate(op.samples.cases):
        for dtype in (case.dtypes or op.samples.dtypes)[:2]:
            for seed in range(4):
                outcome = check_case(op, case, dtype, 1000 * n + seed)
                if outcome == "no kernel":
                    outcome = check_case(op, case, dtype, 1000 * n + seed, runtime="reference")
                ran += outcome == "ran"
    assert ran or not op.samples.cases
