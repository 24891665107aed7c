"""Models that make images: variational auto-encoders (35, 43) and a restricted Boltzmann machine (22)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import tensorflow as tf

from .blocks import Inputs, Tensor, fan, v1, zeros

MOST = 1 + 1e-10
"""As the program has it. In float32 it is 1."""


def dense(x: Tensor, name: str, rows: int, columns: int) -> Tensor:
    """A linear layer whose weight and bias are called as in the case."""
    part, _, which = name.partition("_")
    return tf.matmul(x, fan(f"{part}_W{which}", rows, columns)) + zeros(f"{part}_b{which}", columns)


def encoded(given: Inputs, latent: int, classes: int) -> tuple[Tensor, Tensor]:
    """Mean and logarithm of the variance."""
    seen = tf.concat([given["x"], given["y"]], 1) if classes else given["x"]
    first = tf.nn.softplus(dense(seen, "enc_1", 784 + classes, 500))
    second = tf.nn.softplus(dense(first, "enc_2", 500, 500))
    return dense(second, "enc__mean", 500, latent), dense(second, "enc__logvar", 500, latent)


def decoded(z: Tensor, given: Inputs, latent: int, classes: int) -> Tensor:
    """The image."""
    held = tf.concat([z, given["y"]], 1) if classes else z
    first = tf.nn.softplus(dense(held, "dec_1", latent + classes, 500))
    second = tf.nn.softplus(dense(first, "dec_2", 500, 500))
    return tf.sigmoid(dense(second, "dec__out", 500, 784))


def log_variant(given: Inputs, *, latent: int, classes: int) -> Tensor:
    """The second epsilon vanishes: 1 + 1e-10 is 1 in float32, and 1 - r can be 0."""
    mean, raw = encoded(given, latent, classes)
    s = tf.clip_by_value(raw, -87.0, 87.0)
    grown = tf.exp(s)  # site: exp
    z = mean + tf.sqrt(grown) * given["eps"]  # site: sqrt
    r = decoded(z, given, latent, classes)
    hit = given["x"] * v1.log(r + 1e-10)  # site: log r
    miss = (1 - given["x"]) * v1.log(MOST - r)  # site: log 1-r
    divergence = -0.5 * tf.reduce_sum(1 + s - tf.square(mean) - grown, 1)  # site: latent sum
    return tf.reduce_mean(divergence - tf.reduce_sum(hit + miss, 1))


def root_variant(given: Inputs, *, latent: int, classes: int) -> Tensor:
    """Logarithms are guarded; the square root may see exp(-100), whose derivative is only just finite."""
    mean, raw = encoded(given, latent, classes)
    grown = tf.exp(tf.clip_by_value(raw, -100.0, 87.0))  # site: exp
    z = mean + tf.sqrt(grown) * given["eps"]  # site: sqrt
    r = decoded(z, given, latent, classes)
    hit = given["x"] * v1.log(tf.clip_by_value(r, 1e-6, 1.0))  # site: log r
    miss = (1 - given["x"]) * v1.log(tf.clip_by_value(1 - r, 1e-6, 1.0))  # site: log 1-r
    divergence = -0.5 * tf.reduce_sum(1 + raw - tf.square(mean) - grown, 1)  # site: latent sum
    return tf.reduce_mean(divergence - tf.reduce_sum(hit + miss, 1))


def boltzmann(given: Inputs) -> Tensor:
    """22: one step of contrastive divergence, with the energies of what is seen and of what is drawn from it."""
    weight = v1.Variable(v1.random_normal([500, 784], stddev=0.01), name="W")
    v_bias, h_bias = zeros("v_bias", 784), zeros("h_bias", 500)

    def energy(v: Tensor) -> Tensor:
        activations = tf.matmul(v, weight, transpose_b=True) + h_bias
        grown = tf.exp(activations)  # site: exp
        hidden = tf.reduce_sum(v1.log(1 + grown), 1)  # site: log 1+exp
        return tf.reduce_mean(-hidden - tf.linalg.matvec(v, v_bias))

    up = tf.sigmoid(tf.matmul(given["v"], weight, transpose_b=True) + h_bias)
    h = tf.nn.relu(tf.sign(up - given["u_h"]))
    again = tf.nn.relu(tf.sign(tf.sigmoid(tf.matmul(h, weight) + v_bias) - given["u_v"]))
    return energy(given["v"]) - energy(tf.stop_gradient(again))


GRAPHS: dict[str, Callable[[Inputs], Tensor]] = {
    "22": boltzmann,
    "35a": partial(log_variant, latent=20, classes=0),
    "35b": partial(root_variant, latent=20, classes=0),
    "43a": partial(log_variant, latent=2, classes=10),
    "43b": partial(root_variant, latent=2, classes=10),
}
