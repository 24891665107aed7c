"""JAX functions of many kinds, as people write them, each with example arguments. They are programs: targets by name, too."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

Array = jax.Array


class Example(NamedTuple):
    """A function and what it is called with. ``scalar`` says that it is a loss."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    tolerance: float = 1e-5


def _floats(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


# ------------------------------------------------------------------------------------------------------- networks


def _dense(seed: int, *sizes: int) -> list[dict[str, np.ndarray]]:
    return [
        {"w": _floats(seed + k, a, b) * 0.5, "b": _floats(seed + 50 + k, b)} for k, (a, b) in enumerate(pairwise(sizes))
    ]


def perceptron(params: Any, x: Array) -> Array:
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def perceptron_loss(params: Any, x: Array, labels: Array) -> Array:
    logits = perceptron(params, x)
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()


def convolutional(params: Any, image: Array) -> Array:
    h = jax.lax.conv_general_dilated(image, params["conv"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    h = jax.nn.gelu(h + params["bias"])
    h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    h = jax.lax.reduce_window(h, 0.0, jax.lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4.0
    return h.reshape(h.shape[0], -1) @ params["head"]


def convolutional_loss(params: Any, image: Array) -> Array:
    return jnp.square(convolutional(params, image)).mean()


def recurrent(params: Any, x: Array) -> Array:
    """A gated unit over time, by scan."""

    def step(h: Array, row: Array) -> tuple[Array, Array]:
        z = jax.nn.sigmoid(row @ params["wz"] + h @ params["uz"])
        candidate = jnp.tanh(row @ params["wh"] + h @ params["uh"])
        h = (1 - z) * h + z * candidate
        return h, h

    last, rows = jax.lax.scan(step, jnp.zeros((x.shape[0], 4)), jnp.swapaxes(x, 0, 1))
    return last + rows.mean(0)


def recurrent_loss(params: Any, x: Array) -> Array:
    return jnp.abs(recurrent(params, x)).sum()


def _norm(x: Array, scale: Array, shift: Array) -> Array:
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(var + 1e-5) * scale + shift


def transformer(params: Any, tokens: Array) -> Array:
    """One block of a decoder: embedding, causal attention of two heads, a feed-forward part."""
    x = params["embedding"][tokens] + params["position"]
    length, width = x.shape
    h = _norm(x, params["scale"], params["shift"])
    q, k, v = ((h @ params[name]).reshape(length, 2, width // 2).transpose(1, 0, 2) for name in ("q", "k", "v"))
    scores = jnp.einsum("hid,hjd->hij", q, k) / jnp.sqrt(width // 2)
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf)
    h = jnp.einsum("hij,hjd->hid", jax.nn.softmax(scores, axis=-1), v)
    x = x + h.transpose(1, 0, 2).reshape(length, width) @ params["o"]
    return x + jax.nn.silu(x @ params["up"]) @ params["down"]


def transformer_loss(params: Any, tokens: Array) -> Array:
    return jnp.square(transformer(params, tokens)).mean()


def masked_attention(q: Array, k: Array, v: Array, mask: Array) -> Array:
    """With a mask from outside, and batches by vmap."""

    def one(q: Array, k: Array, v: Array, mask: Array) -> Array:
        scores = jnp.where(mask, q @ k.T / q.shape[-1] ** 0.5, -1e30)
        return jax.nn.softmax(scores) @ v

    return jax.vmap(one)(q, k, v, mask)


def attention_loss(q: Array, k: Array, v: Array, mask: Array) -> Array:
    return masked_attention(q, k, v, mask).sum()


def layer_norm(x: Array, scale: Array, shift: Array) -> Array:
    return _norm(x, scale, shift)


def layer_norm_loss(x: Array, scale: Array, shift: Array) -> Array:
    return (_norm(x, scale, shift) ** 3).sum()


# --------------------------------------------------------------------------------------------- losses and densities


def variational(params: Any, x: Array, noise: Array) -> Array:
    """The bound of a variational autoencoder."""
    mean, log_var = jnp.split(jnp.tanh(x @ params["encoder"]), 2, axis=-1)
    z = mean + jnp.exp(0.5 * log_var) * noise
    logits = z @ params["decoder"]
    likelihood = -(jax.nn.softplus(logits) - logits * (x > 0)).sum(-1)
    divergence = 0.5 * (jnp.exp(log_var) + mean**2 - 1.0 - log_var).sum(-1)
    return (divergence - likelihood).mean()


def flow(params: Any, x: Array) -> Array:
    """The log density of a coupling layer and a planar one."""
    a, b = x[:, :2], x[:, 2:]
    log_scale = jnp.tanh(a @ params["s"])
    b = b * jnp.exp(log_scale) + a @ params["t"]
    z = jnp.concatenate([a, b], axis=1)
    inner = jnp.tanh(z @ params["w"])
    z = z + inner[:, None] * params["u"]
    psi = (1 - inner**2)[:, None] * params["w"]
    log_det = log_scale.sum(1) + jnp.log(jnp.abs(1 + psi @ params["u"]))
    return (-0.5 * (z**2).sum(1) - 2 * jnp.log(2 * jnp.pi) + log_det).mean()


def log_sum_exp(x: Array) -> Array:
    return jax.nn.logsumexp(x, axis=-1).sum()


def cross_entropy(logits: Array, labels: Array) -> Array:
    return -(jax.nn.one_hot(labels, logits.shape[-1]) * jax.nn.log_softmax(logits)).sum(-1).mean()


def binary_cross_entropy(logits: Array, targets: Array) -> Array:
    return jnp.mean(jnp.maximum(logits, 0) - logits * targets + jnp.log1p(jnp.exp(-jnp.abs(logits))))


def focal(logits: Array, targets: Array) -> Array:
    p = jax.nn.sigmoid(logits)
    right = jnp.where(targets > 0.5, p, 1 - p)
    return jnp.mean(-((1 - right) ** 2) * jnp.log(jnp.clip(right, 1e-7, 1.0)))


def contrastive(x: Array, y: Array) -> Array:
    x = x / jnp.linalg.norm(x, axis=-1, keepdims=True)
    y = y / jnp.linalg.norm(y, axis=-1, keepdims=True)
    scores = x @ y.T / 0.1
    return (jax.nn.logsumexp(scores, axis=1) - jnp.diagonal(scores)).mean()


def gelus(x: Array) -> Array:
    """Variants of one activation and its kin."""
    return (
        jax.nn.gelu(x) + jax.nn.gelu(x, approximate=False) + jax.nn.silu(x) + jax.nn.elu(x) + jax.nn.softplus(x)
        + jax.nn.log_sigmoid(x) + jax.nn.leaky_relu(x) + jax.nn.hard_tanh(x) + jax.nn.celu(x) + jax.nn.selu(x)
        + jax.nn.relu6(x) + jax.nn.mish(x)
    ).sum()  # fmt: skip


def norms(x: Array) -> Array:
    return jnp.linalg.norm(x) + jnp.linalg.norm(x, axis=1).sum() + jnp.linalg.norm(x, ord=1, axis=0).sum()


def kernel(x: Array, lengthscale: Array) -> Array:
    """A radial kernel of all pairs."""
    distance = ((x[:, None] - x[None]) ** 2).sum(-1) / lengthscale**2
    return jnp.exp(-0.5 * distance).sum()


def guarded(x: Array) -> Array:
    """The argument is made safe before the root, so that the gradient is, too."""
    safe = jnp.where(x > 0, x, 1.0)
    return jnp.where(x > 0, jnp.sqrt(safe), 0.0).sum()


def special(x: Array) -> Array:
    return (
        jnp.log1p(x * x) + jnp.expm1(x) + jnp.exp2(x) + jnp.cbrt(x) + jnp.arctan2(x, 1 + x * x) + jnp.sinc(x + 9)
        + jax.scipy.special.erf(x) + jnp.hypot(x, 1.0) + jnp.logaddexp(x, 0.5) + jax.scipy.special.xlogy(1.0, x * x + 1)
    ).sum()  # fmt: skip


# ------------------------------------------------------------------------------------------------ steps and loops


def momentum_step(params: Any, gradients: Any, momentum: Any) -> Any:
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
    return jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum), momentum


def adam_step(params: Any, gradients: Any, mean: Any, square: Any, count: Array) -> Any:
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradients)
    square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, square, gradients)
    c1, c2 = 1 - 0.9**count, 1 - 0.999**count
    return jax.tree.map(lambda p, m, v: p - 0.01 * (m / c1) / (jnp.sqrt(v / c2) + 1e-8), params, mean, square)


def clipped_by_norm(gradients: Any) -> Any:
    leaves = jax.tree.leaves(gradients)
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in leaves))
    return jax.tree.map(lambda g: jnp.where(norm < 1.0, g, g / norm), gradients)


def newton(x: Array) -> Array:
    """A square root by Newton's method, until it stands still."""
    size = jnp.abs(x) + 1.0

    def more(state: tuple[Array, Array]) -> Array:
        root, number = state
        return (jnp.abs(root * root - size) > 1e-3) & (number < 30)

    def step(state: tuple[Array, Array]) -> tuple[Array, Array]:
        root, number = state
        return 0.5 * (root + size / root), number + 1

    return jax.lax.while_loop(more, step, (size, 0))[0]


def fixed_rounds(x: Array) -> Array:
    """A loop whose length is known can be differentiated."""
    return jax.lax.fori_loop(0, 4, lambda i, y: jnp.sin(y) + x * i, x).sum()


def branching(x: Array, which: Array) -> Array:
    return jax.lax.switch(which, [jnp.sin, lambda x: x * x, jnp.tanh], x).sum()


def checkpointed(x: Array) -> Array:
    return jax.checkpoint(lambda x: jnp.sin(jnp.exp(-x * x)))(x).sum()


@jax.custom_vjp
def _clipped(x: Array) -> Array:
    return x


_clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.1, 0.1),))


