"""A pair of small graphs: one that computes NaN or Inf for some input in its ranges, and the same one repaired."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx.parser
from onnx import ModelProto, helper

FACTS = (
    "the same value twice",
    "x * x",
    "x - max(x)",
    "sum(exp(x - max(x)))",
    "softmax rows",
    "mean((x - m)^2)",
    "x / sum(x)",
    "normalised rows",
    "min and max",
    "1 - p",
    "sigmoid and tanh",
    "ReLU splits",
    "comparisons",
    "monotone chains",
    "integer ranges",
    "known indices",
)
"""What intervals alone don't see; every pair rests on one or more of these."""

FORMS = ("torch 18", "torch 23", "TensorFlow", "JAX")
"""Whose spelling a pair has: PyTorch's exporter at an opset, tf2onnx, or a jaxpr mapped to ONNX one by one."""

_OPSETS = {"torch 18": 18, "torch 23": 23, "TensorFlow": 15, "JAX": 21}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two graphs that differ in what was repaired.

    name       of the pair; the tool never sees it
    facts      what a proof of the repaired graph rests on, out of ``FACTS``
    form       whose spelling this is, out of ``FORMS``
    source     how the user wrote the defective and the repaired one
    why        why the defective one fails, and why the repaired one can't
    ranges     what the inputs lie in; ``mended`` are those of the repaired graph where they differ: then the repair is
               to keep that input away from where it fails
    dims       sizes that are open: the least and the most
    fails_at   the first value of the defective graph that is NaN or Inf for ``breaks``
    breaks     an input in range that makes the defective graph fail: a number fills the whole tensor
    sizes      what the open sizes are in ``breaks``
    """

    name: str
    facts: tuple[str, ...]
    form: str
    source: tuple[str, str]
    why: str
    ranges: Mapping[str, tuple[float, float]]
    fails_at: str
    breaks: Mapping[str, Any]
    defective: str
    repaired: str
    mended: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    dims: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = set(self.facts) - set(FACTS)
        if unknown or not self.facts:
            raise ValueError(f"{self.name} must rest on facts of the list, got {unknown or 'none'}")
        if self.form not in FORMS:
            raise ValueError(f"{self.name} has the form {self.form!r}, which is none of {', '.join(FORMS)}")

    def model(self, text: str) -> ModelProto:
        """One of the two graphs as a model that names nothing but its values."""
        opset = _OPSETS[self.form]
        return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{text}')

    def failing(self) -> dict[str, np.ndarray]:
        """The input that breaks the defective graph, as tensors."""
        graph = self.model(self.defective).graph
        given = {name for name, _ in shapes(graph, self.sizes)}
        if given != set(self.breaks):
            raise ValueError(f"{self.name} needs {sorted(given)} to break, got {sorted(self.breaks)}")
        dtypes = dtypes_of(graph)
        feeds = {}
        for name, shape in shapes(graph, self.sizes):
            value = np.asarray(self.breaks[name], dtypes[name])
            low, high = self.ranges[name]
            if not (np.all(value >= dtypes[name](low)) and np.all(value <= dtypes[name](high))):
                raise ValueError(f"{self.name}: {name} = {self.breaks[name]} is not in [{low}, {high}]")
            feeds[name] = np.ascontiguousarray(np.broadcast_to(value, shape))
        return feeds

    @property
    def repaired_ranges(self) -> dict[str, tuple[float, float]]:
        """The ranges of the repaired graph's inputs."""
        names = {name for name, _ in shapes(self.model(self.repaired).graph, {})}
        return {name: ends for name, ends in {**self.ranges, **self.mended}.items() if name in names}


def shapes(graph: Any, sizes: Mapping[str, int]) -> list[tuple[str, tuple[int, ...]]]:
    """The inputs of a graph, with open sizes filled in (1 where nothing is said)."""
    stored = {tensor.name for tensor in graph.initializer}
    return [
        (
            value.name,
            tuple(
                sizes.get(d.dim_param, 1) if d.HasField("dim_param") else d.dim_value
                for d in value.type.tensor_type.shape.dim
            ),
        )
        for value in graph.input
        if value.name not in stored
    ]


def dtypes_of(graph: Any) -> dict[str, Any]:
    """The NumPy scalar type of every input."""
    return {v.name: helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type).type for v in graph.input}


def with_every_value(model: ModelProto) -> ModelProto:
    """The model with every value that its nodes compute as an output, in running order."""
    shown = ModelProto()
    shown.CopyFrom(model)
    names = [name for node in shown.graph.node for name in node.output if name]
    del shown.graph.output[:]
    shown.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    return shown


def is_float(array: Any) -> bool:
    """Whether NaN and Inf are possible in an array at all."""
    return isinstance(array, np.ndarray) and array.dtype.kind == "f"
