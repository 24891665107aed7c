"""Graphs in which values meet their own relatives again, element by element, and a site at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SHAPES = {"x": (3, 4), "z": (4,), "t": (1,)}
RANGES = ((-1.0, 1.0), (0.0, 1.0), (-3.0, 3.0), (0.5, 2.0), (-100.0, 100.0), (0.0, 1e-3), (2.0, 2.0))
UNARY = ("Neg", "Abs", "Relu", "Sign", "Floor", "Exp", "Tanh", "Sqrt")
BINARY = ("Add", "Sub", "Mul", "Mul", "Sub", "Div", "Max", "Min")
LAST = ("Log", "Sqrt", "Reciprocal", "Exp", "Acos")
NUMBERS = (0.0, 1.0, -1.0, 0.25, 0.5, 2.0, 1e-3)
KINDS = ("unary", "binary", "parabola", "parabola", "ratio", "shift", "where", "turn", "twist", "row")


@dataclass
class _Graph:
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def add(self, op: str, *inputs: str, **attrs: Any) -> str:
        index = len(self.nodes)
        self.nodes.append(helper.make_node(op, list(inputs), [f"v{index}"], f"n{index}", **attrs))
        return f"v{index}"

    def constant(self, value: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value), f"c{len(self.constants)}"))
        return f"c{len(self.constants) - 1}"

    def number(self, value: float) -> str:
        return self.constant(np.float32(value))


def drawn_graph(rng: np.random.Generator) -> onnx.ModelProto:
    """A chain of a few such steps, ended by an operator with a condition."""
    g = _Graph()
    values = list(SHAPES)

    def recent() -> str:
        return values[-1 - min(int(rng.integers(0, 4)), len(values) - 1)]

    steps = len(SHAPES) + int(rng.integers(1, 5))
    while len(values) < steps:
        values.append(_grown(g, str(rng.choice(KINDS)), (recent(), recent()), rng))
    shift = g.number(float(rng.choice(NUMBERS)))
    g.add(str(rng.choice(LAST)), g.add("Add", values[-1], shift))
    names = [name for node in g.nodes for name in node.output]
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in SHAPES.items()]
    graph = helper.make_graph(
        g.nodes, "g", inputs, [helper.make_empty_tensor_value_info(n) for n in names], g.constants
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return onnx.shape_inference.infer_shapes(proto)


def _grown(g: _Graph, kind: str, values: tuple[str, str], rng: np.random.Generator) -> str:
    a, b = values
    if kind == "unary":
        return g.add(str(rng.choice(UNARY)), a)
    if kind == "binary":
        return g.add(str(rng.choice(BINARY)), a, b)
    if kind == "parabola":  # a * a - a, or a * a - b of two that may be related
        return g.add(str(rng.choice(["Add", "Sub"])), g.add("Mul", a, a), str(rng.choice([a, a, b])))
    if kind == "ratio":  # a / (1 + a * a)
        return g.add("Div", a, g.add("Add", g.add("Mul", a, a), g.number(float(rng.choice([1.0, 0.25])))))
    if kind == "shift":
        return g.add(str(rng.choice(["Add", "Sub", "Mul"])), a, g.number(float(rng.choice(NUMBERS))))
    if kind == "where":
        test = g.add(str(rng.choice(["Greater", "Less", "Equal"])), a, b)
        return g.add("Where", test, *rng.permutation([a, b]).tolist())
    wide = g.add("Expand", a, g.constant(np.array((3, 4))))
    if kind == "row":
        return g.add(str(rng.choice(["ReduceSum", "ReduceMax", "ReduceMean"])), wide, g.constant(np.array([1])))
    turned = g.add("Reshape", g.add("Transpose", wide, perm=[1, 0]), g.constant(np.array((3, 4))))
    # twist: a * (other elements of a) - a, which looks like a parabola and is none
    return g.add("Sub", g.add("Mul", a, turned), a) if kind == "twist" else turned