def with_own_gradient(x: Array) -> Array:
    return (_clipped(x) ** 2).sum()


def segments(x: Array, ids: Array) -> Array:
    """Messages of a graph network, added up by their receiver."""
    total = jax.ops.segment_sum(x, ids, 4)
    count = jax.ops.segment_sum(jnp.ones(x.shape[0]), ids, 4)
    return (total / jnp.maximum(count, 1.0)[:, None]).sum()


def sorted_losses(x: Array) -> Array:
    """The mean of the two largest, and of a part of the sorted ones."""
    return jax.lax.top_k(x, 2)[0].mean() + jnp.sort(x)[1:3].mean() + jnp.median(x)


def running(x: Array) -> Array:
    return (jnp.cumsum(x, 0) * jnp.cumprod(jnp.cos(x), 1)).sum() + jax.lax.cummax(x, 1).sum()


def updates(x: Array, at: Array) -> Array:
    """Indexing in its forms."""
    y = x.at[at].add(1.0).at[1:3, 0].set(0.5).at[:, at[0]].multiply(2.0)
    y = jax.lax.dynamic_update_slice(y, jnp.ones((2, 2)) * x[0, 0], (at[0], 0))
    return (
        (y[at] * x[at, at - at][:, None]).sum()
        + jax.lax.dynamic_slice(x, (at[1], 1), (2, 2)).sum()
        + y[::-2, None, 1:].sum()
    )


