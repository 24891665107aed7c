"""Defects of JAX programs, written in JAX: gradients at singular points, variances by the fast formula, an update."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from ..case import Case, Input


def squared_norm(x: Array) -> Array:
    """M10: a root that is squared again."""
    return jnp.linalg.norm(x) ** 2


def sum_of_squares(x: Array) -> Array:
    """Repaired: the sum of squares itself."""
    return jnp.sum(x * x)


def matern(x: Array, scale: Array) -> Array:
    """M11: distances of points to themselves are 0, always."""
    apart = (x[:, None] - x[None, :]) / scale
    d = jnp.sqrt(3.0) * jnp.sqrt((apart**2).sum(-1))
    return ((1 + d) * jnp.exp(-d)).sum()


def matern_safe(x: Array, scale: Array) -> Array:
    """Repaired: the root sees 1 where the distance is 0."""
    apart = (x[:, None] - x[None, :]) / scale
    square = (apart**2).sum(-1)
    some = square > 1e-12
    d = jnp.sqrt(3.0) * jnp.where(some, jnp.sqrt(jnp.where(some, square, 1.0)), 0.0)
    return ((1 + d) * jnp.exp(-d)).sum()


def angle(y: Array) -> Array:
    """M12: the derivative of the arc cosine is infinite where the clip stops."""
    return jnp.arccos(jnp.clip(y, -1.0, 1.0)).sum()


def angle_safe(y: Array) -> Array:
    """Repaired: clipped to a little less than 1."""
    least = 1.0 - float(jnp.finfo(y.dtype).eps)
    return jnp.arccos(jnp.clip(y, -least, least)).sum()


def rebuilt(a: Array) -> Array:
    """M18: the gradient of a singular value decomposition divides by differences of singular values."""
    u, s, v = jnp.linalg.svd(a)
    return jnp.linalg.norm(u * s @ v)


def rebuilt_safe(a: Array) -> Array:
    """Repaired: the same number without the decomposition."""
    return jnp.sqrt(jnp.sum(a * a) + 1e-12)


def log_semiring(x: Array) -> Array:
    """M22: the sum of two terms that are log 0."""
    empty = jnp.full_like(x, -jnp.inf)
    return jnp.logaddexp(empty, empty + x).sum()


def log_semiring_safe(x: Array) -> Array:
    """Repaired: a finite floor for log 0."""
    empty = jnp.full_like(x, -1e30)
    return jnp.logaddexp(empty, empty + x).sum()


def global_clip(g: Array, limit: Array) -> Array:
    """M39: a norm that equals the limit is clipped, though both may be 0."""
    norm = jnp.sqrt(jnp.sum(g * g))
    return jnp.where(norm < limit, g, g / norm * limit)


def global_clip_safe(g: Array, limit: Array) -> Array:
    """Repaired: a norm that equals the limit stays."""
    norm = jnp.sqrt(jnp.sum(g * g))
    return jnp.where(norm <= limit, g, g / norm * limit)


def fast_variance(x: Array) -> Array:
    """M50: E[x^2] - E[x]^2 rounds below 0 by more than the epsilon."""
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x).mean(-1, keepdims=True) - jnp.square(mean)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5)


def fast_variance_safe(x: Array) -> Array:
    """Repaired: the variance is at least 0 before the epsilon is added."""
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x).mean(-1, keepdims=True) - jnp.square(mean)
    return (x - mean) * jax.lax.rsqrt(jnp.maximum(variance, 0.0) + 1e-5)


def triple(x: Array) -> Array:
    """M51: the same for three numbers that are almost the same."""
    mean = x.mean()
    return (x - mean) * jax.lax.rsqrt(jnp.square(x).mean() - jnp.square(mean) + 1e-5)


def triple_safe(x: Array) -> Array:
    """Repaired: at least the epsilon, instead of the epsilon added."""
    mean = x.mean()
    return (x - mean) * jax.lax.rsqrt(jnp.maximum(jnp.square(x).mean() - jnp.square(mean), 1e-5))


CASES = (
    Case(
        id="M10", title="norm written as a root and squared", source="jax-ml/jax#21723", framework="JAX",
        defective=lambda: squared_norm, repaired=lambda: sum_of_squares, repair="the sum of squares itself",
        inputs=(Input("x", (8,), (-10.0, 10.0)),), codes=("NP3", "NP103", "NP104"), trigger={"x": 0.0}, phase="gradient",
    ),
    Case(
        id="M11", title="diagonal of a Matern kernel", source="jax-ml/jax#26248", framework="JAX",
        defective=lambda: matern, repaired=lambda: matern_safe, repair="the root sees 1 where the distance is 0",
        inputs=(Input("x", (5, 2), (-3.0, 3.0)), Input("scale", (1,), (0.1, 10.0))), codes=("NP3", "NP103", "NP104"),
        trigger={}, phase="gradient",
    ),
    Case(
        id="M12", title="clip to [-1, 1] and arc cosine", source="jax-ml/jax#23649", framework="JAX",
        defective=lambda: angle, repaired=lambda: angle_safe, repair="clip to a little less than 1",
        inputs=(Input("y", (6,), (-2.0, 2.0)),), codes=("NP3", "NP103", "NP104"), trigger={"y": 1.0}, phase="gradient",
    ),
    Case(
        id="M18", title="equal singular values", source="jax-ml/jax#8732", framework="JAX",
        defective=lambda: rebuilt, repaired=lambda: rebuilt_safe, repair="the loss without the decomposition",
        inputs=(Input("a", (4, 4), (-3.0, 3.0)),), codes=("NP3", "NP103"),
        trigger={"a": [[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 2.0, 0], [0, 0, 0, 3.0]]}, phase="gradient",
        notes="ONNX has no singular value decomposition: its results are taken as any value.",
    ),
    Case(
        id="M22", title="sum of two log zeros", source="jax-ml/jax#6811", framework="JAX",
        defective=lambda: log_semiring, repaired=lambda: log_semiring_safe, repair="a finite floor for log 0",
        inputs=(Input("x", (4,), (-5.0, 5.0)),), codes=("NP3", "NP116", "NP117", "NP212"), trigger={}, phase="gradient",
    ),
    Case(
        id="M39", title="clipping at equality", source="google-deepmind/optax PR 1752", framework="JAX",
        defective=lambda: global_clip, repaired=lambda: global_clip_safe, repair="a comparison that isn't strict",
        inputs=(Input("g", (16,), (-10.0, 10.0)), Input("limit", (1,), (0.0, 10.0))), codes=("NP103",),
        trigger={"g": 0.0, "limit": 0.0},
    ),
    Case(
        id="M50", title="fast variance of a norm", source="google/flax#1491", framework="JAX",
        defective=lambda: fast_variance, repaired=lambda: fast_variance_safe, repair="the variance is at least 0",
        inputs=(Input("x", (2, 4096), (-2000.0, 2000.0)),), codes=("NP102", "NP104", "NP4"), trigger={"x": [[1455.4425048828125, 1455.442626953125] * 2048] * 2},
    ),
    Case(
        id="M51", title="fast variance of almost equal numbers", source="jax-ml/jax#30426", framework="JAX",
        defective=lambda: triple, repaired=lambda: triple_safe, repair="at least the epsilon instead of the epsilon added",
        inputs=(Input("x", (3,), (-12.0, 12.0)),), codes=("NP102", "NP104", "NP4"),
        trigger={"x": [-10.99999713897705, -10.999999046325684, -11.000001907348633]},
    ),
)  # fmt: skip
