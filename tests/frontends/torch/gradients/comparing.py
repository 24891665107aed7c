"""Gradients of a case as the exported training graph gives them, beside those of eager autograd, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
import torch
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator

from nanproof.findings.errors import InputError
from nanproof.frontends.opening import open_target
from nanproof.frontends.request import Request
from nanproof.frontends.torch.joint import FOREIGN

from .case import Case

TOLERANCE = 2e-5
"""Relative to the largest element: both sides are float32, and add up in another order."""

EQUAL, RANDOM, UNSUPPORTED, WRONG = "equal", "random", "unsupported", "wrong"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case."""

    name: str
    kind: str
    why: str = ""


def outcome(case: Case) -> Outcome:
    """Build the training graph of a case, run it, and compare."""
    torch.manual_seed(0)
    module, inputs, loss = case.make()
    given = tuple(value.detach().clone() if isinstance(value, torch.Tensor) else value for value in inputs)
    try:
        opened = open_target(module, Request(inputs=inputs, loss=loss, phase="gradient", mode=case.mode))
    except InputError as error:
        return Outcome(case.name, UNSUPPORTED, str(error))
    proto = opened.proto()
    assert proto is not None
    foreign = sorted({node.op_type for node in proto.graph.node if node.domain == FOREIGN})
    if foreign:
        return Outcome(case.name, UNSUPPORTED, f"no runtime knows {', '.join(foreign)}")
    try:
        found = run(proto, given)
    except Exception as error:  # noqa: BLE001 - whatever a runtime says
        return Outcome(case.name, WRONG, f"can't be run: {error}")
    expected = eager(module, inputs, loss, case.mode)
    for names in names_of_one(module):  # a weight that several modules share has one of their names
        if not names & set(expected) <= set(found):
            expected[min(names & set(found))] = expected.pop(min(names & set(expected)))
    missing = set(expected) ^ set(found)
    if missing:
        return Outcome(case.name, WRONG, f"gradients of {sorted(missing)} are on one side only")
    if case.random:
        return Outcome(case.name, RANDOM)
    apart = {name: difference(found[name], expected[name]) for name in expected}
    worst = max(apart, key=apart.__getitem__)
    if apart[worst] <= TOLERANCE:
        return Outcome(case.name, EQUAL)
    return Outcome(case.name, WRONG, f"{worst}: {found[worst].ravel()[:6]} for {expected[worst].ravel()[:6]}")


def eager(module: torch.nn.Module, inputs: tuple[Any, ...], loss: Callable[..., Any], mode: str) -> dict[str, Any]:
    """The loss and the gradients of eager autograd, by the names of the exported outputs."""
    from nanproof.frontends.torch.examples import signature_of, split

    module.train(mode == "train")
    own, kwargs, rest = split(signature_of(module), inputs, {})
    names = list(signature_of(module).parameters)
    value = loss(module(*own, **kwargs), *rest)
    value.backward()
    found = {"loss": value.detach().numpy()}
    for name, parameter in module.named_parameters():
        if parameter.grad is not None:
            found[f"{name}.grad"] = parameter.grad.numpy()
    for name, tensor in zip(names, own, strict=False):
        if isinstance(tensor, torch.Tensor) and tensor.grad is not None:
            found[f"{name}.grad"] = tensor.grad.numpy()
    return found


def names_of_one(module: torch.nn.Module) -> list[set[str]]:
    """The names of each gradient."""
    found: dict[int, set[str]] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        found.setdefault(id(parameter), set()).add(f"{name}.grad")
    return [names for names in found.values() if len(names) > 1]


def run(proto: ModelProto, inputs: tuple[Any, ...]) -> dict[str, Any]:
    """The loss and the gradients that a model computes."""
    feeds = {item.name: value.numpy() for item, value in zip(proto.graph.input, inputs, strict=True)}
    names = [item.name for item in proto.graph.output if item.name == "loss" or item.name.endswith(".grad")]
    return run_all(proto, feeds, names)


def run_all(proto: ModelProto, feeds: dict[str, Any], names: list[str] | None = None) -> dict[str, Any]:
    """What a model computes (all of its outputs, or some): in ONNX Runtime, else in the reference evaluator."""
    names = [item.name for item in proto.graph.output] if names is None else names
    try:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
        values = session.run(names, feeds)
    except Exception:  # noqa: BLE001 - kernels that ONNX Runtime lacks
        with np.errstate(all="ignore"):
            values = ReferenceEvaluator(proto).run(names, feeds)
    return {name: np.asarray(value) for name, value in zip(names, values, strict=True)}


def difference(found: Any, expected: Any) -> float:
    """The largest difference, relative to the largest finite element; infinite where NaN or Inf are not in the same places."""
    if found.shape != expected.shape:
        return float("inf")
    special = ~np.isfinite(expected)
    if not np.array_equal(found[special], expected[special], equal_nan=True) or not np.isfinite(found[~special]).all():
        return float("inf")
    if not (~special).any():
        return 0.0
    scale = max(1.0, float(np.abs(expected[~special]).max()))
    return float(np.abs(found[~special] - expected[~special]).max()) / scale
