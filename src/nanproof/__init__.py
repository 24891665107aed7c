"""nanproof proves that a deep-learning model never computes a NaN or an Inf, or shows how it does.

What is heavy is imported when it is first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from onnx import ModelProto

    from nanproof import confirm
    from nanproof.confirm.checked import Checked
    from nanproof.findings import InputError, Report
    from nanproof.fix.api import fix
    from nanproof.model.graph import Model

__version__ = "0.1.0"

__all__ = ["InputError", "Report", "__version__", "check", "confirm", "fix"]


def check(
    model: str | Path | bytes | ModelProto | Model | Any,
    *,
    inputs: Any = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    dims: Mapping[str, tuple[int, int | None]] | None = None,
    roles: Mapping[str, str] | None = None,
    weights: str = "model",
    runtime: str | None = None,
    effort: str = "normal",
    time_limit: float | None = None,
    phase: str = "forward",
    loss: Any = None,
    optimizer: Any = None,
    clip_norm: float | None = None,
    specs: Mapping[str, str] | None = None,
    dynamic: Sequence[str] = (),
    mode: str | None = None,
    trust: bool = False,
    load_timeout: float = 600.0,
) -> Checked:
    """Check a model: a live nn.Module, the path or content of an ONNX file, or a program, as in "file.py:name".

    inputs    example inputs of a live module: a tuple, a dict by name, or one tensor
    ranges    what each input (or weight) lies in; names may be wildcards, as in {"tokens*": (0, 30000)}
    dims      the sizes that a named dimension may have; no upper end means no limit
    roles     "input", "label", "weight", "constant" or "random", where the inferred role is wrong
    weights   "model": the stored values; "architecture": any values around them
    runtime   whose arithmetic the verdicts hold for: "torch", "onnxruntime", "ieee"; by default that of the target
    effort    "low": one coarse pass; "normal"; "high": look at each site that stays open by itself, part by part of
              what its values can be, for at most ``time_limit`` seconds in all (60)

    For what isn't an ONNX file:

    phase     "forward"; "gradient" for the gradients of the loss too; "step" for one step of an optimiser as well
    loss      a function of the model's outputs and of the inputs left over; in a program, the name of one
    optimizer what takes the step: a torch.optim.Optimizer of the model's parameters, a function that makes one of them, or text
              such as "adam(lr=1e-3)"; ``clip_norm`` is the norm that all gradients together are cut to before it
    specs     example inputs by type and sizes, as in {"x": "float32[N,3,32,32]"}; a size with a name stays open
    dynamic   sizes of example inputs that stay open: "batch", "all", "x:0=N"
    mode      "eval", "train" or "keep"; by default eval for the forward phase and train for the others
    trust     load a pickle, though it can run any code
    load_timeout  seconds that a program may take to load in its child process

    The report can go on from there: ``check(...).confirm()`` looks for tensors that make its findings fail.

    Raises InputError with one clear sentence if the model can't be read or a name or range makes no sense.
    """
    from nanproof.analysis import Options, analyse
    from nanproof.confirm.checked import of
    from nanproof.findings.names import expand
    from nanproof.frontends.opening import open_target
    from nanproof.frontends.request import Request

    opened = open_target(
        model,
        Request(
            inputs=inputs,
            specs=specs or {},
            dynamic=tuple(dynamic),
            mode=mode,
            phase=phase,
            loss=loss,
            optimizer=optimizer,
            clip_norm=clip_norm,
            trust=trust,
            timeout=load_timeout,
        ),
    )
    options = Options(
        ranges=ranges or {},
        dims=dims or {},
        roles=expand(roles, opened.model.roles, "the value") if roles else {},
        weights=weights,
        runtime=runtime or opened.runtime,
        effort=effort,
        time_limit=time_limit,
    )
    return of(analyse(opened.model, options), opened, options)


def __getattr__(name: str) -> Any:
    if name in {"confirm", "fix"}:  # each is a package that can be called
        from importlib import import_module

        return import_module(f"nanproof.{name}")
    if name not in {"InputError", "Report"}:
        raise AttributeError(f"module 'nanproof' has no attribute {name!r}")
    from nanproof import findings

    return getattr(findings, name)


def __dir__() -> list[str]:
    return __all__
