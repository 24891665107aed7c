"""Quantisation to the types that ONNX Runtime's Python interface can't carry, and the hazards."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.reference
import pytest
from tests.ops.soundness import allowed

from nanproof.domain.box import INFS, NAN, Box, finite, of_array
from nanproof.numerics.dtypes import FLOAT8_E4M3FN, FLOAT32, INT8, UINT8, by_name, of_numpy, to_numpy
from nanproof.ops.call import Call, Setting
from nanproof.ops.quantization import DEQUANTIZE, DYNAMIC, QUANTIZE

SMALL = (
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float4_e2m1fn",
    "int4",
    "uint4",
    "int16",
)


def call(op: Any, outputs: int = 1, **attrs: Any) -> Call:
    return Call(op, attrs, Setting(), outputs, label="n")


def reference(name: str, *arrays: Any, **attrs: Any) -> Any:
    names = [f"i{i}" for i in range(len(arrays))]
    infos = [
        onnx.helper.make_tensor_value_info(n, of_numpy(a.dtype).onnx, a.shape)
        for n, a in zip(names, arrays, strict=True)
    ]
    node = onnx.helper.make_node(name, names, ["o"], **attrs)
    graph = onnx.helper.make_graph([node], "g", infos, [onnx.helper.make_empty_tensor_value_info("o")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 24)], ir_version=11)
    with np.errstate(all="ignore"):
        return onnx.reference.ReferenceEvaluator(model).run(None, dict(zip(names, arrays, strict=True)))[0]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("saturate", [1, 0])
def test_small_types(name: str, saturate: int) -> None:
    """There and back."""
    dtype = by_name(name)
    rng = np.random.default_rng(len(name))
    zero = np.zeros((), to_numpy(dtype))
    for size in (1e-3, 1.0, 100.0, 1e5):
        x = (rng.uniform(-1, 1, (3, 5)) * size).astype(np.float32)
        scale = np.float32(rng.uniform(0.1, 3)).reshape(())
        boxes = (
            finite(FLOAT32, x.shape, float(x.min()), float(x.max())),
            of_array(FLOAT32, scale),
            Box(dtype, (), 0.0, 0.0, known=zero),
        )
        attrs = {"saturate": saturate} if dtype.is_float else {}
        quantized = QUANTIZE.bound(call(QUANTIZE, **attrs), *boxes)
        assert isinstance(quantized, Box)
        result = reference("QuantizeLinear", x, scale, zero, **attrs)
        assert allowed(quantized, result) is None
        back = DEQUANTIZE.bound(call(DEQUANTIZE), quantized, boxes[1])
        assert isinstance(back, Box)
        assert allowed(back, reference("DequantizeLinear", result, scale)) is None


def test_scale_of_zero() -> None:
    x = finite(FLOAT32, (2, 3), -1.0, 1.0)
    made = call(QUANTIZE)
    answer = QUANTIZE.bound(made, x, finite(FLOAT32, (), 0.0, 1.0), None)
    assert isinstance(answer, Box)
    assert (answer.lo, answer.hi) == (0.0, 255.0)
    assert [e.code for e in made.events] == ["NP211"]
    made = call(QUANTIZE)
    QUANTIZE.bound(made, x, finite(FLOAT32, (), 1e-3, 1.0), None)
    assert not made.events


def test_tight_in_the_usual_case() -> None:
    x = finite(FLOAT32, (2, 3), -1.0, 1.0)
    scale, zero = of_array(FLOAT32, np.array(0.1, np.float32)), of_array(UINT8, np.array(128, np.uint8))
    quantized = QUANTIZE.bound(call(QUANTIZE), x, scale, zero)
    assert isinstance(quantized, Box)
    assert (quantized.lo, quantized.hi) == (118.0, 138.0)
    back = DEQUANTIZE.bound(call(DEQUANTIZE), quantized, scale, zero)
    assert isinstance(back, Box)
    assert (back.lo, back.hi) == (-1.0, 1.0)


def test_stored_weights_are_known() -> None:
    weights = of_array(INT8, np.arange(-6, 6, dtype=np.int8).reshape(3, 4))
    scale = of_array(FLOAT32, np.array([0.5, 1.0, 2.0], np.float32))
    answer = DEQUANTIZE.bound(call(DEQUANTIZE, axis=0), weights, scale, None)
    assert isinstance(answer, Box)
    assert answer.known is not None
    assert answer.known[2].tolist() == [4.0, 6.0, 8.0, 10.0]


def test_float8_without_saturation_gives_nan() -> None:
    x = finite(FLOAT32, (2,), 0.0, 1000.0)
    made = call(QUANTIZE, saturate=0)
    zero = Box(FLOAT8_E4M3FN, (), 0.0, 0.0)
    answer = QUANTIZE.bound(made, x, of_array(FLOAT32, np.array(1.0, np.float32)), zero)
    assert isinstance(answer, Box)
    assert answer.flags == NAN
    assert [e.code for e in made.events] == ["NP209"]


def test_dynamic_scale_overflows() -> None:
    made = call(DYNAMIC, 3)
    _, scale, _ = DYNAMIC.bound(made, finite(FLOAT32, (4,), -3e38, 3e38))  # type: ignore[misc]
    assert scale.flags & INFS
    assert [e.code for e in made.events] == ["NP214"]
    made = call(DYNAMIC, 3)
    _, scale, _ = DYNAMIC.bound(made, finite(FLOAT32, (4,), 1.0, 2.55))  # type: ignore[misc]
    assert 0 < scale.lo < scale.hi < 0.0101
