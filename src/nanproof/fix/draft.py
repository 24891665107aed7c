"""New nodes in the words of the model's own opset, and their place in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.fix.sheet import Sheet

if TYPE_CHECKING:
    from onnx import NodeProto

AXES_AS_INPUT = {"ReduceSum": 13, "Squeeze": 13, "Unsqueeze": 13}
"""The opset from which axes are an operand; other reductions since 18."""
BOTH = 18
CLIP_AS_INPUT = 11


class NotHereError(Exception):
    """A replacement can't be written here: a type isn't known, or the opset has no words for it."""


class Draft:
    """The nodes that take the place of one node. Each method adds a node and returns the name of its result."""

    def __init__(self, sheet: Sheet, root: NodeProto, rewrite: str) -> None:
        self.sheet, self.root, self.rewrite = sheet, root, rewrite
        self.nodes: list[NodeProto] = []
        self._base = f"{root.name or root.output[0]}/{rewrite}"
        self._elements: dict[str, int] = {}

    # -- words ---------------------------------------------------------------------------------

    def op(self, op_type: str, *inputs: str, **attributes: Any) -> str:
        """One operator with one result."""
        from onnx import helper

        name = self._fresh(op_type)
        node = helper.make_node(op_type, list(inputs), [name], name, **attributes)
        self._placed(node)
        self._elements[name] = self._result(op_type, inputs, attributes)
        return name

    def scalar(self, value: float, like: str) -> str:
        """A number in the type of a value."""
        return self.constant(np.asarray(value), self.element(like))

    def constant(self, array: Any, element: int) -> str:
        """A Constant of an ONNX type. Numbers are rounded once, to nearest."""
        from onnx import helper

        name = self._fresh("Constant")
        array = np.asarray(array).astype(helper.tensor_dtype_to_np_dtype(element))
        tensor = helper.make_tensor(name, element, array.shape, array.tobytes(), raw=True)
        self._placed(helper.make_node("Constant", [], [name], name, value=tensor))
        self._elements[name] = element
        return name

    def reduce(self, op_type: str, x: str, axes: Sequence[int], *, keepdims: int) -> str:
        """A reduction; no axes mean all of them."""
        from onnx import TensorProto

        if not axes:
            return self.op(op_type, x, keepdims=keepdims)
        if self.sheet.opset >= AXES_AS_INPUT.get(op_type, BOTH):
            return self.op(op_type, x, self.constant(list(axes), TensorProto.INT64), keepdims=keepdims)
        return self.op(op_type, x, axes=list(axes), keepdims=keepdims)

    def squeeze(self, x: str, axes: Sequence[int]) -> str:
        """Drop axes of size 1."""
        from onnx import TensorProto

        if self.sheet.opset >= AXES_AS_INPUT["Squeeze"]:
            return self.op("Squeeze", x, self.constant(list(axes), TensorProto.INT64))
        return self.op("Squeeze", x, axes=list(axes))

    def at_least(self, x: str, least: float) -> str:
        """max(x, least); NaN stays NaN."""
        return self.op("Max", x, self.scalar(least, x))

    def at_most(self, x: str, most: float) -> str:
        """min(x, most)."""
        return self.op("Min", x, self.scalar(most, x))

    def clip(self, x: str, least: float, most: float) -> str:
        """X within [least, most]."""
        if self.sheet.opset >= CLIP_AS_INPUT:
            return self.op("Clip", x, self.scalar(least, x), self.scalar(most, x))
        return self.op("Clip", x, min=least, max=most)

    def cast(self, x: str, element: int) -> str:
        """X in another type."""
        return x if self.element(x) == element else self.op("Cast", x, to=element)

    def moved(self, x: str, chain: Sequence[int]) -> str:
        """The moves of a chain (last one first), made with another value."""
        import onnx

        for index in reversed(chain):
            old = self.sheet.nodes[index]
            node = onnx.NodeProto()
            node.CopyFrom(old)
            name = self._fresh(old.op_type)
            node.name, node.input[0] = name, x
            del node.output[1:]
            node.output[0] = name
            self._placed(node)
            self._elements[name] = self.sheet.element(old.output[0])
            x = name
        return x

    # -- what is known -------------------------------------------------------------------------

    def element(self, value: str) -> int:
        """ONNX's number of the element type of a value of the graph or of this draft."""
        found = self._elements.get(value) or self.sheet.element(value)
        if not found:
            raise NotHereError(f'the type of "{value}" is not known')
        return found

    def dtype(self, value: str) -> Any:
        """The limits of the type of a value."""
        from nanproof.numerics.dtypes import by_onnx

        return by_onnx(self.element(value))

    # -- inner ---------------------------------------------------------------------------------

    def _fresh(self, what: str) -> str:
        number = 1
        while (name := f"{self._base}/{what}_{number}" if number > 1 else f"{self._base}/{what}") in self.sheet.names:
            number += 1
        self.sheet.names.add(name)
        return name

    def _placed(self, node: NodeProto) -> None:
        """Keep the node. What the exporter said of the replaced one (its source line) holds for this one."""
        if not node.metadata_props:
            node.metadata_props.extend(self.root.metadata_props)
        if not node.doc_string:
            node.doc_string = self.root.doc_string
        self.nodes.append(node)

    def _result(self, op_type: str, inputs: Sequence[str], attributes: dict[str, Any]) -> int:
        from onnx import TensorProto

        if op_type == "Cast":
            return int(attributes["to"])
        if op_type in {"ArgMax", "Shape", "Size"}:
            return int(TensorProto.INT64)
        if op_type in {
            "Less",
            "Greater",
            "LessOrEqual",
            "GreaterOrEqual",
            "Equal",
            "And",
            "Or",
            "Not",
            "IsNaN",
            "IsInf",
        }:
            return int(TensorProto.BOOL)
        operand = inputs[1] if op_type == "Where" else inputs[2] if op_type == "OneHot" else inputs[0]
        return self._elements.get(operand) or self.sheet.element(operand)


