"""Loops of TensorFlow 1 as calls of While."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nanproof.findings.errors import InputError
from nanproof.frontends.tensorflow.cutting import as_body, part
from nanproof.frontends.tensorflow.graph import Body, Call, Ref

ENTER = frozenset({"Enter", "RefEnter"})
NEXT = frozenset({"NextIteration", "RefNextIteration"})
EXIT = frozenset({"Exit", "RefExit"})


@dataclass(frozen=True, slots=True)
class _Carried:
    """One value that a loop carries: where it comes in, where it is in the body, and where it goes on and out."""

    enter: str
    merge: str
    switch: str | None
    following: Ref
    exit: str | None


def with_loops(body: Body) -> tuple[Body, list[Body]]:
    """The body with a While for every loop, and the tests and bodies of these."""
    made: list[Body] = []
    while True:
        frame = _innermost(body)
        if frame is None:
            return body, made
        body, parts = _one(body, frame)
        made.extend(parts)


def _frame(call: Call) -> str:
    return call.text("frame_name") or call.name


def _innermost(body: Body) -> str | None:
    """A loop that no other loop lies in."""
    frames: dict[str, list[str]] = {}
    for name, call in body.calls.items():
        if call.op in ENTER:
            frames.setdefault(_frame(call), []).append(name)
    if not frames:
        return None
    readers = _readers(body)
    for frame, enters in frames.items():
        if not _enters_another(body, (frame, enters), readers):
            return frame
    raise InputError("loops lie in each other in a circle: the graph is damaged")


def _enters_another(body: Body, about: tuple[str, list[str]], readers: dict[str, list[str]]) -> bool:
    frame, enters = about
    seen: set[str] = set()
    waiting = list(enters)
    while waiting:
        name = waiting.pop()
        if name in seen or body.calls[name].op in EXIT:
            continue
        seen.add(name)
        call = body.calls[name]
        if call.op in ENTER and _frame(call) != frame:
            return True
        waiting.extend(readers.get(name, ()))
    return False


def _readers(body: Body) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, call in body.calls.items():
        for other in {*(ref[0] for ref in call.inputs), *call.after}:
            found.setdefault(other, []).append(name)
    return found


def _one(body: Body, frame: str) -> tuple[Body, list[Body]]:
    """The body with one loop as a While."""
    readers = _readers(body)
    calls = body.calls
    enters = [name for name, call in calls.items() if call.op in ENTER and _frame(call) == frame]
    carried: list[_Carried] = []
    fixed: list[str] = []
    test: Ref | None = None
    for enter in enters:
        merge = next((name for name in readers.get(enter, ()) if calls[name].op in {"Merge", "RefMerge"}), None)
        if merge is None:
            fixed.append(enter)
            continue
        round_again = next((ref[0] for ref in calls[merge].inputs if calls[ref[0]].op in NEXT), None)
        switch = next((name for name in readers.get(merge, ()) if calls[name].op in {"Switch", "RefSwitch"}), None)
        if round_again is None:
            raise InputError(f"the loop {frame} is damaged: {merge} has no next iteration")
        out = None
        if switch is not None:
            out = next((name for name in readers.get(switch, ()) if calls[name].op in EXIT), None)
            condition = calls[switch].inputs[1]
            test = calls[condition[0]].inputs[0] if calls[condition[0]].op == "LoopCond" else condition
        carried.append(_Carried(enter, merge, switch, calls[round_again].inputs[0], out))
    if test is None:
        raise InputError(f"the loop {frame} is damaged: nothing says when it ends")
    return _cut(body, (frame, test), carried, fixed)


def _cut(body: Body, about: tuple[str, Ref], carried: list[_Carried], fixed: list[str]) -> tuple[Body, list[Body]]:
    frame, test = about
    entries: dict[Ref, Ref] = {}
    for one in carried:
        entries[one.merge, 0] = (one.enter, 0)
        if one.switch is not None:
            entries[one.switch, 1] = (one.enter, 0)
    for name in fixed:
        entries[name, 0] = (name, 0)
    inside = {one.merge for one in carried} | {one.switch for one in carried if one.switch}

    order: dict[Ref, None] = dict.fromkeys([(one.enter, 0) for one in carried] + [(name, 0) for name in fixed])
    tested, going = part(body, [test], entries.get)
    repeated, following = part(body, [one.following for one in carried], entries.get)
    parameters = {f"{ref[0]}:{ref[1]}:outside": None for ref in order}
    kept: list[Ref] = [(f"{name}:0:outside", 0) for name in fixed]
    made = [
        as_body(f"{frame}/test", tested, parameters, going),
        as_body(f"{frame}/body", repeated, parameters, [*following, *kept]),
    ]
    name = f"{frame}:while"
    loop = Call(
        name, "While", tuple(body.calls[ref[0]].inputs[0] for ref in order), (),
        {"cond": made[0].name, "body": made[1].name},
    )  # fmt: skip
    gone = set(tested.calls) | set(repeated.calls) | inside | {ref[0] for ref in order}
    gone |= {other for other, call in body.calls.items() if call.op in NEXT and call.inputs[0][0] in gone}
    gone |= {other for other, call in body.calls.items() if call.op == "LoopCond" and call.inputs[0] == test}
    gone = _hanging_on(body, gone, {one.exit for one in carried})
    exits = {one.exit: place for place, one in enumerate(carried) if one.exit is not None}
    calls: dict[str, Call] = {}
    for other, call in body.calls.items():
        if other in exits:
            calls.setdefault(name, loop)
            calls[other] = Call(other, "Identity", ((name, exits[other]),))
        elif other not in gone:
            calls[other] = replace(call, after=tuple(one for one in call.after if one not in gone))
    return replace(body, calls=calls), made


def _hanging_on(body: Body, gone: set[str], exits: set[str | None]) -> set[str]:
    """What reads any of some calls, directly or not, other than through the loop's exits."""
    readers = _readers(body)
    found: set[str] = set()
    waiting = list(gone)
    while waiting:
        name = waiting.pop()
        if name not in found and name not in exits:
            found.add(name)
            waiting.extend(readers.get(name, ()))
    return found
