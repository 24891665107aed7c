"""Small graphs with a known answer, and a search over them without the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx
import onnx.parser

import nanproof
from nanproof.confirm.checked import Checked
from nanproof.confirm.problem import Problem, Space, Subject, posed
from nanproof.confirm.search import How, Outcome, Search
from nanproof.frontends.onnx import load
from nanproof.model.lower import lower
from nanproof.model.ranges import decide, decide_sizes
from nanproof.model.roles import Role
from nanproof.ops import lookup

HEADER = '<ir_version: 10, opset_import: ["" : 21]>\n'
Ranges = Mapping[str, tuple[float, float]]

LOG_SIGMOID = "g (float[4] x) => (float[4] y) { s = Sigmoid(x)\n y = Log(s) }"
LOG_SOFTMAX = "g (float[2, 4] x) => (float[2, 4] y) { s = Softmax(x)\n y = Log(s) }"
# 0 is reached only where a product and two roundings cancel exactly
NARROW = """g (float[4] x, float[4] z) => (float[4] y) {
    a = Mul(x, z)
    b = Sub(a, x)
    c = Constant<value = float {0.3}>()
    s = Add(b, c)
    y = Reciprocal(s) }"""
# random samples of sixteen numbers stay far from the end of this sum
FAR_SUM = """g (float[64] x) => (float[1] y) {
    t = Tanh(x)
    s = ReduceSum<keepdims = 1>(t)
    c = Constant<value = float {63.0}>()
    d = Sub(c, s)
    y = Sqrt(d) }"""


def proto(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEADER + text)


def checked(text: str, ranges: Ranges, **options: Any) -> Checked:
    return nanproof.check(proto(text), ranges=ranges, **options)


def problem(text: str, ranges: Ranges, **options: Any) -> Problem:
    report = checked(text, ranges, **options)
    model = load(proto(text), roles={k: Role(v) for k, v in options.get("roles", {}).items()})
    sizes, _ = decide_sizes(model, {})
    subject = Subject(model, lower(model, lookup), proto(text), report.runtime)
    ranges_of = decide(model, ranges, options.get("weights", "model"))
    return posed(subject, report.found, Space(ranges_of, dict.fromkeys(sizes, 2)))


def searched(posed: Problem, **how: Any) -> Outcome:
    search = Search(posed, How(**{"looks": 3000, **how}), frozenset(range(len(posed.findings))))
    if search.start():
        search.improve()
    return search.outcome
