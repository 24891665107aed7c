"""Bring the nodes of a graph into an order in which they can run, and say clearly when there is none."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from nanproof.findings.errors import InputError
from nanproof.model.graph import subgraphs

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from nanproof.model.graph import Graph, Node

    Free = dict[int, frozenset[str]]  # by the id of a graph: what it reads from outside


def arrange(graph: Graph) -> None:
    """Sort the nodes of a graph and of its subgraphs in place; nodes that are in order already keep the file's order.

    Raises InputError for a value that nothing defines, a value defined twice, and a cycle.
    """
    _arrange(graph, frozenset(), {})


def _arrange(graph: Graph, outer: AbstractSet[str], free: Free) -> None:
    defined: set[str] = {""}
    for declared in graph.inputs:
        if declared.name in defined:
            raise InputError(
                f'the graph "{graph.name}" has two inputs named "{declared.name}": give every value one name'
            )
        defined.add(declared.name)
    defined.update(graph.constants)
    if not _define(graph, defined, outer, free):
        _sort(graph, outer, free)
    _check_names(graph, defined, outer)
    scope: AbstractSet[str] | None = None
    for node in graph.nodes:
        for body in subgraphs(node):
            if scope is None:
                scope = defined | outer if outer else defined
            _arrange(body, scope, free)


def _define(graph: Graph, defined: set[str], outer: AbstractSet[str], free: Free) -> bool:
    """Add what the nodes make to `defined`; return whether every node comes after what it reads."""
    ordered = True
    for node in graph.nodes:
        if ordered:
            for name in node.inputs:
                if name not in defined and name not in outer:
                    ordered = False
            for body in subgraphs(node) if node.attrs else ():
                for name in _free(body, free):
                    if name not in defined and name not in outer:
                        ordered = False
        for name in node.outputs:
            if name in defined:
                if name:
                    raise InputError(_twice(name, graph))
            else:
                defined.add(name)
    return ordered


def _check_names(graph: Graph, defined: AbstractSet[object], outer: AbstractSet[str]) -> None:
    for name in defined:
        if type(name) is not str:  # protobuf gives bytes where a string isn't UTF-8
            raise InputError(
                f"a value has a name that isn't UTF-8 ({name!r:.60}): the file is damaged, export the model again"
            )
    for output in graph.outputs:
        if output not in defined and output not in outer:
            raise InputError(_dangling(output, f'the outputs of the graph "{graph.name}"'))


def _free(graph: Graph, free: Free) -> frozenset[str]:
    """Return the names that a graph reads from outside of itself."""
    known = free.get(id(graph))
    if known is not None:
        return known
    bound = {declared.name for declared in graph.inputs}
    bound.update(graph.constants, ("",))
    read = set(graph.outputs)
    for node in graph.nodes:
        bound.update(node.outputs)
        read.update(node.inputs)
        for body in subgraphs(node):
            read |= _free(body, free)
    found = free[id(graph)] = frozenset(read - bound)
    return found


def _sort(graph: Graph, outer: AbstractSet[str], free: Free) -> None:
    """Sort by Kahn's algorithm, taking of the nodes that can run the one that is first in the file."""
    nodes = graph.nodes
    start = {declared.name for declared in graph.inputs}
    start.update(graph.constants, ("",))
    producer = {name: index for index, node in enumerate(nodes) for name in node.outputs if name}
    waiting = [0] * len(nodes)
    readers: dict[int, list[int]] = {}
    for index, node in enumerate(nodes):
        names = set(node.inputs)
        names.update(*(_free(body, free) for body in subgraphs(node)))
        needed = set()
        for name in names:
            if name in producer:
                needed.add(producer[name])
            elif name not in start and name not in outer:
                raise InputError(_dangling(name, _label(node)))
        waiting[index] = len(needed)
        for maker in needed:
            readers.setdefault(maker, []).append(index)
    ready = [index for index, count in enumerate(waiting) if not count]
    order: list[Node] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(nodes[index])
        for reader in readers.get(index, ()):
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, reader)
    if len(order) < len(nodes):
        stuck = next(index for index, count in enumerate(waiting) if count)
        raise InputError(
            f"{_label(nodes[stuck])} needs its own result (the graph has a cycle of values): "
            "a model must be acyclic, use Loop or Scan for recurrence"
        )
    graph.nodes = order


def _label(node: Node) -> str:
    return (
        f'node "{node.name}" ({node.op})'
        if node.name
        else f'the {node.op} node that makes "{node.outputs[0] if node.outputs else ""}"'
    )


def _dangling(name: str, where: str) -> str:
    shown = name if len(name) <= 80 else name[:77] + "..."
    return f'{where} needs a value "{shown}" that no node, input or initialiser provides: the graph is incomplete, export the model again'


def _twice(name: str, graph: Graph) -> str:
    return f'the value "{name}" is defined twice in the graph "{graph.name}": every value needs one definition, rename one of them'
