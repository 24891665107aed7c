"""Places of values that were taken from an image, put back: MaxUnpool and Col2Im."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import inf, prod
from typing import Any

import numpy as np

from nanproof.dims import Size
from nanproof.domain.box import Box, Shape
from nanproof.ops.call import Call
from nanproof.ops.flow import length, repeated, settled_sum, sum_flags, without_finite
from nanproof.ops.operands import ints, length_of, sizes
from nanproof.ops.record import Case, Op, Operand, Samples


def _window(call: Call, rank: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Strides, pads and dilations."""
    strides = tuple(int(s) for s in call.attr("strides") or (1,) * rank)
    pads = tuple(int(p) for p in call.attr("pads") or (0,) * (2 * rank))
    return strides, pads, tuple(int(d) for d in call.attr("dilations") or (1,) * rank)


# -- MaxUnpool -----------------------------------------------------------------------------------------------


def _unpool(call: Call, x: Box, places: Box, output_shape: Box | None = None) -> Box:
    """Selection: every element is one of x, or 0."""
    shape = _unpooled(call, x, output_shape)
    if shape is not None and 0 in shape:
        return Box(x.dtype, shape, inf, -inf)
    lo, hi = x.hull()
    return Box(x.dtype, shape, min(lo, 0.0), max(hi, 0.0), x.flags)


def _unpooled(call: Call, x: Box, output_shape: Box | None) -> Shape:
    if output_shape is not None:
        count = length_of(output_shape)
        given = sizes(output_shape)
        return given if given is not None or count is None else tuple(call.fresh(f"size{i}") for i in range(count))
    if x.shape is None:
        return None
    kernel = tuple(int(k) for k in call.attrs["kernel_shape"])
    strides, pads, _ = _window(call, len(kernel))
    found: list[Size] = list(x.shape[:2])
    for i, size in enumerate(x.shape[2:]):
        found.append((size - 1) * strides[i] - (pads[i] + pads[i + len(kernel)]) + kernel[i])
    return tuple(found)


def _run_unpool(xp: Any, x: Any, places: Any, output_shape: Any = None, **attrs: Any) -> Any:
    kernel = tuple(attrs["kernel_shape"])
    rank = len(kernel)
    strides, pads = attrs.get("strides") or (1,) * rank, attrs.get("pads") or (0,) * (2 * rank)
    natural = [(n - 1) * strides[i] - (pads[i] + pads[i + rank]) + kernel[i] for i, n in enumerate(x.shape[2:])]
    whole: Any = np.zeros((*x.shape[:2], *natural), np.asarray(x).dtype)
    np.put(whole, np.asarray(places), np.asarray(x))
    if output_shape is not None:
        larger = np.zeros(tuple(int(n) for n in output_shape), whole.dtype)
        larger[tuple(slice(0, n) for n in whole.shape)] = whole
        whole = larger
    return xp.asarray(whole)


_X = Operand((1, 1, 2, 2))
_PLACES = Operand((1, 1, 2, 2), dtype="int64", values=[[[[5, 7], [13, 15]]]], stored=True)
_POOLED = {"kernel_shape": (2, 2), "strides": (2, 2)}

MAX_UNPOOL = Op(
    "MaxUnpool",
    run=_run_unpool,
    bound=_unpool,
    exact=True,
    grain=(2,),
    samples=Samples(cases=(Case((_X, _PLACES), _POOLED),), dtypes=("float32",)),
)


# -- Col2Im --------------------------------------------------------------------------------------------------


def _col2im(call: Call, x: Box, image: Box, block: Box) -> Box:
    """A sum of the columns' elements that fall on a place: none, or as many as the blocks that cover it."""
    given, kernel = sizes(image), ints(block)
    rank = length_of(image) if given is None else len(given)
    shape: Shape = None
    if x.shape is not None and rank is not None:
        channels: Size = call.fresh("channels")
        if kernel is not None and min(kernel, default=0) > 0:
            channels = x.shape[1] // prod(kernel)
        tail = tuple(call.fresh(f"size{i}") for i in range(rank)) if given is None else given
        shape = (x.shape[0], channels, *tail)
    if without_finite(x) or (shape is not None and 0 in shape):
        return Box(x.dtype, shape, inf, -inf)
    lo, hi = x.hull()
    lo, hi = (lo, hi) if lo <= hi else (0.0, 0.0)
    most = _overlap(call, kernel, None if x.shape is None else x.shape[2])
    return settled_sum(call, x.dtype, (shape, None), repeated(lo, hi, 0.0, most), most, flags=sum_flags(x.flags))


def _overlap(call: Call, kernel: tuple[int, ...] | None, blocks: Size | None) -> float:
    """How many blocks cover a place at most."""
    most = inf if blocks is None else length(call, (blocks,))[1]
    if kernel is None:
        return most
    strides, _, dilations = _window(call, len(kernel))
    covering = 1.0
    for k, s, d in zip(kernel, strides, dilations, strict=True):
        reach = (k - 1) * d + 1
        covering *= min(k, -(-reach // s))
    return min(most, covering)


def _run_col2im(xp: Any, x: Any, image: Any, block: Any, **attrs: Any) -> Any:
    kernel, wanted = [int(n) for n in block], [int(n) for n in image]
    rank = len(kernel)
    strides = attrs.get("strides") or (1,) * rank
    pads = attrs.get("pads") or (0,) * (2 * rank)
    dilations = attrs.get("dilations") or (1,) * rank
    full = [n + pads[i] + pads[i + rank] for i, n in enumerate(wanted)]
    counts = [(full[i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in range(rank)]
    array = np.asarray(x)
    channels = array.shape[1] // int(np.prod(kernel))
    columns: Any = array.reshape((array.shape[0], channels, *kernel, *counts))
    whole: Any = np.zeros((array.shape[0], channels, *full), array.dtype)
    for tap in product(*map(range, kernel)):
        where = [
            slice(t * d, t * d + (c - 1) * s + 1, s) for t, d, c, s in zip(tap, dilations, counts, strides, strict=True)
        ]
        there, here = (slice(None), slice(None), *where), (slice(None), slice(None), *tap)
        whole[there] += columns[here]
    inner = [slice(pads[i], pads[i] + n) for i, n in enumerate(wanted)]
    kept = (slice(None), slice(None), *inner)
    return xp.asarray(whole[kept])


def _known(values: Sequence[int]) -> Operand:
    return Operand((len(values),), dtype="int64", values=values, stored=True)


COL2IM = Op(
    "Col2Im",
    run=_run_col2im,
    bound=_col2im,
    overflow="NP207",
    grain=(1, 2),
    samples=Samples(
        (0.0, 1.0, -1.0, 1e19),
        cases=(
            Case((Operand((1, 5, 5)), _known((5, 5)), _known((1, 5)))),
            Case((Operand((1, 8, 9)), _known((4, 4)), _known((2, 2)))),
            Case((Operand((1, 18, 25)), _known((5, 5)), _known((3, 3))), {"pads": (1, 1, 1, 1)}),
        ),
        dtypes=("float32",),
    ),
)

OPS = (MAX_UNPOOL, COL2IM)
