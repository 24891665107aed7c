from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanproof.findings.errors import InputError
from nanproof.frontends.onnx import load_text
from nanproof.model.graph import Model
from nanproof.model.ranges import Range, around, decide, decide_sizes
from nanproof.model.sources import from_array

HEAD = '<ir_version: 10, opset_import: ["" : 26]> '


def inputs(declared: str, body: str = "", constants: str = "") -> Model:
    return load_text(f"{HEAD} g ({declared}) => (float z) {constants} {{ {body} z = Constant<value_float = 0.0>() }}")


def span(model: Model, name: str = "x") -> tuple[float, float, bool]:
    found = decide(model, {})[name]
    return found.lo, found.hi, found.assumed


def test_defaults_of_inputs() -> None:
    assert span(inputs("float[2] x")) == (-10, 10, True)
    assert span(inputs("float16[2] x")) == (-10, 10, True)
    assert span(inputs("bool[2] x")) == (0, 1, False)
    assert span(inputs("uint8[2] x")) == (0, 255, False)
    assert span(inputs("int64[2] x")) == (0, 1000, True)
    assert span(inputs("int64[2] attention_mask"), "attention_mask") == (0, 1, True)
    assert span(inputs("string[2] x")) == (-math.inf, math.inf, False)


def test_indices_stay_inside_what_they_index() -> None:
    table = "<float[7, 2] t = {" + ",".join("1" * 14) + "}>"
    assert span(inputs("int64[3] x", "y = Cast<to = 6>(x) e = Gather(t, y)", table)) == (0, 6, True)
    assert span(inputs("int64[3] x", "e = Gather<axis = -1>(t, x)", table)) == (0, 1, True)
    assert span(inputs("int64[3] x, float[3, 5] p", "e = NegativeLogLikelihoodLoss(p, x)")) == (0, 4, True)
    weight = "<float[4, 3] w = {" + ",".join("1" * 12) + "}>"
    assert span(
        inputs(
            "int64[3] x, float[3, 4] p",
            "s = MatMul(p, w) l = LogSoftmax(s) e = NegativeLogLikelihoodLoss(l, x)",
            weight,
        )
    ) == (0, 2, True)
    assert span(
        inputs(
            "int64[3] x",
            "d = Constant<value_ints = [9]>() v = Constant<value_floats = [0.0, 1.0]>() e = OneHot(x, d, v)",
        )
    ) == (0, 8, True)


def test_the_user_knows_better() -> None:
    model = inputs("float[2] x, float[2] xy, uint8[2] u")
    found = decide(model, {"x*": (0, 1), "x": (2, 3), "u": (-5, math.inf)})
    assert (found["x"].lo, found["x"].hi, found["x"].assumed) == (2, 3, False)
    assert (found["xy"].lo, found["xy"].hi) == (0, 1)
    assert (found["u"].lo, found["u"].hi) == (0, 255)  # what the type can hold
    found = decide(model, {"x": (np.array([0.0, 1.0]), np.array([1.0, 5.0]))})
    assert (found["x"].lo, found["x"].hi) == (0, 5)
    assert found["x"].array is not None
    assert found["x"].array[1].tolist() == [1, 5]


WRONG = [
    ({"y": (0, 1)}, "y"),
    ({"imagee": (0, 1)}, 'did you mean "image"'),
    ({"q*": (0, 1)}, "q"),
    ({"image": (1, 0)}, "1.*above.*0"),
    ({"image": (math.nan, 0)}, "NaN"),
    ({"image": (0, math.nan)}, "NaN"),
    ({"image": ("low", 1)}, "two numbers"),
    ({"image": (np.zeros(3), np.ones(3))}, "shape"),
    ({"image": (np.array([0, 2.0]), np.ones(2))}, "2.*above.*1"),
    ({"image": (1e39, 1e40)}, "float32"),
]


@pytest.mark.parametrize(("user", "message"), WRONG)
def test_wrong_ranges_are_told(user: dict[str, tuple[object, object]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        decide(inputs("float[2] image"), user)  # type: ignore[arg-type]


def test_wrong_weights_mode() -> None:
    with pytest.raises(InputError, match="architecture"):
        decide(inputs("float[2] x"), {}, "both")  # type: ignore[arg-type]


def weight(*values: float) -> tuple[float, float] | None:
    found = around(from_array(np.array(values, np.float32)))
    return None if found is None else (found.lo, found.hi)


def test_ranges_around_stored_weights() -> None:
    assert weight(-1, 3) == (-5, 7)
    assert weight(0, 0) == (-1, 1)
    assert weight(1) == (0, 2)
    assert weight(5, 5) == (0, 10)
    assert weight(0, -math.inf) is None
    assert weight(0, math.nan) is None
    assert weight(0, -3.4e38) is None
    assert weight() is None


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=9))
def test_the_stored_values_lie_inside(values: list[float]) -> None:
    found = weight(*values)
    assert found is not None
    assert found[0] < min(values) <= max(values) < found[1]


def test_architecture_frees_weights_only() -> None:
    model = load_text(
        HEAD
        + """g (float[2, 2] x) => (float[2, 2] y)
        <float[2, 2] w = {1, 2, 3, 4}, float k = {2}, float[2] s = {1, 1}, float[2] b = {0, 0}, float[2] m = {0, 0}, float[2] v = {1, 2}> {
        a = MatMul(x, w) c = Mul(a, k) y = BatchNormalization(c, s, b, m, v) }"""
    )
    stored = decide(model, {}, "model")
    assert all(stored[name].exact for name in "wksbmv")
    free = decide(model, {"w": (0, 1)}, "architecture")
    assert (free["w"].lo, free["w"].hi) == (0, 1)
    assert free["k"].exact
    assert (free["v"].lo, free["v"].hi) == (0, 3)  # a variance is never negative
    assert (free["m"].lo, free["m"].hi) == (-1, 1)
    assert free["m"].assumed


def test_open_sizes() -> None:
    model = inputs("float[N, 3] x, float[?, N] y")
    assert decide_sizes(model, {"N": (1, 8)}) == ({"N": (1, 8), "y.0": (1, 65536)}, ("y.0",))
    with pytest.raises(InputError, match="no such open size"):
        decide_sizes(model, {"M": (1, 2)})
    with pytest.raises(InputError, match="LOW"):
        decide_sizes(model, {"N": (3, 2)})


def test_a_range_is_valid() -> None:
    with pytest.raises(ValueError, match="lo <= hi"):
        Range(1, 0, assumed=False, why="")
    with pytest.raises(ValueError, match="lo <= hi"):
        Range(math.nan, 0, assumed=False, why="")
