"""An optimiser's step as a graph: parameters, gradients and state in; parameters and state out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from nanproof.frontends.torch.joint import stand_ins
from nanproof.frontends.torch.tracing import own_lines
from nanproof.frontends.torch.update import kernels
from nanproof.frontends.torch.update.choosing import Chosen
from nanproof.frontends.torch.update.states import (
    COUNTER,
    Kept,
    as_if_compiled,
    decides_by_data,
    kept_by,
    over,
    stepped,
    symbols,
)

LATER = 1000
"""The number of steps taken, where an optimiser decides by it."""
_RECORDS = "profiler"


@dataclass(frozen=True, slots=True)
class Update:
    """A graph whose placeholders are the parameters, their gradients, the state, and whose results are parameters and state after.

    kept   what of the state is a tensor, one for each placeholder and each result; the count of steps is one for all
    fixed  whether the count of steps is a number in the graph, because the optimiser decides by it
    """

    graph: Any
    trained: tuple[str, ...]
    kept: tuple[Kept, ...]
    fixed: bool

    @property
    def counted(self) -> bool:
        """Whether the count of steps is an input."""
        return not self.fixed and any(item.counts for item in self.kept)


def traced(
    chosen: Chosen, trained: Mapping[str, Any], about: tuple[Mapping[Any, Callable[..., Any]], tuple[str, ...], str]
) -> Update:
    """Trace one step over parameters by name. ``about``: how operators are taken apart, whose lines count, and the label."""
    table, owners, label = about
    kept, others = kept_by(chosen.optimizer, trained, label)
    # left whole, or a count of steps is no longer known for the number that it is
    table = {operator: apart for operator, apart in table.items() if "lift" not in str(operator)} | kernels.table()
    try:
        graph = _graph(chosen, trained, (kept, others, False), (table, owners, label))
        fixed = False
    except Exception as error:
        if not decides_by_data(error.__cause__ or error):
            raise
        graph = _graph(chosen, trained, (kept, others, True), (table, owners, label))
        fixed = True
    return Update(graph, tuple(trained), tuple(kept), fixed)


def _graph(
    chosen: Chosen, trained: Mapping[str, Any], state: tuple[Sequence[Kept], Mapping[str, Mapping[str, Any]], bool],
    about: tuple[Mapping[Any, Callable[..., Any]], tuple[str, ...], str],
) -> Any:  # fmt: skip
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    kept, others, fixed = state
    table, owners, label = about
    moving = [item for item in kept if not item.counts]

    def run(parameters: list[Any], gradients: list[Any], values: list[Any], count: Any) -> list[Any]:
        new = {name: p.clone() for name, p in zip(trained, parameters, strict=True)}
        made = over(chosen.optimizer, {id(p): new[name] for name, p in trained.items()})
        for name, gradient in zip(trained, gradients, strict=True):
            new[name].grad = gradient.clone()
            made.state[new[name]].update(_aged(others.get(name, {})))
        for item, value in zip(moving, values, strict=True):
            made.state[new[item.owner]][item.key] = value.clone()
        for item in kept:
            if item.counts:
                # in double precision, as Python's own numbers, which it stands for
                made.state[new[item.owner]][item.key] = torch.tensor(float(LATER)) if fixed else count.to(torch.float64)
        if chosen.clip is not None:
            torch.nn.utils.clip_grad_norm_(list(new.values()), chosen.clip, foreach=False)
        stepped(made, label)
        return [*new.values(), *(made.state[new[item.owner]][item.key] for item in moving)]

    with symbols(counting=fixed):
        parameters = [torch.empty(p.shape, dtype=p.dtype) for p in trained.values()]
        values = [torch.empty(item.shape, dtype=item.dtype) for item in moving]
        count = torch.empty((), dtype=torch.int64)
    whole = torch.func.functionalize(run, remove="mutations_and_views")
    tracer = make_fx(
        whole, decomposition_table=dict(table), tracing_mode="fake", _allow_fake_constant=True, record_stack_traces=True,
        _error_on_data_dependent_ops=fixed,
    )  # fmt: skip
    with own_lines(owners), torch.no_grad(), nullcontext() if fixed else as_if_compiled():
        graph = tracer(parameters, [p.clone() for p in parameters], values, count)
    _simplified(graph)
    if not any(item.counts for item in kept) or fixed:
        graph.graph.erase_node([node for node in graph.graph.nodes if node.op == "placeholder"][-1])
    return graph


def _aged(others: Mapping[str, Any]) -> dict[str, Any]:
    """What is no tensor, as it is in a later step."""
    return {key: LATER if key == COUNTER and isinstance(value, int) else value for key, value in others.items()}


def _simplified(graph: Any) -> None:
    """Take out what is only for the profiler, constants that are tensors of one number, and numbers read out of tensors."""
    import torch

    aten = torch.ops.aten
    for node in reversed(graph.graph.nodes):
        if node.op == "call_function" and str(node.target).startswith(_RECORDS):
            graph.graph.erase_node(node)
    for node in list(graph.graph.nodes):
        if node.op == "get_attr":
            _in_place(graph, node, getattr(graph, node.target))
        elif node.target is aten._local_scalar_dense.default:  # noqa: SLF001 - the operator's name
            node.replace_all_uses_with(node.args[0])
            graph.graph.erase_node(node)
    graph.graph.eliminate_dead_code()
    stand_ins(graph)
    graph.recompile()


def _in_place(graph: Any, node: Any, value: Any) -> None:
    """A constant of one element as an operator that makes it."""
    import torch

    with graph.graph.inserting_before(node):
        made = graph.graph.call_function(
            torch.ops.aten.full.default, (list(value.shape), value.item()), {"dtype": value.dtype, "pin_memory": False}
        )
    made.meta["val"] = node.meta.get("val", torch.empty(value.shape, dtype=value.dtype, device="meta"))
    node.replace_all_uses_with(made)
    graph.graph.erase_node(node)
