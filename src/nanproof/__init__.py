"""nanproof proves that a deep-learning model never computes a NaN or an Inf, or shows how it does.

What is heavy is imported when it is first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from onnx import ModelProto

    from nanproof.findings import InputError, Report
    from nanproof.model.graph import Model

__version__ = "0.1.0"

__all__ = ["InputError", "Report", "__version__", "check"]


def check(
    model: str | Path | bytes | ModelProto | Model,
    *,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    dims: Mapping[str, tuple[int, int | None]] | None = None,
    roles: Mapping[str, str] | None = None,
    weights: str = "model",
    runtime: str | None = None,
) -> Report:
    """Check a model: the path or the content of an ONNX file, a ModelProto, or a Model of a front end.

    ranges    what each input (or weight) lies in; names may be wildcards, as in {"tokens*": (0, 30000)}
    dims      the sizes that a named dimension may have; no upper end means no limit
    roles     "input", "label", "weight", "constant" or "random", where the inferred role is wrong
    weights   "model": the stored values; "architecture": any values around them
    runtime   whose arithmetic the verdicts hold for: "torch", "onnxruntime", "ieee"; by default that of the target

    Raises InputError with one clear sentence if the model can't be read or a name or range makes no sense.
    """
    from nanproof.analysis import Options, analyse
    from nanproof.findings.names import expand
    from nanproof.frontends.onnx import load
    from nanproof.model.graph import Model
    from nanproof.ops import lookup

    loaded = model if isinstance(model, Model) else load(model, known=lambda domain, op: lookup(domain, op) is not None)
    return analyse(
        loaded,
        Options(
            ranges=ranges or {},
            dims=dims or {},
            roles=expand(roles, loaded.roles, "the value") if roles else {},
            weights=weights,
            runtime=runtime,
        ),
    )


def __getattr__(name: str) -> Any:
    if name not in {"InputError", "Report"}:
        raise AttributeError(f"module 'nanproof' has no attribute {name!r}")
    from nanproof import findings

    return getattr(findings, name)


def __dir__() -> list[str]:
    return __all__
