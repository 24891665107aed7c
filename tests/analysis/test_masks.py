"""Masks that a graph computes: their -Inf keep their places as those of stored masks do."""

from __future__ import annotations

import onnx.parser
import pytest

from nanproof.analysis import Options, analyse
from nanproof.frontends.onnx.load import load

CAUSAL = """<ir_version: 10, opset_import: ["" : 26]>
g (float[2, 4, 4] x) => (float[2, 4, 4] y) {{
    zero = Constant<value = int64 {{0}}>()
    one = Constant<value = int64 {{1}}>()
    n = Constant<value = int64 {{4}}>()
    first = Constant<value = int64[1] {{0}}>()
    last = Constant<value = int64[1] {{1}}>()
    places = Range(zero, n, one)
    rows = Unsqueeze(places, last)
    columns = Unsqueeze(places, first)
    later = {test}
    low = Constant<value = float {{-1.0}}>()
    nothing = Constant<value = float {{0.0}}>()
    minus = Reciprocal(nothing)
    infinite = Mul(minus, low)
    mask = Where(later, infinite, nothing)
    s = Add(x, mask)
    y = Softmax<axis = -1>(s) }}"""


@pytest.mark.parametrize(("test", "codes"), [("Less(rows, columns)", []), ("GreaterOrEqual(columns, rows)", ["NP117"])])
def test_a_computed_causal_mask(test: str, codes: list[str]) -> None:
    report = analyse(load(onnx.parser.parse_model(CAUSAL.format(test=test))), Options(ranges={"x": (-5, 5)}))
    # the reciprocal of 0 that makes the infinity is a finding of its own
    assert [f.code for f in report.findings if f.code == "NP117"] == codes
