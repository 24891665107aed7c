"""Let torch's tracers keep every line of the user's program, not only those in functions called ``forward``."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import FrameSummary, StackSummary
from typing import Any

from nanproof.frontends.programs.frames import is_ours, is_users, shown

NOISY = (
    "torch.onnx",
    "torch.export",
    "torch.fx",
    "torch._dynamo",
    "torch._export",
    "torch._functorch",
    "onnxscript",
    "onnx_ir",
)

_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)')


@contextmanager
def own_lines(owners: tuple[str, ...]) -> Iterator[None]:
    """Within this, nodes that torch makes carry the stack of the user's frames, innermost last."""
    from torch.fx.proxy import TracerBase

    def users(self: Any, summary: StackSummary) -> StackSummary:
        return StackSummary.from_list(kept(summary, owners))

    before = TracerBase._filter_traceback_frames  # noqa: SLF001 - the hook that torch has for this purpose
    TracerBase._filter_traceback_frames = users  # noqa: SLF001
    try:
        yield
    finally:
        TracerBase._filter_traceback_frames = before  # noqa: SLF001


def kept(summary: StackSummary, owners: tuple[str, ...]) -> list[FrameSummary]:
    """The user's frames further in than ours: further out is the script that asked for the check."""
    frames = list(summary)
    start = max((i for i, frame in enumerate(frames) if is_ours(frame.filename)), default=-1)
    return [
        FrameSummary(shown(f.filename), f.lineno, f.name, lookup_line=False, line=f.line)
        for f in frames[start + 1 :]
        if f.lineno and is_users(f.filename, owners)
    ]


def users_line(stack: str, owners: tuple[str, ...]) -> str | None:
    """'file:line' of the innermost frame of the user in a stack's text."""
    frames = [(file, line) for file, line in _FRAME.findall(stack) if is_users(file, owners)]
    return f"{shown(frames[-1][0])}:{frames[-1][1]}" if frames else None


@contextmanager
def values_unseen() -> Iterator[None]:
    """Within this, parts of torch that look at values, which traced tensors have not, leave that out.

    torch.nn.Transformer compares a mask with the causal one to choose a faster kernel for the same result, and
    torch.distributions refuses arguments out of their support: without that, more is looked at, not less.
    """
    from torch.distributions import Distribution
    from torch.nn.modules import transformer

    def hinted(mask: Any, is_causal: bool | None = None, size: int | None = None) -> bool:
        return is_causal is True

    detect, validate = transformer._detect_is_causal_mask, Distribution._validate_args  # noqa: SLF001 - no setting, no getter
    transformer._detect_is_causal_mask = hinted  # noqa: SLF001
    Distribution.set_default_validate_args(False)
    try:
        yield
    finally:
        transformer._detect_is_causal_mask = detect  # noqa: SLF001
        Distribution.set_default_validate_args(validate)


@contextmanager
def quiet() -> Iterator[None]:
    """Within this, torch's exporters keep their warnings to themselves: what matters is said in notes."""
    loggers = [logging.getLogger(name) for name in NOISY]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


def owners_of(model: Any) -> tuple[str, ...]:
    """The folder of the package that the model's class comes from: its lines count as the user's though it is installed."""
    import sys
    from pathlib import Path

    package = type(model).__module__.split(".", 1)[0]
    if package in {"torch", "builtins", "nanproof"}:
        return ()
    file = getattr(sys.modules.get(package), "__file__", None)
    return (str(Path(file).parent),) if file else ()
