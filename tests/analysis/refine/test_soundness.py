"""What refinement teaches the program holds: every value that ONNX Runtime computes lies in the Box of its slot."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.refine.graphs import RANGES, SHAPES, drawn_graph
from tests.analysis.test_random_graphs import check

from nanproof.analysis.analyse import closest
from nanproof.analysis.refine import Purse, Refined
from nanproof.analysis.undisturbed import undisturbed
from nanproof.frontends.onnx.load import load
from nanproof.model.lower import lower
from nanproof.model.ranges import decide
from nanproof.ops import lookup
from nanproof.ops.call import Setting


@given(st.integers(0, 2**40))
def test_what_the_runtime_computes_lies_in_the_boxes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    proto = drawn_graph(rng)
    ranges = {name: RANGES[int(rng.integers(0, len(RANGES)))] for name in SHAPES}
    found = refined_state(proto, ranges)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(proto.SerializeToString(), options)
    names = [o.name for o in proto.graph.output]
    for _ in range(10):
        feeds = {name: drawn(rng, shape, ranges[name]) for name, shape in SHAPES.items()}
        for name, value in zip(names, session.run(None, feeds), strict=True):
            check(found.state, name, value)


def test_the_graphs_have_sites_that_only_refinement_settles() -> None:
    """Else the law above would say little."""
    proved = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        proto = drawn_graph(rng)
        ranges = {name: RANGES[int(rng.integers(0, len(RANGES)))] for name in SHAPES}
        proved += bool(refined_state(proto, ranges).proved)
    assert proved >= 3


def refined_state(proto: onnx.ModelProto, ranges: Any) -> Refined:
    model = load(proto)
    with undisturbed():
        return closest(
            model, lower(model, lookup), decide(model, ranges), setting=Setting(), effort="high", purse=Purse(60.0)
        )


def drawn(rng: np.random.Generator, shape: tuple[int, ...], ends: tuple[float, float]) -> Any:
    """Corners, the middle and special points of the range, and now and then any number in it."""
    lo, hi = (np.float32(end) for end in ends)
    points = [lo, hi, (lo + hi) / 2, *(np.float32(p) for p in (0, 0.5, 1, -1) if lo <= p <= hi)]
    chosen = rng.choice(np.array(points, np.float32), shape)
    return np.where(rng.random(shape) < 0.3, rng.uniform(lo, hi, shape).astype(np.float32), chosen)
