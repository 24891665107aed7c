"""TensorFuzz's network with a softmax that is unstable on purpose, in its three variants: 11a, 11b, 11c."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from .blocks import Inputs, Tensor, uniform, v1, zeros


def logits_of(given: Inputs) -> Tensor:
    """784 - 200 - 100 - 10 with ReLU."""
    first = tf.nn.relu(tf.matmul(tf.reshape(given["x"], [-1, 784]), uniform("W1", 0.25, 784, 200)) + zeros("b1", 200))
    second = tf.nn.relu(tf.matmul(first, uniform("W2", 0.25, 200, 100)) + zeros("b2", 100))
    return tf.matmul(second, uniform("W3", 0.25, 100, 10)) + zeros("b3", 10)


def division(given: Inputs) -> Tensor:
    """11a: the numerator is clipped, the divisor isn't and can be 0."""
    logits = logits_of(given)
    top = tf.exp(tf.clip_by_value(logits, -87.0, 87.0))  # site: exp clipped
    total = tf.reduce_sum(tf.exp(logits), 1, keepdims=True)  # site: exp
    p = top / total  # site: div
    return tf.reduce_mean(-tf.reduce_sum(given["y"] * v1.log(p + 1e-7), 1))  # site: log


def exponential(given: Inputs) -> Tensor:
    """11b: the exponential of the divisor overflows; the loss itself stays finite."""
    logits = logits_of(given)
    top = tf.exp(tf.clip_by_value(logits, -87.0, 87.0))  # site: exp clipped
    total = tf.reduce_sum(tf.exp(logits), 1, keepdims=True)  # site: exp
    p = top / total  # site: div
    return tf.reduce_mean(-tf.reduce_sum(given["y"] * v1.log(tf.clip_by_value(p, 1e-6, 1.0)), 1))  # site: log


def logarithm(given: Inputs) -> Tensor:
    """11c: nothing is guarded, as upstream has it."""
    grown = tf.exp(logits_of(given))  # site: exp
    p = grown / tf.reduce_sum(grown, 1, keepdims=True)  # site: div
    return tf.reduce_mean(-tf.reduce_sum(given["y"] * v1.log(p), 1))  # site: log


GRAPHS: dict[str, Callable[[Inputs], Tensor]] = {"11a": division, "11b": exponential, "11c": logarithm}
