"""Branches of TensorFlow 1 as calls of If."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from nanproof.frontends.tensorflow.cutting import as_body, part
from nanproof.frontends.tensorflow.graph import Body, Call, Ref

SWITCH = frozenset({"Switch", "RefSwitch"})
MERGE = frozenset({"Merge", "RefMerge"})

Sides = frozenset[tuple[Ref, int]]
"""Which side of which conditions a call is on."""


def with_branches(body: Body) -> tuple[Body, list[Body]]:
    """The body with an If for every condition whose sides a Merge brings together, innermost first; and the sides."""
    made: list[Body] = []
    while True:
        merges = _innermost(body)
        if merges is None:
            return _without_switches(body), made
        condition, names = merges
        body, sides = _one(body, condition, names, len(made))
        made.extend(sides)


def _innermost(body: Body) -> tuple[Ref, list[str]] | None:
    """The condition that lies deepest, and the merges that end it."""
    sides = _sides(body)
    best: tuple[int, Ref, list[str]] | None = None
    by_condition: dict[Ref, list[str]] = {}
    for name, call in body.calls.items():
        if call.op in MERGE:
            condition = _condition(body, call, sides)
            if condition is not None:
                by_condition.setdefault(condition, []).append(name)
    for condition, found in by_condition.items():
        names = _first(body, found)
        depth = max(len(_of_ref(body, ref, sides)) for name in names for ref in body.calls[name].inputs)
        if best is None or depth > best[0]:
            best = depth, condition, names
    return None if best is None else (best[1], best[2])


def _first(body: Body, merges: list[str]) -> list[str]:
    """Those that need none of the others: a condition may be asked again for what came of it."""
    if len(merges) == 1:
        return merges
    return [name for name in merges if not (_needs(body, [ref[0] for ref in body.calls[name].inputs]) & set(merges))]


def _needs(body: Body, names: Iterable[str]) -> set[str]:
    """The calls that some calls need, themselves included."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            call = body.calls[name]
            waiting.extend((*(ref[0] for ref in call.inputs), *call.after))
    return found


def _condition(body: Body, merge: Call, sides: dict[str, Sides]) -> Ref | None:
    """The condition on whose two sides the operands of a merge are."""
    known = [_of_ref(body, ref, sides) for ref in merge.inputs]
    if len(known) != 2:
        return None
    both = [condition for condition, side in known[0] if (condition, 1 - side) in known[1]]
    if both:  # of several, that which was asked last
        return max(both, key=lambda ref: len(_of_ref(body, ref, sides)))
    only = [condition for condition, _ in known[0] ^ known[1]]
    return only[0] if len(only) == 1 else None


def _sides(body: Body) -> dict[str, Sides]:
    """The conditions that each call hangs on. A Switch's results are on its two sides; a Merge is on neither."""
    found: dict[str, Sides] = {}
    for name in _in_order(body):
        call = body.calls[name]
        before: set[tuple[Ref, int]] = set()
        for ref in (*call.inputs, *((other, 0) for other in call.after)):
            before |= _of_ref(body, ref, found)
        if call.op in MERGE:
            condition = _condition(body, call, found)
            before = {one for one in before if one[0] != condition}
        found[name] = frozenset(before)
    return found


def _of_ref(body: Body, ref: Ref, sides: dict[str, Sides]) -> Sides:
    name, index = ref
    call = body.calls[name]
    own = sides.get(name, frozenset())
    if call.op in SWITCH:
        return own | {(_plain(body, call.inputs[1]), 1 if index else 0)}
    return own


def _plain(body: Body, ref: Ref) -> Ref:
    """A condition without the copies that tf.cond makes of it."""
    while body.calls[ref[0]].op == "Identity":
        ref = body.calls[ref[0]].inputs[0]
    return ref


