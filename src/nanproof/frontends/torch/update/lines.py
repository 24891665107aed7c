"""The user's line that makes an optimiser: noted while it is made, for no frame of it is left when its step is traced."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

from nanproof.frontends.programs.frames import is_ours, is_users, shown
from nanproof.frontends.programs.importing import after_import

OPTIMIZERS = "torch.optim.optimizer"
LINE = "_nanproof_line"


def watch() -> None:
    """Note the line of every optimiser from now on; PyTorch need not be imported yet."""
    after_import({OPTIMIZERS: _patch})


@contextmanager
def noted() -> Iterator[None]:
    """Within this, the lines of optimisers are noted."""
    from torch.optim import optimizer

    before = optimizer.Optimizer.__init__
    _patch(optimizer)
    try:
        yield
    finally:
        optimizer.Optimizer.__init__ = before


def line_of(optimizer: Any) -> str:
    """'file:line' of the user's call that made it; empty where it isn't known."""
    return str(getattr(optimizer, LINE, ""))


def _patch(module: ModuleType) -> None:
    base: Any = module.Optimizer
    start = base.__init__

    def with_line(self: Any, *args: Any, **kwargs: Any) -> None:
        setattr(self, LINE, _users_line(self))
        start(self, *args, **kwargs)

    base.__init__ = with_line


def _users_line(made: Any) -> str:
    """The innermost line of the user that isn't in a method of the optimiser itself."""
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - the way to a stack that doesn't read any file
    while frame is not None:
        file = frame.f_code.co_filename
        if is_ours(file) and frame.f_locals.get("self") is not made:
            return ""
        if is_users(file) and frame.f_locals.get("self") is not made:
            return f"{shown(file)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
