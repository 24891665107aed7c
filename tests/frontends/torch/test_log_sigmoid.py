"""What torch.onnx would write as Log of Sigmoid is finite in PyTorch, and has to be in the model."""

from __future__ import annotations

import numpy as np
import onnxruntime
import torch
from torch import nn

import nanproof
from nanproof.frontends.opening import open_target
from nanproof.frontends.request import Request


class Loss(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return nn.functional.logsigmoid(x) + nn.functional.binary_cross_entropy_with_logits(x, y, reduction="none")


def test_the_losses_on_logits_are_safe_and_what_pytorch_computes() -> None:
    x = torch.tensor([-1e30, -1000.0, -88.8, -20.0, -0.5, 0.0, 3.0, 200.0, 1e30])
    y = torch.linspace(0, 1, 9)
    report = nanproof.check(Loss(), inputs=(x, y), ranges={"x": (-1e30, 1e30), "y": (0, 1)})
    assert not report.found
    proto = open_target(Loss(), Request(inputs=(x, y))).proto()
    assert proto is not None
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": x.numpy(), "y": y.numpy()})
    np.testing.assert_allclose(found, Loss()(x, y).numpy(), rtol=1e-6, atol=1e-7)
