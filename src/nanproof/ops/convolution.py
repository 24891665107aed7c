"""Convolution: a sum of products over the channels of a group and a window."""

from __future__ import annotations

from itertools import product
from math import inf, prod
from typing import Any

import numpy as np

from nanproof.dims import ShapeError, Size, merge
from nanproof.domain.box import Array, Box, Shape
from nanproof.domain.partition import Cuts, at_cuts, blocks_of, everywhere, merge_whole
from nanproof.domain.weights import signed_sums, sums_of
from nanproof.numerics.dtypes import DType
from nanproof.ops.call import Call
from nanproof.ops.flow import (
    Sums,
    asks_for_hull,
    length,
    product_flags,
    repeated,
    settled_sum,
    sum_flags,
    weighed,
    weighed_hull,
    without_finite,
)
from nanproof.ops.gemm import plus
from nanproof.ops.matmul import product_ends
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.windows import Window, concrete_pads, lengths, window_of

PHASES = 64
"""Most offsets of a transposed convolution's kernel against its stride that are told apart."""


def _conv(call: Call, x: Box, w: Box, b: Box | None = None) -> Box:
    """No class fits: a sum of products, with a bound of its own for each output channel where weights are known.

    Windows over padding miss some terms, so 0 joins the operand's values there.
    """
    window, shape = _geometry(call, x, w)
    return _bounded(call, (x, w, b), shape, (window is None or window.padded, False))


def _conv_transpose(call: Call, x: Box, w: Box, b: Box | None = None) -> Box:
    """As a convolution; which taps of the kernel meet an output depends on its place modulo the stride."""
    shape = _transposed_shape(call, x, w)
    return _bounded(call, (x, w, b), shape, (True, True))


def _groups(call: Call) -> int:
    groups = int(call.attr("group", 1))
    if groups < 1:
        raise ShapeError(f"a convolution in {groups} groups: 1 or more are needed")
    return groups


def _geometry(call: Call, x: Box, w: Box) -> tuple[Window | None, Shape]:
    kernel = _kernel(call, w)
    if kernel is None:
        return None, None
    window = window_of(call, kernel)
    if x.shape is None or w.shape is None:
        return window, None
    merge(x.shape[1], w.shape[1] * _groups(call), "the channels of a convolution and its weights")
    return window, (x.shape[0], w.shape[0], *lengths(window, x.shape[2:]))


def _kernel(call: Call, w: Box) -> tuple[int, ...] | None:
    if w.shape is not None and (w.known is not None or all(isinstance(n, int) for n in w.shape[2:])):
        return w.shape[2:]  # type: ignore[return-value]
    given = call.attr("kernel_shape")
    return None if given is None else tuple(int(n) for n in given)


def _transposed_shape(call: Call, x: Box, w: Box) -> Shape:
    kernel = _kernel(call, w)
    if kernel is None or x.shape is None or w.shape is None:
        return None
    groups = _groups(call)
    merge(x.shape[1], w.shape[0], "the channels of a convolution and its weights")
    front: tuple[Size, ...] = (x.shape[0], w.shape[1] * groups)
    wanted = call.attr("output_shape")
    if wanted is not None and len(wanted):
        return (*front, *(int(n) for n in wanted[-len(kernel) :]))
    window = window_of(call, kernel)
    extra = tuple(int(p) for p in call.attr("output_padding", (0,) * len(kernel)))
    found: list[Size] = []
    for i, size in enumerate(x.shape[2:]):
        if window.pads is None:
            found.append(size * window.strides[i])
            continue
        reach = (window.kernel[i] - 1) * window.dilations[i] + 1
        found.append((size - 1) * window.strides[i] + extra[i] + reach - sum(window.pads[i]))
    return (*front, *found)


