"""What hand-written end-point rules share: the namespace of a pair, and special operands that runtimes differ on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

import numpy as np

from nanproof.domain.box import NAN, NINF, PINF, Box
from nanproof.domain.partition import Blocks, pack
from nanproof.numerics import scalar
from nanproof.numerics.arrays import numpy_namespace, torch_namespace
from nanproof.ops.call import Call

UnaryBound = Callable[[Call, Box], Box]


def space(*ends: Any) -> Any:
    """The namespace that end points are computed in: floats, NumPy's arrays or PyTorch's tensors."""
    floats = True
    for end in ends:
        if isinstance(end, np.ndarray):
            return numpy_namespace
        floats = floats and isinstance(end, (float, int))
    return scalar if floats else torch_namespace()


def differing(inner: UnaryBound, images: Mapping[int, tuple[float, ...]]) -> UnaryBound:
    """A bound that also allows what some runtimes make of special operands.

    ``images`` says, for each of NAN, PINF and NINF, which results are seen beside
    the ones that ``run`` gives: ONNX Runtime's Softsign of an infinity is NaN, its
    Shrink turns NaN into 0.
    """

    def bound(call: Call, x: Box) -> Box:
        result = inner(call, x)
        if x.flags:
            for bit, values in images.items():
                if x.flags & bit:
                    result = _allowing(result, x, bit, values)
        return result

    bound.__doc__ = getattr(inner, "text", None) or inner.__doc__
    return bound


def _allowing(result: Box, x: Box, bit: int, values: tuple[float, ...]) -> Box:
    """The result, extended by values wherever the operand may have the special value ``bit``."""
    usual = [v for v in values if abs(v) < inf]
    lo, hi = min(usual, default=inf), max(usual, default=-inf)
    marks = 0
    for value in values:
        marks |= NAN if value != value else PINF if value == inf else NINF if value == -inf else 0
    if result.cuts is None:
        return Box(result.dtype, result.shape, min(result.lo, lo), max(result.hi, hi), result.flags | marks)
    where = (x.block_flags() & bit) != 0 if x.cuts == result.cuts else np.ones(np.shape(result.lo), bool)
    los = np.where(where, np.minimum(result.lo, lo), result.lo)
    his = np.where(where, np.maximum(result.hi, hi), result.hi)
    spots = result.block_flags() | np.where(where, np.uint8(marks), np.uint8(0))
    return pack(result.dtype, result.shape, result.cuts, Blocks(los, his, spots if spots.any() else None))
