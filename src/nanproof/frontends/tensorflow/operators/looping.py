"""A loop as ONNX's Loop: what changes from one iteration to the next is carried, everything else is read from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from onnx import TensorProto, helper

from nanproof.frontends.tensorflow.context import Context, UntranslatableError
from nanproof.frontends.tensorflow.graph import Ref
from nanproof.frontends.tensorflow.values import Tensor, TensorList, Value

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Body

TRIALS = 6
"""How often a loop is tried until the shapes of what it carries stay as they are."""

_SAME = frozenset({"Identity", "StopGradient"})


def loop(c: Context, test: Body, body: Body, operands: Sequence[Value]) -> list[Value]:
    """The values after a loop over ``body``, as long as ``test`` holds."""
    carried = [i for i, value in enumerate(operands) if isinstance(value, (Tensor, TensorList)) and not _kept(body, i)]
    start = _settled(c, body, list(operands), carried)
    first = c.tensor(c.run(test, start)[0])
    inner, parameters, results, again = _iteration(c, (test, body), start, carried)
    count = Tensor(c.shared.unique(f"{c.place.name}/iteration"), TensorProto.INT64, ())
    going = Tensor(c.shared.unique(f"{c.place.name}/going"), TensorProto.BOOL, ())
    graph = inner.graph(f"{c.place.name}/body", [count, going, *parameters], [again, *results])
    after: list[Value] = list(start)
    outputs: list[Tensor] = []
    for place, parameter in zip(carried, parameters, strict=True):
        made = Tensor(c.shared.unique(f"{c.place.name}:{place}"), parameter.kind, parameter.shape)
        outputs.append(made)
        before = start[place]
        after[place] = made if isinstance(before, Tensor) else TensorList(parameter.kind, made)
    entries = ["", first.name, *[c.tensor(start[place]).name for place in carried]]
    c.add(helper.make_node("Loop", entries, [made.name for made in outputs], body=graph))
    return after


def _kept(body: Body, place: int) -> bool:
    """Whether the body hands a parameter on as it is."""
    ref: Ref = body.results[place]
    while body.calls[ref[0]].op in _SAME:
        ref = body.calls[ref[0]].inputs[0]
    return ref == (body.parameters[place], 0)


def _settled(c: Context, body: Body, start: list[Value], carried: Sequence[int]) -> list[Value]:
    """The values that the loop starts with, in shapes that an iteration keeps: found by trying one until they stay."""
    for _ in range(TRIALS):
        mark = c.program.mark(c)
        inner, parameters = _entered(c, start, carried)
        given = list(start)
        for place, parameter in zip(carried, parameters, strict=True):
            given[place] = _in_place_of(start[place], parameter)
        found = inner.run(body, given)
        c.program.reset(c, mark)
        changed = False
        for place in carried:
            before, after = start[place], found[place]
            if isinstance(before, TensorList) and before.items is None:
                if not isinstance(after, TensorList) or after.items is None:
                    raise UntranslatableError("a list that a loop leaves empty")
                start[place], changed = _filled(c, before, after.items), True
                continue
            was, now = c.tensor(before), _after(after)
            shape = c.common(was.shape, now.shape, keep=True)
            if shape != was.shape:
                changed = True
                other = replace(was, shape=shape, held=None, sizes=None, wide=None)
                start[place] = other if isinstance(before, Tensor) else TensorList(was.kind, other)
        if not changed:
            return start
    raise UntranslatableError("a loop whose shapes go on changing")


def _after(value: Value) -> Tensor:
    if isinstance(value, TensorList) and value.items is not None:
        return value.items
    if not isinstance(value, Tensor):
        raise UntranslatableError("a loop that carries what is no tensor")
    return value


def _filled(c: Context, held: TensorList, item: Tensor) -> TensorList:
    """A list of zeros of the shape that the first iteration wrote."""
    if item.shape is None:
        raise UntranslatableError("a list of elements of unknown rank")
    element = c.size_vector(item.shape[1:]) if len(item.shape) > 1 else c.ints([])
    assert held.length is not None
    zeros = c.op("Expand", c.const(0, item.kind), c.op("Concat", c.vector(held.length), element, axis=0))
    return TensorList(held.kind, zeros, held.length)


def _entered(c: Context, start: Sequence[Value], carried: Sequence[int]) -> tuple[Context, list[Tensor]]:
    """A writer for the body, and the parameters that stand for what is carried. A list still empty has none of its own yet."""
    inner = c.nested()
    parameters = []
    for place in carried:
        value = start[place]
        known = value if isinstance(value, Tensor) else value.items if isinstance(value, TensorList) else None
        name = c.shared.unique(f"{c.place.name}/carried:{place}")
        parameters.append(Tensor(name, known.kind if known else TensorProto.FLOAT, known.shape if known else None))
    return inner, parameters


def _in_place_of(value: Value, parameter: Tensor) -> Value:
    if isinstance(value, TensorList):
        return TensorList(value.kind, None if value.items is None else parameter, value.length)
    return parameter


def _iteration(
    c: Context, bodies: tuple[Body, Body], start: Sequence[Value], carried: Sequence[int]
) -> tuple[Context, list[Tensor], list[Tensor], Tensor]:
    """One iteration written out: its writer, what it takes and gives, and whether there is another."""
    test, body = bodies
    inner, parameters = _entered(c, start, carried)
    given = list(start)
    for place, parameter in zip(carried, parameters, strict=True):
        given[place] = _in_place_of(start[place], parameter)
    before = c.program.present()
    found = inner.run(body, given)
    following = [found[place] if place in carried else value for place, value in enumerate(given)]
    again = inner.tensor(inner.run(test, following)[0])
    c.program.put_back(before, c.place.name)
    return inner, parameters, [inner.tensor(found[place]) for place in carried], again
