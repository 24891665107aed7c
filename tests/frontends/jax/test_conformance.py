"""What the front end makes of functions, and of their gradients, equals what JAX computes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from tests.frontends.jax.functions import FORWARD, LOSSES, Example  # noqa: E402

from nanproof.frontends.request import Request  # noqa: E402
from nanproof.testing.front_ends import assert_conforms  # noqa: E402

SAMPLES = 3


def _flat(tree: Any) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(tree)]


def _samples(example: Example, given: list[int]) -> Iterator[dict[int, Any]]:
    """Values of the flat arguments that are inputs: those of the example, then others of the same kind."""
    flat = _flat(example.arguments)
    yield {n: flat[n] for n in given}
    rng = np.random.default_rng(3)
    for _ in range(SAMPLES - 1):
        yield {n: _like(rng, flat[n]) for n in given}


def _like(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "f":
        drawn = np.asarray(rng.normal(size=array.shape), array.dtype)
        return np.abs(drawn) if (array >= 0).all() else drawn
    return np.asarray(rng.permuted(array.reshape(-1)).reshape(array.shape), array.dtype)


def _assert_equals_jax(example: Example, phase: str) -> Any:
    leaves, tree = jax.tree_util.tree_flatten(example.arguments)
    opened_names: list[str] = []
    positions: list[int] = []

    def arguments(fed: Any) -> list[Any]:
        values = list(leaves)
        for name, n in zip(opened_names, positions, strict=True):
            values[n] = fed[name]
        return [jax.numpy.asarray(value) for value in values]

    def loss(*values: Any) -> Any:
        return example.function(*jax.tree_util.tree_unflatten(tree, values))

    def reference(fed: Any) -> list[np.ndarray]:
        return _flat(compiled(*arguments(fed)))

    request = Request(inputs=example.arguments, phase=phase)
    names = _input_names(example, request)
    opened_names += names.values()
    positions += names
    weights = [n for n in range(len(leaves)) if n not in positions]
    floats = [n for n in (*weights, *positions) if np.asarray(leaves[n]).dtype.kind == "f"]
    compiled = jax.jit(loss if phase == "forward" else jax.value_and_grad(loss, argnums=floats))
    feeds = ({names[n]: value for n, value in sample.items()} for sample in _samples(example, positions))
    return assert_conforms(example.function, reference, feeds, request=request, tolerance=example.tolerance)


def _input_names(example: Example, request: Request) -> dict[int, str]:
    """Which of the flat arguments are inputs, not weights, and what they are called."""
    from nanproof.frontends.jax.arguments import call_of
    from nanproof.frontends.programs.objects import Program

    found = call_of(Program(example.function), request, "the function")
    return {n: leaf.name for n, leaf in enumerate(found.leaves) if not leaf.weight}


@pytest.mark.parametrize("name", [*FORWARD, *LOSSES])
def test_a_function_equals_itself(name: str) -> None:
    _assert_equals_jax((FORWARD | LOSSES)[name], "forward")


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_equal_those_of_jax(name: str) -> None:
    opened = _assert_equals_jax(LOSSES[name], "gradient")
    assert opened.model.graph.outputs[0] == "loss"
    assert len(opened.model.graph.outputs) > 1


def test_no_primitive_of_these_functions_is_unknown() -> None:
    from nanproof.frontends.opening import open_target

    for name, example in (FORWARD | LOSSES).items():
        opened = open_target(example.function, Request(inputs=example.arguments))
        assert not [note for note in opened.model.notes if "no counterpart" in note], name
