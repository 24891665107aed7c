"""ONNX Runtime on the CPU, as it computes node by node: no fusion, no folding, one thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

QUIET = 4
"""The runtime's log level for fatal errors only: what it can't run is answered as an exception anyway."""


class CannotRunError(Exception):
    """A runtime has no kernel for a model, or refuses these operands."""


@lru_cache(maxsize=512)
def session(model: bytes) -> Any:
    """A session for a serialised model, kept for the next call. Raises CannotRunError with the runtime's own words."""
    return new_session(model)


def new_session(model: bytes, folder: Path | None = None) -> Any:
    """A session that nobody keeps, for a model whose external data lie in a folder."""
    try:
        import onnxruntime
    except ImportError:
        raise CannotRunError("ONNX Runtime is not installed: pip install 'nanproof[ort]'") from None

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = QUIET
    if folder is not None:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder.resolve()))
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # the runtime has no common base class for its errors
        raise CannotRunError(str(problem)) from problem


def run(model: bytes, feeds: Mapping[str, Any]) -> Sequence[Any]:
    """The outputs of a model. Raises CannotRunError where the runtime refuses."""
    return answers(session(model), feeds)


def answers(opened: Any, feeds: Mapping[str, Any]) -> Sequence[Any]:
    """The outputs of an open session. Raises CannotRunError where the runtime refuses."""
    try:
        return opened.run(None, dict(feeds))  # type: ignore[no-any-return]
    except Exception as problem:  # as above
        raise CannotRunError(str(problem)) from problem
