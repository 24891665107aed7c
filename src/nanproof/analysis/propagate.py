"""Propagation: run a program over Boxes, node by node, and collect what can go wrong."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from nanproof.analysis.blame import explained
from nanproof.analysis.branching import run_if
from nanproof.analysis.descent import all_reported
from nanproof.analysis.facts import DIVISORS, ROWS, RULES, alive_rows, limits, met, sides
from nanproof.analysis.loops import run_loop, run_scan
from nanproof.analysis.mapping import run_sequence_map
from nanproof.analysis.masking import Masks, find_masks
from nanproof.analysis.state import Site, State, bundled, hull_of, unbounded
from nanproof.analysis.training import calmed
from nanproof.analysis.undisturbed import undisturbed
from nanproof.domain.box import INFS, NAN, NINF, PINF, Box
from nanproof.domain.lattice import join
from nanproof.findings.errors import InputError, InternalError
from nanproof.model.lower import Program, Step
from nanproof.ops.call import INEVITABLE, POSSIBLE, Call, Event
from nanproof.ops.record import Op
from nanproof.ops.softmax import ROW


def propagate(state: State) -> None:
    """Fill the state with a Box for every slot. Initial slots must have theirs."""
    with undisturbed():
        run_level(state, state.program, certain=True)


def run_level(state: State, program: Program, *, certain: bool) -> None:
    """Propagate through one nesting level."""
    masks = find_masks(program) if state.setting.masks else Masks()
    boxes, hulls, makers = state.boxes, state.hulls, state.makers
    guarded, last_use = bool(masks.by_step), program.last_use
    step: Step | None = None
    if program is not state.program:
        state.work += len(program.steps) + 1
    try:
        for index, step in enumerate(program.steps):
            state.nodes += 1
            op = step.op
            if step.branches:
                results = _with_branches(state, step, certain=certain)
            elif op is None:
                results = unbounded(state, step)
            else:
                results = _with_record(state, step, op, masks.get(index) if guarded else None, certain=certain)
            for slot, box in zip(step.outputs, results, strict=False):
                if slot >= 0:
                    boxes[slot] = box
                    hulls[slot] = hull_of(box)
                    makers[slot] = step
            for slot in masks.last_use(index, program) if guarded else last_use[index]:
                boxes[slot] = None
    except (InputError, InternalError):
        raise  # told by a level further in
    except Exception as error:
        if step is None:
            raise
        raise explained(error, state, step) from error


def _with_branches(state: State, step: Step, *, certain: bool) -> tuple[Box, ...]:
    """Control flow; other operators with bodies have no bound yet."""
    name = "" if step.node.domain else step.node.op
    if name == "If":
        return run_if(state, step, certain=certain, run=run_level)
    if name == "Loop":
        return run_loop(state, step, certain=certain, run=run_level)
    if name == "Scan":
        return run_scan(state, step, certain=certain, run=run_level)
    if name == "SequenceMap":
        return run_sequence_map(state, step, certain=certain, run=run_level)
    return unbounded(state, step)


def _with_record(state: State, step: Step, op: Op, mask: Masks.Mask | None, *, certain: bool) -> tuple[Box, ...]:
    boxes, setting = state.boxes, state.setting
    operands = [boxes[slot] if slot >= 0 else None for slot in step.inputs]
    if mask is not None:
        operands = mask.refined(state, operands)
    call = Call(op, step.attrs, setting, len(step.outputs), step.node.outputs[0])
    bound = op.bound(call, *operands)
    results = bound if isinstance(bound, tuple) else (bound,)
    if setting.calm and step.node.part.phase == "gradient":
        results = tuple(map(calmed, results))
    dtype = results[0].dtype
    if dtype.bits == 16 and not op.exact and setting.keeps_float32(dtype):
        results = tuple(_unrounded(box) for box in results)
    if setting.facts:
        if call.events and op.name in DIVISORS:
            results = _by_sides(state, step, call, (operands, results))
        if op.name in ROWS and alive_rows(state, step, operands):
            call = Call(op, step.attrs, state.setting, len(step.outputs), step.node.outputs[0])
            call.alive = True
            bound = op.bound(call, *operands)
            results = bound if isinstance(bound, tuple) else (bound,)
        if op.name in RULES:
            results = _with_facts(state, step, call, (operands, results))
    if op.requires:
        state.total += len(op.requires)
    if op.overflow is not None and dtype.kind == "float":
        state.total += 1
    flagged = False
    for box in results:
        if box.flags:
            flagged = True
    if call.events or flagged or state.origins or state.weak:
        _account(state, step, call, (operands, results), certain=certain)
    return results


def _unrounded(box: Box) -> Box:
    """A result that may go on without its last rounding: its ends, half a step further out.

    An end that is 0 stays: rounding keeps signs.
    """
    if box.known is not None or not box.has_finite or not box.dtype.is_float:
        return box
    unit, half, most = box.dtype.unit, box.dtype.quantum / 2, box.dtype.max

    def moved(end: Any, sign: float) -> Any:
        out = np.clip(end + sign * (np.abs(end) * unit + half), -most, most)
        return np.where((np.asarray(end) == 0) | ~np.isfinite(end), end, out)

    lo, hi = moved(box.lo, -1.0), moved(box.hi, 1.0)
    if box.cuts is None:
        lo, hi = float(lo), float(hi)
    return Box(box.dtype, box.shape, lo, hi, box.flags, cuts=box.cuts, spots=box.spots, form=box.form)


def _with_facts(
    state: State, step: Step, call: Call, boxes: tuple[list[Box | None], tuple[Box, ...]]
) -> tuple[Box, ...]:
    """Meet the result with what follows from how the operands were made."""
    operands, results = boxes
    found = limits(state, step, operands)
    if found is None:
        return results
    box = results[0]
    low, high = found
    lo, hi = box.hull()
    if not lo <= hi or (low <= lo and hi <= high and not box.flags):
        return results
    if any(event.operand >= 0 for event in call.events) or not (box.dtype.min <= low or high <= box.dtype.max):
        return results
    # what the bounds rule out can't overflow either; an open side keeps its own overflow, or the infinity that flows in
    left = box.flags & ~((NINF if low > -inf else 0) | (PINF if high < inf else 0))
    if left and (left & NAN or call.events):
        return results
    call.events.clear()
    return (met(box, low, high), *results[1:])


def _by_sides(state: State, step: Step, call: Call, boxes: tuple[list[Box | None], tuple[Box, ...]]) -> tuple[Box, ...]:
    """The result over a divisor's negative and its positive part, where it is known to stay away from 0."""
    operands, results = boxes
    parts = sides(state, step, operands)
    if parts is None:
        return results
    call.events.clear()
    whole: Box | None = None
    for part in parts:
        side = Call(call.op, step.attrs, state.setting, call.outputs, call.label)
        found = call.op.bound(side, *part)
        assert type(found) is Box
        whole = found if whole is None else join(whole, found)
        # what is sure to fail on one side may not be on the other
        call.events += [replace(event, verdict=POSSIBLE) for event in side.events]
    return results if whole is None else (whole,)


