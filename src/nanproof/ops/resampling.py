"""The weights of Resize: coordinates, kernels, and how far a weighted sum can leave its operands' interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.dims import Size
from nanproof.domain.box import Array, Shape

if TYPE_CHECKING:
    from nanproof.ops.call import Call

MOST_WEIGHTS = 1 << 22


@dataclass(frozen=True, slots=True)
class Plan:
    """The attributes of Resize that decide weights."""

    mode: str
    transform: str
    nearest: str
    cubic: float
    antialias: bool
    exclude: bool

    @classmethod
    def of(cls, attrs: Mapping[str, Any]) -> Plan:
        """From a node's attributes, with the specification's defaults."""
        return cls(
            attrs.get("mode", "nearest"),
            attrs.get("coordinate_transformation_mode", "half_pixel"),
            attrs.get("nearest_mode", "round_prefer_floor"),
            float(attrs.get("cubic_coeff_a", -0.75)),
            bool(attrs.get("antialias", 0)),
            bool(attrs.get("exclude_outside", 0)),
        )


def coordinates(plan: Plan, lengths: tuple[int, int], scale: float, roi: tuple[float, float]) -> Array:
    """Where each result element lies on the axis of the operand."""
    size, length = lengths
    x = np.arange(length, dtype=np.float64)
    mode = plan.transform
    if mode == "asymmetric":
        return x / scale
    if mode == "align_corners":
        wide = scale * size - 1 if length != int(scale * size) else length - 1
        return np.zeros(length) if wide == 0 else x * (size - 1) / wide
    if mode == "pytorch_half_pixel":
        return (x + 0.5) / scale - 0.5 if length > 1 else np.full(length, -0.5 if plan.mode == "none" else 0.0)
    if mode == "tf_half_pixel_for_nn":
        return (x + 0.5) / scale
    if mode == "tf_crop_and_resize":
        start, end = roi
        if length > 1:
            return start * (size - 1) + x * (end - start) * (size - 1) / (length - 1)
        return np.full(length, 0.5 * (start + end) * (size - 1))
    if mode == "half_pixel_symmetric":
        adjustment = length / (scale * size)
        centre = size / 2
        return centre * (1 - adjustment) + (x + 0.5) / scale - 0.5
    return (x + 0.5) / scale - 0.5


def weights(
    plan: Plan, lengths: tuple[int, int], scale: float, roi: tuple[float, float] = (0.0, 1.0)
) -> tuple[Array, Array]:
    """One row of weights for each result element, and which of them lie outside the operand."""
    size, length = lengths
    where = coordinates(plan, lengths, scale, roi)
    outside = np.zeros(length, bool)
    if plan.transform == "tf_crop_and_resize":
        outside = (where < 0) | (where > size - 1)
    matrix = np.zeros((length, size))
    rows = np.arange(length)
    if plan.mode == "nearest":
        matrix[rows, np.clip(_nearest(plan.nearest, where), 0, size - 1).astype(np.int64)] = 1.0
        return matrix, outside
    support = 2.0 if plan.mode == "cubic" else 1.0
    shrink = min(scale, 1.0) if plan.antialias else 1.0
    if not plan.antialias and plan.mode == "linear":
        where = np.clip(where, 0, size - 1)
    taps = ceil(support / shrink)
    base = np.floor(where)
    for offset in range(-taps, taps + 2):
        place = base + offset
        value = _kernel(plan, (place - where) * shrink)
        inside = (place >= 0) & (place < size)
        if plan.exclude or plan.antialias:
            value = np.where(inside, value, 0.0)
        np.add.at(matrix, (rows, np.clip(place, 0, size - 1).astype(np.int64)), value)
    if plan.exclude or plan.antialias:
        matrix = matrix / matrix.sum(axis=1, keepdims=True)
    return matrix, outside


def _nearest(mode: str, x: Array) -> Array:
    if mode == "floor":
        return np.floor(x)
    if mode == "ceil":
        return np.ceil(x)
    if mode == "round_prefer_ceil":
        return np.floor(x + 0.5)
    return np.ceil(x - 0.5)


def _kernel(plan: Plan, t: Array) -> Array:
    t = np.abs(t)
    if plan.mode == "linear":
        return np.maximum(0.0, 1.0 - t)
    a = plan.cubic
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0.0))


def reach_of(
    call: Call, shape: Shape, place: tuple[Sequence[int], Sequence[float | None]], unit: float
) -> tuple[float, float]:
    """(the largest sum of absolute weights of one result, the relative error of computing it).

    Weights always sum to 1, so a result lies within ``reach`` radii of the middle of its operands' interval.
    """
    if shape is None:
        return (1.0 if call.attr("mode") == "linear" else inf), inf
    axes, ratios = place
    plan = Plan.of(call.attrs)
    count = max(len(axes), 2 if len(shape) < 5 else 3)
    if plan.antialias:
        rate = 0.0
        for axis in axes:
            ratio = ratios[axis]
            if ratio is None:
                return inf, inf
            taps = 2 * ceil((2.0 if plan.mode == "cubic" else 1.0) / min(ratio, 1.0)) + 2
            # every weight is divided by a sum of all of them
            rate += (2 * taps + 16) * unit
        if plan.mode == "linear":
            return 1.0, rate
        return _measured(plan, (shape, axes, ratios), rate)
    if plan.mode == "linear":
        # a weight is a product of ``count`` factors, rounded each time; 2**count terms are added up
        return 1.0, (4 * count + 2.0**count) * unit
    # four weights an axis, each a cubic polynomial with coefficients below 16: about 12 roundings of terms up to 16
    rate = count * (4 * 12 * 16 + 8) * unit
    if plan.exclude:
        return _measured(plan, (shape, axes, ratios), rate)
    return cubic_reach(plan.cubic) ** len(axes), rate


def cubic_reach(a: float) -> float:
    """The largest sum of the absolute values of four cubic weights.

    The outer two are a*t*(1-t)**2 and a*t**2*(1-t), so together a*t*(1-t), at most |a|/4 away from 0. All four sum
    to 1; for a <= 0 the inner two aren't negative, so they sum to at most 1 + |a|/4. For a > 0 each inner weight is
    (1-t) * (1 + t - (a+2)*t**2), of which the second factor lies in [-a, 1.25].
    """
    return 1 + abs(a) / 2 if a <= 0 else a / 4 + max(1.25, a)


def _measured(
    plan: Plan, place: tuple[tuple[Size, ...], Sequence[int], Sequence[float | None]], rate: float
) -> tuple[float, float]:
    """The reach of weights that are normalised, from the weights themselves."""
    shape, axes, ratios = place
    total = 1.0
    for axis in axes:
        ratio = ratios[axis]
        size = shape[axis]
        if ratio is None or not isinstance(size, int):
            return inf, inf
        exact = size * ratio
        largest = 1.0
        for length in {int(exact), round(exact)}:
            if size * length > MOST_WEIGHTS or size * length == 0:
                return inf, inf
            matrix, _ = weights(plan, (size, length), ratio)
            largest = max(largest, float(np.abs(matrix).sum(axis=1).max()))
        total *= largest
        # the runtime's coordinates are rounded to float32: the weights move by at most their slope times that
        rate += 64 * max(size, 4) * 2.0**-24
    return total * (1 + rate), rate
