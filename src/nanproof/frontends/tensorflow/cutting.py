"""Parts of a body as bodies of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from nanproof.frontends.tensorflow.graph import ARGUMENT, Body, Call, Ref


@dataclass(slots=True)
class Part:
    """Calls taken out of a body. ``outside`` are the results of other calls that they read, in order."""

    calls: dict[str, Call] = field(default_factory=dict)
    outside: dict[Ref, str] = field(default_factory=dict)


def part(body: Body, roots: Iterable[Ref], entry: Callable[[Ref], Ref | None]) -> tuple[Part, list[Ref]]:
    """What the roots need, up to where ``entry`` names what is read from outside; the part, and the roots within it."""
    found = Part()

    def inner(ref: Ref) -> Ref:
        source = entry(ref)
        if source is None:
            return ref
        return found.outside.setdefault(source, f"{source[0]}:{source[1]}:outside"), 0

    results = [inner(ref) for ref in roots]
    waiting = [name for name, _ in results if not name.endswith(":outside")]
    while waiting:
        name = waiting.pop()
        if name in found.calls:
            continue
        call = body.calls[name]
        refs = tuple(inner(ref) for ref in call.inputs)
        after = tuple(other for other in call.after if entry((other, 0)) is None)
        found.calls[name] = replace(call, inputs=refs, after=after)
        waiting.extend(other for other, _ in refs if not other.endswith(":outside"))
        waiting.extend(after)
    return found, results


def as_body(name: str, found: Part, parameters: Mapping[str, None], results: Iterable[Ref]) -> Body:
    """A part as a function of what it reads from outside."""
    calls = {parameter: Call(parameter, ARGUMENT) for parameter in parameters}
    calls.update(found.calls)
    return Body(name, calls, tuple(parameters), tuple(results))
