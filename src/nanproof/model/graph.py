"""A model as nanproof sees it: a graph of ONNX operators with decoded attributes, and a role for every initial value.

Nothing here knows a file format: front ends build these values, `lower` flattens them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from nanproof.dims import Size
    from nanproof.findings.location import Location
    from nanproof.model.roles import Role
    from nanproof.numerics.dtypes import DType

    Array: TypeAlias = NDArray[Any]
    Attr: TypeAlias = Union[int, float, str, Array, "Graph", tuple[Union[int, float, str, Array, "Graph"], ...]]


class Source(Protocol):
    """Where the elements of a stored tensor come from; nothing is read before `array` or `chunks` is called."""

    @property
    def dtype(self) -> DType: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def nbytes(self) -> int: ...

    def array(self) -> Array:
        """All elements, as a read-only view where the storage allows one."""
        ...

    def chunks(self, limit_bytes: int = 1 << 20) -> Iterator[tuple[int, Array]]:
        """Yield (index of the first element, flat elements); pages of mapped files are released behind the reader."""
        ...

    def expect(self, start: int) -> None:
        """Say that this tensor is read in order from byte ``start`` on: a mapped file is fetched ahead of the reader."""
        ...

    def release(self) -> None:
        """Give memory that mapped elements occupy back to the system; arrays handed out stay valid and are read again on use."""
        ...


STEP_MARK = "#"
"""Between the parameter that a node of a step is for and the place of the node in its update."""


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a training step that a node belongs to.

    phase  "forward", "gradient" (the way back), or "step" (the optimiser's update)
    of     what the node computes or, on the way back, is the derivative of, as the framework calls it: "sqrt"; the optimiser
    pair   what a node and its derivative have in common; of a step the parameter that is updated, and the place of the node in
           its update, as in "fc.weight#3"; empty where it isn't known
    """

    phase: str = "forward"
    of: str = ""
    pair: str = ""


FORWARD = Part()


@dataclass(slots=True)
class Node:
    """One operator call. An absent optional input or output is the empty string."""

    op: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attrs: dict[str, Attr]
    name: str
    location: Location | None = None
    part: Part = FORWARD


@dataclass(frozen=True, slots=True)
class Declared:
    """What the file says of a value. `dtype` is None for what is no tensor, `shape` is None where the rank is unknown.

    A sequence or an optional value says so in `kinds`, outermost first, and `item` is the tensor in it.
    """

    name: str
    dtype: DType | None
    shape: tuple[Size, ...] | None
    kinds: tuple[str, ...] = ()
    item: Declared | None = None


@dataclass(slots=True)
class Graph:
    """Nodes in an order in which they can run, with what they start from and what is asked of them."""

    name: str
    nodes: list[Node]
    inputs: tuple[Declared, ...]
    outputs: tuple[str, ...]
    constants: dict[str, Source] = field(default_factory=dict)
    declared: dict[str, Declared] = field(default_factory=dict)


@dataclass(slots=True)
class Model:
    """A graph, the opset its operators mean, and the role of every initial value (by name).

    ``valid`` says of some inputs what they are by their nature, as the moments that an optimiser keeps: a better default than
    that of any input.
    """

    graph: Graph
    opset: int
    path: str
    notes: tuple[str, ...] = ()
    roles: dict[str, Role] = field(default_factory=dict)
    valid: dict[str, tuple[float, float]] = field(default_factory=dict)


def parted(graph: Graph, back: Mapping[str, str], update: Iterable[str] = ()) -> None:
    """Say of the nodes of a graph, by what they make, which are on the way back and which in the optimiser's step."""
    parts = {**{name: Part("gradient", of) for name, of in back.items()}, **{name: Part("step") for name in update}}
    for node in graph.nodes:
        node.part = next((parts[name] for name in node.outputs if name in parts), node.part)


_BODIED = frozenset({"If", "Loop", "Scan", "SequenceMap"})


def subgraphs(node: Node) -> tuple[Graph, ...]:
    """Return the graphs among the attributes of a node, by attribute name (else_branch, then_branch, body).

    Of ONNX's own operators only four have any; this is asked of every node, several times.
    """
    if not node.attrs or (node.op not in _BODIED and not node.domain):
        return ()
    found: list[Graph] = []
    for key in sorted(node.attrs):
        value = node.attrs[key]
        if isinstance(value, Graph):
            found.append(value)
        elif isinstance(value, tuple):
            found.extend(item for item in value if isinstance(item, Graph))
    return tuple(found)
