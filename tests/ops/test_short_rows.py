"""LayerNormalization of short rows far from 0: ONNX Runtime folds the mean in after scaling, which passes sqrt(n)."""

from __future__ import annotations

import numpy as np
import onnx.parser
import onnxruntime as ort
import pytest

from nanproof.analysis.analyse import run
from nanproof.frontends.onnx.load import load
from nanproof.model.lower import lower
from nanproof.model.ranges import decide
from nanproof.ops import lookup
from nanproof.ops.call import Setting


@pytest.mark.parametrize("length", [2, 4, 7, 15, 32, 33, 100])
@pytest.mark.parametrize("size", [1.0, 1e4, 1e6, 1e15])
def test_what_the_runtime_computes_lies_in_the_box(length: int, size: float) -> None:
    ones = ", ".join(["1"] * length)
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 21]>
        g (float[500, {length}] x) => (float[500, {length}] y) <float[{length}] s = {{{ones}}}>
        {{ y = LayerNormalization(x, s) }}"""
    )
    loaded = load(model)
    state = run(loaded, lower(loaded, lookup), decide(loaded, {"x": (-2 * size, 2 * size)}), Setting())
    box = state.hulls[state.program.outputs[0]]
    assert box is not None
    session = ort.InferenceSession(model.SerializeToString())
    rng = np.random.default_rng(5)
    for spread in (0.0, 1e-7, 1e-6, 1e-3):
        x = (size * (1 + spread * rng.normal(size=(500, length)))).astype(np.float32).clip(-2 * size, 2 * size)
        y = session.run(None, {"x": x})[0].astype(np.float64)
        assert box.hull()[0] <= y.min()
        assert y.max() <= box.hull()[1]
