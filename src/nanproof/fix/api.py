"""``nanproof.fix(model, ...)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx import ModelProto

    from nanproof.findings import Report
    from nanproof.fix.run import Fixed


def fix(
    model: str | Path | bytes | ModelProto | Any,
    *,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    dims: Mapping[str, tuple[int, int | None]] | None = None,
    roles: Mapping[str, str] | None = None,
    weights: str = "model",
    runtime: str | None = None,
    effort: str = "normal",
    time_limit: float | None = None,
    every: bool = False,
    samples: int | None = None,
    choose: Callable[[Report], Report] | None = None,
    **loading: Any,
) -> Fixed:
    """Find changes of a model after which it is proved safe: ``.report`` says them, ``.model`` has them made.

    The question is asked as in ``check``, and ``loading`` (inputs, specs, dynamic, mode, phase, loss, trust, timeout)
    says how a program is opened. Each change is verified twice: the analysis finds nothing at the site and nothing new
    elsewhere, and the model runs on ``samples`` points (1,000) in ONNX Runtime, if that is installed.

    every     keep all proved changes of a finding, not only the best
    choose    a function that keeps some findings of the report: only they are fixed

    ``fix(...).save(path)`` writes the changed model. Raises InputError as ``check`` does.
    """
    from nanproof.analysis import Options
    from nanproof.findings.names import expand
    from nanproof.fix import run
    from nanproof.fix.targets import open_message
    from nanproof.frontends.request import Request

    request = Request(**loading)
    target = open_message(model, request)
    options = Options(
        ranges=ranges or {},
        dims=dims or {},
        roles=expand(roles, target.roles, "the value") if roles else {},
        weights=weights,
        runtime=runtime,
        effort=effort,
        time_limit=time_limit,
    )
    return run.fix(
        target,
        options,
        choose=choose or (lambda report: report),
        samples=run.SAMPLES if samples is None else samples,
        every=every,
        asked=None if target.opened is None or not target.is_program else (model, request),
    )
