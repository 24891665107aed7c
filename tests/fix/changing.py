"""Helpers: a model from text, one rewrite made in it, and both verifications."""

from __future__ import annotations

from collections.abc import Mapping

import onnx
import onnx.parser

from nanproof.analysis import Options
from nanproof.findings import Finding, Report
from nanproof.fix.candidates import Candidates
from nanproof.fix.changes import Rewriting, changed
from nanproof.fix.judge import Judge, Ruling
from nanproof.fix.points import drawn_values
from nanproof.fix.sample import Sampled, Sampler, Watched

Ranges = Mapping[str, tuple[float, float]]


def model(text: str, opset: int = 20) -> onnx.ModelProto:
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{text}')
    onnx.checker.check_model(proto, full_check=True)
    return proto


def judge(ranges: Ranges, runtime: str = "onnxruntime", effort: str = "normal") -> Judge:
    return Judge(Options(ranges=ranges, runtime=runtime, effort=effort))


def found(proto: onnx.ModelProto, ranges: Ranges, runtime: str = "onnxruntime") -> Report:
    return judge(ranges, runtime).report(proto)


def rewritings(proto: onnx.ModelProto, finding: Finding, name: str) -> list[Rewriting]:
    return [r for r in Candidates(proto).rewritings(finding) if r.name == name]


def made(
    proto: onnx.ModelProto, finding: Finding, name: str, ranges: Ranges, runtime: str = "onnxruntime"
) -> tuple[onnx.ModelProto, Ruling, Sampled]:
    """The model with a rewrite made, what the analysis says of it, and what runs say."""
    rewriting, *_ = rewritings(proto, finding, name)
    after, touched = changed(proto, rewriting)
    onnx.checker.check_model(after, full_check=True)
    asked = judge(ranges, runtime)
    before = asked.report(proto)
    sampler = Sampler(drawn_values(asked.model(proto), asked.options), None, samples=200)
    watched = Watched(touched.changed, tuple(o.name for o in proto.graph.output), touched.free)
    return after, asked.rule(after, before, finding), sampler.compare(proto, after, watched)
