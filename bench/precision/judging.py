"""Whether a pair is what it says it is, and what the tool says about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto

import nanproof
from nanproof.execution.onnx_runtime import run

from .pairs import Pair, dtypes_of, is_float, shapes, with_every_value

Row = dict[str, Any]

HANDED_ON = frozenset({"Constant", "ConstantOfShape", "Expand", "Reshape", "Identity", "Cast", "CastLike", "Trilu",
                       "Unsqueeze", "Squeeze", "Concat", "Slice", "Transpose", "Where"})  # fmt: skip
"""Operators that only hand on an Inf which somebody wrote down, such as that of a mask."""
TELLING = (0.0, 1.0, -1.0, 1e-9, 1e-4, 20.0, 60.0, 100.0, -18.5, -40.0)
"""Where functions saturate, vanish or change their course."""


def judged(family: str, pair: Pair) -> Row:
    """A row of the table: both answers of the tool, and the graphs' own behaviour in ONNX Runtime."""
    defective, repaired = pair.model(pair.defective), pair.model(pair.repaired)
    before = nanproof.check(defective, ranges=pair.ranges, dims=pair.dims)
    after = nanproof.check(repaired, ranges=pair.repaired_ranges, dims=pair.dims)
    named = {name for finding in before.found for name in (finding.node, *finding.also)}
    return {
        "family": family,
        "pair": pair.name,
        "form": pair.form,
        "facts": list(pair.facts),
        "flagged": bool(named & within(defective, pair.fails_at)),
        "proved": not after.found,
        "open": [f"{finding.code} {finding.node}" for finding in after.found],
        "fails": pair.fails_at in births(defective, pair.failing())[0],
        "holds": holds(pair),
        "seconds": before.seconds + after.seconds,
    }


def holds(pair: Pair, count: int = 120) -> bool:
    """Whether the repaired graph's outputs are finite for corners and random values of its ranges."""
    model = pair.model(pair.repaired)
    content = model.SerializeToString()
    return all(
        not _spoilt(output)
        for sizes in _some_sizes(pair)
        for feeds in islice(samples(model, pair.repaired_ranges, sizes), count)
        for output in run(content, feeds)
    )


def _some_sizes(pair: Pair) -> list[dict[str, int]]:
    if not pair.dims:
        return [{}]
    return [{n: low for n, (low, _) in pair.dims.items()}, {n: min(most, 7) for n, (_, most) in pair.dims.items()}]


def samples(
    model: ModelProto, ranges: Mapping[str, tuple[float, float]], sizes: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """Inputs in range: tensors of one telling value in half of the cases, then mixed, random and nearly equal ones."""
    random = np.random.default_rng(3)
    dtypes, places = dtypes_of(model.graph), shapes(model.graph, sizes)
    choices = [[v for v in (*ranges[n], *TELLING) if ranges[n][0] <= v <= ranges[n][1]] for n, _ in places]
    corners = list(product(*choices))
    random.shuffle(corners)
    for corner in corners[:60]:
        yield {n: np.full(shape, v, dtypes[n]) for (n, shape), v in zip(places, corner, strict=True)}
    while True:
        feeds = {}
        kind = int(random.integers(4))
        for (name, shape), chosen in zip(places, choices, strict=True):
            low, high = ranges[name]
            if kind == 0:
                drawn = random.choice(chosen, shape)
            elif kind == 1:
                drawn = random.uniform(low, high, shape)
            elif kind == 2:
                drawn = np.where(random.random(shape) < 0.5, random.uniform(low, high, shape), random.choice(chosen))
            else:
                drawn = random.uniform(low, high) * (1 + random.integers(-8, 9, shape) * 2.0**-20)
            drawn = drawn if dtypes[name] in {np.float32, np.float64} else np.round(drawn)
            feeds[name] = np.asarray(np.clip(drawn, low, high)).astype(dtypes[name])
        yield feeds


def births(model: ModelProto, feeds: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Where a run computes NaN or Inf that reaches an output: the values that come from operands without, in running
    order; and the outputs.
    """
    shown = with_every_value(model)
    values = dict(feeds)
    values |= dict(zip((o.name for o in shown.graph.output), run(shown.SerializeToString(), feeds), strict=True))
    reaching = {o.name for o in model.graph.output if _spoilt(values.get(o.name))}
    for node in reversed(model.graph.node):
        if reaching & set(node.output):
            reaching |= set(_spoiling(node, values))
    born = [name for node in model.graph.node for name in node.output if name in reaching and _born(node, name, values)]
    return born, {o.name: values[o.name] for o in model.graph.output}


def _spoiling(node: NodeProto, values: Mapping[str, Any]) -> Iterator[str]:
    """The operands whose NaN or Inf a node takes over; of a Where, where it chooses them."""
    for position, name in enumerate(node.input):
        array = values.get(name)
        if not _spoilt(array):
            continue
        if node.op_type == "Where":
            chosen = values[node.input[0]] == (position == 1)
            if not (chosen & ~np.isfinite(np.asarray(array))).any():
                continue
        yield name


def _born(node: NodeProto, name: str, values: Mapping[str, Any]) -> bool:
    operands = [values.get(i) for i in node.input]
    if np.isnan(values[name]).any():
        return not any(is_float(x) and np.isnan(np.asarray(x)).any() for x in operands)
    return node.op_type not in HANDED_ON and not any(_spoilt(x) for x in operands)


def _spoilt(array: Any) -> bool:
    return is_float(array) and not bool(np.isfinite(array).all())


def within(model: ModelProto, name: str) -> set[str]:
    """The names by which a report may call the node that computes a value: its outputs, and those in its bodies."""

    def names(node: NodeProto) -> Iterator[str]:
        yield from node.output
        for attribute in node.attribute:
            for inner in attribute.g.node:
                yield from names(inner)

    return {n for node in model.graph.node if name in node.output for n in (node.name, *names(node)) if n}
