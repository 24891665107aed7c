"""Generated models: convolutional, multi-layer and residual networks of a given number of nodes.

Real operators with their own seeded weights for every layer, small so that 200,000 nodes stay a file of moderate size,
and scaled so that a layer doesn't enlarge its input's range: intervals stay finite from end to end, as in a model that
works, and no node is cheap because everything is infinite.

    python bench/graphs.py residual 10000 model.onnx
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

WIDTH = 8  # features of a dense layer
CHANNELS = 4  # channels of a convolution
OPSET = 21


class Builder:
    """A graph that grows node by node, until it has as many as it should."""

    def __init__(self, nodes: int, seed: int) -> None:
        self.wanted = nodes
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []
        self.random = np.random.default_rng(seed)

    @property
    def full(self) -> bool:
        return len(self.nodes) >= self.wanted

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """One node; its output. Past the wanted number, nothing: the input goes through."""
        if self.full:
            return inputs[0]
        output = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], f"{op}_{len(self.nodes)}", **attributes))
        return output

    def weight(self, *shape: int, scale: float = 1.0) -> str:
        """Seeded values whose absolute sum over all but one axis is at most `scale`."""
        values = self.random.uniform(-scale, scale, shape) * max(shape) / np.prod(shape)
        return self.constant(values.astype(np.float32))

    def positive(self, *shape: int) -> str:
        """Seeded values around 1, as variances and gains are."""
        return self.constant(self.random.uniform(0.5, 1.5, shape).astype(np.float32))

    def constant(self, values: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values, name))
        return name


def cnn(b: Builder, x: str) -> str:
    """Conv, BatchNormalization, activation, pooling."""
    turn = 0
    while not b.full:
        x = b.add("Conv", x, b.weight(CHANNELS, CHANNELS, 3, 3), b.weight(CHANNELS), pads=[1, 1, 1, 1])
        x = b.add(
            "BatchNormalization",
            x,
            b.positive(CHANNELS),
            b.weight(CHANNELS),
            b.weight(CHANNELS),
            b.positive(CHANNELS),
        )
        x = b.add(("Relu", "LeakyRelu", "Sigmoid", "HardSwish")[turn % 4], x)
        if turn % 2:
            pool = "MaxPool" if turn % 4 == 1 else "AveragePool"
            x = b.add(pool, x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        turn += 1
    return x


def mlp(b: Builder, x: str) -> str:
    """MatMul, Add, activation; Gemm every other time."""
    turn = 0
    while not b.full:
        if turn % 2:
            x = b.add("Gemm", x, b.weight(WIDTH, WIDTH), b.weight(WIDTH))
        else:
            x = b.add("MatMul", x, b.weight(WIDTH, WIDTH))
            x = b.add("Add", x, b.weight(WIDTH))
        x = b.add(("Relu", "Tanh", "Sigmoid", "Gelu", "Softplus")[turn % 5], x)
        turn += 1
    return x


def residual(b: Builder, x: str) -> str:
    """Pre-normalised residual blocks as in transformers: x + dense(activation(dense(norm(x))))."""
    turn = 0
    while not b.full:
        y = b.add("LayerNormalization", x, b.positive(WIDTH), b.weight(WIDTH), axis=-1)
        y = b.add("MatMul", y, b.weight(WIDTH, WIDTH))
        y = b.add("Add", y, b.weight(WIDTH))
        y = b.add(("Relu", "Gelu", "Tanh")[turn % 3], y)
        y = b.add("MatMul", y, b.weight(WIDTH, WIDTH))
        x = b.add("Add", x, y)
        if turn % 8 == 7:
            x = b.add("Softmax", x, axis=-1)
        turn += 1
    return x


KINDS: dict[str, tuple[Callable[[Builder, str], str], list[int | str]]] = {
    "cnn": (cnn, ["batch", CHANNELS, 16, 16]),
    "mlp": (mlp, ["batch", WIDTH]),
    "residual": (residual, ["batch", WIDTH]),
}


def make(kind: str, nodes: int, seed: int = 1) -> ModelProto:
    """A model of this kind with exactly this many nodes."""
    grow, shape = KINDS[kind]
    builder = Builder(nodes, seed)
    result = grow(builder, "x")
    graph = helper.make_graph(
        builder.nodes,
        kind,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(result, TensorProto.FLOAT, shape)],
        builder.weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("nodes", type=int)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    onnx.save(make(options.kind, options.nodes), options.file)
