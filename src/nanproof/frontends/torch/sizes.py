"""Sizes that stay open: what torch.export is asked for, and what became of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from nanproof.frontends.descriptions import Wishes
from nanproof.frontends.torch.examples import Examples


def leaves_of(bound: Mapping[str, Any]) -> dict[str, Any]:
    """The tensors among bound arguments, by path."""
    return dict(_leaves(bound))


def bound_arguments(signature: inspect.Signature, examples: Examples) -> dict[str, Any]:
    """The example inputs by the names of the parameters."""
    return dict(signature.bind(*examples.args, **examples.kwargs).arguments)


def shapes(bound: Mapping[str, Any], wanted: Wishes) -> dict[str, Any] | None:
    """What ``torch.export`` takes as ``dynamic_shapes``; None where nothing stays open."""
    if not wanted:
        return None
    return {name: _shape(value, name, wanted) for name, value in bound.items()}


def kept(exported: Any, bound: Mapping[str, Any], wanted: Wishes) -> tuple[dict[str, str], list[str]]:
    """The names of the symbols that stayed open, and notes on those that the program fixed to the example's size."""
    import torch

    if not wanted:
        return {}, []
    symbols: dict[str, str] = {}
    fixed: list[str] = []
    users = [name for name in exported.graph_signature.user_inputs if isinstance(name, str)]
    nodes = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    values = [nodes[name].meta["val"] for name in users if name in nodes]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    for (path, leaf), value in zip(_leaves(bound), tensors, strict=False):
        for axis in range(leaf.ndim):
            name = wanted.get((path, axis))
            size = value.shape[axis]
            if name is None:
                continue
            if isinstance(size, int):
                fixed.append(f"axis {axis} of {path} ({size})")
            elif re.fullmatch(r"s\d+", str(size)):
                symbols.setdefault(str(size), name)
    return symbols, _notes(symbols, fixed)


def renamed(text: str, symbols: Mapping[str, str]) -> str:
    """A size as the exporter writes it, with the names that the user knows."""
    return re.sub(r"\bs\d+\b", lambda hit: symbols.get(hit[0], hit[0]), text)


def _notes(symbols: Mapping[str, str], fixed: list[str]) -> list[str]:
    notes = []
    if symbols:
        names = ", ".join(dict.fromkeys(symbols.values()))
        notes.append(
            f"sizes kept open: {names}; torch.export takes such a size for 2 or more, so that a guard against an empty axis, "
            "as max(n, 1), is not in what was checked"
        )
    if fixed:
        notes.append(f"sizes asked to stay open that the program fixes to the example's: {', '.join(fixed)}")
    return notes


def _leaves(bound: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Tensors with their paths, in the order in which torch flattens arguments."""
    import torch
    from torch.utils import _pytree as pytree

    for name, value in bound.items():
        for keys, leaf in pytree.tree_flatten_with_path(value)[0]:
            if isinstance(leaf, torch.Tensor):
                yield name + pytree.keystr(keys), leaf


def _shape(value: Any, name: str, wanted: Wishes) -> Any:
    import torch
    from torch.utils import _pytree as pytree

    def axes(keys: Any, leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return None
        path = name + pytree.keystr(keys)
        return {axis: torch.export.Dim.AUTO for axis in range(leaf.ndim) if (path, axis) in wanted} or None

    return pytree.tree_map_with_path(axes, value)
