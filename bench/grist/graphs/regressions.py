"""One linear layer: softmax regressions and logistic regressions with their cross entropies by hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import tensorflow as tf

from .blocks import Inputs, Tensor, constant, truncated, uniform, v1, zeros


def elementwise_entropy(given: Inputs) -> Tensor:
    """2: a binary cross entropy of every class by itself."""
    w, b = zeros("W", 784, 10), zeros("b", 10)
    p = tf.nn.softmax(tf.matmul(given["x"], w) + b)  # site: softmax
    hit = given["y"] * v1.log(p)  # site: log p
    miss = (1 - given["y"]) * v1.log(1 - p)  # site: log 1-p
    return -tf.reduce_mean(hit + miss)


def start(kind: str, *shape: int) -> tuple[Tensor, Tensor]:
    """Weights and biases as the programs start them."""
    if kind == "small":
        return truncated("W", 0.1, *shape), constant("b", 0.1, shape[-1])
    if kind == "wide":
        return uniform("W", 1.0, *shape), zeros("b", shape[-1])
    return zeros("W", *shape), zeros("b", shape[-1])


def regression(given: Inputs, *, kind: str = "zeros", mean: bool = False, form: str = "") -> Tensor:
    """The MNIST tutorial of 2016; some programs put a ReLU or a clip without effect behind the softmax."""
    w, b = start(kind, 784, 10)
    p = tf.nn.softmax(tf.matmul(given["x"], w) + b)  # site: softmax
    if form == "relu":
        p = tf.nn.relu(p)
    if form == "clip":
        tf.clip_by_value(p, 1e-15, 1.0)
    terms = given["y"] * v1.log(p)  # site: log p
    return tf.reduce_mean(-tf.reduce_sum(terms, 1)) if mean else -tf.reduce_sum(terms)


def logistic(given: Inputs, *, features: int, biases: tuple[int, ...]) -> Tensor:
    """26, 33, 53, 56: a sigmoid and the binary cross entropy."""
    w, b = zeros("W", features, 1), zeros("b", *biases)
    h = tf.sigmoid(tf.matmul(given["x"], w) + b)
    hit = given["y"] * v1.log(h)  # site: log h
    miss = (1 - given["y"]) * v1.log(1 - h)  # site: log 1-h
    return -tf.reduce_mean(hit + miss)


def body_mass(given: Inputs) -> Tensor:
    """40: weight and height to thin, normal or fat."""
    w, b = zeros("W", 2, 3), zeros("b", 3)
    p = tf.nn.softmax(tf.matmul(given["x"], w) + b)  # site: softmax
    return -tf.reduce_sum(given["y"] * v1.log(p))  # site: log p


def samples(given: Inputs, *, biases: int) -> Tensor:
    """34: eight samples of four features, labels as class numbers."""
    w, b = zeros("W", 4, 3), zeros("b", biases)
    p = tf.nn.softmax(tf.matmul(given["x"], w) + b)  # site: softmax
    terms = tf.one_hot(given["t"], 3) * -v1.log(p)  # site: log p
    return tf.reduce_mean(tf.reduce_sum(terms, 1))


def one_hot_samples(given: Inputs) -> Tensor:
    """54: the same with labels that are one-hot from the start."""
    w, b = zeros("W", 4, 3), zeros("b", 1, 3)
    p = tf.nn.softmax(tf.matmul(given["x"], w) + b)  # site: softmax
    return tf.reduce_mean(-tf.reduce_sum(given["y"] * v1.log(p), 1))  # site: log p


GRAPHS: dict[str, Callable[[Inputs], Tensor]] = {
    "2a": elementwise_entropy,
    "2b": elementwise_entropy,
    "3": regression,
    "18": partial(regression, kind="small", mean=True),
    "19": partial(regression, mean=True, form="relu"),
    "26": partial(logistic, features=2, biases=(1,)),
    "34": partial(samples, biases=1),
    "40": body_mass,
    "53": partial(logistic, features=1, biases=(1, 1)),
    "54": one_hot_samples,
    "59": partial(regression, kind="wide", mean=True, form="clip"),
}
