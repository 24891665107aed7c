"""Recurrent layers: run means what the runtime does, and hidden states stay in the image of their activation."""

from __future__ import annotations

import numpy as np
import pytest

from nanproof.dims import symbol
from nanproof.domain.box import Box, finite
from nanproof.execution import onnx_runtime
from nanproof.numerics.arrays import numpy_namespace
from nanproof.numerics.dtypes import FLOAT32
from nanproof.ops.call import Call, Setting
from nanproof.ops.record import Op
from nanproof.ops.recurrent import GRU, LSTM, OPS, RNN
from nanproof.testing.draws import Style, draw
from nanproof.testing.single import Subject, feeds_of, model_of, subjects

SUBJECTS = [s for op in OPS for s in subjects(op)]


@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_run_is_what_the_runtime_computes(subject: Subject) -> None:
    model = model_of(subject).SerializeToString()
    sample = draw(np.random.default_rng(1), subject.case, FLOAT32, (), Style(count=1, mood="positive")).sample(0)
    with np.errstate(all="ignore"):
        real = onnx_runtime.run(model, feeds_of(subject.case, sample))
        wide = [x if x is None or x.dtype.kind == "i" else x.astype(np.float64) for x in sample]
        own = subject.op.run(numpy_namespace, *wide, **subject.case.attrs)
    for mine, theirs in zip(own, real, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


def bounded(op: Op, boxes: list[Box | None], **attrs: object) -> tuple[tuple[Box, ...], Call]:
    call = Call(op, attrs, Setting(dims={"T": (1, 100)}), 3 if op is LSTM else 2)
    found = op.bound(call, *boxes)
    assert isinstance(found, tuple)
    return found, call


@pytest.mark.parametrize(("op", "gates"), [(RNN, 1), (GRU, 3), (LSTM, 4)])
def test_states_stay_near_their_image(op: Op, gates: int) -> None:
    steps = symbol("T")
    boxes: list[Box | None] = [
        finite(FLOAT32, (steps, 2, 4), -1e6, 1e6),
        finite(FLOAT32, (1, gates * 5, 4), -10, 10),
        finite(FLOAT32, (1, gates * 5, 5), -10, 10),
    ]
    results, call = bounded(op, boxes, hidden_size=5)
    assert not call.events
    assert results[0].shape == (steps, 1, 2, 5)
    assert results[1].shape == (1, 2, 5)
    for box in results[:2]:
        lo, hi = box.hull()
        assert -1.01 < lo <= -1.0
        assert 1.0 <= hi < 1.01
        assert not box.flags
    if op is LSTM:
        assert 100.0 <= results[2].hull()[1] < 102.0
    boxes[0] = finite(FLOAT32, (steps, 2, 4), -3e38, 3e38)
    results, call = bounded(op, boxes, hidden_size=5)
    assert [e.code for e in call.events] == ["NP214"]
    assert results[0].flags