def _account(
    state: State,
    step: Step,
    call: Call,
    boxes: tuple[list[Box | None], tuple[Box, ...]],
    *,
    certain: bool,
) -> None:
    """Note failing sites, and which sites' NaN and Inf the results may hold."""
    operands, results = boxes
    weak = any(slot in state.weak for slot in step.inputs)
    incoming, spoilt = _incoming(state, step, operands)
    fresh: list[int] = []
    events = list(call.events)
    lost = _made_of_infinities(state, step, call, boxes)
    if lost is not None:
        state.total += 1
        events.append(lost)
    for event in events:
        follows = incoming if _only_follows(state, step, event, operands) else ()
        site = Site(len(state.sites), step, event, certain, follows, weak)
        state.sites.append(site)
        if event.gives and not follows:
            fresh.append(site.index)
    for slot, box in zip(step.outputs, results, strict=False):
        if slot < 0:
            continue
        if weak:
            state.weak.add(slot)
        carried: tuple[int, ...] = ()
        if box.flags:
            carried = incoming or spoilt
        elif not box.dtype.is_float and call.op.name not in _LOOKS_AT_SPECIALS:
            carried = tuple(dict.fromkeys((*incoming, *spoilt)))
        if box.flags and fresh:
            carried = tuple(dict.fromkeys((*carried, *fresh)))
        if carried:
            state.origins[slot] = bundled(state, carried)


