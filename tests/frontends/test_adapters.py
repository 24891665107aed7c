"""Operators of old opsets mean the same after loading: ONNX Runtime runs the old file and the new form of it."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, defs, helper
from tests.frontends.to_onnx import to_onnx

from nanproof.findings.errors import InputError
from nanproof.frontends.onnx import load, load_text
from nanproof.frontends.onnx.adapters import ADAPTERS

RANDOM = np.random.default_rng(7)


def run(proto: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, feeds))


def single(op: str, opset: int, inputs: dict[str, np.ndarray], outputs: int = 1, **attrs: object) -> onnx.ModelProto:
    node = helper.make_node(op, list(inputs), [f"out{i}" for i in range(outputs)], "n", **attrs)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
        if name
    ]
    results = [onnx.ValueInfoProto(name=f"out{i}") for i in range(outputs)]
    graph = helper.make_graph([node], "g", infos, results)
    return onnx.shape_inference.infer_shapes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=6)
    )


def f32(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-2, 2, shape).astype(np.float32)


CASES = [
    *[(op, opset, {"x": f32(2, 3, 4)}, {"axis": axis}) for op in ("Softmax", "LogSoftmax", "Hardmax") for opset in (7, 9, 11, 12) for axis in (0, 1, 2)],
    *[(op, 11, {"x": f32(2, 3, 4)}, {}) for op in ("Softmax", "LogSoftmax", "Hardmax")],
    ("Softmax", 11, {"x": f32(2, 3, 4)}, {"axis": -2}),
    ("Softmax", 11, {"x": f32(2, 3, 1, 1)}, {"axis": 1}),
    ("Softmax", 13, {"x": f32(2, 3, 4)}, {"axis": 1}),
    ("Squeeze", 7, {"x": f32(2, 1, 4)}, {"axes": [1]}),
    ("Unsqueeze", 11, {"x": f32(2, 4)}, {"axes": [0, 3]}),
    *[(op, opset, {"x": np.abs(f32(2, 3, 4)) + 1}, {"axes": [0, 2], "keepdims": 0}) for op in ("ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare") for opset in (7, 12)],
    ("ReduceMean", 13, {"x": f32(2, 3)}, {"axes": [-1]}),
    ("ReduceSum", 13, {"x": f32(2, 3), "axes": np.array([1])}, {}),
    ("Slice", 7, {"x": f32(5, 6)}, {"starts": [1, -3], "ends": [100, -1], "axes": [0, 1]}),
    ("Slice", 9, {"x": f32(5, 6)}, {"starts": [1, 0], "ends": [2, 2]}),
    ("TopK", 9, {"x": f32(3, 7)}, {"k": 2, "axis": 1}),
    ("Clip", 7, {"x": f32(8)}, {"min": -0.5, "max": 1.0}),
    ("Clip", 10, {"x": f32(8)}, {"max": 0.25}),
    ("Clip", 6, {"x": f32(8)}, {}),
    ("Pad", 7, {"x": f32(2, 3)}, {"pads": [0, 1, 2, 0], "value": 1.5}),
    ("Pad", 10, {"x": f32(3, 3)}, {"pads": [1, 1, 1, 1], "mode": "reflect"}),
    ("Dropout", 7, {"x": f32(4)}, {"ratio": 0.3}),
    ("Dropout", 10, {"x": f32(4)}, {}),
    ("Upsample", 7, {"x": f32(1, 2, 3, 3)}, {"scales": [1.0, 1.0, 2.0, 3.0]}),
    ("Upsample", 7, {"x": f32(1, 2, 3, 3)}, {"scales": [1.0, 1.0, 2.0, 2.0], "mode": "linear"}),
    ("Upsample", 9, {"x": f32(1, 2, 3, 3), "s": np.array([1, 1, 2, 2], np.float32)}, {"mode": "nearest"}),
    ("Resize", 10, {"x": f32(1, 2, 3, 3), "s": np.array([1, 1, 2, 2], np.float32)}, {"mode": "linear"}),
    ("BatchNormalization", 7, {"x": f32(2, 3, 4), **{k: np.abs(f32(3)) + 0.1 for k in ("s", "b", "m", "v")}}, {"epsilon": 1e-3}),
    ("BatchNormalization", 8, {"x": f32(2, 3, 4), **{k: np.abs(f32(3)) + 0.1 for k in ("s", "b", "m", "v")}}, {"spatial": 1}),
    ("BatchNormalization", 9, {"x": f32(2, 3, 4), **{k: np.abs(f32(3)) + 0.1 for k in ("s", "b", "m", "v")}}, {"momentum": 0.8}),
    ("Scatter", 9, {"x": f32(3, 3), "i": np.array([[0, 1, 2]]), "u": f32(1, 3)}, {"axis": 0}),
    ("GridSample", 16, {"x": f32(1, 1, 4, 4), "g": f32(1, 2, 2, 2) / 2}, {"mode": "bicubic"}),
    ("GridSample", 16, {"x": f32(1, 1, 4, 4), "g": f32(1, 2, 2, 2) / 2}, {}),
    ("RoiAlign", 10, {"x": f32(1, 1, 6, 6), "r": np.array([[0, 0, 4, 4]], np.float32), "b": np.array([0])}, {"output_height": 2, "output_width": 2}),
    ("DFT", 17, {"x": f32(1, 4, 2)}, {"axis": 1}),
    ("DFT", 17, {"x": f32(1, 4, 1)}, {}),
    ("Gemm", 7, {"a": f32(2, 3), "b": f32(3, 4), "c": f32(4)}, {}),
    ("PRelu", 7, {"x": f32(2, 3, 4), "s": f32(3, 1)}, {}),
    ("Flatten", 7, {"x": f32(2, 3, 4)}, {"axis": 2}),
    ("ArgMax", 9, {"x": f32(2, 3)}, {"axis": 1}),
    ("OneHot", 9, {"i": np.array([0, 2]), "d": np.array([3]), "v": np.array([0, 1], np.float32)}, {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("op", "opset", "inputs", "attrs"), CASES, ids=[f"{case[0]}-{case[1]}-{i}" for i, case in enumerate(CASES)]
)
def test_new_form_computes_the_same(
    op: str, opset: int, inputs: dict[str, np.ndarray], attrs: dict[str, object]
) -> None:
    proto = single(op, opset, inputs, 2 if op == "TopK" else 1, **attrs)
    model = load(proto)
    model.opset = (
        21 if op == "RoiAlign" else model.opset
    )  # ONNX Runtime lacks its newest version, which only adds a type
    for old, new in zip(run(proto, inputs), run(to_onnx(model), inputs), strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("opset", [7, 11, 13])
def test_split(opset: int, equal: bool) -> None:
    x = f32(6, 2)
    if opset < 13:
        proto = single("Split", opset, {"x": x}, 2, axis=0, **({} if equal else {"split": [2, 4]}))
        inputs = {"x": x}
    else:
        inputs = {"x": x} if equal else {"x": x, "s": np.array([2, 4])}
        proto = single("Split", opset, inputs, 2, axis=0)
    for old, new in zip(run(proto, inputs), run(to_onnx(load(proto)), inputs), strict=True):
        np.testing.assert_array_equal(new, old)


def test_softmax_of_unknown_rank_keeps_its_meaning() -> None:
    proto = single("Hardmax", 11, {"x": f32(2, 3, 4)}, axis=1)
    proto.graph.input[0].type.tensor_type.ClearField("shape")
    x = f32(2, 3, 4)
    np.testing.assert_array_equal(run(to_onnx(load(proto)), {"x": x})[0], run(proto, {"x": x})[0])


def test_group_normalization_18_scales_by_group() -> None:
    x, scale, bias = f32(2, 4, 3), f32(2), f32(2)
    proto = single("GroupNormalization", 18, {"x": x, "s": scale, "b": bias}, num_groups=2, epsilon=1e-5)
    new = run(to_onnx(load(proto)), {"x": x, "s": scale, "b": bias})[0]
    groups = x.reshape(2, 2, -1).astype(np.float64)
    normal = (groups - groups.mean(-1, keepdims=True)) / np.sqrt(groups.var(-1, keepdims=True) + 1e-5)
    expected = (normal * scale[None, :, None] + bias[None, :, None]).reshape(x.shape)
    np.testing.assert_allclose(new, expected, rtol=1e-4, atol=1e-5)


def test_batch_normalization_per_element() -> None:
    names = {k: np.abs(f32(3, 4)) + 0.1 for k in ("s", "b", "m", "v")}
    x = f32(2, 3, 4)
    proto = single("BatchNormalization", 7, {"x": x, **names}, spatial=0)
    expected = (x - names["m"]) / np.sqrt(names["v"] + 1e-5) * names["s"] + names["b"]
    np.testing.assert_allclose(run(to_onnx(load(proto)), {"x": x, **names})[0], expected, rtol=1e-5, atol=1e-6)


def test_batch_normalization_with_statistics_trains() -> None:
    names = {k: np.abs(f32(3)) + 0.1 for k in ("s", "b", "m", "v")}
    proto = single("BatchNormalization", 9, {"x": f32(2, 3, 4), **names}, 3)
    node = load(proto).graph.nodes[0]
    assert node.attrs["training_mode"] == 1
    assert node.outputs == ("out0", "out1", "out2")


def test_axis_broadcast_of_opset_6() -> None:
    a, b = f32(2, 3, 4), f32(3)
    node = helper.make_node("Add", ["a", "b"], ["out0"], broadcast=1, axis=1)
    infos = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in (("a", a), ("b", b))
    ]
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("out0", TensorProto.FLOAT, [2, 3, 4])])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 6)], ir_version=3)
    np.testing.assert_array_equal(run(to_onnx(load(proto)), {"a": a, "b": b})[0], a + b[None, :, None])
    del proto.graph.input[0].type.tensor_type.shape.dim[:]
    proto.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(InputError, match="rank"):
        load(proto)


def test_cast_of_opset_5_names_its_type() -> None:
    proto = single("Relu", 13, {"x": f32(2)})
    proto.opset_import[0].version = 5
    proto.graph.node[0].CopyFrom(helper.make_node("Cast", ["x"], ["out0"], to="INT64"))
    assert load(proto).graph.nodes[0].attrs == {"to": TensorProto.INT64}


def test_double_clip_gets_double_bounds() -> None:
    model = load(single("Clip", 6, {"x": f32(3).astype(np.float64)}, min=0.1))
    name = model.graph.nodes[0].inputs[1]
    assert model.graph.constants[name].dtype.name == "float64"


def test_clip_of_integers_is_told_where_it_takes_floats() -> None:
    with pytest.raises(InputError, match=r"floats.*int64"):
        load(single("Clip", 6, {"x": np.arange(3)}, min=float("-inf")))


def test_function_bodies_are_read_at_their_own_opset() -> None:
    model = load_text("""<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
        g (float[2,3] x) => (float[2] y) { y = f.Total(x) }
        <domain: "f", opset_import: ["" : 11]>
        Total (a) => (b) { b = ReduceSum<axes = [1], keepdims = 0>(a) }""")
    (node,) = model.graph.nodes
    assert node.op == "ReduceSum"
    assert model.graph.constants[node.inputs[1]].array().tolist() == [1]


# What changed in a schema without an adapter, and why the old form still means the same.
COMPATIBLE = {
    "Abs Ceil Elu Exp Floor HardSigmoid LeakyRelu Log Max Mean Min Neg Reciprocal Relu Sigmoid Sqrt Sum Tanh InstanceNormalization": "consumed_inputs said what may be overwritten",
    "ArgMax ArgMin AveragePool Attention BatchNormalization Cast CastLike DepthToSpace DequantizeLinear QuantizeLinear GatherND MaxPool OptionalHasElement Range ScatterElements ScatterND Shape SpaceToDepth Constant": "new attributes and operands whose defaults are the old meaning",
}  # fmt: skip


def test_no_changed_operator_is_forgotten() -> None:
    covered = set(ADAPTERS) | {name for names in COMPATIBLE for name in names.split()}
    versions: dict[str, dict[int, defs.OpSchema]] = defaultdict(dict)
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "":
            versions[schema.name][schema.since_version] = schema
    changed = set()
    for name, history in versions.items():
        ordered = [history[version] for version in sorted(history)]
        for old, new in pairwise(ordered):
            if _form(old) != _form(new):
                changed.add(name)
    assert changed <= covered


def _form(schema: defs.OpSchema) -> object:
    attributes = {
        name: (str(item.type), item.required, item.default_value.SerializeToString())
        for name, item in schema.attributes.items()
    }
    return (
        attributes,
        [str(item.option) for item in schema.inputs],
        [str(item.option) for item in schema.outputs],
        schema.deprecated,
    )
