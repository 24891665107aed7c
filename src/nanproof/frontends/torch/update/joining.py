"""Append an optimiser's step to the graph of a loss and its gradients."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from nanproof.frontends.torch.joint import PART
from nanproof.frontends.torch.update.choosing import Chosen
from nanproof.frontends.torch.update.states import COUNTER
from nanproof.frontends.torch.update.tracing import Update
from nanproof.model.graph import STEP_MARK

AFTER = "{} after"
"""The name of what a parameter or a part of the state is after the step."""


def joined(
    graph: Any, specs: list[Any], outputs: list[Any], names: list[str], step: tuple[Chosen, Update]
) -> dict[str, str]:
    """Append the step to a joint graph, in place, with its results to ``outputs`` and ``names`` and its state to ``specs``.

    Returns the names of the new inputs by what they are called in the graph.
    """
    chosen, update = step
    gradients = dict(zip(names, outputs, strict=True))
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    parameters = {
        spec.target: node for spec, node in zip(specs, placeholders, strict=True) if spec.target in update.trained
    }
    moving = [item for item in update.kept if not item.counts]
    inner = [node for node in update.graph.graph.nodes if node.op == "placeholder"]
    count = len(update.trained)
    values: dict[Any, Any] = {}
    _symbols_of(update.graph, placeholders[0].meta["val"].fake_mode)
    for name, parameter, gradient in zip(update.trained, inner[:count], inner[count : 2 * count], strict=True):
        values[parameter], values[gradient] = parameters[name], gradients[f"{name}.grad"]
    inputs: dict[str, str] = {}
    called = [item.name for item in moving] + ([COUNTER] if update.counted else [])
    for number, (name, node) in enumerate(zip(called, inner[2 * count :], strict=False)):
        made = _placeholder(graph, f"state_{number}", node, specs)
        values[node], inputs[made.name] = made, name
    owners = _owners(update)
    before = set(graph.graph.nodes)
    output = graph.graph.output_node()
    with graph.graph.inserting_before(output):
        results = graph.graph.graph_copy(update.graph.graph, values)
    places: Counter[str] = Counter()
    for node in update.graph.graph.nodes:
        twin = values.get(node)
        if twin is not None and twin not in before and twin.op == "call_function":
            owner = owners.get(node, "")
            places[owner] += 1
            _mark(twin, chosen, owner, places[owner])
    outputs += results
    names += [AFTER.format(name) for name in (*update.trained, *(item.name for item in moving))]
    return inputs


def _symbols_of(graph: Any, mode: Any) -> None:
    """Let all tensors of the step be of the same kind as those of the joint graph: a program has one mode for its symbols."""
    import torch

    for node in graph.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor):
            with mode:
                node.meta["val"] = torch.empty(value.shape, dtype=value.dtype)


def _placeholder(graph: Any, name: str, node: Any, specs: list[Any]) -> Any:
    from torch.export.graph_signature import InputKind, InputSpec, TensorArgument

    last = [other for other in graph.graph.nodes if other.op == "placeholder"][-1]
    with graph.graph.inserting_after(last):
        made = graph.graph.placeholder(name)
    made.meta = {key: copy.copy(value) for key, value in node.meta.items() if key in {"val", "tensor_meta"}}
    specs.append(InputSpec(InputKind.USER_INPUT, TensorArgument(name=made.name), None))
    return made


def _owners(update: Update) -> Mapping[Any, str]:
    """The one parameter that each node of the step is for; nodes that are for several have none."""
    results: Sequence[Any] = update.graph.graph.output_node().args[0]
    moving = [item.owner for item in update.kept if not item.counts]
    found: dict[Any, set[str]] = {}
    for result, owner in zip(results, [*update.trained, *moving], strict=True):
        waiting = [result]
        while waiting:
            node = waiting.pop()
            if owner not in found.setdefault(node, set()):
                found[node].add(owner)
                waiting += node.all_input_nodes
    return {node: next(iter(owners)) for node, owners in found.items() if len(owners) == 1}


def _mark(node: Any, chosen: Chosen, owner: str, place: int) -> None:
    """Say where a node comes from: the user's own optimiser, or the line that makes one of PyTorch's; and whose update it is."""
    stack = (node.meta.get("stack_trace") or "").rstrip()
    if not stack and chosen.place:
        file, _, line = chosen.place.rpartition(":")
        stack = f'  File "{file}", line {line}, in step'
    part = PART.format(phase="step", op=chosen.name, number=f"{owner}{STEP_MARK}{place}")
    node.meta["stack_trace"] = f'{stack}\n  File "{part}", line 1, in step'
    node._rename(f"{owner.replace('.', '_') or 'step'}_{node.name}")  # noqa: SLF001 - names are what reports show