def replace_node(sheet: Sheet, root: int, draft: Draft, result: str) -> tuple[str, ...]:
    """Put the drafted nodes in the place of a node: its result keeps its name, and what only it used goes.

    Returns the values that the new nodes are computed from.
    """
    graph, old = sheet.graph, sheet.nodes[root]
    output = old.output[0]
    for node in draft.nodes:
        for index, name in enumerate(node.output):
            if name == result:
                node.output[index] = output
        for index, name in enumerate(node.input):
            if name == result:
                node.input[index] = output
    if not any(output in node.output for node in draft.nodes):
        from onnx import helper

        name = f"{old.name or output}/{draft.rewrite}"
        draft.nodes.append(helper.make_node("Identity", [result], [output], name))
    nodes = [*sheet.nodes[:root], *draft.nodes, *sheet.nodes[root + 1 :]]
    dead = _dead(nodes, sheet, old)
    kept = [node for node in nodes if id(node) not in dead]
    gone = {name for node in (*sheet.nodes,) if id(node) in dead for name in node.output}
    copies = [_copy(node) for node in kept]
    del graph.node[:]
    graph.node.extend(copies)
    infos = [item for item in graph.value_info if item.name not in gone]
    if len(infos) != len(graph.value_info):
        copied = [_copy(item) for item in infos]
        del graph.value_info[:]
        graph.value_info.extend(copied)
    made = {name for node in draft.nodes for name in node.output}
    return tuple(dict.fromkeys(name for node in draft.nodes for name in node.input if name and name not in made))


def _copy(message: Any) -> Any:
    new = type(message)()
    new.CopyFrom(message)
    return new


def _dead(nodes: list[NodeProto], sheet: Sheet, old: NodeProto) -> set[int]:
    """The ids of nodes that were needed for the replaced one only."""
    uses: dict[str, int] = {}
    for node in nodes:
        for name in node.input:
            uses[name] = uses.get(name, 0) + 1
        for item in node.attribute:
            if item.HasField("g"):
                for name in _reads(item.g):
                    uses[name] = uses.get(name, 0) + 1
    makers = {name: node for node in nodes for name in node.output if name}
    dead: set[int] = set()
    waiting = list(old.input)
    while waiting:
        maker = makers.get(waiting.pop())
        if maker is None or id(maker) in dead or any(uses.get(n) or n in sheet.outputs for n in maker.output if n):
            continue
        if any(item.HasField("g") for item in maker.attribute):
            continue
        dead.add(id(maker))
        for name in maker.input:
            uses[name] -= 1
            waiting.append(name)
    return dead


def _reads(graph: Any) -> list[str]:
    found = [output.name for output in graph.output]
    for node in graph.node:
        found += node.input
        for item in node.attribute:
            if item.HasField("g"):
                found += _reads(item.g)
    return found
