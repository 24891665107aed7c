"""Resize and Upsample: every result is a weighted sum of a few elements along each axis."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf
from typing import Any

import numpy as np

from nanproof.dims import Dim, ShapeError, Size
from nanproof.domain.box import ALL, Array, Box
from nanproof.domain.moves import merged_over, some
from nanproof.domain.partition import blocks_of
from nanproof.numerics.dtypes import FLOAT32
from nanproof.ops.call import Call
from nanproof.ops.operands import MOST, axes_in, sizes
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.resampling import Plan, reach_of, weights

MOST_SIZE = 2.0**62
"""Sizes that scaling makes end here."""

STILL = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric", "align_corners")
"""Coordinate transformations that leave an axis of unchanged size alone."""


# -- sizes and scales -----------------------------------------------------------------------------------------


def scaled_sizes(
    call: Call, shape: tuple[Size, ...], scales: Sequence[float] | None, wanted: Sequence[Size] | None
) -> tuple[tuple[Size, ...], tuple[float | None, ...]]:
    """The size of every result axis, and its scale where that is known."""
    rank = len(shape)
    axes = call.attr("axes")
    chosen = tuple(range(rank)) if axes is None else axes_in(axes, rank)
    result: list[Size] = list(shape)
    found: list[float | None] = [1.0] * rank
    policy = call.attr("keep_aspect_ratio_policy", "stretch")
    for i, axis in enumerate(chosen):
        size = shape[axis]
        if scales is not None and i < len(scales):
            result[axis], found[axis] = _scaled(call, size, axis, scales[i]), scales[i]
        elif wanted is not None and i < len(wanted):
            result[axis], found[axis] = wanted[i], _ratio(wanted[i], size)
        else:
            result[axis], found[axis] = call.fresh(f"size{axis}"), None
    if wanted is not None and policy != "stretch":
        ratios = [found[a] for a in chosen]
        if any(r is None for r in ratios):
            for axis in chosen:
                result[axis], found[axis] = call.fresh(f"size{axis}"), None
        else:
            ratio = (min if policy == "not_larger" else max)(r for r in ratios if r is not None)
            for axis in chosen:
                size = shape[axis]
                result[axis] = floor(ratio * size + 0.5) if isinstance(size, int) else call.fresh(f"size{axis}")
                found[axis] = ratio
    return tuple(result), tuple(found)


def _ratio(wanted: Size, size: Size) -> float | None:
    if wanted == size:
        return 1.0
    if isinstance(wanted, int) and isinstance(size, int) and size:
        return wanted / size
    return None


def _scaled(call: Call, size: Size, axis: int, scale: float) -> Size:
    """The size times a scale, rounded down; a size of its own where float32 and float64 disagree."""
    if scale == 1.0:
        return size
    if isinstance(size, Dim):
        if scale == int(scale):
            return size * int(scale)
        inverse = round(1.0 / scale)
        return size // inverse if inverse & (inverse - 1) == 0 and inverse * scale == 1.0 else call.fresh(f"size{axis}")
    exact, rounded = size * scale, float(np.float32(size) * np.float32(scale))
    if not (0.0 <= exact < MOST_SIZE and 0.0 <= rounded < MOST_SIZE):
        raise ShapeError(f"axis {axis} of {size} elements times {scale:g} is no size")
    one, other = floor(exact), int(rounded)
    return one if one == other else call.fresh(f"size{axis}")


# -- the concrete meaning -------------------------------------------------------------------------------------


def _run_resize(xp: Any, x: Any, *more: Any, **attrs: Any) -> Any:
    roi, scales, wanted = (*more, None, None, None)[:3]
    rank = len(x.shape)
    axes = attrs.get("axes")
    chosen = tuple(range(rank)) if axes is None else axes_in(axes, rank)
    plan = Plan.of(attrs)
    given = None if scales is None or scales.shape[0] == 0 else [float(s) for s in scales]
    numbers = None if wanted is None else [int(n) for n in wanted]
    if numbers is not None and attrs.get("keep_aspect_ratio_policy", "stretch") != "stretch":
        ratios = [n / int(x.shape[a]) for n, a in zip(numbers, chosen, strict=True)]
        ratio = (min if attrs["keep_aspect_ratio_policy"] == "not_larger" else max)(ratios)
        numbers = [floor(ratio * int(x.shape[a]) + 0.5) for a in chosen]
        given = None
    spans = None if roi is None or roi.shape[0] == 0 else [float(v) for v in roi]
    for i, axis in enumerate(chosen):
        size = int(x.shape[axis])
        length = numbers[i] if numbers is not None else int(np.float32(size) * np.float32(given[i]))  # type: ignore[index]
        scale = given[i] if given is not None else length / size
        span = (0.0, 1.0) if spans is None else (spans[i], spans[i + len(chosen)])
        if scale == 1.0 and length == size and plan.transform in STILL:
            continue
        x = _resampled(xp, x, axis, weights(plan, (size, length), scale, span), attrs)
    return x


def _resampled(xp: Any, x: Any, axis: int, parts: tuple[Array, Array], attrs: Any) -> Any:
    """One axis times a matrix; rows outside the tensor are the extrapolation value."""
    matrix, outside = parts
    moved = xp.moveaxis(x, axis, -1)
    result = xp.matmul(xp.astype(moved, xp.float64), xp.asarray(matrix.T))
    if outside.any():
        result = xp.where(xp.asarray(outside), float(attrs.get("extrapolation_value", 0.0)), result)
    return xp.astype(xp.moveaxis(result, -1, axis), x.dtype)


# -- bounds -----------------------------------------------------------------------------------------------------


def _resize(call: Call, x: Box, *more: Box | None) -> Box:
    """No class fits: weights that sum to 1, the negative ones of cubic interpolation included."""
    _, scales, wanted = (*more, None, None, None)[:3]
    return resized(call, x, _floats(scales), None if wanted is None else sizes(wanted), wanted is not None)


def _floats(box: Box | None) -> list[float] | None:
    if box is None or box.shape == (0,):
        return None
    if box.known is not None and box.known.dtype != object and box.known.size <= MOST:
        return [float(v) for v in box.known.reshape(-1)]
    return None


def resized(call: Call, x: Box, scales: list[float] | None, wanted: tuple[Size, ...] | None, by_sizes: bool) -> Box:
    """The hull of the elements that a result may be made of, widened by negative weights and rounding."""
    if x.shape is None:
        lo, hi, err, wild = _mixed(call, x, x.hull(), ((), ()))
        return call.settle(x.dtype, None, lo, hi, err=err, spots=_spread(call, np.uint8(x.flags | wild)))
    if by_sizes and wanted is not None and scales is not None:
        scales = None
    shape, ratios = scaled_sizes(call, x.shape, scales, wanted)
    still = call.attr("coordinate_transformation_mode", "half_pixel") in STILL
    axes = [i for i, r in enumerate(ratios) if r != 1.0 or shape[i] != x.shape[i] or not still]
    if not axes:
        return x
    if 0 in shape:
        return Box(x.dtype, shape, inf, -inf)
    whole = merged_over(x, axes)
    for axis in axes:
        whole = some(whole, axis, shape[axis])
    crop = call.attr("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize"
    if call.attr("mode", "nearest") == "nearest" and not crop:
        return whole.with_form(None)
    blocks = blocks_of(whole)
    lo, hi, err, wild = _mixed(call, x, (blocks.lo, blocks.hi), (axes, ratios))
    if crop:
        beyond = float(call.attr("extrapolation_value", 0.0))
        lo, hi = np.minimum(lo, beyond), np.maximum(hi, beyond)
    if x.dtype.is_integer:
        # whether the runtime truncates or rounds, the result is next to the real one
        lo, hi, err = np.maximum(np.floor(lo - err), x.dtype.min), np.minimum(np.ceil(hi + err), x.dtype.max), 0.0
    spots = np.uint8(wild) if blocks.spots is None else blocks.spots | np.uint8(wild)
    if x.flags:
        spots = np.broadcast_to(_spread(call, spots), np.shape(lo))
    return call.settle(x.dtype, shape, lo, hi, err=err, cuts=whole.cuts, spots=spots)


def _spread(call: Call, spots: Any) -> Any:
    """Special values in a weighted sum: an infinite one also gives NaN (a weight of 0, or both signs)."""
    if call.attr("mode", "nearest") == "nearest":
        return spots
    infinite = (np.asarray(spots) & 6) != 0
    return np.where(infinite, np.uint8(7), spots).astype(np.uint8)


def _mixed(
    call: Call, x: Box, ends: tuple[Any, Any], place: tuple[Sequence[int], Sequence[float | None]]
) -> tuple[Any, Any, Any, int]:
    """Bounds of the weighted sums, the errors of computing them, and what partial sums may overflow to."""
    a, b = np.asarray(ends[0], float), np.asarray(ends[1], float)
    mode = call.attr("mode", "nearest")
    if mode == "nearest":
        return a, b, 0.0, 0
    unit = call.setting.accumulator(x.dtype).unit if x.dtype.is_float else FLOAT32.unit
    reach, rate = reach_of(call, x.shape, place, unit)
    void = a > b
    a, b = np.where(void, 0.0, a), np.where(void, 0.0, b)
    middle, radius = 0.5 * a + 0.5 * b, 0.5 * b - 0.5 * a
    magnitude = np.maximum(abs(a), abs(b))
    err = magnitude * (reach * rate + 2.0**-50 * reach) + x.dtype.quantum * 64
    err = np.where(np.isnan(err), 0.0, err)
    err = np.where(void, 0.0, err)
    if reach == 1.0:
        return np.where(void, inf, a), np.where(void, -inf, b), err, 0
    wide = np.where(radius == 0, 0.0, radius * reach)
    most = float(np.max(magnitude, initial=0.0)) * reach * (1 + rate)
    wild = 0
    if x.dtype.is_float and most > x.dtype.max:
        # negative weights: sums on the way leave the range on both sides, and meet as Inf - Inf
        wild = ALL
        call.overflowed(-most, most, x.dtype, wild, never=False)
    return np.where(void, inf, middle - wide), np.where(void, -inf, middle + wide), err, wild


def _known(values: Any, dtype: str) -> Operand:
    return Operand(np.shape(values), dtype=dtype, values=values, stored=True)


def _by_scales(*values: float) -> tuple[Operand, Operand]:
    return Operand(absent=True), _known(values, "float32")


def _by_sizes(*values: int) -> tuple[Operand, Operand, Operand]:
    return Operand(absent=True), Operand(absent=True), _known(values, "int64")


_X = Operand((1, 2, 4, 5))
_UP = _by_scales(1.0, 1.0, 2.0, 2.0)
_DOWN = _by_scales(1.0, 1.0, 0.6, 0.6)

RESIZE = Op(
    "Resize",
    run=_run_resize,
    bound=_resize,
    overflow="NP214",
    infinite="NP213",
    grain=(1, 2, 3),
    samples=Samples(
        points=(0.0, 1.0, -1.0, 1e3),
        cases=(
            Case((_X, *_UP), {"mode": "nearest"}),
            Case(
                (_X, *_DOWN),
                {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"},
            ),
            Case((_X, *_by_sizes(1, 2, 7, 3)), {"mode": "linear"}),
            Case((_X, *_UP), {"mode": "linear", "coordinate_transformation_mode": "align_corners"}),
            Case(
                (_X, *_by_sizes(1, 2, 7, 3)), {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}
            ),
            Case((_X, *_UP), {"mode": "cubic"}),
            Case((_X, *_by_sizes(1, 2, 7, 3)), {"mode": "cubic", "cubic_coeff_a": -0.5}),
            Case((_X, *_DOWN), {"mode": "cubic", "exclude_outside": 1}),
            Case((_X, *_DOWN), {"mode": "linear", "antialias": 1}),
            Case((_X, *_DOWN), {"mode": "cubic", "antialias": 1}),
            Case(
                (
                    _X,
                    _known((0.0, 0.0, 0.4, 0.6, 1.0, 1.0, 0.9, 1.7), "float32"),
                    Operand(absent=True),
                    _by_sizes(1, 2, 3, 3)[2],
                ),
                {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 10.0},
            ),
            Case((_X, *_by_sizes(7, 8)), {"mode": "linear", "axes": (2, 3), "keep_aspect_ratio_policy": "not_larger"}),
            Case(
                (_X, *_by_sizes(7, 8)), {"mode": "nearest", "axes": (2, 3), "keep_aspect_ratio_policy": "not_smaller"}
            ),
        ),
        dtypes=("float32",),
    ),
)


def _run_upsample(xp: Any, x: Any, scales: Any, *, mode: str = "nearest", **_: Any) -> Any:
    name = "linear" if mode != "nearest" else mode
    attrs = {"mode": name, "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return _run_resize(xp, x, None, scales, **attrs)


def _upsample(call: Call, x: Box, scales: Box) -> Box:
    """Resize, in the one way that there was before it."""
    return resized(call, x, _floats(scales), None, False)


UPSAMPLE = Op("Upsample", run=_run_upsample, bound=_upsample, overflow="NP214", infinite="NP213", grain=(1,),
              samples=Samples(cases=(Case((_X, _known((1.0, 1.0, 2.0, 3.0), "float32"))),), dtypes=("float32",)))  # fmt: skip

OPS = (RESIZE, UPSAMPLE)
