"""Softmax, and the losses on it that give their gradient along with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nanproof.frontends.tensorflow.context import Context, Translation
from nanproof.frontends.tensorflow.values import Tensor

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call


def _softmax(kind: str) -> Translation:
    return lambda c, call, x: c.op(kind, x, axis=-1)


def _cross_entropy(c: Context, call: Call, logits: Tensor, labels: Tensor) -> list[Tensor]:
    """The loss of each row, and its gradient."""
    logarithm = c.op("LogSoftmax", logits, axis=-1)
    loss = c.op("Neg", c.op("ReduceSum", c.op("Mul", labels, logarithm), c.ints([-1]), keepdims=0))
    return [loss, c.op("Sub", c.op("Softmax", logits, axis=-1), labels)]


def _sparse_cross_entropy(c: Context, call: Call, logits: Tensor, labels: Tensor) -> list[Tensor]:
    """The same with the number of the right class for each row."""
    places = c.op("Unsqueeze", c.int64(labels), c.ints([-1]))
    picked = c.op("GatherElements", c.op("LogSoftmax", logits, axis=-1), places, axis=-1)
    loss = c.op("Neg", c.op("Squeeze", picked, c.ints([-1])))
    depth = c.op("Gather", c.shape_vector(logits), c.ints([-1]))
    kind = np.asarray([0, 1])
    rows = c.op("OneHot", c.int64(labels), depth, c.const(kind, logits.kind), axis=-1)
    return [loss, c.op("Sub", c.op("Softmax", logits, axis=-1), rows)]


TRANSLATIONS: dict[str, Translation] = {
    "LogSoftmax": _softmax("LogSoftmax"),
    "Softmax": _softmax("Softmax"),
    "SoftmaxCrossEntropyWithLogits": _cross_entropy,
    "SparseSoftmaxCrossEntropyWithLogits": _sparse_cross_entropy,
}