def _in_order(body: Body) -> Iterable[str]:
    found: dict[str, None] = {}
    for start in body.calls:
        waiting = [start]
        while waiting:
            name = waiting[-1]
            if name in found:
                waiting.pop()
                continue
            call = body.calls[name]
            before = [other for other in (*(ref[0] for ref in call.inputs), *call.after) if other not in found]
            ready = [other for other in before if other not in waiting]
            if ready:
                waiting.extend(ready)
            else:  # nothing left, or a circle that is reported where the graph is run
                found[name] = None
                waiting.pop()
    return found


def _one(body: Body, condition: Ref, merges: list[str], number: int) -> tuple[Body, list[Body]]:
    """The body with the merges of one condition as results of an If."""
    sides = _sides(body)
    name = merges[0].rsplit("/", 1)[0] if "/" in merges[0] else merges[0]
    made: list[Body] = []
    taken: dict[Ref, None] = {}
    parts = []
    for side in (1, 0):
        roots = [_operand(body, body.calls[merge], (condition, side), sides) for merge in merges]

        def entry(ref: Ref, side: int = side) -> Ref | None:
            call = body.calls[ref[0]]
            if call.op in SWITCH and _plain(body, call.inputs[1]) == condition:
                return call.inputs[0]
            return ref if (condition, side) not in _of_ref(body, ref, sides) else None

        found, results = part(body, roots, entry)
        parts.append((found, results))
        taken.update(dict.fromkeys(found.outside))
    parameters = {f"{ref[0]}:{ref[1]}:outside": None for ref in taken}
    for (found, results), text in zip(parts, ("true", "false"), strict=True):
        made.append(as_body(f"{name}/{text}:{number}", found, parameters, results))
    free = f"{name}:if:{number}"
    gone = _hanging_on(body, condition, sides) - _needs(body, _others(body, condition, (merges, sides)))
    new: dict[str, Call] = {}
    for other, call in body.calls.items():
        if other in merges:
            if free not in new:
                attributes = {"then_branch": made[0].name, "else_branch": made[1].name}
                new[free] = Call(free, "If", (condition, *taken), (), attributes)
            new[other] = Call(other, "Identity", ((free, merges.index(other)),))
        elif other not in gone:
            new[other] = replace(call, after=tuple(one for one in call.after if one not in gone))
    return replace(body, calls=new), made


def _hanging_on(body: Body, condition: Ref, sides: dict[str, Sides]) -> set[str]:
    """The calls on either side of a condition, and its switches."""
    found = {name for name, on in sides.items() if any(one == condition for one, _ in on)}
    return found | {
        name for name, call in body.calls.items() if call.op in SWITCH and _plain(body, call.inputs[1]) == condition
    }


def _others(body: Body, condition: Ref, about: tuple[list[str], dict[str, Sides]]) -> list[str]:
    """Further merges of the same condition."""
    merges, sides = about
    return [
        name
        for name, call in body.calls.items()
        if call.op in MERGE and name not in merges and _condition(body, call, sides) == condition
    ]


def _operand(body: Body, merge: Call, side: tuple[Ref, int], sides: dict[str, Sides]) -> Ref:
    """The operand of a merge that is on a side; where only the other one says which, the one that is left."""
    on = [ref for ref in merge.inputs if side in _of_ref(body, ref, sides)]
    if on:
        return on[0]
    other = (side[0], 1 - side[1])
    return next(ref for ref in merge.inputs if other not in _of_ref(body, ref, sides))


def _without_switches(body: Body) -> Body:
    """What no merge ends (a result that exists on one side only) is taken as if that side were always chosen."""
    if not any(call.op in SWITCH for call in body.calls.values()):
        return body
    calls = {
        name: replace(call, op="Identity", inputs=call.inputs[:1]) if call.op in SWITCH else call
        for name, call in body.calls.items()
    }
    switches = {name for name, call in body.calls.items() if call.op in SWITCH}
    for name, call in calls.items():
        refs = tuple((other, 0 if other in switches else index) for other, index in call.inputs)
        if refs != call.inputs:
            calls[name] = replace(call, inputs=refs)
    results = tuple((name, 0 if name in switches else index) for name, index in body.results)
    return replace(body, calls=calls, results=results)