_LAYER = {"wz": _floats(1, 3, 4), "uz": _floats(2, 4, 4), "wh": _floats(3, 3, 4), "uh": _floats(4, 4, 4)}
_BLOCK = {
    "embedding": _floats(5, 11, 8), "position": _floats(6, 5, 8), "scale": np.ones(8, np.float32),
    "shift": np.zeros(8, np.float32), **{name: _floats(7 + k, 8, 8) * 0.3 for k, name in enumerate("qkvo")},
    "up": _floats(12, 8, 16) * 0.3, "down": _floats(13, 16, 8) * 0.3,
}  # fmt: skip
_CONV = {"conv": _floats(14, 3, 3, 2, 4) * 0.3, "bias": _floats(15, 4), "head": _floats(16, 16, 3)}
_CODER = {"encoder": _floats(17, 6, 8) * 0.3, "decoder": _floats(18, 4, 6)}
_FLOW = {"s": _floats(19, 2, 2), "t": _floats(20, 2, 2), "w": _floats(21, 4), "u": _floats(22, 4) * 0.3}
_TOKENS = np.array([3, 1, 10, 0, 7], np.int32)
_LABELS = np.array([0, 2, 1, 1], np.int32)
_MASK = np.random.default_rng(8).random((2, 4, 4)) < 0.7
_STATE = ({"w": _floats(23, 3, 2)}, {"w": _floats(24, 3, 2)}, {"w": _floats(25, 3, 2)})

