"""If, Loop, Scan and SequenceMap with concrete tensors: the bodies are run as often as the values say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from nanproof.execution.onnx_runtime import CannotRunError

if TYPE_CHECKING:
    from nanproof.model.lower import Program, Step

Body = Callable[["Program", dict[int, Any]], None]
"""Runs the steps of a body in a scope, which then has the body's results."""

MOST = 10_000
"""Iterations after which a loop is taken to run for ever."""


def run_branches(step: Step, operands: Sequence[Any], scope: dict[int, Any], run: Body) -> tuple[Any, ...]:
    """The results of a node with bodies."""
    name = "" if step.node.domain else step.node.op
    if name == "If":
        other, then = step.branches  # by attribute name: else_branch, then_branch
        return tuple(_inside(then if bool(operands[0].reshape(-1)[0]) else other, (), scope, run))
    if name == "Loop":
        return _loop(step, operands, scope, run)
    if name == "Scan":
        return _scan(step, operands, scope, run)
    if name == "SequenceMap":
        return _sequence_map(step, operands, scope, run)
    raise CannotRunError(f"{step.node.op} ({step.node.name}) has bodies that can't be run")


def _inside(body: Program, values: Sequence[Any], scope: dict[int, Any], run: Body) -> list[Any]:
    inner = dict(scope)
    inner.update(zip(body.inputs, values, strict=False))
    run(body, inner)
    return [inner[slot] for slot in body.outputs]


def _loop(step: Step, operands: Sequence[Any], scope: dict[int, Any], run: Body) -> tuple[Any, ...]:
    import torch

    body = step.branches[0]
    padded = [*operands, *(None for _ in range(2 - len(operands)))]
    most = MOST if padded[0] is None else int(padded[0])
    go = True if padded[1] is None else bool(padded[1])
    carried = list(padded[2:])
    rows: list[list[Any]] = []
    count = 0
    while go and count < most:
        if count >= MOST:
            raise CannotRunError(f"{step.node.name} (Loop) runs more than {MOST} times")
        results = _inside(body, (torch.tensor(count), torch.tensor(go), *carried), scope, run)
        go = bool(results[0].reshape(-1)[0])
        carried = results[1 : 1 + len(carried)]
        rows.append(results[1 + len(carried) :])
        count += 1
    scanned = len(body.outputs) - 1 - len(carried)
    return (*carried, *(_stacked([row[i] for row in rows], 0) for i in range(scanned)))


def _scan(step: Step, operands: Sequence[Any], scope: dict[int, Any], run: Body) -> tuple[Any, ...]:
    body, attrs = step.branches[0], step.attrs
    walked = int(attrs["num_scan_inputs"])  # type: ignore[arg-type]
    split = len(operands) - walked
    carried, feeds = list(operands[:split]), operands[split:]
    axes, back = _attr(attrs, "scan_input_axes", walked), _attr(attrs, "scan_input_directions", walked)
    length = feeds[0].shape[axes[0]]
    rows = []
    for i in range(length):
        at = [x.select(a, length - 1 - i if b else i) for x, a, b in zip(feeds, axes, back, strict=True)]
        results = _inside(body, (*carried, *at), scope, run)
        carried = results[:split]
        rows.append(results[split:])
    scanned = len(body.outputs) - split
    out, reverse = _attr(attrs, "scan_output_axes", scanned), _attr(attrs, "scan_output_directions", scanned)
    columns = [[row[i] for row in (rows[::-1] if reverse[i] else rows)] for i in range(scanned)]
    return (*carried, *(_stacked(column, axis) for column, axis in zip(columns, out, strict=True)))


def _attr(attrs: Any, name: str, count: int) -> list[int]:
    return [int(i) for i in attrs.get(name, (0,) * count)]


def _sequence_map(step: Step, operands: Sequence[Any], scope: dict[int, Any], run: Body) -> tuple[Any, ...]:
    body = step.branches[0]
    rows = []
    for i in range(len(operands[0])):
        at = [x[i] if isinstance(x, list) else x for x in operands]
        rows.append(_inside(body, at, scope, run))
    return tuple([row[i] for row in rows] for i in range(len(body.outputs)))


def _stacked(items: list[Any], axis: int) -> Any:
    import torch

    return torch.stack(items, dim=axis) if items else torch.zeros(0)
