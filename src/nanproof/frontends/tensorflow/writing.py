"""Writing ONNX: nodes that carry the call they stand for, with shapes inferred as they are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from nanproof.dims import Size
from nanproof.frontends.onnx.location import PLACE_KEY
from nanproof.frontends.tensorflow.known import all_known
from nanproof.frontends.tensorflow.shapes import followed, inferred, integer_kind, written
from nanproof.frontends.tensorflow.shared import Shared
from nanproof.frontends.tensorflow.values import Place, Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOREIGN = "tensorflow"
"""The domain of operators that nothing here translates."""
PHASE_KEY = "nanproof.phase"
SHARED = 64
"""Bytes up to which equal constants are stored once."""
SPLAT = 1 << 12
"""Bytes from which a constant of equal elements is written as a fill."""


class Writer:
    """A graph that is being written; ``place`` says which call the next nodes stand for."""

    def __init__(self, shared: Shared | None = None) -> None:
        self.shared = shared or Shared()
        self.nodes: list[onnx.NodeProto] = []
        self.place = Place()

    # ------------------------------------------------------------------------------------------------ stored tensors

    def const(self, values: Any, kind: int | None = None, name: str = "") -> Tensor:
        """A stored tensor. Equal small ones are stored once, large ones of equal elements are filled when they are run."""
        array = np.asarray(values)
        number = kind or helper.np_dtype_to_tensor_dtype(array.dtype)
        if kind is not None:
            array = array.astype(helper.tensor_dtype_to_np_dtype(kind), copy=False)
        if array.dtype == object:
            return self._text(array, name)
        key = number, array.shape, array.tobytes() if array.nbytes <= SHARED and not name else b""
        if key[2] and key in self.shared.equal:
            return self.shared.equal[key]
        if not name and array.nbytes > SPLAT and (array == array.flat[0]).all():
            return self._fill(array)
        fresh = self.shared.unique(name or f"{self.place.name}/const")
        self.shared.stored.append(onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), fresh))
        made = Tensor(fresh, number, array.shape, array)
        if key[2]:
            self.shared.equal[key] = made
        return made

    def ints(self, values: Sequence[int] | int) -> Tensor:
        """A stored int64 tensor: a vector, or a scalar for one number."""
        return self.const(np.asarray(values, np.int64))

    def like(self, value: float, operand: Tensor) -> Tensor:
        """A stored scalar of an operand's type."""
        return self.const(np.asarray(value), operand.kind)

    def _fill(self, array: NDArray[Any]) -> Tensor:
        value = onnx.numpy_helper.from_array(np.ascontiguousarray(array.reshape(-1)[:1]))
        made = self.op("ConstantOfShape", self.ints(array.shape), value=value)
        made.held = array
        return made

    def _text(self, array: NDArray[Any], name: str) -> Tensor:
        fresh = self.shared.unique(name or f"{self.place.name}/const")
        items: Any = [item if isinstance(item, bytes) else str(item).encode() for item in array.flat]
        self.shared.stored.append(helper.make_tensor(fresh, TensorProto.STRING, array.shape, items))
        return Tensor(fresh, TensorProto.STRING, array.shape, array)

    # --------------------------------------------------------------------------------------------------------- nodes

    def op(self, kind: str, *operands: Tensor | None, **attrs: Any) -> Tensor:
        """One node with one result. Small integer results that follow from shapes become constants."""
        sizes = followed(kind, operands, attrs)
        if sizes is not None and all_known(sizes):
            number = integer_kind(kind, operands, attrs)
            return self.const(sizes.astype(np.bool_ if number == TensorProto.BOOL else np.int64), number)
        made = self.ops(kind, *operands, outputs=1, **attrs)[0]
        made.sizes = sizes
        if kind == "Cast" and operands[0] is not None and operands[0].kind == TensorProto.INT64:
            made.wide = operands[0]
        return made

    def ops(self, kind: str, *operands: Tensor | None, outputs: int, **attrs: Any) -> list[Tensor]:
        """One node with several results."""
        return inferred(self.shared, self._node(kind, operands, outputs, attrs), operands, attrs)

    def foreign(self, kind: str, operands: Sequence[Tensor], results: Sequence[tuple[int | None, Any]]) -> list[Tensor]:
        """A node of an operator that has no translation; its results are of the given types and shapes."""
        self.shared.foreign[kind] = self.shared.foreign.get(kind, 0) + 1
        node = self._node(kind, operands, len(results), {"domain": FOREIGN})
        made = []
        for name, (number, shape) in zip(node.output, results, strict=True):
            tensor = Tensor(name, number or TensorProto.FLOAT, None if shape is None else self.shape(shape))
            self.shared.declared.append(helper.make_tensor_value_info(name, tensor.kind, written(tensor.shape)))
            made.append(tensor)
        return made

    def add(self, node: onnx.NodeProto) -> None:
        """A node that is made already, such as a loop."""
        node.name = self._name("")
        self._annotate(node)
        self.nodes.append(node)

    def shape(self, sizes: Sequence[int]) -> tuple[Size, ...]:
        """A shape in which -1 is a size of its own."""
        return tuple(self.shared.open_size() if size < 0 else size for size in sizes)

    def _node(
        self, kind: str, operands: Sequence[Tensor | None], outputs: int, attrs: dict[str, Any]
    ) -> onnx.NodeProto:
        name = self._name(kind)
        results = [self.shared.unique(name if i == 0 else f"{name}:{i}") for i in range(outputs)]
        inputs = ["" if operand is None else operand.name for operand in operands]
        node = helper.make_node(kind, inputs, results, name=name, **attrs)
        self._annotate(node)
        self.nodes.append(node)
        return node

    def _name(self, kind: str) -> str:
        """A free name for a node; nodes and values have names of their own."""
        text = f"{self.place.name}/{kind}" if kind else self.place.name
        return self.shared.unique(f"node {text}").removeprefix("node ")

    def _annotate(self, node: onnx.NodeProto) -> None:
        if self.place.line:
            node.metadata_props.add(key=PLACE_KEY, value=self.place.line)
        if self.place.phase:
            node.metadata_props.add(key=PHASE_KEY, value=self.place.phase)

    # --------------------------------------------------------------------------------------------------------- graph

    def graph(self, name: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> onnx.GraphProto:
        """All nodes as a graph; an output that no node here makes is copied first."""
        made = {result for node in self.nodes for result in node.output}
        handed: list[Tensor] = []
        for output in outputs:
            if output.name not in made or any(output.name == other.name for other in handed):
                output = self.ops("Identity", output, outputs=1)[0]
            handed.append(output)
        return helper.make_graph(
            self.nodes,
            name,
            [_declared(tensor, named=True) for tensor in inputs],
            [_declared(tensor) for tensor in handed],
        )


def _declared(tensor: Tensor, *, named: bool = False) -> onnx.ValueInfoProto:
    """A value's type; only inputs have names for open sizes."""
    shape = written(tensor.shape)
    if shape is not None:
        shape = [size if isinstance(size, int) or (named and str(size).isidentifier()) else None for size in shape]
    return helper.make_tensor_value_info(tensor.name, tensor.kind, shape)
