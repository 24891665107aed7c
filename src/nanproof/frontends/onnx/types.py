"""Every node against its schema once more, in today's form: how many operands, of which types, with which bodies.

Types flow through the graph by the type variables of the schemas, as far as they say. What a node of one kind
with operands of the same types needs is looked up once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanproof.findings.errors import InputError
from nanproof.frontends.onnx.read import label
from nanproof.frontends.onnx.signatures import NEWEST, schema_of, signature
from nanproof.model.graph import Graph, Node, subgraphs
from nanproof.numerics.dtypes import by_onnx

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    Types = tuple[int, ...]
    Key = tuple[str, str, int, Types]

_UNKNOWN = 0
_SHOWN = 6


def check_nodes(graph: Graph, opset: int) -> None:
    """Raise InputError for the first node whose schema doesn't allow its operands."""
    _graph(graph, {}, {}, opset)


def _graph(graph: Graph, types: dict[str, int], rules: dict[Key, Types], opset: int) -> None:
    for declared in (*graph.declared.values(), *graph.inputs):
        types[declared.name] = _UNKNOWN if declared.dtype is None else declared.dtype.onnx
    for name, source in graph.constants.items():
        types[name] = source.dtype.onnx
    known = types.get
    for node in graph.nodes:
        outputs = node.outputs
        operands = tuple([known(name, 0) for name in node.inputs])
        results = rules.get((node.domain, node.op, len(outputs), operands))
        if results is None:
            results, wrong = _rule(node, operands, opset)
            if wrong is not None:
                raise InputError(f"{label(node)} {wrong}: correct the node, or export the model again")
            rules[node.domain, node.op, len(outputs), operands] = results
        if results:
            for name, dtype in zip(outputs, results, strict=False):
                if dtype:
                    types[name] = dtype  # noqa: PERF403 - two results at most, and usually one
        if node.attrs and node.op in _BODIES and not node.domain:
            _check_bodies(node)
            for body in subgraphs(node):
                _graph(body, types, rules, opset)


def _rule(node: Node, operands: Types, opset: int) -> tuple[Types, str | None]:
    """The types of the results of such a node, and what is wrong with it."""
    version = NEWEST if node.domain else opset
    schema: Any = schema_of(node.domain, node.op, version)
    if schema is None or schema.deprecated:
        return (), None
    found = signature(node.domain, node.op, version)
    assert found is not None
    bare = Node(node.op, "", node.inputs, node.outputs, dict.fromkeys(found.required, 0), node.name)
    wrong = found.complaint(bare)
    if wrong is not None:
        return (), wrong
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    taken: dict[str, tuple[int, int]] = {}
    for position, dtype in enumerate(operands):
        if not dtype or not schema.inputs:
            continue
        formal = schema.inputs[min(position, len(schema.inputs) - 1)]
        variable = formal.type_str
        choice = _tensors(allowed.get(variable, [variable]))
        if not choice:
            continue  # may be a sequence
        if dtype not in choice:
            return (), _unfit(position, dtype, choice)
        if variable in allowed and _same(formal):
            first, other = taken.setdefault(variable, (position, dtype))
            if other != dtype:
                return (
                    (),
                    f"takes inputs {first} and {position} of one type, and gets {by_onnx(other).name} and {by_onnx(dtype).name}",
                )
    return _results(schema, allowed, taken, len(node.outputs)), None


def _results(
    schema: Any, allowed: Mapping[str, Sequence[str]], taken: Mapping[str, tuple[int, int]], count: int
) -> Types:
    """The types of the results, where the operands or the schema alone decide them."""
    found: list[int] = []
    for position in range(count if schema.outputs else 0):
        formal = schema.outputs[min(position, len(schema.outputs) - 1)]
        choice = _tensors(allowed.get(formal.type_str, [formal.type_str]))
        if not choice or not _same(formal):
            found.append(_UNKNOWN)
        elif formal.type_str in taken:
            found.append(taken[formal.type_str][1])
        else:
            found.append(next(iter(choice)) if len(choice) == 1 else _UNKNOWN)
    return tuple(found) if any(found) else ()


def _same(formal: Any) -> bool:
    """Whether all values of a formal parameter have one type: variadic ones need not."""
    return bool(formal.is_homogeneous)


def _tensors(kinds: Sequence[str]) -> frozenset[int]:
    """The codes of a list of types; empty where something else than a tensor is allowed too."""
    from onnx import TensorProto

    codes = TensorProto.DataType
    if not all(kind.startswith("tensor(") for kind in kinds):
        return frozenset()
    return frozenset(codes.Value(kind[7:-1].upper()) for kind in kinds)


def _unfit(position: int, dtype: int, choice: Collection[int]) -> str:
    names = [by_onnx(code).name for code in sorted(choice)]
    shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return f"gets {by_onnx(dtype).name} for its input {position}, which takes {shown}"


# ------------------------------------------------------------------------------------------------------------ bodies

_BODIES = {"If": ("then_branch", "else_branch"), "Loop": ("body",), "Scan": ("body",)}


def _check_bodies(node: Node) -> None:
    for name in _BODIES[node.op]:
        body = node.attrs.get(name)
        wrong = _misfit(node, name, body) if isinstance(body, Graph) else f'has no graph "{name}"'
        if wrong is not None:
            raise InputError(f"{label(node)} {wrong}: correct the node, or export the model again")


def _misfit(node: Node, name: str, body: Graph) -> str | None:
    """What doesn't fit between a node and the graph that it runs."""
    given, made = len(node.inputs), len(node.outputs)
    takes, makes = len(body.inputs), len(body.outputs)
    needs, carried, first = 0, 0, 0  # inputs of the body, values that it hands on, and its first result of those
    if node.op == "Loop":
        needs, carried, first = max(given, 2), max(given - 2, 0), 1
    elif node.op == "Scan":
        walked = node.attrs.get("num_scan_inputs")
        if not isinstance(walked, int) or not 1 <= walked <= given:
            return f"has num_scan_inputs {walked}, it has to be from 1 to its {given} inputs"
        needs, carried = given, given - walked
    if takes != needs:
        return f'needs a graph "{name}" of {needs} inputs, and that has {takes}'
    if makes < first + carried:
        return f'carries {carried} values, and its graph "{name}" has {makes} outputs, {first + carried} or more are needed'
    if made > makes - first or (node.op == "If" and made != makes):
        return f'has {made} outputs, and its graph "{name}" has {makes}, {made + first} are needed'
    return None
