"""Networks of several layers on MNIST: with sigmoids, with dropout, with convolutions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import tensorflow as tf

from .blocks import Inputs, Tensor, constant, convolved, dropout, truncated, v1, zeros


def sigmoid_network(given: Inputs) -> Tensor:
    """9: a hidden layer of sigmoids, sigmoid outputs, every one for itself."""
    hidden = tf.sigmoid(tf.matmul(given["x"], zeros("W1", 784, 512)))
    p = tf.sigmoid(tf.matmul(hidden, zeros("W2", 512, 10)))
    hit = -given["y"] * v1.log(p)  # site: log p
    miss = (1 - given["y"]) * v1.log(1 - p)  # site: log 1-p
    return tf.reduce_mean(tf.reduce_sum(hit - miss, 1))


def perceptron(given: Inputs) -> Tensor:
    """61: one hidden layer with dropout, the loss summed."""
    w1, b1 = truncated("W1", 0.1, 784, 300), zeros("b1", 300)
    w2, b2 = zeros("W2", 300, 10), zeros("b2", 10)
    hidden = dropout(tf.nn.relu(tf.matmul(given["x"], w1) + b1), given["keep_prob"])
    p = tf.nn.softmax(tf.matmul(hidden, w2) + b2)  # site: softmax
    return -tf.reduce_sum(given["y"] * v1.log(p))  # site: log p


def two_convolutions(given: Inputs) -> Tensor:
    """6 with dropout, 24 without: two convolutions, 1,024 units."""
    image = tf.reshape(given["x"], [-1, 28, 28, 1])
    first = convolved(image, truncated("W1", 0.1, 5, 5, 1, 32), constant("b1", 0.1, 32))
    second = convolved(first, truncated("W2", 0.1, 5, 5, 32, 64), constant("b2", 0.1, 64))
    flat = tf.reshape(second, [-1, 7 * 7 * 64])
    units = tf.nn.relu(tf.matmul(flat, truncated("W3", 0.1, 3136, 1024)) + constant("b3", 0.1, 1024))
    if "keep_prob" in given:
        units = dropout(units, given["keep_prob"])
    logits = tf.matmul(units, truncated("W4", 0.1, 1024, 10)) + constant("b4", 0.1, 10)
    p = tf.nn.softmax(logits)  # site: softmax
    return -tf.reduce_sum(given["y"] * v1.log(p))  # site: log p


def one_convolution(given: Inputs) -> Tensor:
    """44: one convolution of 16 channels, 128 units, dropout."""
    first = convolved(given["x"], truncated("W1", 0.1, 5, 5, 1, 16), constant("b1", 0.1, 16))
    flat = tf.reshape(first, [-1, 3136])
    units = tf.nn.relu(tf.matmul(flat, truncated("W2", 0.1, 3136, 128)) + constant("b2", 0.1, 128))
    logits = tf.matmul(dropout(units, given["keep_prob"]), truncated("W3", 0.1, 128, 10)) + constant("b3", 0.1, 10)
    p = tf.nn.softmax(logits)  # site: softmax
    return -tf.reduce_sum(given["y"] * v1.log(p))  # site: log p


def lenet(given: Inputs) -> Tensor:
    """14: LeNet-5, the cross entropy summed."""
    first = convolved(given["x"], truncated("W1", 0.1, 5, 5, 1, 6), zeros("b1", 6), "VALID")
    second = convolved(first, truncated("W3", 0.1, 5, 5, 6, 16), zeros("b3", 16), "VALID")
    third = tf.nn.relu(tf.nn.conv2d(second, truncated("W5", 0.1, 5, 5, 16, 120), 1, "VALID") + zeros("b5", 120))
    units = tf.nn.relu(tf.matmul(tf.reshape(third, [-1, 120]), truncated("W6", 0.1, 120, 84)) + zeros("b6", 84))
    p = tf.nn.softmax(tf.matmul(units, truncated("W7", 0.1, 84, 10)) + zeros("b7", 10))  # site: softmax
    return -tf.reduce_sum(given["y"] * v1.log(p))  # site: log p


GENERATOR = (100, 256, 512, 1024, 784)
DISCRIMINATOR = (784, 1024, 512, 256, 1)


def adversarial(given: Inputs) -> Tensor:
    """31: the discriminator's loss; one logarithm lacks the epsilon that the others have."""
    generator = [
        (truncated(f"g_weights.{i}", 0.02, rows, columns), zeros(f"g_biases.{i}", columns))
        for i, (rows, columns) in enumerate(pairwise(GENERATOR))
    ]
    discriminator = [
        (truncated(f"d_weights.{i}", 0.02, rows, columns), zeros(f"d_biases.{i}", columns))
        for i, (rows, columns) in enumerate(pairwise(DISCRIMINATOR))
    ]

    def judge(image: Tensor) -> Tensor:
        for weight, bias in discriminator[:-1]:
            image = dropout(tf.nn.relu(tf.matmul(image, weight) + bias), given["keep_prob"])
        return tf.sigmoid(tf.matmul(image, discriminator[-1][0]) + discriminator[-1][1])

    image = given["z"]
    for weight, bias in generator[:-1]:
        image = tf.nn.relu(tf.matmul(image, weight) + bias)
    made = judge(tf.tanh(tf.matmul(image, generator[-1][0]) + generator[-1][1]))
    known = v1.log(judge(given["x"]))  # site: log real
    caught = v1.log(1 - made + 1e-8)  # site: log 1-made
    return -tf.reduce_mean(known + caught)


GRAPHS: dict[str, Callable[[Inputs], Tensor]] = {
    "6": two_convolutions,
    "9a": sigmoid_network,
    "9b": sigmoid_network,
    "14": lenet,
    "24": two_convolutions,
    "31": adversarial,
    "44": one_convolution,
    "61": perceptron,
}
