"""Gradients of exported training graphs equal those of eager autograd, by name. `make test-gradients` compares all cases."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable

import pytest
import torch

from . import functions, layers, losses
from .comparing import RANDOM, UNSUPPORTED, WRONG, outcome

CASES = {case.name: case for case in (*layers.CASES, *functions.CASES, *losses.CASES)}
SLICE = (
    "Linear", "tied weights", "Conv2d with stride", "BatchNorm2d", "LayerNorm", "GRUCell", "attention with a mask", "avg_pool2d",
    "cross entropy, some ignored", "where around exp", "clamp after exp", "normalize at 0", "cdist of equal points",
    "acos after clamp", "x log x at 0", "Dropout", "CTC",
)  # fmt: skip
"""What `make test` compares: each stands for a way in which it has gone wrong."""
EVERY = os.environ.get("NANPROOF_GRADIENTS") == "all"


def test_private_parts_are_those_of_the_pinned_torch() -> None:
    from nanproof.frontends.torch.joint import VERSION

    assert torch.__version__.split("+")[0] == VERSION, (
        "read frontends/torch/joint.py against this torch, then compare all gradients"
    )


def test_there_are_enough_cases() -> None:
    assert len(CASES) == len(layers.CASES) + len(functions.CASES) + len(losses.CASES) >= 90
    assert set(SLICE) <= set(CASES)


@pytest.mark.parametrize("name", CASES if EVERY else SLICE)
def test_gradients_are_those_of_autograd(name: str, record_property: Callable[[str, str], None]) -> None:
    case = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of eager modules about their own arguments
        found = outcome(case)
    record_property("gradients", found.kind)
    assert found.kind != WRONG, found.why
    assert (found.kind == RANDOM) == case.random, found
    assert (found.kind == UNSUPPORTED) == bool(case.unsupported), found
    assert case.unsupported in found.why, found.why
