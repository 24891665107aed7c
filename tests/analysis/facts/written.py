"""Small graphs in ONNX's text form: what is found in them, and what ONNX Runtime computes beside their Boxes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
from hypothesis import strategies as st
from tests.analysis.test_random_graphs import check as lies_in_its_box

from nanproof.analysis import Options, analyse
from nanproof.analysis.analyse import run
from nanproof.analysis.state import State
from nanproof.findings.report import Report
from nanproof.frontends.onnx.load import load
from nanproof.model.lower import lower
from nanproof.model.ranges import decide, decide_sizes
from nanproof.ops import lookup
from nanproof.ops.call import Setting

Ranges = Mapping[str, tuple[float, float]]
Sizes = dict[str, tuple[int, int | None]]

NUMBERS = """last = Constant<value = int64[1] {-1}>() first = Constant<value = int64[1] {0}>()
    zero = Constant<value = float {0.0}>() one = Constant<value = float {1.0}>() two = Constant<value = float {2.0}>()
    half = Constant<value = float {0.5}>() eps = Constant<value = float {1e-6}>() k = Constant<value = float {80.0}>()
    minf = Constant<value = float {-inf}>() none = Constant<value = int64 {0}>() next = Constant<value = int64 {1}>()
    place = Constant<value = int64 {-1}>()
"""
"""Constants that the graphs of the tests share; ``k`` is what exp can stand, once."""


def model_of(body: str, inputs: str = "float[3, 4] x") -> onnx.ModelProto:
    """A model whose output is ``y``; the body may use ``NUMBERS``."""
    outputs = "float[a, b] y"
    return onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 23]> g ({inputs}) => ({outputs}) {{ {NUMBERS} {body} }}'
    )


def check(body: str, ranges: Ranges, inputs: str = "float[3, 4] x", dims: Sizes | None = None) -> Report:
    """The report on a graph."""
    return analyse(load(model_of(body, inputs)), Options(ranges=ranges, dims=dims or {}))


def codes(body: str, ranges: Ranges, inputs: str = "float[3, 4] x", dims: Sizes | None = None) -> set[str]:
    """What is found in a graph."""
    return {finding.code for finding in check(body, ranges, inputs, dims).found}


class Concrete:
    """A graph in ONNX Runtime, all of whose values are outputs, and its Boxes."""

    def __init__(self, body: str, ranges: Ranges, inputs: str) -> None:
        proto = model_of(body, inputs)
        self.names = [name for node in proto.graph.node for name in node.output if node.op_type != "Constant"]
        del proto.graph.output[:]
        proto.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in self.names)
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        self.session = ort.InferenceSession(onnx.shape_inference.infer_shapes(proto).SerializeToString(), options)
        self.shapes = {
            item.name: [d if isinstance(d, int) else 4 for d in item.shape] for item in self.session.get_inputs()
        }
        self.feeds = st.fixed_dictionaries({n: _tensors(tuple(shape), ranges[n]) for n, shape in self.shapes.items()})
        """Feeds within the ranges."""
        model = load(proto)
        sizes, _ = decide_sizes(model, {})
        self.states: list[State] = [
            run(model, lower(model, lookup), decide(model, ranges), Setting(budget=budget, dims=sizes))
            for budget in (1, 4096)
        ]

    def hold(self, feeds: Mapping[str, Any]) -> None:
        """Every value of one run lies in its Box."""
        for name, value in zip(self.names, self.session.run(None, dict(feeds)), strict=True):
            if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
                for state in self.states:
                    lies_in_its_box(state, name, value)


@cache
def _concrete(body: str, ranges: tuple[tuple[str, tuple[float, float]], ...], inputs: str) -> Concrete:
    return Concrete(body, dict(ranges), inputs)


def concrete(body: str, ranges: Ranges, inputs: str = "float[3, 4] x") -> Concrete:
    """The graph in the runtime, made once."""
    return _concrete(body, tuple(ranges.items()), inputs)


@cache
def _tensors(shape: tuple[int, ...], ends: tuple[float, float]) -> st.SearchStrategy[Any]:
    """Tensors between two ends: corners, their neighbours, numbers of all sizes, equal ones and ordinary ones."""
    lo, hi = (np.float32(end) for end in ends)
    sizes = [0.0, 1.0, 1e-45, 1e-38, 1e-23, 1e-19, 1e-8, 1e-6, 0.5, 3.0, 80.0, 1e3, 1e4]
    marks = [lo, hi, np.nextafter(lo, hi), np.nextafter(hi, lo), *(np.float32(s) for v in sizes for s in (v, -v))]
    marks += [np.nextafter(np.float32(v), np.float32(2.0 * v)) for v in sizes]
    pool = [float(v) for v in marks if lo <= v <= hi]
    element = st.one_of(st.sampled_from(pool), st.floats(float(lo), float(hi), width=32))
    # a few numbers, laid out at random: rows with equal elements come by themselves
    drawn = st.tuples(st.lists(element, min_size=1, max_size=6), st.integers(0, 2**31))
    return drawn.map(lambda d: np.random.default_rng(d[1]).choice(np.array(d[0], np.float32), shape))
