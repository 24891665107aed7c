"""The onnx package's own cases with sequences and optionals, inputs included, and SequenceMap."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import onnx.parser
import pytest

from nanproof.analysis import Options, analyse
from nanproof.analysis.analyse import run
from nanproof.domain.box import Box
from nanproof.domain.series import Maybe, Series
from nanproof.frontends.onnx.load import load
from nanproof.model.lower import lower
from nanproof.model.ranges import decide
from nanproof.ops.call import Setting
from nanproof.ops.registry import lookup
from nanproof.testing.node_cases import collected, misses

CASES = [
    case
    for cases in collected().values()
    for case in cases
    if case.name.startswith(
        ("test_sequence_", "test_optional_", "test_split_to_seq", "test_if_", "test_loop1", "test_identity_")
    )
]


def ends(value: Any) -> tuple[float, float]:
    """The least and the largest number of a tensor, a sequence or an optional."""
    if value is None:
        return inf, -inf
    if isinstance(value, list):
        found = [ends(v) for v in value]
        return min((lo for lo, _ in found), default=inf), max((hi for _, hi in found), default=-inf)
    array = np.asarray(value)
    return (float(array.min()), float(array.max())) if array.size else (inf, -inf)


def holds(box: Box, value: Any) -> None:
    if isinstance(box, Maybe):
        assert box.present is not (value is None)
        holds(box.inner, value)
    elif isinstance(box, Series):
        items = [v for v in value or () if v is not None]
        assert value is None or box.least <= len(value)
        assert box.most is None or len(items) <= box.most
        for i, item in enumerate(items):
            one = box.items[i] if box.items is not None else box.rest
            assert misses(one, np.asarray(item)) is None
    elif value is not None and not isinstance(value, list):
        assert misses(box, np.asarray(value)) is None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_node_case(case: Any) -> None:
    model = load(case.model)
    program = lower(model, lookup)
    feeds, expected = case.data_sets[0]
    ranges = {i.name: ends(x) for i, x in zip(case.model.graph.input, feeds, strict=True)}
    ranges = {name: (lo, hi) for name, (lo, hi) in ranges.items() if lo <= hi}
    state = run(model, program, decide(model, ranges), Setting())
    assert not state.unknown
    for slot, value in zip(program.outputs, expected, strict=True):
        box = state.boxes[slot]
        assert box is not None
        holds(box, value)


MAP = """<ir_version: 10, opset_import: ["" : 21]>
g (float[2] x, float[2] z, {inputs}) => (seq(float[2]) y) {{
    {first}
    y = SequenceMap (s) <body = b (float[2] i) => (float[2] o) {{ o = Log(i) }}>
}}"""


@pytest.mark.parametrize(
    ("inputs", "first"),
    [("float u", "s = SequenceConstruct(x, z)"), ("seq(float[2]) t", "s = SequenceInsert(t, z)")],
)
def test_findings_in_the_body_of_a_map(inputs: str, first: str) -> None:
    model = load(onnx.parser.parse_model(MAP.format(inputs=inputs, first=first)))
    safe = {"x": (1.0, 2.0), "z": (1.0, 2.0)} | ({"t": (1.0, 9.0)} if "seq" in inputs else {})
    report = analyse(model, Options(ranges=safe))
    assert not report.found
    assert not report.unknown_ops
    (finding,) = analyse(model, Options(ranges={**safe, "z": (-1.0, 2.0)})).found
    assert finding.code == "NP101"
    assert finding.reaches == ("y",)


def test_ranges_of_sequence_inputs() -> None:
    model = load(onnx.parser.parse_model(MAP.format(inputs="seq(float[2]) s", first="")))
    assert not analyse(model, Options(ranges={"s": (1.0, 2.0)})).found
    assert [f.code for f in analyse(model, Options(ranges={"s": (0.0, 2.0)})).found] == ["NP101"]
