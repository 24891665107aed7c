"""ONNX for operators of PyTorch whose translation in torch.onnx would fail where PyTorch doesn't.

torch.onnx writes log_sigmoid as Log of Sigmoid, also inside of binary_cross_entropy_with_logits. PyTorch computes
min(x, 0) - log1p(exp(-|x|)), which is finite everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def table() -> dict[Callable[..., Any], Callable[..., Any]]:
    """The translations, for ``torch.onnx.export``."""
    import torch
    from onnxscript import opset20 as op

    def log_sigmoid(self: Any) -> Any:
        return op.Neg(op.Softplus(op.Neg(self)))

    return {torch.ops.aten.log_sigmoid.default: log_sigmoid}
