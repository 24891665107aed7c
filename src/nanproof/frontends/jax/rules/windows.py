"""Sums and extremes of windows (pooling), and the gradient of the latter."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.frontends.jax.rules.shaping import reshaped, transposed
from nanproof.frontends.jax.rules.slicing import spread
from nanproof.frontends.jax.translating import Equation, UnmappedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanproof.frontends.jax.translating import Rule, Translator, Type
    from nanproof.frontends.jax.writing import Block


@dataclass(frozen=True, slots=True)
class Pooling:
    """Windows over some axes of a tensor, which come last; all others are taken as one axis of many images with one channel."""

    axes: tuple[int, ...]
    others: tuple[int, ...]
    sizes: tuple[Any, ...]
    """Of the tensor that the windows go over, axis by axis."""
    attributes: dict[str, Any]

    @property
    def order(self) -> list[int]:
        """The others, then the axes with windows."""
        return [*self.others, *self.axes]

    def images(self, block: Block, x: str, sizes: Sequence[Any]) -> str:
        """The tensor as [images, 1, axes...]."""
        flat = [prod(sizes[axis] for axis in self.others), 1, *(sizes[axis] for axis in self.axes)]
        return reshaped(block, transposed(block, x, self.order), flat)

    def back(self, block: Block, x: str, sizes: Sequence[Any]) -> str:
        """What came of images, with the axes where they were."""
        unfolded = reshaped(block, x, [sizes[axis] for axis in self.order])
        return transposed(block, unfolded, [self.order.index(axis) for axis in range(len(self.order))])


def pooling(kind: Type, params: Any) -> Pooling:
    """The windows of an equation."""
    rank = kind.rank
    window, strides = params["window_dimensions"], params["window_strides"] or (1,) * rank
    padding = params["padding"] if not isinstance(params["padding"], str) else None
    if padding is None:
        raise UnmappedError("padding by name")
    dilation = params.get("window_dilation") or (1,) * rank
    if any(width < 0 for pair in padding for width in pair):
        raise UnmappedError("windows with negative padding")
    axes = tuple(
        axis for axis in range(rank)
        if (window[axis], strides[axis], *padding[axis]) != (1, 1, 0, 0)
    ) or (rank - 1,)  # fmt: skip
    attributes = {
        "kernel_shape": [int(window[a]) for a in axes],
        "strides": [int(strides[a]) for a in axes],
        "dilations": [int(dilation[a]) for a in axes],
        "pads": [int(padding[a][side]) for side in (0, 1) for a in axes],
    }
    return Pooling(axes, tuple(a for a in range(rank) if a not in axes), kind.shape, attributes)


def _widened(block: Block, eqn: Equation, fill: float) -> tuple[str, list[Any]]:
    """The operand with copies of a value between its elements, where the windows say so."""
    x, sizes = eqn.inputs[0], list(eqn.operands[0].shape)
    for axis, step in enumerate(eqn.params.get("base_dilation") or ()):
        if step != 1:
            between = block.constant(fill, eqn.operands[0].dtype)
            x = spread(block, x, sizes, axis, (int(step) - 1, between))
            sizes[axis] = (sizes[axis] - 1) * step + 1
    return x, sizes


def _in_float(block: Block, eqn: Equation, x: str) -> str:
    """Integers as float64: ONNX pools floats."""
    return x if eqn.operands[0].is_float else block.cast(x, np.float64)


def _sum(_: Translator, block: Block, eqn: Equation) -> str:
    """A convolution with ones, image by image."""
    windows = pooling(eqn.operands[0], eqn.params)
    x, sizes = _widened(block, eqn, 0)
    images = windows.images(block, _in_float(block, eqn, x), sizes)
    kind = eqn.operands[0].dtype if eqn.operands[0].is_float else np.dtype(np.float64)
    ones = block.constant(np.ones([1, 1, *windows.attributes["kernel_shape"]]), kind)
    total = windows.back(block, block.add("Conv", images, ones, **windows.attributes), eqn.results[0].shape)
    return total if eqn.operands[0].is_float else block.cast(total, eqn.results[0].dtype)


def extreme(*, largest: bool) -> Rule:
    """MaxPool, of the negative numbers for the smallest."""

    def rule(_: Translator, block: Block, eqn: Equation) -> str:
        windows = pooling(eqn.operands[0], eqn.params)
        x, sizes = _widened(block, eqn, -np.inf if largest else np.inf)
        x = _in_float(block, eqn, x)
        images = windows.images(block, x if largest else block.add("Neg", x), sizes)
        found = block.add("MaxPool", images, **windows.attributes)
        found = windows.back(block, found if largest else block.add("Neg", found), eqn.results[0].shape)
        return found if eqn.operands[0].is_float else block.cast(found, eqn.results[0].dtype)

    return rule


def _select_and_scatter_add(_: Translator, block: Block, eqn: Equation) -> str:
    """Each number of the source is added where the extreme of its window was: the gradient of pooling."""
    source, operand = eqn.inputs
    given = eqn.operands[1]
    if not all(isinstance(size, (int, np.integer)) for size in given.shape):
        raise UnmappedError("the gradient of pooling over axes of open size")
    windows = pooling(given, eqn.params)
    largest = str(eqn.params["select_prim"]) in {"ge", "gt"}
    images = windows.images(block, operand if largest else block.add("Neg", operand), given.shape)
    _values, places = block.emit("MaxPool", images, outputs=2, **windows.attributes)
    total = prod(given.shape)
    numbers = reshaped(block, transposed(block, source, windows.order), [prod(eqn.operands[0].shape)])
    zeros = block.add("Expand", block.constant(0, given.dtype), block.ints([total]))
    flat = reshaped(block, places, [prod(eqn.operands[0].shape)])
    found = block.add("ScatterElements", zeros, flat, numbers, axis=0, reduction="add")
    return windows.back(block, found, given.shape)


def _select_and_gather_add(_: Translator, block: Block, eqn: Equation) -> str:
    """The number of the first operand at the place of the extreme of each window of the second."""
    tangents, operand = eqn.inputs
    given = eqn.operands[1]
    windows = pooling(given, eqn.params)
    largest = str(eqn.params["select_prim"]) in {"ge", "gt"}
    images = windows.images(block, operand if largest else block.add("Neg", operand), given.shape)
    _values, places = block.emit("MaxPool", images, outputs=2, **windows.attributes)
    flat = reshaped(block, transposed(block, tangents, windows.order), [prod(given.shape)])
    return windows.back(block, block.add("Gather", flat, places, axis=0), eqn.results[0].shape)


RULES: dict[str, Rule] = {
    "reduce_window_sum": _sum,
    "reduce_window_max": extreme(largest=True),
    "reduce_window_min": extreme(largest=False),
    "select_and_scatter_add": _select_and_scatter_add,
    "select_and_gather_add": _select_and_gather_add,
}
