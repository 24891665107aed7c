"""Sums, products, windows, softmax, normalisation and losses stay in their Boxes at extreme magnitudes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.ops.extremes import check

from nanproof.domain.box import NAN, NINF, PINF, Box, of_array
from nanproof.numerics.dtypes import FLOAT16, FLOAT32, INT64
from nanproof.ops import (
    Op,
    batch_norm,
    convolution,
    gemm,
    lookup,
    losses,
    matmul,
    normalization,
    pooling,
    positions,
    products,
    reductions,
    row_norm,
    softmax,
)
from nanproof.ops.call import Call, Setting

MODULES = (
    batch_norm, convolution, gemm, losses, matmul, normalization, pooling, positions, products, reductions, row_norm,
    softmax,
)  # fmt: skip
RECORDS = [op for module in MODULES for op in module.OPS]


@pytest.mark.parametrize("op", RECORDS, ids=lambda op: op.name)
def test_sound_at_extremes(op: Op) -> None:
    for case in op.samples.cases:
        for dtype in case.dtypes or op.samples.dtypes:
            for seed in range(4):
                check(op, case, dtype, seed)


def bound(name: str, *boxes: Box | None, runtime: str = "onnxruntime", **attrs: object) -> tuple[Box, list[str]]:
    op = lookup("", name)
    assert op is not None
    call = Call(op, attrs, Setting(runtime=runtime))
    with np.errstate(all="ignore"):
        answer = op.bound(call, *boxes)
    assert isinstance(answer, Box)
    return answer, [e.code for e in call.events]


def test_a_float16_sum_of_70000_ones_overflows() -> None:
    result, codes = bound("ReduceSum", Box(FLOAT16, (70_000,), 1.0, 1.0))
    assert codes == ["NP207"]
    assert result.flags == PINF
    mean, codes = bound("ReduceMean", Box(FLOAT16, (70_000,), 1.0, 1.0))
    assert codes == []
    assert 0.98 < mean.lo <= 1.0 <= mean.hi < 1.02


def test_partial_sums_decide_overflow() -> None:
    x = of_array(FLOAT32, np.array([3e38, 3e38, -3e38, -3e38], np.float32))
    result, codes = bound("ReduceSum", x)
    assert codes == ["NP207"]
    assert result.flags & NAN


def test_a_sum_of_exponentials_stays_positive() -> None:
    result, codes = bound("ReduceSum", Box(FLOAT32, (1000,), 1e-10, 1.0))
    assert codes == []
    assert result.lo > 9e-8


def test_known_weights_give_a_bound_for_each_channel() -> None:
    weights = of_array(FLOAT32, np.array([[1.0, -1.0], [2.0, 0.5]], np.float32))
    result, codes = bound("MatMul", Box(FLOAT32, (3, 2), 0.0, 1.0), weights)
    assert codes == []
    assert result.cuts == (None, (0, 1, 2))
    np.testing.assert_allclose(result.lo, [[0.0, -1.0]], atol=1e-5)
    np.testing.assert_allclose(result.hi, [[3.0, 0.5]], atol=1e-5)


def test_padding_joins_a_window() -> None:
    weights = of_array(FLOAT32, np.ones((1, 1, 3), np.float32))
    image = Box(FLOAT32, (1, 1, 5), 2.0, 3.0)
    inside, _ = bound("Conv", image, weights)
    padded, _ = bound("Conv", image, weights, pads=(1, 1))
    assert inside.hull()[0] > 5.9
    assert padded.hull()[0] <= 0.0


def test_softmax_reaches_zero_by_its_spread() -> None:
    near, _ = bound("Softmax", Box(FLOAT32, (2, 10), -40.0, 40.0))
    far, _ = bound("Softmax", Box(FLOAT32, (2, 10), -60.0, 60.0))
    assert near.lo > 0.0
    assert far.lo == 0.0
    log, codes = bound("LogSoftmax", Box(FLOAT32, (2, 10), -60.0, 60.0))
    assert codes == []
    assert -125.0 < log.lo < -120.0


def test_one_finite_column_keeps_a_masked_row_safe() -> None:
    mask = np.full((4, 4), -np.inf, np.float32)
    mask[np.tril_indices(4)] = 0.0
    from nanproof.domain.partition import fine

    safe, codes = bound("Softmax", fine(of_array(FLOAT32, mask)))
    assert codes == []
    assert safe.flags == 0
    bare, codes = bound("Softmax", Box(FLOAT32, (4, 4), 0.0, 0.0, NINF))
    assert codes == ["NP117"]
    assert bare.flags & NAN


def test_a_normalised_row_is_bounded_whatever_it_holds() -> None:
    ones, zeros = (of_array(FLOAT32, np.full(768, v, np.float32)) for v in (1.0, 0.0))
    result, codes = bound("LayerNormalization", Box(FLOAT32, (1, 9, 768), -1e9, 1e9), ones, zeros)
    assert codes == []
    assert max(-result.hull()[0], result.hull()[1]) < 27.8


def test_variance_in_one_pass_can_go_negative() -> None:
    c = of_array(FLOAT32, np.ones(4, np.float32))
    x = Box(FLOAT32, (1, 4, 768), 0.0, 1e4)
    assert bound("GroupNormalization", x, c, c, num_groups=4)[1] == ["NP112"]
    assert bound("GroupNormalization", x, c, c, num_groups=4, runtime="torch")[1] == []


def test_a_loss_with_every_label_ignored() -> None:
    scores, labels = Box(FLOAT32, (4, 3), -10.0, 10.0), Box(INT64, (4,), -1.0, 2.0)
    for name in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        assert bound(name, scores, labels, ignore_index=-1)[1] == ["NP113"]
        assert bound(name, scores, labels, ignore_index=-100)[1] == []


def test_an_empty_reduction_is_noticed() -> None:
    assert bound("ReduceMax", Box(FLOAT32, (0,), np.inf, -np.inf))[1] == ["NP114"]
    assert bound("ReduceMean", Box(FLOAT32, (0,), np.inf, -np.inf))[1] == ["NP114"]
    assert bound("ReduceSum", Box(FLOAT32, (0,), np.inf, -np.inf))[0].hull() == (0.0, 0.0)
