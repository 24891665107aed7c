"""The whole check: ranges, Boxes, propagation, findings."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from nanproof.analysis.initial import set_initial
from nanproof.analysis.labelling import fine_grained
from nanproof.analysis.options import EFFORTS, TIME_LIMIT, Options
from nanproof.analysis.propagate import propagate
from nanproof.analysis.refine import Purse, Refined, refined
from nanproof.analysis.state import State, new_state
from nanproof.analysis.training import TOGETHER, has_gradients
from nanproof.analysis.undisturbed import undisturbed
from nanproof.analysis.verdicts import ASSUMED, assembled
from nanproof.domain.box import Box
from nanproof.findings import wording
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
MANY_TERMS = 64
"""Longest affine relations at high effort."""


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
        model = replace(model, roles=infer(model.graph, {**model.roles, **roles}))
    ranges = decide(model, chosen.ranges, chosen.weights)  # type: ignore[arg-type]
    sizes, open_sizes = decide_sizes(model, chosen.dims)
    setting = replace(setting, dims=sizes)
    program = lower(model, lookup)
    limit = TIME_LIMIT if chosen.time_limit is None else chosen.time_limit
    purse = Purse(limit)
    kept: dict[int, Box] = {}
    look = partial(closest, model, program, effort=chosen.effort, purse=purse, kept=kept)
    found = look(ranges, setting=setting)
    state = found.state
    milder: dict[str, State] = {}
    assumed = _assumed(model, ranges)
    if state.sites and any(a.role == "input" for a in assumed):
        milder[ASSUMED] = look(_narrowed(model, ranges), setting=setting).state
    if state.sites and has_gradients(state):
        milder[TOGETHER] = look(ranges, setting=replace(setting, calm=True)).state
    findings = assembled(state, model, ranges, milder, found.remarks)
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
        notes=(*model.notes, *state.notes, *found.proved, *_ended(purse, limit)),
    )


def closest(
    model: Model,
    program: Program,
    ranges: Mapping[str, Range],
    *,
    setting: Setting,
    effort: str,
    purse: Purse,
    kept: dict[int, Box] | None = None,
) -> Refined:
    """Propagate coarsely, once more with finer blocks where that leaves something open, and then as the effort says.

    With one block a tensor, a node costs a fifth, and most models are proved safe
    by that alone. Verdicts of the two are not mixed: what is a consequence in the
    one may be a cause of its own in the other. ``kept``: as for ``started``.
    """
    kept = {} if kept is None else kept
    coarse = run(model, program, ranges, replace(setting, budget=1), kept)
    if not coarse.sites or effort == "low":
        return Refined(coarse, (), {})
    if effort == "normal":
        return Refined(run(model, program, ranges, setting, kept), (), {})
    setting = replace(setting, terms=MANY_TERMS)
    starting = started(model, program, ranges, setting, kept)
    return refined(program, lambda p: run(model, p, ranges, setting, kept), starting.boxes.__getitem__, purse)


def run(
    model: Model,
    program: Program,
    ranges: Mapping[str, Range],
    setting: Setting,
    kept: dict[int, Box] | None = None,
) -> State:
    """Propagate once; the state has everything that was seen. ``kept``: as for ``started``."""
    state = started(model, program, ranges, setting, kept)
    try:
        propagate(state)
    except InputError as error:
        raise InputError(f"{model.path}: {error}") from error
    return state


def started(
    model: Model,
    program: Program,
    ranges: Mapping[str, Range],
    setting: Setting,
    kept: dict[int, Box] | None = None,
) -> State:
    """The state before propagation, in which only the initial values are known.

    ``kept`` carries the Boxes of stored tensors from one run to the next, so that
    weights are read once: of the same program, or of one that was made from it,
    with the same tensors given ranges.
    """
    declared = {**model.graph.declared, **{d.name: d for d in model.graph.inputs}}
    state = new_state(program, setting, declared)
    set_initial(state, model, ranges, fine_grained(program), kept)
    return state


def _ended(purse: Purse, limit: float) -> tuple[str, ...]:
    return () if purse.ended is None else (wording.search_ended(purse.ended, limit),)


def _setting(model: Model, options: Options) -> Setting:
    if options.effort not in EFFORTS:
        raise InputError(f'unknown effort "{options.effort}": say one of {", ".join(EFFORTS)}')
    if options.time_limit is not None and not options.time_limit >= 0:
        raise InputError(f"a time limit of {options.time_limit} seconds makes no sense: say 0 or more")
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
