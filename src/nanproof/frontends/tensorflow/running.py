"""Go through a body call by call, with values in the place of tensors: this writes the ONNX graph."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nanproof.findings.errors import InputError
from nanproof.frontends.tensorflow.context import Context, UntranslatableError, place_of
from nanproof.frontends.tensorflow.graph import ARGUMENT, Body, Call, Ref
from nanproof.frontends.tensorflow.operators import FLOW, HANDLES, SILENT, TRANSLATIONS
from nanproof.frontends.tensorflow.tensors import onnx_kind
from nanproof.frontends.tensorflow.values import Opaque, Tensor, Value

DEEPEST = 64
"""Functions that call each other deeper than this are taken for a recursion."""

_TYPE_ATTRIBUTES = ("dtype", "out_type", "T", "output_type", "Tout", "DstT", "Tparams", "element_dtype")


def run(context: Context, body: Body, arguments: Sequence[Value], results: Sequence[Ref] | None = None) -> list[Value]:
    """Write what a body computes of its arguments; its results, or those that are asked for."""
    program = context.program
    program.depth += 1
    if program.depth > DEEPEST:
        raise InputError(f"the function {body.name} calls itself: only what is decided beforehand can be read")
    before = context.body, context.place, context.inherited
    context.body, context.inherited = body, context.place.line
    wanted = body.results if results is None else results
    values: dict[Ref, Value] = {(name, 0): value for name, value in zip(body.parameters, arguments, strict=True)}
    try:
        for call in ordered(body, [name for name, _ in wanted] + list(body.effects)):
            if call.op == ARGUMENT:
                continue
            made = _called(context, call, [_value(values, ref) for ref in call.inputs])
            values.update({(call.name, index): value for index, value in enumerate(made)})
    finally:
        context.body, context.place, context.inherited = before
        program.depth -= 1
    return [_value(values, ref) for ref in wanted]


def ordered(body: Body, roots: Iterable[str]) -> list[Call]:
    """The calls that the roots need, each after what it reads; otherwise in the order of the file."""
    calls = body.calls
    needed: dict[str, tuple[str, ...]] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            call = calls[name]
            needed[name] = (*(ref[0] for ref in call.inputs), *call.after)
            waiting.extend(needed[name])
    rank = {name: number for number, name in enumerate(calls)}
    missing = {name: len(set(before)) for name, before in needed.items()}
    readers: dict[str, list[str]] = {}
    for name, before in needed.items():
        for other in set(before):
            readers.setdefault(other, []).append(name)
    ready = [(rank[name], name) for name, count in missing.items() if not count]
    heapq.heapify(ready)
    found: list[Call] = []
    while ready:
        _, name = heapq.heappop(ready)
        found.append(calls[name])
        for reader in readers.get(name, ()):
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, (rank[reader], reader))
    if len(found) != len(needed):
        stuck = min(name for name, count in missing.items() if count)
        raise InputError(f"the graph goes round in a circle at {stuck}: only loops of tf.while_loop can be read")
    return found


def _value(values: Mapping[Ref, Value], ref: Ref) -> Value:
    return values.get(ref) or Opaque(f"{ref[0]}:{ref[1]}")


def _called(context: Context, call: Call, operands: list[Value]) -> Sequence[Value]:
    """The results of one call."""
    context.place = place_of(context, call)
    function = context.program.graph.functions.get(call.op)
    if function is not None:
        return run(context, function, operands)
    translation = TRANSLATIONS.get(call.op)
    if translation is None:
        return () if call.op in SILENT else _unknown(context, call, operands)
    first = len(context.nodes)
    try:
        given = operands if call.op in HANDLES else [context.tensor(operand) for operand in operands]
        made = translation(context, call, *given)
    except UntranslatableError as reason:
        del context.nodes[first:]
        return _unknown(context, call, operands, str(reason))
    results: list[Value] = list(made) if isinstance(made, Sequence) else [made]
    if call.op not in FLOW:  # what a function or a loop gives has names already
        _name_after(context, call, (results, first))
    _refine(context, call, results)
    return results


def _unknown(context: Context, call: Call, operands: Sequence[Value], reason: str = "") -> Sequence[Value]:
    """A call without a translation: its tensors may be anything of their type."""
    if reason:
        context.program.note(f"{call.op} {call.name} is taken as unknown: {reason}")
    types = _result_types(context, call)
    kinds = [onnx_kind(kind) for kind, _ in types]
    if not types or all(kind is None for kind in kinds):
        return [Opaque(call.op) for _ in types] or (Opaque(call.op),)
    tensors = [tensor for operand in operands if (tensor := context.tensor_if_any(operand)) is not None]
    first = len(context.nodes)
    made = context.foreign(call.op, tensors, [(kind, shape) for kind, (_, shape) in zip(kinds, types, strict=True)])
    _name_after(context, call, (list(made), first))
    return made


def _result_types(context: Context, call: Call) -> list[tuple[int, tuple[int, ...] | None]]:
    """What is said of the results: (type, shape or None)."""
    shapes: list[Any] = call.get("_output_shapes") or []
    kinds: list[int] = []
    for name in ("output_types", "Tout", "out_types", "dtypes", "component_types"):
        listed = call.get(name)
        if isinstance(listed, list):
            kinds = listed
            break
    count = max([_highest_read(context.body, call.name) + 1, len(shapes), len(kinds)])
    if not kinds:
        one = next((kind for name in _TYPE_ATTRIBUTES if isinstance(kind := call.get(name), int)), 1)
        kinds = [one] * count
    shapes = [*shapes, *[None] * count]
    return [(kind, shapes[index]) for index, kind in enumerate(kinds[:count])]


def _highest_read(body: Body, name: str) -> int:
    """The highest number of a call's results that anything reads."""
    refs = [ref for call in body.calls.values() for ref in call.inputs if ref[0] == name]
    return max((index for other, index in [*refs, *body.results] if other == name), default=0)


def _name_after(context: Context, call: Call, made: tuple[list[Value], int]) -> None:
    """Give the results the call's own name, where the nodes written for it made them under another."""
    results, first = made
    fresh = context.nodes[first:]
    head = results[0] if results else None
    if not isinstance(head, Tensor) or call.name in context.shared.names:
        return
    maker = next((node for node in fresh if head.name in node.output), None)
    if maker is None:
        return
    old, head.name = head.name, context.shared.unique(call.name)
    maker.name = context.shared.unique(f"node {call.name}").removeprefix("node ")
    for node in fresh:
        for fields in (node.input, node.output):
            for place, name in enumerate(fields):
                if name == old:
                    fields[place] = head.name
    if old in context.shared.transposed:
        context.shared.transposed[head.name] = context.shared.transposed.pop(old)


def _refine(context: Context, call: Call, results: Sequence[Value]) -> None:
    """Take over sizes that the file knows and we don't."""
    told: list[Any] | None = call.get("_output_shapes")
    for result, shape in zip(results, told or (), strict=False):
        if not isinstance(result, Tensor) or shape is None:
            continue
        if result.shape is None:
            result.shape = context.shape(shape)
        elif len(result.shape) == len(shape):
            result.shape = tuple(
                size if isinstance(size, int) or known < 0 else known
                for size, known in zip(result.shape, shape, strict=True)
            )
