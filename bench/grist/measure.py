"""What nanproof says of the cases, beside what is known of them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import onnx

from nanproof.analysis import Options, analyse
from nanproof.findings.report import Report
from nanproof.frontends.onnx import load
from nanproof.model.graph import Model

from .case import RANGE_SETS, Case, RangeSet
from .export import exported, line_of, nodes_of
from .twins import Form, ids, twin

REPEAT = 3
"""Times that a case is analysed; the quickest counts."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One case in one set of ranges.

    ``nodes`` are the defective nodes, of which ``possible`` can fail in these ranges, ``found`` of those were reported
    and ``proved`` of the others proved safe. ``known`` alarms are true ones at other nodes, ``false`` ones are at nodes
    that can't fail, and ``unlisted`` at nodes of which nothing is known.
    """

    id: str
    form: str
    ranges: RangeSet
    nodes: int
    possible: int
    found: int
    proved: int
    known: tuple[str, ...]
    false: tuple[str, ...]
    unlisted: tuple[str, ...]
    graph_nodes: int
    load_s: float
    analyse_s: float
    debar: bool
    unknown_ops: dict[str, int] = field(default_factory=dict)

    @property
    def right(self) -> bool:
        """Whether every defective node that can fail was reported, and every other one proved safe."""
        return self.found == self.possible and self.proved == self.nodes - self.possible


def answers(cases: Iterable[Case], **options: Any) -> list[Answer]:
    """The answers in both sets of ranges of every case."""
    return [answer(case, kind, **options) for case in cases for kind in RANGE_SETS]


def answer(case: Case, kind: RangeSet, **options: Any) -> Answer:
    """Check a case and compare. Sites of gradients count here only as what they do forward: nothing."""
    path = exported(case)
    begun = time.perf_counter()
    model = load(path)
    loaded = time.perf_counter() - begun
    asked = Options(ranges=case.ranges(kind), runtime="torch", **options)
    return compared(case, kind, (model, onnx.load(path), loaded), asked)


def twin_answers(form: Form, known: Iterable[Case]) -> list[Answer]:
    """The same of the cases that there are in a form."""
    return [twin_answer(case, form, kind) for case in known if case.id in ids(form) for kind in RANGE_SETS]


def twin_answer(case: Case, form: Form, kind: RangeSet) -> Answer:
    """Check a case in another framework. The batch, which the graph leaves open, is that of the case."""
    begun = time.perf_counter()
    read = twin(case, form)
    loaded = time.perf_counter() - begun
    proto = read.opened.proto()
    assert proto is not None
    ranges = {read.weights.get(name, name): span for name, span in case.ranges(kind).items()}
    sizes = {size.dim_param for value in proto.graph.input for size in value.type.tensor_type.shape.dim}
    dims = {"batch": (case.inputs[0].shape[0],) * 2} if "batch" in sizes else {}
    asked = Options(ranges=ranges, runtime=read.opened.runtime, dims=dims)
    return compared(case, kind, (read.opened.model, proto, loaded), asked, form)


def training_read(case: Case) -> dict[str, int]:
    """How much of the case's training graph in TensorFlow 1 is read; nothing where there is nothing to train."""
    if case.training is None:
        return {}
    proto = twin(case, "tf1", training=True).opened.proto()
    assert proto is not None
    nodes = proto.graph.node
    return {"training_nodes": len(nodes), "training_unknown": sum(bool(node.domain) for node in nodes)}


def compared(
    case: Case, kind: RangeSet, read: tuple[Model, onnx.ModelProto, float], asked: Options, form: str = "torch"
) -> Answer:
    """What is said of a model of the case, beside what is known of the case."""
    model, proto, loaded = read
    seconds = []
    for _ in range(REPEAT):
        begun = time.perf_counter()
        report = analyse(model, asked)
        seconds.append(time.perf_counter() - begun)
    alarms = alarmed(report)
    lines = {node.name: line_of(node) for node in proto.graph.node}
    ops = {node.name: node.op_type for node in proto.graph.node}
    told = {node: site for site in case.sites for node in nodes_of(site, proto)}
    defective = [node for node, site in told.items() if site in case.defect]
    possible = [node for node in defective if kind in told[node].fails_in and told[node].phase == "forward"]

    def described(nodes: Iterable[str]) -> tuple[str, ...]:
        return tuple(
            f"{'/'.join(alarms[n])} {ops.get(n, '?')} {n} {':'.join(map(str, lines.get(n, ())))}" for n in nodes
        )

    others = [node for node in alarms if node not in possible]
    return Answer(
        id=case.id,
        form=form,
        ranges=kind,
        nodes=len(defective),
        possible=len(possible),
        found=sum(node in alarms for node in possible),
        proved=sum(node not in alarms for node in defective if node not in possible),
        known=described(n for n in others if n in told and kind in told[n].fails_in),
        false=described(n for n in others if n in told and kind not in told[n].fails_in),
        unlisted=described(n for n in others if n not in told),
        graph_nodes=report.nodes,
        load_s=loaded,
        analyse_s=min(seconds),
        debar=case.debar,
        unknown_ops=dict(report.unknown_ops),
    )


def alarmed(report: Report) -> dict[str, tuple[str, ...]]:
    """The codes of every node that isn't proved safe. A note counts: it isn't a proof."""
    found: dict[str, dict[str, None]] = {}
    for finding in report.findings:
        for node in (finding.node, *finding.also):
            found.setdefault(node, {})[f"{finding.code}{'' if finding.note is None else ' (note)'}"] = None
    return {node: tuple(codes) for node, codes in found.items()}


def rows(found: Iterable[Answer]) -> list[dict[str, Any]]:
    """For the results file."""
    return [asdict(one) | {"right": one.right} for one in found]
