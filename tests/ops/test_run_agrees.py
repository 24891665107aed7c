"""Operators with a formula of their own: run computes what the runtime does, up to rounding."""

from __future__ import annotations

import numpy as np
import pytest

from nanproof.execution import onnx_runtime, reference
from nanproof.execution.onnx_runtime import CannotRunError
from nanproof.numerics.arrays import numpy_namespace
from nanproof.ops import deformable, detection, determinant, folding, rotary, sampling, spectral
from nanproof.testing.draws import Style, draw
from nanproof.testing.single import Subject, feeds_of, model_of, subjects

MODULES = (deformable, detection, determinant, folding, rotary, sampling, spectral)
SUBJECTS = [s for module in MODULES for op in module.OPS for s in subjects(op) if s.dtype.name == "float32"]


@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_run_is_what_the_runtime_computes(subject: Subject) -> None:
    model = model_of(subject).SerializeToString()
    rng = np.random.default_rng(3)
    sample = draw(rng, subject.case, subject.dtype, (), Style(count=1, mood="positive")).sample(0)
    fixed = [o.values is not None for o in subject.case.operands]
    for i, x in enumerate(sample):
        if x is not None and x.dtype.kind == "f" and not fixed[i]:
            low, high = subject.case.operands[i].low, subject.case.operands[i].high
            sample[i] = rng.uniform(-2.0 if low is None else low, 2.0 if high is None else high, x.shape).astype(
                x.dtype
            )
    feeds = feeds_of(subject.case, sample)
    real = None
    for runtime in (onnx_runtime, reference):
        try:
            real = runtime.run(model, feeds)
            break
        except CannotRunError:
            continue
    if real is None:
        pytest.skip("no runtime has this operator")
    own = subject.op.run(numpy_namespace, *sample, **subject.case.attrs)
    own = own if isinstance(own, tuple) else (own,)
    for mine, theirs in zip(own, real, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
