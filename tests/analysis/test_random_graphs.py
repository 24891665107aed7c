"""Whole graphs drawn at random: every value that ONNX Runtime computes lies in the Box of its slot.

Laws test operators one by one. Here relations, facts, masks and the flow of NaN
and Inf between operators are tested: graphs are drawn so that values meet their
own relatives again (x - max(x), where(x > 0, log(x), x), c + o - (c - o)).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from nanproof.analysis.analyse import run
from nanproof.analysis.state import State
from nanproof.domain.box import NAN, NINF, PINF
from nanproof.domain.partition import blocks_of
from nanproof.frontends.onnx.load import load
from nanproof.model.lower import lower
from nanproof.model.ranges import decide
from nanproof.ops import lookup
from nanproof.ops.call import Setting

SHAPE = (3, 4)
UNARY = (
    "Exp",
    "Log",
    "Sqrt",
    "Neg",
    "Abs",
    "Relu",
    "Sigmoid",
    "Tanh",
    "Reciprocal",
    "Softplus",
    "Floor",
    "Sign",
    "Erf",
)
BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min", "Add", "Sub")
REDUCE = ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp")
COMPARE = ("Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal")
KINDS = (
    "unary",
    "binary",
    "binary",
    "reduce",
    "where",
    "where",
    "nan",
    "softmax",
    "halves",
    "transpose",
    "constant",
    "matmul",
)


@dataclass
class Graph:
    """A graph under construction: names of float values of one shape."""

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    values: list[str] = field(default_factory=lambda: ["x", "z"])

    def add(self, op: str, *inputs: str, outputs: int = 1, **attrs: Any) -> str:
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, f"n{len(self.nodes)}", **attrs))
        return names[0]

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name


@st.composite
def graphs(draw: Any) -> onnx.ModelProto:
    g = Graph()
    for _ in range(draw(st.integers(1, 9))):
        kind = draw(st.sampled_from(KINDS))
        # recent values first: chains are more interesting than bushes
        a, b = (g.values[-1 - min(draw(st.integers(0, 5)), len(g.values) - 1)] for _ in range(2))
        new = a
        if kind == "unary":
            new = g.add(draw(st.sampled_from(UNARY)), a)
        elif kind == "binary":
            new = g.add(draw(st.sampled_from(BINARY)), a, b)
        elif kind == "reduce":
            axis = g.constant(np.array([draw(st.sampled_from([0, 1, -1]))]))
            row = g.add(draw(st.sampled_from(REDUCE)), a, axis, keepdims=1)
            new = g.add(draw(st.sampled_from(BINARY)), *draw(st.permutations([draw(st.sampled_from([a, b])), row])))
        elif kind == "where":
            test = g.add(draw(st.sampled_from(COMPARE)), a, draw(st.sampled_from([b, g.constant(np.float32(0))])))
            if draw(st.booleans()):
                test = g.add("Not", test)
            branch = g.add(draw(st.sampled_from(UNARY)), a)
            new = g.add("Where", test, *draw(st.permutations([branch, b])))
        elif kind == "nan":
            test = g.add(draw(st.sampled_from(["IsNaN", "IsInf"])), a)
            new = g.add("Where", test, *draw(st.permutations([b, a])))
        elif kind == "softmax":
            new = g.add(draw(st.sampled_from(["Softmax", "LogSoftmax"])), a, axis=draw(st.sampled_from([0, 1])))
        elif kind == "halves":
            joined = g.add("Concat", a, b, axis=1)
            new = g.add("Split", joined, outputs=2, axis=1, num_outputs=2)
            g.values.append(new[:-1] + "1")
        elif kind == "transpose":
            turned = g.add("Transpose", a, perm=[1, 0])
            new = g.add("Reshape", turned, g.constant(np.array(SHAPE)))
        elif kind == "constant":
            values = draw(
                st.lists(st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-8, 100.0, -np.inf]), min_size=4, max_size=4)
            )
            new = g.add(draw(st.sampled_from(BINARY)), a, g.constant(np.array(values, np.float32)))
        elif kind == "matmul":
            weights = draw(st.lists(st.sampled_from([0.0, 1.0, -1.0, 0.5, -3.0]), min_size=16, max_size=16))
            new = g.add("MatMul", a, g.constant(np.array(weights, np.float32).reshape(4, 4)))
        g.values.append(new)
    outputs = list(dict.fromkeys(name for node in g.nodes for name in node.output))
    infos = [helper.make_empty_tensor_value_info(name) for name in outputs]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE) for name in ("x", "z")]
    graph = helper.make_graph(g.nodes, "g", inputs, infos, g.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return onnx.shape_inference.infer_shapes(model)


RANGES = st.sampled_from(
    [(-1, 1), (0, 1), (-10, 10), (1, 2), (-100, 100), (0, 1e-3), (-3e38, 3e38), (-1e9, 1e9), (2, 2)]
)


def check(state: State, name: str, value: np.ndarray[Any, Any]) -> None:
    box = state.hulls[state.program.names.index(name)]
    assert box is not None
    if value.dtype.kind == "b":
        value = value.astype(np.float64)
    lo, hi = box.hull()
    kinds = (np.isnan(value), NAN), (value == np.inf, PINF), (value == -np.inf, NINF)
    for seen, flag in kinds:
        assert not seen.any() or box.flags & flag, f"{name}: {value} is special, {box}"
    usual = value[np.isfinite(value)].astype(np.float64)
    assert usual.size == 0 or (lo <= usual.min() and usual.max() <= hi), (
        f"{name}: {usual.min()}..{usual.max()} not in {box}"
    )


@pytest.mark.parametrize("budget", [1, 4096])
@given(graphs(), RANGES, RANGES, st.integers(0, 2**31))
def test_what_the_runtime_computes_lies_in_the_boxes(
    budget: int, proto: onnx.ModelProto, rx: Any, rz: Any, seed: int
) -> None:
    names = [o.name for o in proto.graph.output]
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(proto.SerializeToString(), options)
    except Exception:  # noqa: BLE001 - whatever ONNX Runtime can't run is no test
        assume(False)
    model = load(proto)
    state = run(model, lower(model, lookup), decide(model, {"x": rx, "z": rz}), Setting(budget=budget))
    rng = np.random.default_rng(seed)
    for _ in range(8):
        feeds = {name: drawn(rng, ends) for name, ends in (("x", rx), ("z", rz))}
        for name, value in zip(names, session.run(None, feeds), strict=True):
            check(state, name, value)


def drawn(rng: np.random.Generator, ends: tuple[float, float]) -> np.ndarray[Any, Any]:
    """Mostly corners and special points of the range, equal elements included."""
    lo, hi = np.float32(ends[0]), np.float32(ends[1])
    points = [lo, hi, *(p for p in (np.float32(0), np.float32(1), np.float32(-1)) if lo <= p <= hi)]
    values = rng.uniform(lo, hi, SHAPE).astype(np.float32)
    chosen = rng.choice(np.array(points, np.float32), SHAPE)
    mixed = np.where(rng.random(SHAPE) < rng.choice([0.0, 0.5, 1.0]), values, chosen)
    if rng.random() < 0.3:
        mixed[...] = mixed[0, 0]
    return np.clip(mixed, lo, hi).astype(np.float32)


def test_blocks_and_hull_agree() -> None:
    """The check above looks at hulls; blocks can't be wider."""
    proto = helper.make_model(
        helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, SHAPE)],
            [numpy_helper.from_array(np.diag([1, 2, 3, 4]).astype(np.float32), "w")],
        ),
        opset_imports=[helper.make_opsetid("", 21)],
        ir_version=10,
    )
    model = load(proto)
    state = run(model, lower(model, lookup), decide(model, {"x": (0, 1)}), Setting())
    box = state.boxes[state.program.outputs[0]]
    assert box is not None
    assert np.ravel(blocks_of(box).hi).tolist() == pytest.approx([1, 2, 3, 4], rel=1e-5)
