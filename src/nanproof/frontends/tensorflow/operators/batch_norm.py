"""Normalisation over the batch, in training and in use, and its gradient; normalisation over neighbouring channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nanproof.frontends.tensorflow.context import Context, Translation, UntranslatableError
from nanproof.frontends.tensorflow.operators.windows import Layout, layout_of
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call

EPSILON = 1e-4
"""TensorFlow's default."""


def _layout(c: Context, call: Call, x: Tensor) -> Layout:
    return layout_of(call, c.rank(x) - 2)


def _normalised(c: Context, call: Call, *operands: Tensor) -> list[Tensor]:
    x, scale, offset, mean, variance = operands
    epsilon = float(np.float32(call.get("epsilon", EPSILON)))
    layout = _layout(c, call, x)
    if not call.get("is_training", True):
        made = c.op("BatchNormalization", layout.front(c, x), scale, offset, mean, variance, epsilon=epsilon)
        return [layout.back(c, made), mean, variance, mean, variance, mean]
    average, spread = _moments(c, x, layout)
    root = c.op("Sqrt", c.op("Add", spread, c.like(epsilon, spread)))
    centred = c.op("Sub", x, _along(c, average, layout))
    unit = c.op("Div", centred, _along(c, root, layout))
    made = c.op("Add", c.op("Mul", unit, _along(c, scale, layout)), _along(c, offset, layout))
    unbiased = _unbiased(c, x, spread, layout)
    factor = float(np.float32(call.get("exponential_avg_factor", 1.0)))
    if factor != 1.0:
        old, new = c.like(1 - factor, average), c.like(factor, average)
        means = c.op("Add", c.op("Mul", mean, old), c.op("Mul", average, new))
        unbiased = c.op("Add", c.op("Mul", variance, old), c.op("Mul", unbiased, new))
        return [made, means, unbiased, average, spread, average]
    return [made, average, unbiased, average, spread, average]


def _axes(x: Tensor, layout: Layout, c: Context) -> list[int]:
    rank = c.rank(x)
    channel = rank - 1 if layout.last else 1
    return [axis for axis in range(rank) if axis != channel]


def _along(c: Context, values: Tensor, layout: Layout) -> Tensor:
    """A number for each channel, so that it meets the channels of the tensor."""
    return values if layout.last else c.op("Unsqueeze", values, c.ints(list(range(1, layout.space + 1))))


def _moments(c: Context, x: Tensor, layout: Layout) -> tuple[Tensor, Tensor]:
    axes = c.ints(_axes(x, layout, c))
    mean = c.op("ReduceMean", x, axes, keepdims=0)
    centred = c.op("Sub", x, _along(c, mean, layout))
    return mean, c.op("ReduceMean", c.op("Mul", centred, centred), axes, keepdims=0)


def _unbiased(c: Context, x: Tensor, variance: Tensor, layout: Layout) -> Tensor:
    """The variance that is averaged over time: n / (n - 1) times the batch's, n at least 2."""
    count = _count(c, x, layout)
    one = c.ints(1)
    less = c.op("Max", c.op("Sub", count, one), one)
    ratio = c.op("Div", c.cast(count, variance.kind), c.cast(less, variance.kind))
    return c.op("Mul", variance, ratio)


def _count(c: Context, x: Tensor, layout: Layout) -> Tensor:
    sizes = c.op("Gather", c.shape_vector(x), c.ints(_axes(x, layout, c)))
    return c.op("ReduceProd", sizes, keepdims=0)


def _gradient(c: Context, call: Call, *operands: Tensor) -> list[Tensor]:
    """Of a batch: scale / root * (grad - mean(grad) - unit * mean(grad * unit)); in use the last two parts are missing."""
    grad, x, scale, mean, variance = operands[:5]
    epsilon = float(np.float32(call.get("epsilon", EPSILON)))
    layout = _layout(c, call, x)
    axes = c.ints(_axes(x, layout, c))
    training = bool(call.get("is_training", True))
    if training:  # what the forward call kept is the batch's own mean and variance
        mean, variance = _moments(c, x, layout)
    root = c.op("Sqrt", c.op("Add", variance, c.like(epsilon, variance)))
    unit = c.op("Div", c.op("Sub", x, _along(c, mean, layout)), _along(c, root, layout))
    product = c.op("Mul", grad, unit)
    to_scale = c.op("ReduceSum", product, axes, keepdims=0)
    to_offset = c.op("ReduceSum", grad, axes, keepdims=0)
    inner = grad
    if training:
        even = c.op("Sub", grad, _along(c, c.op("ReduceMean", grad, axes, keepdims=0), layout))
        share = _along(c, c.op("ReduceMean", product, axes, keepdims=0), layout)
        inner = c.op("Sub", even, c.op("Mul", unit, share))
    factor = _along(c, c.op("Div", scale, root), layout)
    return [c.op("Mul", inner, factor), to_scale, to_offset, mean, variance]


def _neighbours(c: Context, call: Call, x: Tensor) -> Tensor:
    """Local response normalisation: x / (bias + alpha * sum of squares of 2 r + 1 channels) ^ beta."""
    if c.rank(x) != 4:
        raise UntranslatableError("no image")
    layout = Layout(2, last=True)
    width = 2 * int(call.get("depth_radius", 5)) + 1
    made = c.op(
        "LRN", layout.front(c, x), size=width, alpha=float(call.get("alpha", 1.0)) * width,
        beta=float(call.get("beta", 0.5)), bias=float(call.get("bias", 1.0)),
    )  # fmt: skip
    return layout.back(c, made)


TRANSLATIONS: dict[str, Translation] = {
    "FusedBatchNorm": _normalised,
    "FusedBatchNormGrad": _gradient,
    "FusedBatchNormGradV2": _gradient,
    "FusedBatchNormGradV3": _gradient,
    "FusedBatchNormV2": _normalised,
    "FusedBatchNormV3": _normalised,
    "LRN": _neighbours,
}
