"""Calls of functions, branches, and loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto, helper

from nanproof.findings.errors import InputError
from nanproof.frontends.tensorflow.context import Context, Translation
from nanproof.frontends.tensorflow.graph import Body
from nanproof.frontends.tensorflow.operators.looping import loop
from nanproof.frontends.tensorflow.values import Opaque, Tensor, TensorList, Value, Variable

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call


def function(c: Context, name: str | None) -> Body:
    """A function of the program by its name."""
    found = c.program.graph.functions.get(name or "")
    if found is None:
        raise InputError(f"the graph is not whole: {c.place.name} calls the function {name}, which is not in it")
    return found


def _called(c: Context, call: Call, *operands: Value) -> list[Value]:
    return c.run(function(c, call.get("f")), operands)


def _if(c: Context, call: Call, test: Value, *operands: Value) -> list[Value]:
    bodies = [function(c, call.get("then_branch")), function(c, call.get("else_branch"))]
    asked = _as_truth(c, c.tensor(test))
    if asked.held is not None:
        return c.run(bodies[0 if asked.held.item() else 1], operands)
    return _branched(c, asked, (bodies[0], bodies[1:]), operands)


def _case(c: Context, call: Call, index: Value, *operands: Value) -> list[Value]:
    """One of several; a number out of range means the last."""
    bodies = [function(c, name) for name in call.get("branches")]
    asked = c.tensor(index)
    if asked.held is not None:
        number = int(asked.held.item())
        return c.run(bodies[number if 0 <= number < len(bodies) else -1], operands)
    return _chosen(c, (asked, 0), bodies, operands)


def _chosen(c: Context, about: tuple[Tensor, int], bodies: Sequence[Body], operands: Sequence[Value]) -> list[Value]:
    if len(bodies) == 1:
        return c.run(bodies[0], operands)
    index, number = about
    test = c.op("Equal", index, c.const(number, index.kind))
    return _branched(c, test, (bodies[0], bodies[1:]), operands, about)


def _branched(
    c: Context,
    test: Tensor,
    bodies: tuple[Body, Sequence[Body]],
    operands: Sequence[Value],
    about: tuple[Tensor, int] | None = None,
) -> list[Value]:
    """An If. What is no tensor can't come out of it."""
    first, rest = bodies
    sides: list[tuple[Context, list[Value]]] = []
    for number in range(2):
        inner = c.nested()
        before = c.program.present()
        if number == 0:
            found = inner.run(first, operands)
        elif about is None:
            found = inner.run(rest[0], operands)
        else:
            found = _chosen(inner, (about[0], about[1] + 1), rest, operands)
        c.program.put_back(before, c.place.name)
        sides.append((inner, found))
    results: list[Value] = []
    handed: list[tuple[Tensor, Tensor]] = []
    for one, other in zip(sides[0][1], sides[1][1], strict=True):
        pair = _tensor_of(one), _tensor_of(other)
        if isinstance(one, Variable) or pair[0] is None or pair[1] is None:
            results.append(one if one is other else Opaque("a result of a branch"))
            continue
        handed.append((pair[0], pair[1]))
        made = Tensor(
            c.shared.unique(f"{c.place.name}:{len(results)}"), pair[0].kind, c.common(pair[0].shape, pair[1].shape)
        )
        results.append(made if isinstance(one, Tensor) else TensorList(made.kind, made))
    if not handed:
        return results
    graphs = [
        inner.graph(f"{c.place.name}/{name}", [], [pair[number] for pair in handed])
        for number, ((inner, _), name) in enumerate(zip(sides, ("then", "else"), strict=True))
    ]
    names = [value.name for value in map(_tensor_of, results) if value is not None]
    c.add(helper.make_node("If", [test.name], names, then_branch=graphs[0], else_branch=graphs[1]))
    return results


def _tensor_of(value: Value) -> Tensor | None:
    return value if isinstance(value, Tensor) else value.items if isinstance(value, TensorList) else None


def _as_truth(c: Context, test: Tensor) -> Tensor:
    if test.kind == TensorProto.BOOL:
        return test if test.rank in {0, None} else c.op("Squeeze", test)
    if test.held is not None:
        return c.const(np.asarray(bool(test.held.any())))
    return c.cast(test, TensorProto.BOOL)


def _while(c: Context, call: Call, *operands: Value) -> list[Value]:
    return loop(c, function(c, call.get("cond")), function(c, call.get("body")), operands)


TRANSLATIONS: dict[str, Translation] = {
    "Case": _case,
    "If": _if,
    "PartitionedCall": _called,
    "StatefulPartitionedCall": _called,
    "StatelessCase": _case,
    "StatelessIf": _if,
    "StatelessWhile": _while,
    "While": _while,
}

HANDLES: frozenset[str] = frozenset(TRANSLATIONS)
