"""The whole check: ranges, Boxes, propagation, findings."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from nanproof.analysis.initial import set_initial
from nanproof.analysis.labelling import fine_grained
from nanproof.analysis.options import Options
from nanproof.analysis.propagate import propagate
from nanproof.analysis.state import State, new_state
from nanproof.analysis.undisturbed import undisturbed
from nanproof.analysis.verdicts import assembled
from nanproof.findings.errors import InputError
from nanproof.findings.report import AssumedRange, Report
from nanproof.model.graph import Model
from nanproof.model.lower import Program, lower
from nanproof.model.ranges import Range, decide, decide_sizes
from nanproof.model.roles import Role, infer
from nanproof.ops import lookup
from nanproof.ops.call import Setting

DEFAULT_RUNTIME = "onnxruntime"
RUNTIMES = ("torch", "onnxruntime", "ieee")
REASONABLE = 1.0
"""What follows from an assumed float range, but not from [-1, 1], is a note."""


def analyse(model: Model, options: Options | None = None) -> Report:
    """Prove every site of a model safe, or report it."""
    with undisturbed():
        return _analyse(model, options)


def _analyse(model: Model, options: Options | None) -> Report:
    started = time.perf_counter()
    chosen = options or Options()
    setting = _setting(model, chosen)
    if chosen.roles:
        roles = {name: Role(role) for name, role in chosen.roles.items()}
        model = replace(model, roles=infer(model.graph, roles))
    ranges = decide(model, chosen.ranges, chosen.weights)  # type: ignore[arg-type]
    sizes, open_sizes = decide_sizes(model, chosen.dims)
    setting = replace(setting, dims=sizes)
    program = lower(model, lookup)
    state = closest(model, program, ranges, setting)
    modest = None
    assumed = _assumed(model, ranges)
    if state.sites and any(a.role == "input" for a in assumed):
        modest = closest(model, program, _narrowed(model, ranges), setting)
    findings = assembled(state, model, ranges, modest)
    assumed += tuple(
        AssumedRange(name, *_ends(sizes[name]), role="size", why="the model leaves it open") for name in open_sizes
    )
    return Report(
        target=model.path,
        runtime=setting.runtime,
        seconds=time.perf_counter() - started,
        sites=findings.counts,
        nodes=state.nodes,
        findings=findings.findings,
        unknown_ops=dict(state.unknown),
        weaker=findings.weaker,
        assumed_ranges=assumed,
        notes=(*model.notes, *state.notes),
    )


def closest(model: Model, program: Program, ranges: Mapping[str, Range], setting: Setting) -> State:
    """Propagate coarsely, and once more with finer blocks where that leaves something open.

    With one block a tensor, a node costs a fifth, and most models are proved safe
    by that alone. Verdicts of the two are not mixed: what is a consequence in the
    one may be a cause of its own in the other.
    """
    coarse = run(model, program, ranges, replace(setting, budget=1))
    return run(model, program, ranges, setting) if coarse.sites else coarse


def run(model: Model, program: Program, ranges: Mapping[str, Range], setting: Setting) -> State:
    """Propagate once; the state has everything that was seen."""
    declared = {**model.graph.declared, **{d.name: d for d in model.graph.inputs}}
    state = new_state(program, setting, declared)
    set_initial(state, model, ranges, fine_grained(program))
    try:
        propagate(state)
    except InputError as error:
        raise InputError(f"{model.path}: {error}") from error
    return state


def _setting(model: Model, options: Options) -> Setting:
    runtime = options.runtime or DEFAULT_RUNTIME
    if runtime not in RUNTIMES:
        raise InputError(f'unknown runtime "{runtime}": say one of {", ".join(RUNTIMES)}')
    return Setting(runtime=runtime, opset=model.opset)


def _assumed(model: Model, ranges: Mapping[str, Range]) -> tuple[AssumedRange, ...]:
    return tuple(
        AssumedRange(name, r.lo, r.hi, str(model.roles.get(name, Role.INPUT).value), r.why)
        for name, r in ranges.items()
        if r.assumed
    )


def _narrowed(model: Model, ranges: Mapping[str, Range]) -> dict[str, Range]:
    """The same ranges, with every assumed float one cut to what any use would reach."""
    floats = {d.name for d in model.graph.inputs if d.dtype is not None and d.dtype.is_float}
    return {
        name: replace(r, lo=max(r.lo, -REASONABLE), hi=min(r.hi, REASONABLE))
        if r.assumed and name in floats and r.lo < REASONABLE and r.hi > -REASONABLE
        else r
        for name, r in ranges.items()
    }


def _ends(sizes: tuple[int, int | None]) -> tuple[float, float]:
    low, high = sizes
    return float(low), float("inf") if high is None else float(high)
