"""Convolutions in their general form: any order of axes, dilated on both sides, grouped by feature or by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.frontends.jax.rules.shaping import reshaped, transposed
from nanproof.frontends.jax.rules.slicing import cut, spread
from nanproof.frontends.jax.translating import Equation, UnmappedError

if TYPE_CHECKING:
    from nanproof.frontends.jax.translating import Rule, Translator
    from nanproof.frontends.jax.writing import Block


def _conv(_: Translator, block: Block, eqn: Equation) -> str:
    wanted = eqn.results[0].dtype
    if wanted.kind == "c":
        raise UnmappedError("complex numbers are not followed")
    kind = wanted if eqn.results[0].is_float else np.dtype(np.float64)  # ONNX convolves floats
    params = eqn.params
    numbers = params["dimension_numbers"]
    x, filters = (
        name if given.dtype == kind else block.cast(name, kind)
        for name, given in zip(eqn.inputs, eqn.operands, strict=True)
    )
    x = transposed(block, x, numbers.lhs_spec)
    filters = transposed(block, filters, numbers.rhs_spec)
    sizes = [eqn.operands[0].shape[axis] for axis in numbers.lhs_spec]
    outputs = eqn.operands[1].shape[numbers.rhs_spec[0]]
    groups = int(params["feature_group_count"])
    if params["batch_group_count"] != 1:
        groups = int(params["batch_group_count"])
        x, sizes = _batches_as_features(block, x, sizes, groups)
    x, pads, sizes = _prepared(block, x, sizes, (params, kind))
    attributes: dict[str, Any] = {
        "strides": [int(step) for step in params["window_strides"]],
        "dilations": [int(step) for step in params["rhs_dilation"]],
        "pads": pads, "group": groups,
        "kernel_shape": [int(eqn.operands[1].shape[axis]) for axis in numbers.rhs_spec[2:]],
    }  # fmt: skip
    assert outputs % groups == 0
    result = block.add("Conv", x, filters, **attributes)
    order = [list(numbers.out_spec).index(axis) for axis in range(len(numbers.out_spec))]
    result = transposed(block, result, order)
    return result if kind == wanted else block.cast(result, wanted)


def _batches_as_features(block: Block, x: str, sizes: list[Any], groups: int) -> tuple[str, list[Any]]:
    """Groups of the batch meet groups of filters: as groups of features, that is a usual convolution."""
    batch, features, *space = sizes
    split = reshaped(block, x, [groups, batch // groups, features, *space])
    moved = transposed(block, split, [1, 0, *range(2, len(sizes) + 1)])
    sizes = [batch // groups, groups * features, *space]
    return reshaped(block, moved, sizes), sizes


def _prepared(
    block: Block, x: str, sizes: list[Any], about: tuple[Any, np.dtype[Any]]
) -> tuple[str, list[int], list[Any]]:
    """Zeros between the elements, and what negative padding takes away; with the padding that is left."""
    params, kind = about
    for axis, step in enumerate(params["lhs_dilation"], start=2):
        if step != 1:
            x = spread(block, x, sizes, axis, (int(step) - 1, block.constant(0, kind)))
            sizes[axis] = (sizes[axis] - 1) * step + 1
    edges = [(0, 0), (0, 0), *((low, high) for low, high in params["padding"])]
    taken = [(min(low, 0), min(high, 0)) for low, high in edges]
    x = cut(block, x, sizes, taken)
    pads = [max(int(edges[axis][side]), 0) for side in (0, 1) for axis in range(2, len(sizes))]
    return x, pads, sizes


RULES: dict[str, Rule] = {"conv_general_dilated": _conv}
