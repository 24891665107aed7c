"""Where a PyTorch program makes NaN or Inf out of operands without: watched operation by operation, as it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from math import isfinite
from types import FrameType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from nanproof.frontends.live import Birth
from nanproof.frontends.programs.frames import is_ours, is_users, shown

LARGE = 4096
"""Elements from which on a sum is quicker than a look at each."""
MOST = 32
"""Births that are noted; what comes later follows from them as a rule."""


class Watch(TorchDispatchMode):  # type: ignore[misc]
    """Within this, ``births`` collects what is born. ``owners`` are folders whose lines count as the user's."""

    def __init__(self, owners: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.owners = owners
        self.births: list[Birth] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = [x for x in tree_leaves((args, kwargs or {})) if _is_float(x)]
        if not given or len(self.births) >= MOST or _makes_up(func, args):
            return func(*args, **(kwargs or {}))
        if func._schema.is_mutable:  # noqa: SLF001 - PyTorch has no other name for it
            given = [x.clone() for x in given]
        results = func(*args, **(kwargs or {}))
        gives = _born(func, given, [x for x in tree_leaves(results) if _is_float(x)])
        if gives:
            file, line = next(users_frames(self.owners), ("", 0))
            self.births.append(Birth(func.__name__, gives, file, line))
        return results


def users_frames(owners: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """The user's lines on the stack, innermost first; further out than ours is the script that asked."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the way to a stack that doesn't read any file
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    while frame is not None and not is_ours(frame.f_code.co_filename):
        if is_users(frame.f_code.co_filename, owners):
            yield shown(frame.f_code.co_filename), frame.f_lineno
        frame = frame.f_back


def _is_float(x: Any) -> bool:
    return isinstance(x, torch.Tensor) and x.is_floating_point()


def _born(func: Any, given: Sequence[Any], results: Sequence[Any]) -> str:
    """What an operation made: 'nan', 'inf', '-inf', or nothing. NaN out of infinities alone is made, too."""
    if all(_finite(x) for x in results):
        return ""
    if torch.Tag.pointwise in func.tags and len(results) == 1:
        sound = [torch.isfinite(_wide(x)) for x in given]
        clean = [~torch.isnan(_wide(x)) for x in given]
        y = _wide(results[0])
        nan = bool(_all(torch.isnan(y), clean).any())
        infinite = _all(torch.isinf(y), sound)
        return "nan" if nan else _sign(y, infinite)
    if any(bool(torch.isnan(_wide(x)).any()) for x in given):
        return ""
    if any(bool(torch.isnan(_wide(y)).any()) for y in results):
        return "nan"
    if not all(_finite(x) for x in given):
        return ""
    return next(sign for y in results if (sign := _sign(_wide(y), torch.isinf(_wide(y)))))


def _all(mask: Any, others: Sequence[Any]) -> Any:
    for other in others:
        mask = mask & other
    return mask


def _sign(y: Any, infinite: Any) -> str:
    if not bool(infinite.any()):
        return ""
    return "inf" if bool((infinite & (y > 0)).any()) else "-inf"


def _wide(x: Any) -> Any:
    """Elements under 16 bits have no tests of their own."""
    return x if x.dtype.itemsize > 1 else x.float()


def _finite(x: Any) -> bool:
    """A sum is quick, and finite only if all terms are; it may overflow without one that is not."""
    if x.numel() > LARGE and isfinite(float(_wide(x).sum())):
        return True
    return bool(torch.isfinite(_wide(x)).all())


def _makes_up(func: Any, args: Any) -> bool:
    """Whether the elements are no result: memory that nobody has written yet, or a number that the program says."""
    return "empty" in func.__name__ or any(isinstance(x, float) and not isfinite(x) for x in tree_leaves(args))