def _bounded(call: Call, operands: tuple[Box, Box, Box | None], shape: Shape, kind: tuple[bool, bool]) -> Box:
    x, w, b = operands
    padded, transposed = kind
    dtype = x.dtype
    if shape is not None and 0 in shape:
        return Box(dtype, shape, inf, -inf)
    if without_finite(x) or without_finite(w) or (b is not None and without_finite(b)):
        return Box(dtype, shape, inf, -inf)
    plain = not x.flags and not w.flags
    known = w.known
    if plain and known is not None and known.size > 1 and shape is not None and (b is None or not b.flags):
        if not transposed and x.cuts is None:
            coarse = _one_bound(call, x, w, padded=padded)
            if coarse is not None:
                sums, n = coarse
                sums = sums if b is None else plus(sums, *b.hull())
                return settled_sum(call, dtype, (shape, None), sums, n + 2, products=True)
        return _finished(call, dtype, shape, _per_channel(call, x, w, (padded, transposed)), b)
    terms = _terms(call, w, transposed=transposed)
    xl, xh = x.hull()
    wl, wh = w.hull()
    empty = not padded and not (xl <= xh and wl <= wh)
    flags = sum_flags(product_flags(x, w, zeros=padded)) if not plain else 0
    if not (xl <= xh and wl <= wh):
        xl = xh = wl = wh = 0.0
    if padded:
        xl, xh = min(xl, 0.0), max(xh, 0.0)
    one = repeated(*product_ends((xl, xh), (wl, wh)), terms[0] if not padded else 0.0, terms[1])
    if b is not None:
        bl, bh = b.hull()
        empty = empty or not bl <= bh
        one = plus(one, bl, bh) if bl <= bh else one
        flags = sum_flags(flags | b.flags)
    return settled_sum(call, dtype, (shape, None), one, terms[1] + 2, flags=flags, empty=empty, products=True)


def _terms(call: Call, w: Box, *, transposed: bool) -> tuple[float, float]:
    """The least and the largest number of products in a sum."""
    if w.shape is None:
        return 0.0, inf
    groups = int(call.attr("group", 1))
    sizes: tuple[Size, ...] = w.shape[1:]
    if transposed:
        sizes = (*w.shape[:1], *w.shape[2:])
    least, most = length(call, sizes)
    return (least, most) if not transposed else (0.0, most / groups)


def _one_bound(call: Call, x: Box, w: Box, *, padded: bool) -> tuple[Sums, float] | None:
    """One bound for all output channels of an operand in one block, where that is all that is asked for."""
    terms = float(_per_output(w))
    if not asks_for_hull(call, x.dtype, terms + 2):
        return None
    lo, hi = x.hull()
    lo, hi = (min(lo, 0.0), max(hi, 0.0)) if padded else (lo, hi)
    return weighed_hull(sums_of(w, 0), lo, hi), terms


def _per_output(w: Box) -> int:
    """How many weights an output channel has."""
    assert w.shape is not None
    return prod(w.shape[1:])  # type: ignore[arg-type]


def _by_channels(weights: Array) -> tuple[Array, Array]:
    """The sums of the positive and of the negative part over the window, by the first two axes."""
    positive, negative = signed_sums(weights.reshape(weights.shape[0] * weights.shape[1], -1), 0)
    return positive.reshape(weights.shape[:2]), negative.reshape(weights.shape[:2])


def _per_channel(call: Call, x: Box, w: Box, kind: tuple[bool, bool]) -> tuple[Sums, float]:
    """Sums by output channel: the weights are added up over the window once, then weighted by input channel."""
    padded, transposed = kind
    weights = w.known
    assert weights is not None
    groups = int(call.attr("group", 1))
    lo, hi = _channels(x)
    if padded:
        lo, hi = np.minimum(lo, 0.0), np.maximum(hi, 0.0)
    inner = weights.shape[1] if not transposed else weights.shape[0] // groups
    terms = float(inner * np.prod(weights.shape[2:], dtype=np.int64))
    if lo.size > 1:
        lo, hi = lo.reshape(groups, 1, inner), hi.reshape(groups, 1, inner)
    if not transposed:
        if lo.size == 1:
            positive, negative = sums_of(w, 0)
            return weighed(positive, negative, float(lo[0]), float(hi[0])), terms
        positive, negative = _by_channels(weights)
        outer = weights.shape[0] // groups
        parts = _weighed(positive.reshape(groups, outer, inner), negative.reshape(groups, outer, inner), lo, hi)
        return Sums(*(p.sum(axis=-1).reshape(-1) for p in parts)), terms
    return _by_phase(call, weights, (lo, hi), groups), terms


