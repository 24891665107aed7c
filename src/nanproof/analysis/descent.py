"""Where the NaN and Inf that a value may hold come from: out of reported sites alone, or also out of what the model holds."""

from __future__ import annotations

from nanproof.analysis.state import State
from nanproof.ops.call import INEVITABLE

FAR = 10_000
"""Values looked at on the way back; beyond that the answer is the careful one."""


def all_reported(state: State, slot: int) -> bool:
    """Whether every NaN and Inf that a slot may hold was made of finite values by a step whose site can fail, and needn't."""
    waiting, seen = [slot], set[int]()
    while waiting:
        at = waiting.pop()
        if at < 0 or at in seen:
            continue
        seen.add(at)
        box, step = state.hulls[at], state.makers.get(at)
        if box is not None and not box.flags:
            continue
        if box is None or step is None or step.op is None or step.branches or len(seen) > FAR:
            # an input or a stored tensor, an operator without a bound, or a body with its own constants
            return False
        own = [site for site in state.sites if site.step is step]
        if any(site.event.verdict == INEVITABLE for site in own):
            return False  # whoever divides 1 by the constant 0 may mean it
        if not own and not _flagged(state, step.inputs):
            return False  # its own attribute: a tensor filled with -Inf
        waiting.extend(step.inputs)
    return True


def _flagged(state: State, slots: tuple[int, ...]) -> bool:
    return any(slot >= 0 and ((box := state.hulls[slot]) is None or box.flags) for slot in slots)
