"""One graph of an ONNX message, indexed: who makes a value, who uses it, what is constant, what type it has.

Rewrites look at the message itself and not at the analysed Model, because the patched file keeps everything that they
don't touch: names, opset, metadata, functions, external data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import GraphProto, ModelProto, NodeProto

    Array = NDArray[Any]

SMALL = 4096
"""Constants of at most so many elements are looked at."""
DEPTH = 12
"""How far constants are computed, and how far two values are compared."""
ALL = ()
"""The axes of a reduction over everything."""

PASSING = frozenset({"Identity", "Reshape", "Expand", "Unsqueeze", "Squeeze", "Flatten", "Transpose", "Tile"})
"""What leaves the number of a constant whose elements are all the same."""
CASTS = frozenset({"Cast", "CastLike"})
_FOLDS = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / b if b else float("nan"),
    "Neg": lambda a: -a,
    "Sqrt": lambda a: a**0.5 if a >= 0 else float("nan"),
}


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of a value: ONNX's number of the element type, and the sizes; None where unknown."""

    element: int
    shape: tuple[int | None, ...] | None


@dataclass(eq=False)
class Sheet:
    """A graph and its indexes. The message must not change while a Sheet of it is in use."""

    model: ModelProto
    graph: GraphProto
    varying: frozenset[str] = frozenset()
    """Stored values that aren't constant: the user gave them a range, or training changes them."""
    outer: Sheet | None = None
    _numbers: dict[str, float | None] = field(default_factory=dict)

    @cached_property
    def opset(self) -> int:
        """The version of ONNX's own operators."""
        return next((e.version for e in self.model.opset_import if e.domain in {"", "ai.onnx"}), 1)

    @cached_property
    def nodes(self) -> list[NodeProto]:
        """The nodes of this graph, in their order."""
        return list(self.graph.node)

    @cached_property
    def makers(self) -> dict[str, int]:
        """The index of the node that makes a value."""
        return {name: index for index, node in enumerate(self.nodes) for name in node.output if name}

    @cached_property
    def by_name(self) -> dict[str, list[int]]:
        """The indexes of the nodes with a name."""
        found: dict[str, list[int]] = {}
        for index, node in enumerate(self.nodes):
            if node.name:
                found.setdefault(node.name, []).append(index)
        return found

    @cached_property
    def uses(self) -> dict[str, list[int]]:
        """The indexes of the nodes that read a value, in their bodies too."""
        found: dict[str, list[int]] = {}
        for index, node in enumerate(self.nodes):
            for name in dict.fromkeys((*node.input, *_captured(node))):
                if name:
                    found.setdefault(name, []).append(index)
        return found

    @cached_property
    def outputs(self) -> frozenset[str]:
        """The names of the outputs of the graph."""
        return frozenset(item.name for item in self.graph.output)

    @cached_property
    def names(self) -> set[str]:
        """All names in use, of values and of nodes, over all levels."""
        return set(_all_names(self.model.graph))

    @cached_property
    def stored(self) -> dict[str, Any]:
        """The initialisers by name."""
        return {tensor.name: tensor for tensor in self.graph.initializer}

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """The types that ONNX's own inference finds; weights aren't needed for it."""
        if self.outer is not None:
            return self.outer.kinds
        return _inferred(self.model)

    def maker(self, value: str) -> NodeProto | None:
        """The node that makes a value, seen through Identity."""
        for _ in range(DEPTH):
            index = self.makers.get(value)
            if index is None:
                return None
            node = self.nodes[index]
            if node.op_type != "Identity" or node.domain not in {"", "ai.onnx"}:
                return node
            value = node.input[0]
        return None

    def source(self, value: str) -> str:
        """The value that Identity nodes only hand on."""
        for _ in range(DEPTH):
            index = self.makers.get(value)
            if index is None or self.nodes[index].op_type != "Identity":
                return value
            value = self.nodes[index].input[0]
        return value

    def element(self, value: str) -> int:
        """ONNX's number of the element type; 0 where unknown."""
        kind = self.kinds.get(value)
        return kind.element if kind else 0

    def rank(self, value: str) -> int | None:
        """The number of axes."""
        kind = self.kinds.get(value)
        return None if kind is None or kind.shape is None else len(kind.shape)

    def size(self, value: str, axis: int) -> int | None:
        """The size of an axis."""
        kind = self.kinds.get(value)
        if kind is None or kind.shape is None or not -len(kind.shape) <= axis < len(kind.shape):
            return None
        return kind.shape[axis]

    def array(self, value: str) -> Array | None:
        """A small stored or Constant tensor, seen through what only moves or casts it; None for anything else."""
        return self._array(value, DEPTH)

    def _array(self, value: str, depth: int) -> Array | None:
        from onnx import numpy_helper

        if depth == 0 or value in self.varying:
            return None
        tensor = self.stored.get(value)
        if tensor is not None:
            return None if _large(tensor) else numpy_helper.to_array(tensor)
        index = self.makers.get(value)
        if index is None:
            return self.outer._array(value, depth) if self.outer is not None else None  # noqa: SLF001 - same class
        node = self.nodes[index]
        if node.op_type == "Constant":
            return _constant(node)
        if node.op_type in PASSING or node.op_type in CASTS:
            return self._array(node.input[0], depth - 1)
        return None

    def number(self, value: str) -> float | None:
        """The number that all elements of a constant are; None if it is no constant or has several."""
        if value not in self._numbers:
            self._numbers[value] = self._number(value, DEPTH)
        return self._numbers[value]

    def _number(self, value: str, depth: int) -> float | None:
        array = self._array(value, depth)
        if array is not None:
            if array.size == 0 or (array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16"):
                return None
            first = float(array.reshape(-1)[0])
            return first if bool((array == array.reshape(-1)[0]).all()) else None
        index = self.makers.get(value)
        if index is None or depth == 0:
            return None
        node = self.nodes[index]
        if node.op_type in PASSING or node.op_type in CASTS:
            return self._number(node.input[0], depth - 1)
        if node.op_type == "ConstantOfShape":
            filled = attribute(node, "value", None)
            return 0.0 if filled is None else float(filled.reshape(-1)[0])
        fold = _FOLDS.get(node.op_type)
        if fold is None:
            return None
        parts = [self._number(name, depth - 1) for name in node.input]
        if any(part is None for part in parts):
            return None
        result = fold(*parts)  # type: ignore[operator]
        return result if isfinite(result) else None

    def same(self, one: str, other: str, depth: int = DEPTH) -> bool:
        """Whether two values are the same by construction: one name, or the same operator on the same values."""
        one, other = self.source(one), self.source(other)
        if one == other:
            return True
        a, b = self.makers.get(one), self.makers.get(other)
        if depth == 0 or a is None or b is None:
            left, right = self.number(one), self.number(other)
            return left is not None and left == right and self.element(one) == self.element(other)
        first, second = self.nodes[a], self.nodes[b]
        if (first.op_type, first.domain, len(first.input)) != (second.op_type, second.domain, len(second.input)):
            return False
        if first.op_type in RANDOM or list(first.output).index(one) != list(second.output).index(other):
            return False
        if {x.name: x.SerializeToString() for x in first.attribute} != {
            x.name: x.SerializeToString() for x in second.attribute
        }:
            return False
        return all(self.same(x, y, depth - 1) for x, y in zip(first.input, second.input, strict=True))

    def axes(self, node: NodeProto) -> tuple[int, ...] | None:
        """The axes of a reduction, from its attribute or its input; ``ALL`` for all of them, None if not known."""
        given = attribute(node, "axes", None)
        if given is not None:
            return tuple(int(a) for a in given)
        if len(node.input) > 1 and node.input[1]:
            array = self.array(node.input[1])
            if array is None:
                return None
            found = tuple(int(a) for a in array.reshape(-1))
            if found or not attribute(node, "noop_with_empty_axes", 0):
                return found
            return None
        return ALL if not attribute(node, "noop_with_empty_axes", 0) else None


RANDOM = frozenset({"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli",
                    "Multinomial", "Dropout"})  # fmt: skip


def attribute(node: NodeProto, name: str, default: Any) -> Any:
    """The value of an attribute; tensors as arrays."""
    from onnx import AttributeProto, helper, numpy_helper

    for item in node.attribute:
        if item.name == name:
            if item.type == AttributeProto.TENSOR:
                return numpy_helper.to_array(item.t)
            value = helper.get_attribute_value(item)
            return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return default


def sheets(model: ModelProto, varying: frozenset[str] = frozenset()) -> Iterator[tuple[tuple[int | str, ...], Sheet]]:
    """A Sheet for the graph and for every body in it, with the path that leads there (see :func:`at`)."""
    top = Sheet(model, model.graph, varying)
    yield (), top
    yield from _inner(top, ())


def _inner(sheet: Sheet, path: tuple[int | str, ...]) -> Iterator[tuple[tuple[int | str, ...], Sheet]]:
    for index, node in enumerate(sheet.graph.node):
        for item in node.attribute:
            if item.HasField("g"):
                inner = Sheet(sheet.model, item.g, sheet.varying, sheet)
                yield (*path, index, item.name), inner
                yield from _inner(inner, (*path, index, item.name))


def at(model: ModelProto, path: tuple[int | str, ...], varying: frozenset[str] = frozenset()) -> Sheet:
    """The Sheet at a path of a message that has the same nodes."""
    sheet = Sheet(model, model.graph, varying)
    for index, name in zip(path[::2], path[1::2], strict=True):
        assert isinstance(index, int)
        body = next(item.g for item in sheet.graph.node[index].attribute if item.name == name)
        sheet = Sheet(model, body, varying, sheet)
    return sheet


def _captured(node: NodeProto) -> Iterator[str]:
    """What the bodies of a node read, from wherever."""
    for item in node.attribute:
        if item.HasField("g"):
            for inner in item.g.node:
                yield from inner.input
                yield from _captured(inner)
            yield from (output.name for output in item.g.output)


def _all_names(graph: GraphProto) -> Iterator[str]:
    yield from (item.name for item in graph.input)
    yield from (item.name for item in graph.initializer)
    for node in graph.node:
        yield node.name
        yield from node.input
        yield from node.output
        for item in node.attribute:
            if item.HasField("g"):
                yield from _all_names(item.g)


def _constant(node: NodeProto) -> Array | None:
    for name in ("value", "value_float", "value_int", "value_floats", "value_ints"):
        found = attribute(node, name, None)
        if found is not None:
            if name == "value" and found.size > SMALL:
                return None
            kind = np.float32 if "float" in name else np.int64
            return np.asarray(found) if name == "value" else np.asarray(found, kind)
    return None


def _large(tensor: Any) -> bool:
    count = 1
    for size in tensor.dims:
        count *= size
    return count > SMALL or tensor.data_location == 1  # external data stays where it is


def _inferred(model: ModelProto) -> dict[str, Kind]:
    import onnx
    from onnx import shape_inference

    light = onnx.ModelProto()
    light.ir_version = model.ir_version
    light.opset_import.extend(model.opset_import)
    light.functions.extend(model.functions)
    light.graph.CopyFrom(_without_data(model.graph))
    try:
        done = shape_inference.infer_shapes(light, data_prop=True)
    except Exception:  # noqa: BLE001 - the inference raises whatever its C++ raises, and types are a help only
        done = light
    found: dict[str, Kind] = {}
    _collect(done.graph, found)
    for tensor in model.graph.initializer:
        found[tensor.name] = Kind(tensor.data_type, tuple(tensor.dims))
    return found


def _without_data(graph: GraphProto) -> GraphProto:
    """The graph with large initialisers as inputs only: their types are all that inference needs."""
    import onnx
    from onnx import helper

    light = onnx.GraphProto()
    light.name = graph.name or "graph"
    light.node.extend(graph.node)
    light.input.extend(graph.input)
    light.output.extend(graph.output)
    light.value_info.extend(graph.value_info)
    known = {item.name for item in graph.input}
    for tensor in graph.initializer:
        if not _large(tensor):
            light.initializer.append(tensor)
        elif tensor.name not in known:
            light.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    return light


def _collect(graph: GraphProto, found: dict[str, Kind]) -> None:
    for item in (*graph.input, *graph.output, *graph.value_info):
        if item.type.HasField("tensor_type"):
            kind = item.type.tensor_type
            shape = (
                tuple(d.dim_value if d.HasField("dim_value") else None for d in kind.shape.dim)
                if kind.HasField("shape")
                else None
            )
            found[item.name] = Kind(kind.elem_type, shape)
    for node in graph.node:
        for item in node.attribute:
            if item.HasField("g"):
                _collect(item.g, found)
