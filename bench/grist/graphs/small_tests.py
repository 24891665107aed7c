"""Unit tests of libraries, each changed so that it fails: 4 (graph auto-encoder), 5 (ranking loss), 13 (softmax of edges)."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from .blocks import Inputs, Tensor, v1


def divergence_of_itself(given: Inputs) -> Tensor:
    """4: an encoder that gives its input as mean and as log variance; the term has log where exp belongs."""
    x = given["x"]
    terms = 1 + x - tf.square(x) - v1.log(x)  # site: log
    return -0.5 * tf.reduce_mean(tf.reduce_sum(terms, 1))


def ranking_loss(given: Inputs) -> Tensor:
    """5: groups of one good and two bad scores, softmax, and a square root where log belongs."""
    scores = tf.concat([given["s"][0::3], given["s"][1::3], given["s"][2::3]], 1)
    labels = tf.concat([given["t"][0::3], given["t"][1::3], given["t"][2::3]], 1)
    p = tf.nn.softmax(scores)  # site: softmax
    return tf.reduce_mean(-tf.reduce_sum(labels * tf.sqrt(p), 1))  # site: sqrt


def edge_shares(given: Inputs) -> Tensor:
    """13: the share of every edge in its group, of logarithms where exponentials belong."""
    groups = tf.constant([0, 0, 0, 1, 1, 1])
    logs = v1.log(given["v"])  # site: log
    sums = tf.math.unsorted_segment_sum(logs, groups, 2)
    return logs / tf.gather(sums, groups)  # site: div


GRAPHS: dict[str, Callable[[Inputs], Tensor]] = {"4": divergence_of_itself, "5": ranking_loss, "13": edge_shares}
