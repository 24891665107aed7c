"""Sorting, by one key or several, and the largest elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nanproof.frontends.jax.translating import Equation, UnmappedError

if TYPE_CHECKING:
    from nanproof.frontends.jax.translating import Rule, Translator, Type
    from nanproof.frontends.jax.writing import Block


def _sort(_: Translator, block: Block, eqn: Equation) -> list[str]:
    """By each key in turn, the last first: ONNX's order of equal elements is the one they come in."""
    axis, keys = int(eqn.params["dimension"]), int(eqn.params["num_keys"])
    values = list(eqn.inputs)
    if len(values) == 1:
        return [_ordered(block, values[0], eqn.operands[0], axis)[0]]
    for key in reversed(range(keys)):
        chosen, places = _ordered(block, values[key], eqn.operands[key], axis)
        values = [
            chosen if number == key else block.add("GatherElements", value, places, axis=axis)
            for number, value in enumerate(values)
        ]
    return values


def _ordered(block: Block, x: str, kind: Type, axis: int) -> tuple[str, str]:
    """The elements in rising order, and where they were."""
    source = block.cast(x, np.int32) if kind.is_bool or (kind.dtype.itemsize < 4 and not kind.is_float) else x
    count = block.size(kind.shape[axis])
    values, places = block.emit("TopK", source, count, outputs=2, axis=axis, largest=0, sorted=1)
    return (values if source == x else block.cast(values, kind.dtype)), places


def _top_k(_: Translator, block: Block, eqn: Equation) -> list[str]:
    axis = int(eqn.params.get("axis", eqn.operands[0].rank - 1))
    values, places = block.emit(
        "TopK", eqn.inputs[0], block.size(eqn.params["k"]), outputs=2, axis=axis, largest=1, sorted=1
    )
    return [values, block.cast(places, eqn.results[1].dtype)]


def _approx_top_k(_: Translator, block: Block, eqn: Equation) -> list[str]:
    if not eqn.params.get("aggregate_to_topk", True):
        raise UnmappedError("parts of a search for the largest elements")
    axis = int(eqn.params["reduction_dimension"])
    values, places = block.emit(
        "TopK", eqn.inputs[0], block.size(eqn.params["k"]), outputs=2, axis=axis,
        largest=int(eqn.params["is_max_k"]), sorted=1,
    )  # fmt: skip
    return [values, block.cast(places, eqn.results[1].dtype)]


RULES: dict[str, Rule] = {"sort": _sort, "top_k": _top_k, "approx_top_k": _approx_top_k}
