"""ONNX Runtime on the CPU, as it computes node by node: no fusion, no folding, one thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

QUIET = 4
"""The runtime's log level for fatal errors only: what it can't run is answered as an exception anyway."""


class CannotRunError(Exception):
    """A runtime has no kernel for a model, or refuses these operands."""


@lru_cache(maxsize=512)
def session(model: bytes) -> Any:
    """A session for a serialised model. Raises CannotRunError with the runtime's own words."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = QUIET
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # the runtime has no common base class for its errors
        raise CannotRunError(str(problem)) from problem


def run(model: bytes, feeds: Mapping[str, Any]) -> Sequence[Any]:
    """The outputs of a model. Raises CannotRunError where the runtime refuses."""
    opened = session(model)
    try:
        return opened.run(None, dict(feeds))  # type: ignore[no-any-return]
    except Exception as problem:  # as above
        raise CannotRunError(str(problem)) from problem
