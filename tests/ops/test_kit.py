"""The public kit, as people who add operators use it."""

from __future__ import annotations

from dataclasses import replace

import onnx.parser
import pytest

from nanproof.ops import lookup
from nanproof.testing import LawError, assert_sound, check

TEXT = """
<ir_version: 10, opset_import: ["" : 20]>
small (float[N, 4] x) => (float[N, 4] y, float[N] z) {
  p = Softmax (x)
  y = Log (p)
  axes = Constant <value_ints = [1]> ()
  z = ReduceSum <keepdims = 0> (x, axes)
}
"""


def test_a_record_is_held_to_the_laws() -> None:
    log = lookup("", "Log")
    assert log is not None
    assert_sound(log, effort=8)


def test_a_wrong_record_is_told_with_operator_case_dtype_and_operands() -> None:
    negation, identity = lookup("", "Neg"), lookup("", "Identity")
    assert negation is not None
    assert identity is not None
    wrong = replace(negation, bound=identity.bound)
    with pytest.raises(LawError, match=r"Neg case 0 \(\) float32 against onnxruntime[^$]*operand 0: float32"):
        assert_sound(wrong, effort=8)


def test_the_same_seed_draws_the_same() -> None:
    negation, identity = lookup("", "Neg"), lookup("", "Identity")
    assert negation is not None
    assert identity is not None
    wrong = replace(negation, bound=identity.bound)
    once, again = (list(map(str, check(wrong, effort=4, laws=("concrete",), seed=7))) for _ in range(2))
    assert once == again


def test_a_model_is_sound() -> None:
    model = onnx.parser.parse_model(TEXT)
    assert_sound(model, ranges={"x": (-200.0, 200.0)}, effort=20)
