"""The reference evaluator of the onnx package: slow, complete, and written by others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from nanproof.execution.onnx_runtime import CannotRunError


@lru_cache(maxsize=512)
def _evaluator(model: bytes) -> Any:
    import onnx
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(onnx.load_model_from_string(model))


def run(model: bytes, feeds: Mapping[str, Any]) -> Sequence[Any]:
    """The outputs of a model. Raises CannotRunError where an operator is missing or fails."""
    import numpy as np

    try:
        with np.errstate(all="ignore"):
            return _evaluator(model).run(None, dict(feeds))  # type: ignore[no-any-return]
    except Exception as problem:  # its operators raise whatever their Python code raises
        raise CannotRunError(f"{type(problem).__name__}: {problem}") from problem
