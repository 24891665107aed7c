"""A TensorFlow program as we read it: bodies (the graph itself, and its functions) of operator calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nanproof.findings.errors import InputError
from nanproof.frontends.tensorflow.outputs import position
from nanproof.frontends.tensorflow.tensors import array_of, shape_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ref = tuple[str, int]
"""A result of a call: the call's name, and which of its results."""

ARGUMENT = "_Arg"
"""The operator of a call that stands for a parameter of a function."""


@dataclass(frozen=True, slots=True)
class Call:
    """One operator call. ``after`` are the calls that come first though nothing of theirs is read."""

    name: str
    op: str
    inputs: tuple[Ref, ...] = ()
    after: tuple[str, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)

    def get(self, name: str, otherwise: Any = None) -> Any:
        """An attribute as a plain value."""
        held = self.attrs.get(name)
        if held is None:
            return otherwise
        return plain(held) if hasattr(held, "WhichOneof") else held

    def text(self, name: str, otherwise: str = "") -> str:
        """An attribute that is text."""
        found = self.get(name)
        return otherwise if found is None else found.decode("utf-8", "replace")

    def array(self, name: str = "value") -> NDArray[Any]:
        """An attribute that is a tensor."""
        return array_of(self.attrs[name].tensor, self.name)


@dataclass(frozen=True, slots=True)
class Body:
    """Calls by name, the names of the parameters, what is handed back, and what has to run for its effects."""

    name: str
    calls: Mapping[str, Call]
    parameters: tuple[str, ...] = ()
    results: tuple[Ref, ...] = ()
    effects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """A whole program: its main body, its functions, and the line of the user's program that made a call.

    ``places`` is keyed by (function, call); the function of the main body is "".
    """

    main: Body
    functions: Mapping[str, Body] = field(default_factory=dict)
    places: Mapping[tuple[str, str], str] = field(default_factory=dict)


def plain(value: Any) -> Any:
    """An attribute's value: int, float, bool, bytes, a shape, the name of a function, a type's number, or a list of these."""
    kind = value.WhichOneof("value")
    if kind == "list":
        for name in ("s", "i", "f", "b", "type", "shape", "func"):
            items = getattr(value.list, name)
            if len(items):
                return [_item(name, item) for item in items]
        return []
    return None if kind is None else _item(kind, getattr(value, kind))


def _item(kind: str, value: Any) -> Any:
    if kind == "shape":
        return shape_of(value)
    return value.name if kind == "func" else value


def read(message: Any, places: Mapping[tuple[str, str], str] | None = None) -> Graph:
    """The program in a GraphDef. Raises InputError where it refers to what isn't there."""
    functions = {function.signature.name: _function(function) for function in message.library.function}
    calls = _calls(message.node, "the graph", flat=True)
    return Graph(Body("", calls), functions, places or {})


def _function(message: Any) -> Body:
    name = message.signature.name
    parameters = tuple(argument.name for argument in message.signature.input_arg)
    calls = _calls(message.node_def, f"the function {name}", flat=False, parameters=parameters)
    kinds = {call.name: call.op for call in calls.values()}
    results = tuple(_split_ref(message.ret.get(result.name, ""), kinds) for result in message.signature.output_arg)
    for result, _ in results:
        if result not in calls:
            raise InputError(f"the function {name} is not whole: it hands back {result}, which is not in it")
    return Body(name, calls, parameters, results, tuple(message.control_ret.values()))


def _calls(nodes: Any, where: str, *, flat: bool, parameters: tuple[str, ...] = ()) -> dict[str, Call]:
    ops = {node.name: node for node in nodes}
    if len(ops) != len(nodes):
        raise InputError(f"{where} has two nodes of one name")
    found = {name: Call(name, ARGUMENT) for name in parameters}
    kinds = {**{name: call.op for name, call in found.items()}, **{name: node.op for name, node in ops.items()}}
    for name, node in ops.items():
        refs: list[Ref] = []
        after: list[str] = []
        for text in node.input:
            if text.startswith("^"):
                after.append(text[1:])
                ref = (text[1:], 0)
            else:
                ref = flat_ref(text) if flat else _split_ref(text, kinds)
                refs.append(ref)
            if ref[0] not in kinds:
                raise InputError(f"{where} is not whole: {name} reads {ref[0]}, which is not in it")
        found[name] = Call(name, node.op, tuple(refs), tuple(after), node.attr)
    return found


def flat_ref(text: str) -> Ref:
    """A result by its name in a graph: the call, a colon, and a number unless it is the first."""
    name, colon, index = text.rpartition(":")
    return (name, int(index)) if colon and index.isdecimal() else (text, 0)


def _split_ref(text: str, kinds: Mapping[str, str]) -> Ref:
    """In functions a result is called node:argument:number, a parameter by its name."""
    parts = text.split(":")
    if len(parts) == 3 and parts[2].isdecimal():
        return parts[0], position(kinds.get(parts[0], ""), parts[1]) + int(parts[2])
    return (parts[0], int(parts[1])) if len(parts) == 2 and parts[1].isdecimal() else (parts[0], 0)
