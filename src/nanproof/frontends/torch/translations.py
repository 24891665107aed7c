"""ONNX for operators of PyTorch whose translation in torch.onnx would compute something else than PyTorch does.

torch.onnx writes log_sigmoid as Log of Sigmoid, also inside of binary_cross_entropy_with_logits. PyTorch computes
min(x, 0) - log1p(exp(-|x|)), which is finite everywhere.

It also writes every number of a program in float32, and casts it where it meets float64: by then 1e-50 has become 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

DOUBLE = 11
"""ONNX's number for float64."""


def table() -> dict[Callable[..., Any], Callable[..., Any]]:
    """The translations, for ``torch.onnx.export``."""
    import torch
    from onnxscript import opset20 as op
    from onnxscript.function_libs.torch_lib.ops import core

    def log_sigmoid(self: Any) -> Any:
        return op.Neg(op.Softplus(op.Neg(self)))

    aten = torch.ops.aten
    return {
        aten.log_sigmoid.default: log_sigmoid,
        aten.scalar_tensor.default: _in_full(core.aten_scalar_tensor, 0),
        aten.full.default: _in_full(core.aten_full, 1),
        aten.full_like.default: _in_full(core.aten_full_like, 1),
        aten.new_full.default: _in_full(core.aten_new_full, 2),
        aten.fill.Scalar: _in_full(core.aten_fill, 1),
    }


def _in_full(function: Callable[..., Any], place: int) -> Callable[..., Any]:
    """The same translation, with the number at this place of the arguments in float64 where that is the type of the result."""

    def translated(*args: Any, **kwargs: Any) -> Any:
        from onnxscript import ir
        from onnxscript import opset20 as op

        wanted = kwargs.get("dtype", getattr(args[0], "dtype", None))
        if isinstance(args[place], float) and wanted == DOUBLE:
            number = op.Constant(value=ir.tensor(args[place], dtype=ir.DataType.DOUBLE))
            args = (*args[:place], number, *args[place + 1 :])
        return function(*args, **kwargs)

    return translated
