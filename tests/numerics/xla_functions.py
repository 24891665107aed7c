"""JAX's functions for the sweep of runtimes, each compiled by XLA for a whole array, for few elements, and for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from nanproof.numerics.dtypes import DType, to_numpy

SHORT = 13
"""Elements of the run that is too short for whole vectors."""
SINGLE = 64
"""Elements that are computed one by one."""


@cache
def functions() -> dict[str, Callable[..., Any]]:
    import jax
    from jax import lax, nn
    from jax import numpy as jnp

    names = "exp exp2 expm1 log log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf cbrt pow atan2"
    return {name: getattr(lax, name) for name in names.split()} | {
        "reciprocal": lambda x: 1 / x,
        "erfinv": lax.erf_inv,
        "sigmoid": lax.logistic,
        "fmod": lax.rem,
        "log2": jnp.log2,
        "log10": jnp.log10,
        "softplus": nn.softplus,
        "log_sigmoid": nn.log_sigmoid,
        "softsign": nn.soft_sign,
        "silu": nn.silu,
        "mish": nn.mish,
        "gelu": lambda x: nn.gelu(x, approximate=False),
        "gelu_tanh": nn.gelu,
        "elu": nn.elu,
        "celu": nn.celu,
        "selu": nn.selu,
        "hardswish": nn.hard_swish,
        "softmax": lambda x: jax.nn.softmax(x, axis=-1),
        "log_softmax": lambda x: jax.nn.log_softmax(x, axis=-1),
    }


def compiled(function: Callable[..., Any], dtype: DType, *groups: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """One compiled run over groups of operands, as float64."""
    import jax

    with jax.enable_x64(True):
        arrays = [[jax.numpy.asarray(x.astype(to_numpy(dtype))) for x in group] for group in groups]
        return [np.asarray(y).astype(np.float64) for y in jax.jit(function)(*arrays)]


def run(function: str, dtype: DType, inputs: tuple[np.ndarray, ...]) -> Iterator[np.ndarray]:
    """Vector code, its tail, and scalar code; of rows, along the last axis and along another one."""
    import jax

    apply = functions()[function]
    if inputs[0].ndim > 1:
        along = jax.nn.softmax if function == "softmax" else jax.nn.log_softmax
        last, first = compiled(lambda a, b: (apply(*a), along(*b, axis=0)), dtype, inputs, (inputs[0].T,))
        yield from (last, first.T)
        return
    short, single = (tuple(x[:n] for x in inputs) for n in (SHORT, SINGLE))
    yield from compiled(
        lambda a, b, c: (apply(*a), apply(*b), jax.lax.map(lambda row: apply(*row), c)), dtype, inputs, short, single
    )


def arithmetic(name: str, dtype: DType, inputs: tuple[np.ndarray, ...]) -> Iterator[np.ndarray]:
    """Add, Sub, Mul or Div of a whole array, and of a few elements."""
    from jax import lax

    apply = getattr(lax, name.lower())
    yield from compiled(lambda a, b: (apply(*a), apply(*b)), dtype, inputs, tuple(x[:SHORT] for x in inputs))