def _channels(x: Box) -> tuple[Array, Array]:
    """The ends of an image's channels: (1,) or (channels,)."""
    if x.cuts is None or x.cuts[1] is None:
        lo, hi = x.hull()
        return np.full(1, lo), np.full(1, hi)
    others = tuple(i for i in range(len(x.cuts)) if i != 1)
    blocks = merge_whole(blocks_of(x), others)
    spans = np.diff(x.cuts[1])
    return np.repeat(np.reshape(blocks.lo, -1), spans), np.repeat(np.reshape(blocks.hi, -1), spans)


def _weighed(positive: Array, negative: Array, lo: Any, hi: Any) -> Sums:
    """Each sum of w times x in [lo, hi], from the sums of the positive and the negative part of w."""
    up, down = np.maximum(hi, 0.0), np.maximum(-lo, 0.0)
    low, high = np.maximum(lo, 0.0), np.maximum(-hi, 0.0)
    below, above = -(down * positive + up * negative), up * positive + down * negative
    return Sums(below + (low * positive + high * negative), above - (high * positive + low * negative), below, above)


def _by_phase(call: Call, weights: Array, ends: tuple[Array, Array], groups: int) -> Sums:
    """Every phase of the stride sees its own taps; the hull over the phases."""
    lo, hi = ends
    rank = weights.ndim - 2
    strides = tuple(int(s) for s in call.attr("strides", (1,) * rank))
    dilations = tuple(int(d) for d in call.attr("dilations", (1,) * rank))
    taps: list[Any] = []
    for i in range(rank):
        phase = np.arange(weights.shape[2 + i]) * dilations[i] % strides[i]
        taps.append([np.flatnonzero(phase == p) for p in sorted(set(phase.tolist()))])
    if np.prod([len(t) for t in taps], dtype=np.int64) > PHASES:
        taps = [[np.arange(n)] for n in weights.shape[2:]]
    inner, outer = weights.shape[0] // groups, weights.shape[1]
    found: list[Sums] = []
    for chosen in product(*taps):
        part = weights
        for i, places in enumerate(chosen):
            if len(places) < part.shape[2 + i]:
                part = np.take(part, places, axis=2 + i)
        positive, negative = (np.swapaxes(s.reshape(groups, inner, outer), 1, 2) for s in _by_channels(part))
        parts = _weighed(positive, negative, lo, hi)
        found.append(Sums(*(p.sum(axis=-1).reshape(-1) for p in parts)))
    los, his, below, above = (np.stack(p) for p in zip(*found, strict=True))
    # at the borders taps are missing: 0 is among the values already
    return Sums(los.min(0), his.max(0), below.min(0), above.max(0))


def _finished(call: Call, dtype: DType, shape: tuple[Size, ...], what: tuple[Sums, float], bias: Box | None) -> Box:
    sums, terms = what
    channels = len(sums.lo)
    cuts: Cuts = (None, everywhere(channels) if channels > 1 else None, *(None,) * (len(shape) - 2))
    grid = (1, channels, *(1,) * (len(shape) - 2))
    if bias is not None:
        if bias.shape is not None and len(bias.shape) == 1:
            blocks = at_cuts(bias, (cuts[1],))
            bl, bh = blocks.lo, blocks.hi
        else:
            bl, bh = bias.hull()
        sums = plus(sums, bl, bh)
    sums = Sums(*(np.reshape(e, grid) for e in sums))
    return settled_sum(
        call, dtype, (shape, cuts if any(cuts) else (None,) * len(shape)), sums, terms + 2, products=True
    )