_LOOKS_AT_SPECIALS = frozenset({"IsNaN", "IsInf", "Shape", "Size"})
"""Operators whose integer or boolean result isn't spoilt by NaN or Inf in their operand."""


def _incoming(state: State, step: Step, operands: list[Box | None]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sites whose NaN or Inf flows into this node, and those that have spoilt its integers; the condition of a Where only
    chooses.
    """
    if not state.origins:
        return (), ()
    found: list[tuple[int, ...]] = []
    spoilt: list[tuple[int, ...]] = []
    for position, (slot, box) in enumerate(zip(step.inputs, operands, strict=True)):
        if box is None or (position == 0 and step.node.op == "Where"):
            continue
        if box.flags or not box.dtype.is_float:
            origins = state.origins.get(slot)
            kind = found if box.dtype.is_float else spoilt
            if origins and origins not in kind:
                kind.append(origins)
    return _together(found), _together(spoilt)


def _together(lists: list[tuple[int, ...]]) -> tuple[int, ...]:
    if len(lists) <= 1:
        return lists[0] if lists else ()
    return tuple(dict.fromkeys(index for origins in lists for index in origins))


def _only_follows(state: State, step: Step, event: Event, operands: list[Box | None]) -> bool:
    """Whether infinities that flow in make the event possible, so that what made them is to blame.

    An overflow of something infinite is none. A row that is all -Inf is a defect of its own where its -Inf may be
    meant (a mask), but not where every one of them comes out of a site that is reported.
    """
    if event.operand == -1:
        return _infinite(operands)
    return event.code == ROW.code and all_reported(state, step.inputs[event.operand])


def _infinite(operands: list[Box | None]) -> bool:
    return any(box is not None and box.flags & INFS for box in operands)


def _made_of_infinities(
    state: State, step: Step, call: Call, boxes: tuple[list[Box | None], tuple[Box, ...]]
) -> Event | None:
    """A NaN out of operands that hold Inf but no NaN: Inf - Inf, 0 x Inf.

    Where all those infinities come from sites already reported, it is their
    consequence; a legitimate Inf (a mask, an input) makes it a site of its own.
    """
    operands, results = boxes
    if not any(box.flags & NAN for box in results) or any(e.gives & NAN for e in call.events):
        return None
    legitimate = None
    for position, (slot, box) in enumerate(zip(step.inputs, operands, strict=True)):
        if box is None or not box.flags:
            continue
        if box.flags & NAN:
            return None
        if slot not in state.origins:
            legitimate = position
    if legitimate is None:
        return None
    operand = operands[legitimate]
    assert operand is not None
    lo, hi = operand.hull()
    what = {"NP213": ("0 x Inf", "no 0 beside an infinite value")}.get(
        call.op.infinite, ("Inf - Inf", "no infinities that cancel")
    )
    return Event(call.op.infinite, legitimate, POSSIBLE, NAN, (lo, hi), *what)


def verdict_of(site: Site) -> int:
    """A failure is inevitable only where the node certainly runs."""
    return INEVITABLE if site.event.verdict == INEVITABLE and site.certain else POSSIBLE
