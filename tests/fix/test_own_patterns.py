"""Rewrites whose alarm is a note forward, or needs a gradient: what they compute is what was computed."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from tests.fix.changing import model

from nanproof.execution.onnx_runtime import run
from nanproof.fix.changes import Rewriting, changed
from nanproof.fix.rewrites import REWRITES


def rewritten(proto: onnx.ModelProto, name: str) -> onnx.ModelProto:
    rewrite = next(rewrite for rewrite in REWRITES if rewrite.name == name)
    after, _ = changed(proto, Rewriting(rewrite, (((), "y"),)))
    onnx.checker.check_model(after, full_check=True)
    return after


def both(proto: onnx.ModelProto, name: str, **feeds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    after = rewritten(proto, name)
    return run(proto.SerializeToString(), feeds)[0], run(after.SerializeToString(), feeds)[0]


X = np.array([-2.0, -0.0, 0.0, 1e-30, 0.5, 3.0], np.float32)


@pytest.mark.parametrize("op", ["Log", "Sqrt", "Reciprocal"])
@pytest.mark.parametrize("swapped", [False, True])
def test_double_where(op: str, swapped: bool) -> None:
    order = "o, f" if swapped else "f, o"
    text = f"""g (float[6] x) => (float[6] y) {{
        z = Constant<value = float {{0.0}}>()\n o = Constant<value = float {{-7.0}}>()
        c = {"LessOrEqual" if swapped else "Greater"}(x, z)\n f = {op}(x)\n y = Where(c, {order}) }}"""
    old, new = both(model(text), "double-where", x=X)
    np.testing.assert_array_equal(old, new)


def test_double_where_feeds_nothing_harmful_to_the_function() -> None:
    text = """g (float[6] x) => (float[6] y) {
        z = Constant<value = float {0.0}>()\n c = Greater(x, z)\n f = Log(x)\n y = Where(c, f, z) }"""
    after = rewritten(model(text), "double-where")
    inner = next(node for node in after.graph.node if node.op_type == "Log")
    after.graph.output.append(onnx.ValueInfoProto(name=inner.output[0]))
    assert np.isfinite(run(after.SerializeToString(), {"x": X})[1]).all()


def test_double_where_of_a_quotient() -> None:
    text = """g (float[6] x) => (float[6] y) {
        z = Constant<value = float {0.0}>()\n c = Greater(x, z)\n f = Div(x, x)\n y = Where(c, f, z) }"""
    old, new = both(model(text), "double-where-of-quotient", x=X)
    np.testing.assert_array_equal(old, new)


def test_an_angle_is_the_same_but_at_the_origin() -> None:
    text = "g (float[6] x, float[6] z) => (float[6] y) { q = Div(z, x)\n y = Atan(q) }"
    x = np.array([1.0, -1.0, 3.0, -0.2, 1e-3, 0.0], np.float32)
    z = np.array([2.0, 2.0, -1.0, -5.0, 0.0, 0.0], np.float32)
    old, new = both(model(text), "angle", x=x, z=z)
    np.testing.assert_array_equal(old[:5], new[:5])
    assert np.isnan(old[5])
    assert new[5] == 0.0


def test_an_epsilon_moves_into_the_root() -> None:
    text = """g (float[6] x) => (float[6] y) {
        e = Constant<value = float {1e-8}>()\n s = Sqrt(x)\n y = Add(s, e) }"""
    old, new = both(model(text), "eps-inside-sqrt", x=np.abs(X))
    np.testing.assert_allclose(old, new, atol=2e-6)
    assert new.min() > 0


def test_a_mean_of_nothing_is_0() -> None:
    text = """g (float[n,3] x) => (float[3] y) {
        a = Constant<value = int64[1] {0}>()\n y = ReduceMean<keepdims=0>(x, a) }"""
    some = np.arange(6, dtype=np.float32).reshape(2, 3)
    old, new = both(model(text), "mean-of-nothing", x=some)
    np.testing.assert_array_equal(old, new)
    after = rewritten(model(text), "mean-of-nothing")
    np.testing.assert_array_equal(run(after.SerializeToString(), {"x": np.zeros((0, 3), np.float32)})[0], np.zeros(3))