def _run_conv(xp: Any, x: Any, w: Any, b: Any = None, **attrs: Any) -> Any:
    """By shifted slices: for every tap of the kernel, the strided image times its weights."""
    rank = len(w.shape) - 2
    groups = int(attrs.get("group", 1))
    strides, dilations = attrs.get("strides", (1,) * rank), attrs.get("dilations", (1,) * rank)
    pads = concrete_pads(attrs, w.shape[2:], x.shape[2:])
    for i, (before, after) in enumerate(pads):
        x = _padded(xp, x, i + 2, (before, after))
    places = [(x.shape[i + 2] - (w.shape[i + 2] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(rank)]
    inner, outer = w.shape[1], w.shape[0] // groups
    total: Any = None
    for tap in product(*(range(n) for n in w.shape[2:])):
        where = tuple(
            slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, places, strides, strict=True)
        )
        part = x[_behind(where)]
        part = xp.reshape(part, (x.shape[0], groups, 1, inner, *places))
        factor = xp.reshape(w[_behind(tap)], (1, groups, outer, inner, *(1,) * rank))
        term = xp.sum(part * factor, axis=3)
        total = term if total is None else total + term
    y = xp.reshape(total, (x.shape[0], w.shape[0], *places))
    return y if b is None else y + xp.reshape(b, (1, -1, *(1,) * rank))


def _behind(where: tuple[Any, ...]) -> tuple[Any, ...]:
    """An index of the axes behind batch and channels."""
    return (slice(None), slice(None), *where)


def _padded(xp: Any, x: Any, axis: int, pads: tuple[int, int]) -> Any:
    parts = [x]
    for count, front in zip(pads, (True, False), strict=True):
        if count:
            shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
            zeros = xp.zeros(shape, dtype=x.dtype)
            parts = [zeros, *parts] if front else [*parts, zeros]
    return x if len(parts) == 1 else xp.concat(parts, axis=axis)


def _run_transposed(xp: Any, x: Any, w: Any, b: Any = None, **attrs: Any) -> Any:
    """The image spread out by its strides, then a convolution with the kernel turned around."""
    rank = len(w.shape) - 2
    groups = int(attrs.get("group", 1))
    strides, dilations = attrs.get("strides", (1,) * rank), attrs.get("dilations", (1,) * rank)
    extra = attrs.get("output_padding", (0,) * rank)
    crop = _crop(attrs, x.shape[2:], w.shape[2:])
    for i in range(rank):
        x = _spread(xp, x, i + 2, int(strides[i]))
    inner = w.shape[0] // groups
    turned = xp.flip(w, axis=tuple(range(2, 2 + rank)))
    turned = xp.reshape(turned, (groups, inner, *w.shape[1:]))
    turned = xp.reshape(xp.moveaxis(turned, 2, 1), (groups * w.shape[1], inner, *w.shape[2:]))
    reach = [(w.shape[2 + i] - 1) * dilations[i] for i in range(rank)]
    full = [(r, r + int(e)) for r, e in zip(reach, extra, strict=True)]
    pads = [p[0] for p in full] + [p[1] for p in full]
    y = _run_conv(xp, x, turned, b, group=groups, dilations=dilations, pads=pads)
    where = tuple(
        slice(before, y.shape[2 + i] - after if size is None else before + size)
        for i, (before, after, size) in enumerate(crop)
    )
    return y[_behind(where)]


def _crop(attrs: Any, sizes: Any, kernel: Any) -> list[tuple[int, int, int | None]]:
    """What is cut off before and behind each axis; the wanted length where it is given."""
    rank = len(kernel)
    strides, dilations = attrs.get("strides", (1,) * rank), attrs.get("dilations", (1,) * rank)
    extra = attrs.get("output_padding", (0,) * rank)
    auto, wanted = attrs.get("auto_pad", "NOTSET"), attrs.get("output_shape")
    if wanted is None and auto not in {"SAME_UPPER", "SAME_LOWER"}:
        flat = attrs.get("pads", (0,) * (2 * rank))
        return [(int(a), int(b), None) for a, b in zip(flat[:rank], flat[rank:], strict=True)]
    found: list[tuple[int, int, int | None]] = []
    for i, n in enumerate(sizes):
        whole = strides[i] * (n - 1) + extra[i] + (kernel[i] - 1) * dilations[i] + 1
        size = int(wanted[-rank + i]) if wanted is not None else n * strides[i]
        spare = max(whole - size, 0)
        half = spare // 2
        found.append((half if auto == "SAME_UPPER" else spare - half, 0, size))
    return found


def _spread(xp: Any, x: Any, axis: int, stride: int) -> Any:
    if stride == 1:
        return x
    shape = (*x.shape[: axis + 1], stride - 1, *x.shape[axis + 1 :])
    with_zeros = xp.concat([xp.expand_dims(x, axis=axis + 1), xp.zeros(shape, dtype=x.dtype)], axis=axis + 1)
    size = x.shape[axis]
    flat = xp.reshape(with_zeros, (*x.shape[:axis], size * stride, *x.shape[axis + 1 :]))
    return flat[(slice(None),) * axis + (slice(0, (size - 1) * stride + 1),)]


def _case(shapes: tuple[tuple[int, ...], ...], stored: bool = False, **attrs: Any) -> Case:
    image, *rest = shapes
    return Case((Operand(image), *(Operand(s, stored=stored) for s in rest)), attrs)


POINTS = (0.0, 1.0, -1.0, 1e19, -1e19, 1e-30)

CONV = Op(
    "Conv",
    run=_run_conv,
    bound=_conv,
    overflow="NP206",
    infinite="NP213",
    weighs=lambda _: {1: 0},
    samples=Samples(
        POINTS,
        (
            _case(((1, 2, 5), (3, 2, 3), (3,))),
            _case(((1, 2, 5), (3, 2, 3), (3,)), True, pads=(1, 1)),
            _case(((2, 3, 5, 4), (4, 3, 3, 2)), True, strides=(2, 1)),
            _case(((1, 4, 5, 5), (4, 2, 3, 3), (4,)), True, group=2, pads=(1, 1, 1, 1)),
            _case(((1, 4, 6, 6), (4, 1, 3, 3)), True, group=4, dilations=(2, 2)),
            _case(((1, 2, 5, 5), (2, 2, 2, 2)), auto_pad="SAME_UPPER"),
            _case(((1, 2, 5, 5), (2, 2, 3, 3)), True, auto_pad="SAME_LOWER", strides=(2, 2)),
            _case(((1, 1, 4, 4, 3), (2, 1, 2, 2, 2), (2,)), auto_pad="VALID"),
        ),
        ("float32", "float16"),
    ),
)

CONV_TRANSPOSE = Op(
    "ConvTranspose",
    run=_run_transposed,
    bound=_conv_transpose,
    overflow="NP206",
    infinite="NP213",
    samples=Samples(
        POINTS,
        (
            _case(((1, 2, 4), (2, 3, 3), (3,))),
            _case(((1, 2, 4), (2, 3, 3), (3,)), True, strides=(2,), pads=(1, 0)),
            _case(((1, 2, 3, 4), (2, 3, 3, 2)), True, strides=(2, 3), output_padding=(1, 1)),
            _case(((1, 4, 3, 3), (4, 2, 2, 2), (4,)), True, group=2, strides=(2, 2), dilations=(2, 1)),
            _case(((1, 2, 3, 3), (2, 2, 3, 3)), strides=(2, 2), output_shape=(6, 6)),
            _case(((1, 2, 3, 3), (2, 2, 3, 3)), True, strides=(2, 2), auto_pad="SAME_UPPER"),
        ),
        ("float32",),
    ),
)

OPS = (CONV, CONV_TRANSPOSE)
