"""An operator of a program as a function of PyTorch tensors, with gradients where it has any."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.execution import torch_functions
from nanproof.execution.onnx_runtime import CannotRunError
from nanproof.numerics.arrays import numpy_namespace, torch_namespace
from nanproof.numerics.tensors import to_array, to_tensor

if TYPE_CHECKING:
    from nanproof.ops.record import Op

Function = Callable[..., Any]

ARRAYS_ONLY = frozenset(
    {"Bernoulli", "BitCast", "DFT", "MaxRoiPool", "MelWeightMatrix", "Multinomial", "NonMaxSuppression", "QLinearConv", "QLinearMatMul",
     "RandomNormal", "RandomUniform", "STFT", "StringConcat", "StringNormalizer",
     "StringSplit", "RegexFullMatch", "TfIdfVectorizer", "Unique"}
)  # fmt: skip
"""Operators whose meaning is written for NumPy alone: they choose, count or draw, so that no gradient is lost but DFT's."""


SHAPES_ONLY = frozenset({"RandomNormalLike", "RandomUniformLike"})
"""Operators that read the shape and the dtype of their operand only."""


def function_of(op: Op | None, attrs: Mapping[str, Any], name: str, outputs: int = 1) -> Function:
    """PyTorch's own function where it means the same, else the record's ``run``. Raises CannotRunError without a record."""
    if op is None:
        raise CannotRunError(f"{name} has no record")
    own = None if op.domain or outputs != 1 else torch_functions.function(op.name, attrs)
    if own is not None:
        return own
    if op.name in SHAPES_ONLY:
        return lambda like: _by_arrays(op, attrs, [np.broadcast_to(to_array(like.new_zeros(())), like.shape)])
    if op.name in ARRAYS_ONLY:
        return lambda *operands: _by_arrays(op, attrs, operands)
    xp = torch_namespace()
    return lambda *operands: _by_record(op, attrs, xp, operands)


def _by_record(op: Op, attrs: Mapping[str, Any], xp: Any, operands: Sequence[Any]) -> Any:
    if any(getattr(getattr(x, "dtype", None), "kind", "") in {"O", "S", "U"} for x in operands):
        return _by_arrays(op, attrs, operands)
    return to_tensor_results(op.run(xp, *operands, **attrs))


def _by_arrays(op: Op, attrs: Mapping[str, Any], operands: Sequence[Any]) -> Any:
    """Over NumPy, where a record has no other meaning: its results have no gradient."""
    with np.errstate(all="ignore"):
        results = op.run(numpy_namespace, *(to_array(x) for x in operands), **attrs)
    return to_tensor_results(results)


def to_tensor_results(results: Any) -> Any:
    """The results as tensors; several are a tuple, a list is one sequence."""
    return tuple(to_tensor(r) for r in results) if isinstance(results, tuple) else to_tensor(results)
