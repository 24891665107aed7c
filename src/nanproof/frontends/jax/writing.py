"""An ONNX graph while it is being written: nodes with their line, stored tensors once, and names that nothing shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.findings.errors import InputError

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto, ValueInfoProto

OPSET = 26
OWN, FOREIGN = "nanproof", "jax"
"""Domains: of operators that ONNX lacks and nanproof has, and of primitives that neither has."""
PLACE, PHASE, DERIVES, PAIR = "nanproof.location", "nanproof.phase", "nanproof.derives", "nanproof.pair"
"""Metadata of nodes: where they come from, and which part of a training step they are."""
SMALL = 1024
"""Stored tensors of up to so many bytes are kept once."""


@dataclass(slots=True)
class Book:
    """What all graphs of a model share."""

    stored: dict[str, TensorProto] = field(default_factory=dict)
    known: dict[tuple[Any, ...], str] = field(default_factory=dict)
    types: dict[str, ValueInfoProto] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)
    domains: set[str] = field(default_factory=set)
    rows: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    """Values that were put together of parts of size 1: {value: (axis, parts)}."""
    spread: dict[str, str] = field(default_factory=dict)
    """Copies of a value along new or longer axes: {copies: value}, which an operator that broadcasts can take instead."""
    sizes: dict[str, str] = field(default_factory=dict)
    """The value that holds the size of a name, as a tensor of one number."""

    def name(self, wish: str) -> str:
        """A name that is not taken yet: the wish itself, or with a number behind it."""
        name = wish
        while name in self.taken:
            self.counts[wish] = self.counts.get(wish, 0) + 1
            name = f"{wish}_{self.counts[wish]}"
        self.taken.add(name)
        return name

    def store(self, value: Any, wish: str = "constant") -> str:
        """The name of a stored tensor; small ones of the same content are one."""
        from onnx import numpy_helper

        array = np.ascontiguousarray(value).reshape(np.shape(value))  # ascontiguousarray makes scalars 1-D
        key = (array.dtype.name, array.shape, array.tobytes()) if array.nbytes <= SMALL else None
        if key is not None and wish == "constant" and key in self.known:
            return self.known[key]
        name = self.name(wish)
        self.stored[name] = numpy_helper.from_array(array, name)
        if key is not None and wish == "constant":
            self.known[key] = name
        return name

    def declare(self, name: str, dtype: Any, shape: Sequence[Any]) -> None:
        """Say the type of a value."""
        self.types[name] = declared(name, dtype, shape)


@dataclass(slots=True)
class Block:
    """One graph: the outermost, or the body of an If, Loop or Scan."""

    book: Book
    nodes: list[NodeProto] = field(default_factory=list)
    place: str = ""
    """The line that the next nodes belong to."""
    phase: str = ""
    """The phase that the next nodes belong to."""
    derives: str = ""
    """The primitive that the next nodes compute, or are the derivative of."""
    pair: str = ""
    """What a call of the program and its derivative have in common."""
    label: str = ""
    """What the next nodes are called."""
    made: set[str] = field(default_factory=set)
    """Values that nodes of this very graph make."""

    def emit(self, op: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any) -> list[str]:
        """Add a node and return the names of its results."""
        from onnx import helper

        label = self.book.name(self.label or op.lower())
        names = [label] if outputs == 1 else [self.book.name(f"{label}.{number}") for number in range(outputs)]
        node = helper.make_node(op, list(inputs), names, name=label, domain=domain or None, **attributes)
        if domain:
            self.book.domains.add(domain)
        for key, value in ((PLACE, self.place), (PHASE, self.phase), (DERIVES, self.derives), (PAIR, self.pair)):
            if value:
                node.metadata_props.add(key=key, value=value)
        self.nodes.append(node)
        self.made.update(names)
        return names

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one result and return its name."""
        return self.emit(op, *inputs, **attributes)[0]

    def constant(self, value: Any, dtype: Any = None) -> str:
        """A stored tensor."""
        return self.book.store(np.asarray(value, dtype))

    def ints(self, values: Sequence[int]) -> str:
        """A stored list of int64 numbers, as axes and known shapes are."""
        return self.book.store(np.asarray(list(values), np.int64))

    def cast(self, x: str, dtype: Any) -> str:
        """The value in another type."""
        return self.add("Cast", x, to=onnx_type(dtype))

    def inner(self) -> Block:
        """A graph within this one."""
        return Block(self.book, place=self.place, phase=self.phase, derives=self.derives, pair=self.pair)

    # ------------------------------------------------------------------------------------------------------- sizes

    def shape(self, sizes: Sequence[Any]) -> str:
        """The value of a shape whose sizes may be open."""
        if all(isinstance(size, (int, np.integer)) for size in sizes):
            return self.ints([int(size) for size in sizes])
        return self.add("Concat", *(self.size(size) for size in sizes), axis=0)

    def size(self, size: Any) -> str:
        """One size as a tensor of one number: known, or an expression over the open sizes of the inputs."""
        if isinstance(size, (int, np.integer)):
            return self.ints([int(size)])
        from nanproof.frontends.jax.sizes import written

        return written(self, str(size))


def onnx_type(dtype: Any) -> int:
    """ONNX's number of a NumPy or ml_dtypes type."""
    from onnx import helper

    try:
        return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
    except (KeyError, ValueError, TypeError):
        raise InputError(f"the type {np.dtype(dtype).name} has no counterpart in ONNX") from None


def declared(name: str, dtype: Any, shape: Sequence[Any]) -> ValueInfoProto:
    """The type of a value; a size that is neither known nor a name is left out."""
    from onnx import helper

    sizes = [int(size) if isinstance(size, (int, np.integer)) else str(size) for size in shape]
    return helper.make_tensor_value_info(
        name, onnx_type(dtype), [size if isinstance(size, int) or size.isidentifier() else None for size in sizes]
    )
