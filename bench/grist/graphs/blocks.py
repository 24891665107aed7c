"""What the graphs are built from: TensorFlow 1's variables with their usual starts, and layers on them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

v1 = tf.compat.v1
Tensor = Any
Inputs = dict[str, Tensor]
"""The placeholders of a case by name."""


def zeros(name: str, *shape: int) -> Tensor:
    """A variable that starts at 0."""
    return v1.Variable(tf.zeros(shape), name=name)


def constant(name: str, value: float, *shape: int) -> Tensor:
    """A variable whose elements start at one value."""
    return v1.Variable(tf.constant(value, tf.float32, shape), name=name)


def truncated(name: str, std: float, *shape: int) -> Tensor:
    """A variable that starts normal around 0, cut at two standard deviations."""
    return v1.Variable(v1.truncated_normal(shape, stddev=std), name=name)


def uniform(name: str, bound: float, *shape: int) -> Tensor:
    """A variable that starts uniform around 0."""
    return v1.Variable(v1.random_uniform(shape, -bound, bound), name=name)


def fan(name: str, rows: int, columns: int) -> Tensor:
    """Uniform with the bound sqrt(6 / (rows + columns))."""
    return uniform(name, (6 / (rows + columns)) ** 0.5, rows, columns)


def convolved(x: Tensor, weight: Tensor, bias: Tensor, padding: str = "SAME") -> Tensor:
    """A convolution of step 1, ReLU, and the largest of every 2x2."""
    made = tf.nn.relu(tf.nn.conv2d(x, weight, 1, padding) + bias)
    return tf.nn.max_pool2d(made, 2, 2, "SAME")


def dropout(units: Tensor, keep_prob: Tensor) -> Tensor:
    """TensorFlow 1's dropout, whose probability is a placeholder."""
    scaled = units / keep_prob  # site: dropout
    return scaled * tf.floor(keep_prob + v1.random_uniform(tf.shape(units)))
