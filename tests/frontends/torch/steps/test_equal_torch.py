"""The step that is appended to a training graph is the one that torch.optim takes."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from onnx import ModelProto
from tests.frontends.torch.gradients.comparing import difference, run_all
from torch import Tensor, nn
from torch.nn import functional

from nanproof.frontends.opening import open_target
from nanproof.frontends.request import Request

Optimizer = Callable[[Any], torch.optim.Optimizer]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(torch.tanh(self.first(x)))


def groups(kind: Any, **settings: Any) -> Optimizer:
    """Two groups of parameters, one with a learning rate of its own."""

    def make(parameters: Any) -> torch.optim.Optimizer:
        every = list(parameters)
        return kind([{"params": every[:2], "lr": 0.5}, {"params": every[2:]}], lr=0.01, **settings)

    return make


class Signs(torch.optim.Optimizer):
    """One of the user's own, which counts its steps in Python."""

    def __init__(self, parameters: Any, lr: float = 0.01) -> None:
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["step"], state["m"] = 0, torch.zeros_like(p)
                state["step"] += 1
                state["m"].mul_(0.9).add_(p.grad, alpha=0.1)
                p.add_(state["m"].sign() / state["step"] ** 0.5, alpha=-group["lr"])


CASES: dict[str, tuple[Any, float | None]] = {
    "sgd": ("sgd(lr=0.1)", None),
    "sgd with momentum": ("sgd(lr=0.1, momentum=0.9, dampening=0.1, weight_decay=0.01)", None),
    "sgd, Nesterov's": ("sgd(lr=0.1, momentum=0.9, nesterov=True, maximize=True)", None),
    "adam": ("adam", None),
    "adam without eps": ("adam(eps=0)", None),
    "adam, amsgrad": ("adam(lr=0.1, amsgrad=True, weight_decay=0.1)", None),
    "adamw": ("adamw(lr=0.1, betas=(0.5, 0.9))", None),
    "rmsprop": ("rmsprop", None),
    "rmsprop, centred": ("rmsprop(centered=True, momentum=0.9)", None),
    "adagrad": ("adagrad(lr=0.1, lr_decay=0.1)", None),
    "adadelta": ("adadelta", None),
    "adamax": ("adamax", None),
    "nadam": ("nadam", None),
    "radam": ("radam", None),
    "rprop": ("rprop", None),
    "clipped": ("sgd(lr=1.0)", 0.01),
    "not clipped": ("adam", 1e6),
    "groups": (groups(torch.optim.AdamW), None),
    "of the user": (Signs, None),
}


SLICE = (
    "sgd with momentum",
    "adam without eps",
    "rmsprop, centred",
    "adagrad",
    "radam",
    "clipped",
    "groups",
    "of the user",
)
"""What `make test` compares; `make test-gradients` takes all."""
EVERY = os.environ.get("NANPROOF_GRADIENTS") == "all"


@pytest.mark.parametrize("name", CASES if EVERY else SLICE)
def test_a_step_from_any_state_is_that_of_torch(name: str) -> None:
    asked, clip = CASES[name]
    torch.manual_seed(0)
    module, inputs = Net(), (torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1]))
    request = Request(inputs=inputs, loss=functional.cross_entropy, phase="step", optimizer=asked, clip_norm=clip)
    opened = open_target(module, request)
    proto = opened.proto()
    assert proto is not None
    ages = [1000] if "step 1001" in " ".join(opened.model.notes) or name == "of the user" else [0, 1, 1000]
    for age in ages:
        for zero in (True, False):
            state = drawn(opened.model.valid, shapes(proto), age, zero=zero)
            found = run_all(proto, {"x": inputs[0].numpy(), "target": inputs[1].numpy(), **state})
            expected = stepped(module, inputs, (asked, clip), state, age)
            assert set(expected) <= set(found)
            for key, value in expected.items():
                assert difference(found[key], value) <= 2e-6, (key, age, found[key], value)


def shapes(proto: ModelProto) -> dict[str, tuple[list[int], int]]:
    return {
        item.name: ([size.dim_value for size in item.type.tensor_type.shape.dim], item.type.tensor_type.elem_type)
        for item in proto.graph.input
    }


def drawn(
    valid: Mapping[str, tuple[float, float]], known: Mapping[str, tuple[list[int], int]], age: int, *, zero: bool
) -> dict[str, Any]:
    """A state: all 0, or moderate values of the right sign."""
    dice = np.random.default_rng(age)
    state: dict[str, Any] = {}
    for name, (low, _) in valid.items():
        values = np.abs(dice.normal(size=known[name][0])) if low >= 0 else dice.normal(size=known[name][0])
        state[name] = (values * (not zero)).astype(np.float32)
    if "step" in state:
        state["step"] = np.int64(age)
    return {n: np.float32(0.5) if n.endswith("mu_product") else v for n, v in state.items()}


def stepped(
    module: nn.Module, inputs: tuple[Any, ...], how: tuple[Any, float | None], state: Mapping[str, Any], age: int
) -> dict[str, Any]:
    """The real step of a real optimiser from a state."""
    from nanproof.frontends.torch.update.choosing import _of_text

    asked, clip = how
    twin = copy.deepcopy(module)
    optimizer = (_of_text(asked) if isinstance(asked, str) else asked)(list(twin.parameters()))
    functional.cross_entropy(twin(inputs[0]), inputs[1]).backward()
    for parameter in twin.parameters():  # what a first step leaves behind says which parts the state has
        optimizer.state[parameter].clear()
    first = copy.deepcopy(twin.state_dict())
    gradients = {n: p.grad.clone() for n, p in twin.named_parameters() if p.grad is not None}
    if not isinstance(optimizer, torch.optim.Adagrad):
        optimizer.step()
    twin.load_state_dict(first)
    for name, parameter in twin.named_parameters():
        parameter.grad = gradients[name].clone()
        own = optimizer.state[parameter]
        for key in [*own] or ["sum", "step"]:
            if f"{name}.{key}" in state:
                own[key] = torch.tensor(state[f"{name}.{key}"])
            elif key == "step":
                own[key] = torch.tensor(float(age)) if isinstance(own.get(key, torch.tensor(0)), Tensor) else age
    if clip is not None:
        torch.nn.utils.clip_grad_norm_(list(twin.parameters()), clip)
    optimizer.step()
    found = {f"{name} after": p.detach().numpy() for name, p in twin.named_parameters()}
    for name, parameter in twin.named_parameters():
        for key, value in optimizer.state[parameter].items():
            if isinstance(value, Tensor) and key != "step":
                found[f"{name}.{key} after"] = value.detach().numpy()
    return found
