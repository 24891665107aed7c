"""The models: layers with their usual starts, and the loss by hand on keras.ops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import keras
from keras import layers, ops

Tensor = Any


def inputs(*shapes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Images and labels of these shapes, the batch open."""
    x, y = (keras.Input(shape, name=name) for name, shape in zip("xy", shapes, strict=True))
    return x, y


def dense(units: int, name: str, start: str = "zeros", **how: Any) -> Any:
    """A layer whose kernel has the name in the case."""
    return layers.Dense(units, name=name, kernel_initializer=start, **how)


def modelled(*given: Tensor, loss: Tensor) -> Any:
    """The model that gives the loss."""
    return keras.Model(list(given), loss)


def summed_entropy(p: Tensor, y: Tensor) -> Tensor:
    """The cross entropy by hand."""
    return -ops.sum(y * ops.log(p))  # site: log p


def mean_entropy(p: Tensor, y: Tensor) -> Tensor:
    """The same, averaged over the batch."""
    return ops.mean(-ops.sum(y * ops.log(p), 1))  # site: log p


def elementwise_entropy() -> Any:
    """2: a binary cross entropy of every class by itself."""
    x, y = inputs((784,), (10,))
    p = ops.softmax(dense(10, "W")(x))  # site: softmax
    hit = y * ops.log(p)  # site: log p
    miss = (1 - y) * ops.log(1 - p)  # site: log 1-p
    return modelled(x, y, loss=-ops.mean(hit + miss))


def regression() -> Any:
    """3: the MNIST tutorial."""
    x, y = inputs((784,), (10,))
    p = ops.softmax(dense(10, "W")(x))  # site: softmax
    return modelled(x, y, loss=summed_entropy(p, y))


def sigmoid_network() -> Any:
    """9: a hidden layer of sigmoids, sigmoid outputs, every one for itself."""
    x, y = inputs((784,), (10,))
    hidden = dense(512, "W1", use_bias=False, activation="sigmoid")(x)
    p = dense(10, "W2", use_bias=False, activation="sigmoid")(hidden)
    hit = -y * ops.log(p)  # site: log p
    miss = (1 - y) * ops.log(1 - p)  # site: log 1-p
    return modelled(x, y, loss=ops.mean(ops.sum(hit - miss, 1)))


def network(kind: str) -> Any:
    """11: 784 - 200 - 100 - 10 with ReLU, and a softmax by hand, guarded in one way or the other."""
    x, y = inputs((28, 28, 1), (10,))
    units = layers.Flatten()(x)
    for number, width in enumerate((200, 100), 1):
        units = dense(width, f"W{number}", keras.initializers.RandomUniform(-0.25, 0.25, 1), activation="relu")(units)
    logits = dense(10, "W3", keras.initializers.RandomUniform(-0.25, 0.25, 2))(units)
    if kind == "log":
        grown = ops.exp(logits)  # site: exp
        p = grown / ops.sum(grown, 1, keepdims=True)  # site: div
        logs = ops.log(p)  # site: log
    else:
        top = ops.exp(ops.clip(logits, -87.0, 87.0))  # site: exp clipped
        total = ops.sum(ops.exp(logits), 1, keepdims=True)  # site: exp
        p = top / total  # site: div
        logs = ops.log(p + 1e-7 if kind == "div" else ops.clip(p, 1e-6, 1.0))  # site: log
    return modelled(x, y, loss=ops.mean(-ops.sum(y * logs, 1)))


def lenet() -> Any:
    """14: LeNet-5."""
    x, y = inputs((32, 32, 1), (10,))
    start = partial(keras.initializers.TruncatedNormal, 0.0, 0.1)
    units = layers.Conv2D(6, 5, activation="relu", kernel_initializer=start(1), name="W1")(x)
    units = layers.Conv2D(16, 5, activation="relu", kernel_initializer=start(2), name="W3")(
        layers.MaxPooling2D()(units)
    )
    units = layers.Conv2D(120, 5, activation="relu", kernel_initializer=start(3), name="W5")(
        layers.MaxPooling2D()(units)
    )
    units = dense(84, "W6", start(4), activation="relu")(layers.Flatten()(units))
    p = ops.softmax(dense(10, "W7", start(5))(units))  # site: softmax
    return modelled(x, y, loss=summed_entropy(p, y))


def two_convolutions() -> Any:
    """24: two convolutions with pooling, 1,024 units."""
    x, y = inputs((784,), (10,))
    start, small = partial(keras.initializers.TruncatedNormal, 0.0, 0.1), keras.initializers.Constant(0.1)
    units = layers.Reshape((28, 28, 1))(x)
    for number, channels in enumerate((32, 64), 1):
        made = layers.Conv2D(
            channels, 5, padding="same", activation="relu", kernel_initializer=start(number), bias_initializer=small,
            name=f"W{number}",
        )(units)  # fmt: skip
        units = layers.MaxPooling2D()(made)
    units = dense(1024, "W3", start(3), activation="relu", bias_initializer=small)(layers.Flatten()(units))
    p = ops.softmax(dense(10, "W4", start(4), bias_initializer=small)(units))  # site: softmax
    return modelled(x, y, loss=summed_entropy(p, y))


def samples() -> Any:
    """54: eight samples of four features, one-hot labels."""
    x, y = inputs((4,), (3,))
    p = ops.softmax(dense(3, "W")(x))  # site: softmax
    return modelled(x, y, loss=mean_entropy(p, y))


MODELS: dict[str, Callable[[], Any]] = {
    "2a": elementwise_entropy,
    "2b": elementwise_entropy,
    "3": regression,
    "9a": sigmoid_network,
    "9b": sigmoid_network,
    "11a": partial(network, "div"),
    "11b": partial(network, "exp"),
    "11c": partial(network, "log"),
    "14": lenet,
    "24": two_convolutions,
    "54": samples,
}
