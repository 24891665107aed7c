"""JAX functions as targets: what they are called with, where findings are, and what is said when they can't be traced."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import nanproof  # noqa: E402
from nanproof.findings.errors import InputError  # noqa: E402
from nanproof.frontends.opening import open_target  # noqa: E402
from nanproof.frontends.request import Request  # noqa: E402

ROOT = Path(__file__).parents[3]

PROGRAM = """\
import jax
import jax.numpy as jnp
from losses import cross_entropy


def model(params, x):
    print("a program may print what it likes")
    return jax.nn.softmax(x @ params["w"] + params["b"])


def loss(params, x, y):
    return cross_entropy(model(params, x), y)


def distance(x, y):
    return jnp.sqrt(
        ((x - y) ** 2).sum()
    )


def make():
    params = {"w": jnp.ones((4, 3)), "b": jnp.zeros(3)}
    return loss, (params, jnp.ones((5, 4)), jnp.ones((5, 3)))


def with_a_loss():
    params = {"w": jnp.ones((4, 3)), "b": jnp.zeros(3)}
    return {"model": model, "inputs": (params, jnp.ones((5, 4))), "loss": cross_entropy, "targets": (jnp.ones((5, 3)),)}


gradient = jax.grad(distance)
"""
LOSSES = """\
import jax.numpy as jnp


def cross_entropy(p, y):
    return -(
        y
        * jnp.log(p)
    ).sum()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(PROGRAM)
    (tmp_path / "losses.py").write_text(LOSSES)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nanproof", *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip


def findings(ran: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert ran.returncode == 1, ran.stderr
    return [f for f in json.loads(ran.stdout)["findings"] if f["note"] is None]


def test_a_factory_of_a_function_and_its_arguments(folder: Path) -> None:
    ran = run(folder, "check", "net.py:make", "--range", "x=-100,100", "--dynamic", "x:0=n", "--dynamic", "y:0=n",
              "--format", "json")  # fmt: skip
    (finding,) = findings(ran)
    assert finding["code"] == "NP101"
    assert finding["location"] == {"file": "losses.py", "line": 7}
    report = json.loads(ran.stdout)
    assert "arguments taken for weights: params" in report["notes"]
    assert any("n (size)" in str(item) or "n" in str(item) for item in report["assumed_ranges"])


def test_a_function_with_described_arguments(folder: Path) -> None:
    ran = run(folder, "check", "net:distance", "--input", "x=float32[N]", "--input", "y=float32[N]")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "x (input) is taken to lie in [-10, 10]" in ran.stdout


def test_gradients_are_found_at_the_forward_line(folder: Path) -> None:
    ran = run(folder, "check", "net.py:distance", "--input", "x=float32[4]", "--input", "y=float32[4]",
              "--phase", "gradient", "--format", "json")  # fmt: skip
    found = findings(ran)
    assert {(f["code"], f["phase"], f["location"]["line"]) for f in found} == {("NP302", "gradient", 16)}


def test_a_function_that_is_a_gradient_already(folder: Path) -> None:
    ran = run(
        folder, "check", "net.py:gradient", "--input", "x=float32[4]", "--input", "y=float32[4]", "--format", "json"
    )
    assert {(f["code"], f["phase"], f["location"]["line"]) for f in findings(ran)} == {("NP302", "gradient", 16)}


def test_a_model_with_a_loss_of_its_own(folder: Path) -> None:
    ran = run(folder, "check", "net.py:with_a_loss", "--phase", "gradient", "--range", "x=-100,100", "--format", "json")
    assert {f["location"]["file"] for f in findings(ran)} == {"losses.py"}


def test_a_live_function() -> None:
    report = nanproof.check(lambda x: jnp.log(x).sum(), inputs=np.ones(3, np.float32), ranges={"x": (0.0, 1.0)})
    assert [f.code for f in report.findings] == ["NP101"]


def test_jitted_functions_and_closures() -> None:
    weights = {"w": jnp.full((3, 2), 0.5)}

    @jax.jit
    def predict(x: Any) -> Any:
        return jnp.tanh(x @ weights["w"])

    opened = open_target(predict, Request(inputs=np.ones((4, 3), np.float32)))
    assert "weights.w" in opened.model.roles
    assert opened.model.roles["weights.w"].value == "weight"


def test_trees_of_arrays_that_can_be_called_are_models() -> None:
    @jax.tree_util.register_pytree_with_keys_class
    class Linear:
        def __init__(self, w: Any) -> None:
            self.w = w

        def tree_flatten_with_keys(self) -> Any:
            return ((jax.tree_util.GetAttrKey("w"), self.w),), None

        @classmethod
        def tree_unflatten(cls, _: Any, leaves: Any) -> Linear:
            return cls(*leaves)

        def __call__(self, x: Any) -> Any:
            return x @ self.w

    opened = open_target(Linear(jnp.ones((3, 2))), Request(inputs=np.ones((4, 3), np.float32)))
    assert {name: role.value for name, role in opened.model.roles.items()} == {"model.w": "weight", "x": "input"}


def test_random_numbers_are_any_of_their_range() -> None:
    def noisy(key: Any, x: Any) -> Any:
        a, b = jax.random.split(key)
        kept = jax.random.bernoulli(a, 0.9, x.shape)
        return jnp.where(kept, x / 0.9, 0.0) + jax.random.uniform(b, x.shape, minval=1.0, maxval=2.0)

    for key in (jax.random.key(0), jax.random.PRNGKey(0)):
        report = nanproof.check(noisy, inputs=(key, np.ones(3, np.float32)), ranges={"x": (-1.0, 1.0)})
        assert not report.findings
        assert not [note for note in report.notes if "counterpart" in note]
    report = nanproof.check(lambda key: jnp.log(jax.random.uniform(key, (3,))), inputs=(jax.random.key(0),))
    assert [f.code for f in report.findings] == ["NP101"]  # 0 is drawn once in 8 million times


def test_what_has_no_counterpart_is_said() -> None:
    report = nanproof.check(lambda x: 1.0 / jnp.linalg.cholesky(x), inputs=np.eye(3, dtype=np.float32))
    assert report.unknown_ops
    assert any("primitive cholesky has no counterpart" in note for note in report.notes)


SAID = [
    (lambda x: x if x.sum() > 0 else -x, "test_targets.py", "use jnp.where"),
    (lambda x, y: x + y, "takes y: give example inputs", ""),
    (lambda x: jnp.reshape(x, (5,)), "can't be traced", "reshape"),
]


@pytest.mark.parametrize(("function", "first", "then"), SAID)
def test_what_can_not_be_traced_is_said_in_a_sentence(function: Any, first: str, then: str) -> None:
    with pytest.raises(InputError) as told:
        nanproof.check(function, inputs=np.ones(3, np.float32))
    assert first in str(told.value)
    assert then in str(told.value)
    assert "\n" not in str(told.value)


def test_a_loss_must_be_one_number() -> None:
    with pytest.raises(InputError, match=r"gives a tensor of shape \[3\], no loss of one number"):
        nanproof.check(lambda x: x * 2, inputs=np.ones(3, np.float32), phase="gradient")