FORWARD: dict[str, Example] = {
    "perceptron": Example(perceptron, (_dense(30, 5, 8, 3), _floats(31, 4, 5))),
    "convolutional": Example(convolutional, (_CONV, _floats(32, 2, 8, 8, 2))),
    "recurrent": Example(recurrent, (_LAYER, _floats(33, 2, 6, 3))),
    "transformer": Example(transformer, (_BLOCK, _TOKENS)),
    "masked_attention": Example(masked_attention, (_floats(34, 2, 4, 3), _floats(35, 2, 4, 3), _floats(36, 2, 4, 3), _MASK)),
    "layer_norm": Example(layer_norm, (_floats(37, 4, 6), _floats(38, 6), _floats(39, 6))),
    "momentum_step": Example(momentum_step, _STATE),
    "adam_step": Example(adam_step, (*_STATE, {"w": np.abs(_floats(26, 3, 2))}, np.float32(3.0))),
    "clipped_by_norm": Example(clipped_by_norm, ({"a": _floats(40, 3), "b": _floats(41, 2, 2)},)),
    "newton": Example(newton, (np.float32(6.5),)),
}  # fmt: skip
"""Functions that are no losses."""

LOSSES: dict[str, Example] = {
    "perceptron_loss": Example(perceptron_loss, (_dense(30, 5, 8, 3), _floats(31, 4, 5), _LABELS)),
    "convolutional_loss": Example(convolutional_loss, (_CONV, _floats(32, 2, 8, 8, 2))),
    "recurrent_loss": Example(recurrent_loss, (_LAYER, _floats(33, 2, 6, 3))),
    "transformer_loss": Example(transformer_loss, (_BLOCK, _TOKENS)),
    "attention_loss": Example(attention_loss, (_floats(34, 2, 4, 3), _floats(35, 2, 4, 3), _floats(36, 2, 4, 3), _MASK)),
    "layer_norm_loss": Example(layer_norm_loss, (_floats(37, 4, 6), _floats(38, 6), _floats(39, 6)), 3e-5),
    "variational": Example(variational, (_CODER, _floats(42, 4, 6), _floats(43, 4, 4))),
    "flow": Example(flow, (_FLOW, _floats(44, 3, 4))),
    "log_sum_exp": Example(log_sum_exp, (_floats(45, 4, 5),)),
    "cross_entropy": Example(cross_entropy, (_floats(46, 4, 5), _LABELS)),
    "binary_cross_entropy": Example(binary_cross_entropy, (_floats(47, 4, 5), (_floats(48, 4, 5) > 0).astype(np.float32))),
    "focal": Example(focal, (_floats(47, 4, 5), (_floats(48, 4, 5) > 0).astype(np.float32))),
    "contrastive": Example(contrastive, (_floats(49, 4, 6), _floats(50, 4, 6))),
    "gelus": Example(gelus, (_floats(51, 4, 5),)),
    "norms": Example(norms, (_floats(52, 4, 5),)),
    "kernel": Example(kernel, (_floats(53, 4, 2), np.float32(1.3))),
    "guarded": Example(guarded, (_floats(54, 9),)),
    "special": Example(special, (_floats(55, 9),)),
    "fixed_rounds": Example(fixed_rounds, (_floats(56, 4),)),
    "branching": Example(branching, (_floats(57, 4), np.int32(2))),
    "checkpointed": Example(checkpointed, (_floats(58, 4),)),
    "with_own_gradient": Example(with_own_gradient, (_floats(59, 4),)),
    "segments": Example(segments, (_floats(60, 5, 3), np.array([0, 3, 0, 1, 3], np.int32))),
    "sorted_losses": Example(sorted_losses, (_floats(61, 7),)),
    "running": Example(running, (_floats(62, 4, 5),)),
    "updates": Example(updates, (_floats(63, 5, 4), np.array([0, 2, 3], np.int32))),
}  # fmt: skip
"""Functions with one number as their result: their gradients are taken, too."""
