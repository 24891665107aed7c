"""From failing sites to findings: grouped by cause, explained, told apart from notes."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from linecache import getline
from math import inf

from nanproof.analysis.explain import because
from nanproof.analysis.precision import precision_causes
from nanproof.analysis.propagate import verdict_of
from nanproof.analysis.state import Site, State, key, unbundled
from nanproof.analysis.training import SUBNORMAL, TOGETHER, is_said, only_subnormal, parts, same_step, told
from nanproof.domain.box import NAN, NINF, PINF
from nanproof.findings.finding import EMPTY, Finding, stable_id
from nanproof.findings.location import Location
from nanproof.findings.report import SiteCounts
from nanproof.findings.verdict import Verdict
from nanproof.model.graph import Model
from nanproof.model.ranges import Range
from nanproof.ops.call import INEVITABLE

ASSUMED = "follows only from an assumed range"
MASKED = "masked: reaches no output"
INFINITE = "a stored infinity, as masks are made of, reaches an output"

_FLAG_NAMES = ((NAN, "nan"), (PINF, "+inf"), (NINF, "-inf"))


def _ordered(ends: tuple[float, float]) -> tuple[float, float]:
    """An interval to show: anything, where an attribute that is NaN left no ends."""
    return ends if ends[0] <= ends[1] or ends == EMPTY else (-inf, inf)


@dataclass(frozen=True, slots=True)
class Assembled:
    """Findings with their counts."""

    findings: tuple[Finding, ...]
    counts: SiteCounts
    weaker: int


def assembled(
    state: State,
    model: Model,
    ranges: Mapping[str, Range],
    milder: Mapping[str, State],
    remarks: Mapping[tuple[int, ...], str] | None = None,
) -> Assembled:
    """Make findings of the sites of a finished propagation.

    ``milder`` are propagations over less, by what they leave out (assumed ranges
    narrowed, say): a site that one of them lacks is a note. ``remarks`` say more of a step, by its outputs.
    """
    whys = {name: r.why for name, r in ranges.items()}
    still = {why: {key(site) for site in milder_state.sites} for why, milder_state in milder.items()}
    causes = [site for site in state.sites if not site.causes]
    groups: dict[object, Finding] = {}
    calm = milder.get(TOGETHER)
    for seen, sites in ((state, causes), *([] if calm is None else [(calm, _behind(calm, causes))])):
        reached = _reached(seen)
        known = parts(seen, [(site, reached.get(site.index, ())) for site in seen.sites if not site.causes])
        for site in sites:
            if known is not None and is_said(known, site):
                continue
            group = _cause(seen, site)
            note = _note(seen, site, reached, still)
            finding = _finding(seen, site, reached.get(site.index, ()), whys, note)
            if remarks and site.step.outputs in remarks:
                finding = replace(finding, because=(remarks[site.step.outputs], *finding.because))
            if known is not None:
                finding = told(known, site, finding)
                group = (group, finding.phase)
            groups[group] = _merged(groups[group], finding) if group in groups else finding
    findings = list(groups.values())
    inherited = _inherited(state)
    findings += inherited
    findings += precision_causes(state, model, causes)
    counts = _counts(state, sum(f.note is None for f in inherited))
    weaker = sum(site.weak for site in state.sites)
    return Assembled(tuple(findings), counts, weaker)


def _behind(calm: State, causes: Sequence[Site]) -> list[Site]:
    """What a propagation with moderate gradients finds where the other one sees only the consequence of an overflow."""
    known = {key(site) for site in causes}
    return [site for site in calm.sites if not site.causes and key(site) not in known]


def _note(
    state: State, site: Site, reached: Mapping[int, tuple[str, ...]], still: Mapping[str, Container[object]]
) -> str | None:
    """Why a site is only a note."""
    if _is_masked(state, site) and not reached.get(site.index):
        return MASKED
    if any(key(site) not in keys for keys in still.values()):
        return next(why for why, keys in still.items() if key(site) not in keys)
    return SUBNORMAL if only_subnormal(state, site) else None


def _merged(first: Finding, other: Finding) -> Finding:
    """Two sites with one cause as one finding, as bad as the worse of them."""
    also = first.also if other.node == first.node else (*first.also, other.node)
    inevitable = Verdict.INEVITABLE in {first.verdict, other.verdict}
    (a, b), (c, d) = first.interval, other.interval
    return replace(
        first,
        interval=(min(a, c), max(b, d)),
        may=tuple(name for _, name in _FLAG_NAMES if name in {*first.may, *other.may}),
        verdict=Verdict.INEVITABLE if inevitable else first.verdict,
        note=None if first.note is None or other.note is None else first.note,
        also=tuple(dict.fromkeys(also)),
        reaches=tuple(dict.fromkeys((*first.reaches, *other.reaches))),
        weak=first.weak and other.weak,
    )


def _is_masked(state: State, site: Site) -> bool:
    """Whether the failure is a value that could flow on: a refusal or a crash never is."""
    results = (state.hulls[slot] for slot in site.step.outputs if slot >= 0)
    return bool(site.event.gives) and any(box is not None and box.flags for box in results)


def _finding(state: State, site: Site, reaches: tuple[str, ...], whys: dict[str, str], note: str | None) -> Finding:
    event, step = site.event, site.step
    node = _node_name(state, site)
    slot = blamed_slot(site)
    operand_name = state.program.names[slot] if slot >= 0 else ""
    invalid = event.invalid
    location = step.node.location
    return Finding(
        id=stable_id(event.code, node, operand_name),
        code=event.code,
        op=step.node.op,
        node=node,
        operand=event.operand,
        operand_name=operand_name,
        interval=_ordered(event.ends),
        may=tuple(name for bit, name in _FLAG_NAMES if event.gives & bit),
        invalid=invalid,
        needs=event.needs,
        verdict=Verdict.INEVITABLE if verdict_of(site) == INEVITABLE else Verdict.POSSIBLE,
        note=note,
        location=location,
        source=_source_line(location),
        because=because(state, slot if event.operand >= 0 else _first(step.inputs), whys),
        reaches=reaches,
        weak=site.weak,
    )


def _first(slots: tuple[int, ...]) -> int:
    return slots[0] if slots else -1


def blamed_slot(site: Site) -> int:
    """The slot of the operand (or result) that a site is about."""
    step, operand = site.step, site.event.operand
    if operand < 0:
        return step.outputs[0] if step.outputs else -1
    return step.inputs[operand] if operand < len(step.inputs) else -1


def _cause(state: State, site: Site) -> object:
    """Sites of one rule about one value, at one source line, or at one place of the updates of several parameters, are one finding."""
    event = site.event
    update = same_step(site)
    if update is not None:
        return event.code, update
    location = site.step.node.location
    if event.operand >= 0:
        return event.code, blamed_slot(site)
    if location is not None:
        return event.code, location, site.step.node.op
    return event.code, site.step.outputs


def _node_name(state: State, site: Site) -> str:
    node = site.step.node
    return node.name or (node.outputs[0] if node.outputs else node.op)


def _reached(state: State) -> dict[int, tuple[str, ...]]:
    """For every site, the outputs of the model that its NaN or Inf can reach."""
    found: dict[int, dict[str, None]] = {}
    for slot in state.program.outputs:
        for index in unbundled(state, state.origins.get(slot, ())):
            found.setdefault(index, {})[state.program.names[slot]] = None
    return {index: tuple(names) for index, names in found.items()}


def _inherited(state: State) -> list[Finding]:
    """Outputs that may not be finite though no site says so: the model's own stored NaN or Inf gets there."""
    found: dict[str, Finding] = {}
    for slot in state.program.outputs:
        box = state.hulls[slot]
        if box is None or not box.flags or slot in state.origins or slot in state.weak:
            continue
        source = _source_of_specials(state, slot)
        held = state.hulls[source]
        assert held is not None
        name, output = state.program.names[source], state.program.names[slot]
        step = state.makers.get(source)
        finding = Finding(
            id=stable_id("NP215", name),
            code="NP215",
            op="Output",
            node=name if step is None else step.node.name or name,
            operand=0,
            operand_name=name,
            interval=held.hull(),
            may=tuple(text for bit, text in _FLAG_NAMES if box.flags & bit),
            invalid="NaN or Inf",
            needs="finite numbers only",
            verdict=Verdict.POSSIBLE,
            note=None if box.flags & NAN else INFINITE,
            because=(f"{name} holds NaN or Inf as stored" if step is None else f"{name} may be NaN or Inf",),
            reaches=(output,),
        )
        found[name] = _merged(found[name], finding) if name in found else finding
    return list(found.values())


def _source_of_specials(state: State, slot: int) -> int:
    """The first value on the way back from a slot that holds NaN or Inf without having got it from another."""
    seen: set[int] = set()
    while slot not in seen:
        seen.add(slot)
        step = state.makers.get(slot)
        if step is None:
            break
        flagged = [s for s in step.inputs if s >= 0 and (box := state.hulls[s]) is not None and box.flags]
        if not flagged:
            break
        slot = flagged[0]
    return slot


def _counts(state: State, inherited: int) -> SiteCounts:
    unsafe = {key(site): verdict_of(site) for site in state.sites}
    inevitable = sum(v == INEVITABLE for v in unsafe.values())
    possible = len(unsafe) - inevitable + inherited
    total = max(state.total, len(unsafe)) + inherited
    safe = total - possible - inevitable
    return SiteCounts(total=total, safe=safe, possible=possible, inevitable=inevitable)


def _source_line(location: Location | None) -> str | None:
    if location is None:
        return None
    return getline(location.file, location.line).strip() or None
