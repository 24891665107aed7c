"""Why an interval is what it is: the chain of earlier values that made it."""

from __future__ import annotations

from nanproof.analysis.state import State
from nanproof.domain.box import Box
from nanproof.findings.wording import interval
from nanproof.model.lower import Step
from nanproof.ops.call import Call

LONGEST = 4
"""Links of a chain; further ones rarely help."""


def because(state: State, slot: int, ranges: dict[str, str]) -> tuple[str, ...]:
    """Sentences from the value in ``slot`` back to where its interval comes from, nearest first.

    ``ranges`` says of initial values where their range comes from.
    """
    sentences: list[str] = []
    seen: set[int] = set()
    while slot >= 0 and slot not in seen and len(sentences) < LONGEST:
        seen.add(slot)
        step = state.makers.get(slot)
        box = state.hulls[slot]
        name = state.program.names[slot]
        if step is None:
            if box is not None and name in ranges:
                sentences.append(f"{name} is in {interval(*box.hull())}: {ranges[name]}")
            break
        special = _special_reason(state, step)
        if special:
            sentences.append(special)
            break
        if step.op is None:
            sentences.append(f"{name} comes from {step.node.op}, which has no bound")
            break
        if box is not None:
            sentences.append(f"{name} = {_formula(state, step)} is in {interval(*box.hull())}")
        slot = _widest(state, step)
    return tuple(sentences)


def _special_reason(state: State, step: Step) -> str | None:
    """What the operator itself says of its boundary values."""
    if step.op is None or step.op.explain is None:
        return None
    operands = [state.hulls[s] if s >= 0 else None for s in step.inputs]
    call = Call(step.op, step.attrs, state.setting, len(step.outputs))
    return step.op.explain(call, operands)  # type: ignore[arg-type]


def _formula(state: State, step: Step) -> str:
    names = [state.program.names[s] for s in step.inputs if s >= 0]
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return f"{step.node.op}({shown})"


def _widest(state: State, step: Step) -> int:
    """The operand to follow: the one whose values vary most; stored ones explain little."""
    best, widest = -1, -1.0
    for slot in step.inputs:
        box: Box | None = state.hulls[slot] if slot >= 0 else None
        if box is None or not box.dtype.is_float:
            continue
        lo, hi = box.hull()
        width = (hi - lo if hi >= lo else 0.0) + (0.5 if slot in state.makers else 0.0)
        if width > widest:
            best, widest = slot, width
    return best
