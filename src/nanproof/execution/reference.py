"""The reference evaluator of the onnx package: slow, complete, and written by others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from nanproof.execution.onnx_runtime import CannotRunError

if TYPE_CHECKING:
    from onnx import ModelProto


@lru_cache(maxsize=512)
def _evaluator(model: bytes) -> Any:
    import onnx

    return opened(onnx.load_model_from_string(model))


def opened(model: ModelProto) -> Any:
    """An evaluator of the caller's own. Raises CannotRunError where an operator is missing."""
    from onnx.reference import ReferenceEvaluator

    try:
        return ReferenceEvaluator(model)
    except Exception as problem:  # it has no common base class for its errors
        raise CannotRunError(f"{type(problem).__name__}: {problem}") from problem


def run(model: bytes, feeds: Mapping[str, Any]) -> Sequence[Any]:
    """The outputs of a model. Raises CannotRunError where an operator is missing or fails."""
    return answers(_evaluator(model), feeds)


def answers(evaluator: Any, feeds: Mapping[str, Any]) -> Sequence[Any]:
    """The outputs of an evaluator. Raises CannotRunError where an operator fails."""
    import numpy as np

    try:
        with np.errstate(all="ignore"):
            return evaluator.run(None, dict(feeds))  # type: ignore[no-any-return]
    except Exception as problem:  # its operators raise whatever their Python code raises
        raise CannotRunError(f"{type(problem).__name__}: {problem}") from problem
