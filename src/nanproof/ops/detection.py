"""Boxes of an image: NonMaxSuppression chooses some, RoiAlign and MaxRoiPool look into them."""

from __future__ import annotations

from math import ceil, inf
from typing import Any

import numpy as np

from nanproof.dims import ShapeError, Size, bounds
from nanproof.domain.box import ALL, NAN, Box, Shape
from nanproof.numerics.dtypes import INT64
from nanproof.ops.call import Call
from nanproof.ops.operands import one
from nanproof.ops.record import Case, Op, Operand, Samples


def _known(value: Any, dtype: str = "int64") -> Operand:
    return Operand(np.shape(value), dtype=dtype, values=value, stored=True)


# -- NonMaxSuppression ---------------------------------------------------------------------------------------


def _suppressed(call: Call, boxes: Box, scores: Box, *limits: Box | None) -> Box:
    """Places: a batch, a class and a box of each chosen box; how many there are only the values tell."""
    most = 2.0**63
    if scores.shape is not None:
        if len(scores.shape) != 3:
            raise ShapeError(f"scores of {len(scores.shape)} axes: 3 are needed")
        ends = [n if isinstance(n, int) else bounds(n, call.setting.dims)[1] for n in scores.shape]
        most = max(2.0**63 if n is None else max(float(n - 1), 0.0) for n in ends)
    count: Size = call.fresh("chosen")
    if not limits or limits[0] is None or one(limits[0]) == 0 or (scores.shape is not None and 0 in scores.shape):
        return Box(INT64, (0, 3), inf, -inf)
    return Box(INT64, (count, 3), 0.0, most)


def _run_suppressed(xp: Any, boxes: Any, scores: Any, *limits: Any, center_point_box: int = 0) -> Any:
    most, overlap, least = (None if i >= len(limits) or limits[i] is None else np.ravel(limits[i])[0] for i in range(3))
    chosen: list[tuple[int, int, int]] = []
    for batch in range(scores.shape[0]):
        corners = _corners(np.asarray(boxes[batch], float), center=bool(center_point_box))
        for kind in range(scores.shape[1]):
            order = np.argsort(-np.asarray(scores[batch, kind], float), kind="stable")
            kept: list[int] = []
            for place in order:
                if least is not None and not scores[batch, kind, place] > least:
                    continue
                if len(kept) >= (0 if most is None else int(most)):
                    break
                if all(_overlap(corners[place], corners[k]) <= (overlap or 0.0) for k in kept):
                    kept.append(int(place))
            chosen += [(batch, kind, k) for k in kept]
    return xp.asarray(np.array(chosen, np.int64).reshape(-1, 3))


def _corners(found: Any, *, center: bool) -> Any:
    if center:
        x, y, w, h = found.T
        return np.stack([y - h / 2, x - w / 2, y + h / 2, x + w / 2], -1)
    a, b, c, d = found.T
    return np.stack([np.minimum(a, c), np.minimum(b, d), np.maximum(a, c), np.maximum(b, d)], -1)


def _overlap(one_box: Any, other: Any) -> float:
    height = min(one_box[2], other[2]) - max(one_box[0], other[0])
    width = min(one_box[3], other[3]) - max(one_box[1], other[1])
    shared = max(height, 0.0) * max(width, 0.0)
    areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in (one_box, other)]
    total = areas[0] + areas[1] - shared
    return float(shared / total) if total > 0 else 0.0


_BOXES = Operand((2, 6, 4), low=0.0, high=10.0)
_SCORES = Operand((2, 3, 6), low=0.0, high=1.0)

NON_MAX_SUPPRESSION = Op(
    "NonMaxSuppression",
    run=_run_suppressed,
    bound=_suppressed,
    exact=True,
    result="int64",
    grain=(2,),
    samples=Samples(
        cases=(
            Case((_BOXES, _SCORES, _known([3]), _known([0.5], "float32"), _known([0.1], "float32"))),
            Case((_BOXES, _SCORES, _known([2]))),
            Case((_BOXES, _SCORES)),
            Case((_BOXES, _SCORES, _known([3]), _known([0.5], "float32")), {"center_point_box": 1}),
        ),
        dtypes=("float32",),
    ),
)


# -- RoiAlign ------------------------------------------------------------------------------------------------


def _pooled(call: Call, x: Box, rois: Box, sizes: tuple[int, int]) -> Shape:
    if x.shape is None:
        return None
    count: Size = call.fresh("rois") if rois.shape is None else rois.shape[0]
    return (count, x.shape[1], *sizes)


def _roi_align(call: Call, x: Box, rois: Box, places: Box) -> Box:
    """Means (or the largest) of elements that are interpolated between neighbours, or 0 outside of the image.

    No class fits: each sample mixes four elements with weights that add up to 1, so the hull of x and 0
    holds it up to the rounding of the weights (eight roundings) and of the sum over a bin.
    """
    height, width = int(call.attr("output_height", 1)), int(call.attr("output_width", 1))
    shape = _pooled(call, x, rois, (height, width))
    if (shape is not None and 0 in shape) or (not x.flags and not x.has_finite):
        return Box(x.dtype, shape, inf, -inf)
    lo, hi = min(x.hull()[0], 0.0), max(x.hull()[1], 0.0)
    mean = call.attr("mode", "avg") == "avg"
    count = _samples(call, rois, (height, width)) if mean else 1.0
    flags = x.flags | (NAN if x.flags or rois.flags or not rois.has_finite else 0)
    far = max(-lo, hi)
    # twice the hull while a bin is summed up: four products, then all samples
    if far * count * 2.0 > x.dtype.max:
        call.overflowed(lo * count, hi * count, x.dtype, ALL, never=False)
        return Box(x.dtype, shape, x.dtype.min, x.dtype.max, ALL)
    err = far * (count + 24.0) * x.dtype.unit * 2.0 + (x.dtype.quantum * (count + 8.0) if far else 0.0)
    return call.settle(x.dtype, shape, lo, hi, err=err, spots=flags)


def _samples(call: Call, rois: Box, sizes: tuple[int, int]) -> float:
    """How many samples a bin has at most."""
    ratio = int(call.attr("sampling_ratio", 0))
    if ratio > 0:
        return float(ratio * ratio)
    lo, hi = rois.hull()
    if rois.flags or not lo <= hi:
        return inf
    side = (hi - lo) * abs(float(call.attr("spatial_scale", 1.0))) * (1.0 + 2.0**-20) + 1.0
    if not side < 2.0**31:
        return inf
    return float(ceil(side / max(sizes[0], 1)) + 1) * float(ceil(side / max(sizes[1], 1)) + 1)


def _run_roi_align(xp: Any, x: Any, rois: Any, places: Any, **attrs: Any) -> Any:
    height, width = attrs.get("output_height", 1), attrs.get("output_width", 1)
    image, table = np.asarray(x, float), np.asarray(rois, float) * attrs.get("spatial_scale", 1.0)
    half = attrs.get("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    ratio = attrs.get("sampling_ratio", 0)
    result = np.zeros((len(table), image.shape[1], height, width))
    for i, (x1, y1, x2, y2) in enumerate(table - (0.5 if half else 0.0)):
        w, h = (x2 - x1, y2 - y1) if half else (max(x2 - x1, 1.0), max(y2 - y1, 1.0))
        across, down = ratio or ceil(w / width), ratio or ceil(h / height)
        if across <= 0 or down <= 0:
            continue  # corners in the wrong order: there is nothing to look at
        for row in range(height):
            for column in range(width):
                ys = [y1 + (row + (k + 0.5) / down) * h / height for k in range(down)]
                xs = [x1 + (column + (k + 0.5) / across) * w / width for k in range(across)]
                found = [_between(image[int(places[i])], y, z) for y in ys for z in xs]
                sums = np.sum([np.sum(f, 0) for f in found], 0) / len(found)
                largest = np.max([np.max(f, 0) for f in found], 0)
                result[i, :, row, column] = sums if attrs.get("mode", "avg") == "avg" else largest
    return xp.asarray(result)


def _between(image: Any, y: float, x: float) -> Any:
    """The four weighted neighbours of a point."""
    _, height, width = image.shape
    if y < -1 or y > height or x < -1 or x > width:
        return np.zeros((4, image.shape[0]))
    y, x = max(y, 0.0), max(x, 0.0)
    top, left = min(int(y), height - 1), min(int(x), width - 1)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    v, u = (0.0 if top == bottom else y - top), (0.0 if left == right else x - left)
    return np.stack([
        (1 - v) * (1 - u) * image[:, top, left], (1 - v) * u * image[:, top, right],
        v * (1 - u) * image[:, bottom, left], v * u * image[:, bottom, right],
    ])  # fmt: skip


_IMAGE = Operand((2, 3, 6, 6))
_ROIS = Operand((2, 4), values=[[0.0, 0.0, 3.0, 4.0], [1.0, 1.0, 9.0, 9.0]], stored=True)
_BATCHES = _known([0, 1])
_ALIGNED = {"output_height": 2, "output_width": 3}

ROI_ALIGN = Op(
    "RoiAlign",
    run=_run_roi_align,
    bound=_roi_align,
    overflow="NP207",
    samples=Samples(
        (0.0, 1.0, -1.0, 1e19),
        cases=(
            Case((_IMAGE, _ROIS, _BATCHES), _ALIGNED),
            Case((_IMAGE, _ROIS, _BATCHES), {**_ALIGNED, "sampling_ratio": 2, "spatial_scale": 0.5}),
            Case((_IMAGE, _ROIS, _BATCHES), {**_ALIGNED, "mode": "max"}),
            Case((_IMAGE, Operand((2, 4), low=-3.0, high=12.0), _BATCHES), _ALIGNED),
            Case((_IMAGE, _ROIS, _BATCHES), {**_ALIGNED, "coordinate_transformation_mode": "output_half_pixel"}),
        ),
        dtypes=("float32",),
    ),
)


# -- MaxRoiPool ----------------------------------------------------------------------------------------------


def _max_roi_pool(call: Call, x: Box, rois: Box) -> Box:
    """Selection: the largest element of a part of the image, or 0 where the part is empty."""
    height, width = (int(n) for n in call.attrs["pooled_shape"])
    shape = _pooled(call, x, rois, (height, width))
    if (shape is not None and 0 in shape) or (not x.flags and not x.has_finite):
        return Box(x.dtype, shape, inf, -inf)
    lo, hi = x.hull()
    # a runtime starts from its lowest number, and may drop NaN
    least = x.dtype.min if x.flags else min(lo, 0.0)
    return Box(x.dtype, shape, least, max(hi, 0.0), x.flags)


def _run_max_roi_pool(xp: Any, x: Any, rois: Any, **attrs: Any) -> Any:
    height, width = attrs["pooled_shape"]
    scale = attrs.get("spatial_scale", 1.0)
    image = np.asarray(x)
    result = np.zeros((len(rois), image.shape[1], height, width), image.dtype)
    for i, (batch, *ends) in enumerate(np.asarray(rois, float)):
        x1, y1, x2, y2 = (int(np.floor(e * scale + 0.5)) for e in ends)
        h, w = max(y2 - y1 + 1, 1) / height, max(x2 - x1 + 1, 1) / width
        for row in range(height):
            for column in range(width):
                top, bottom = int(np.floor(row * h)) + y1, int(np.ceil((row + 1) * h)) + y1
                left, right = int(np.floor(column * w)) + x1, int(np.ceil((column + 1) * w)) + x1
                part = image[int(batch), :, max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
                if part.size:
                    result[i, :, row, column] = part.max((1, 2))
    return xp.asarray(result)


_NUMBERED = Operand((2, 5), values=[[0.0, 0.0, 0.0, 3.0, 4.0], [1.0, 1.0, 1.0, 9.0, 9.0]], stored=True)

MAX_ROI_POOL = Op(
    "MaxRoiPool",
    run=_run_max_roi_pool,
    bound=_max_roi_pool,
    exact=True,
    samples=Samples(
        cases=(
            Case((_IMAGE, _NUMBERED), {"pooled_shape": (2, 2)}),
            Case((_IMAGE, _NUMBERED), {"pooled_shape": (3, 2), "spatial_scale": 0.5}),
        ),
        dtypes=("float32",),
    ),
)

OPS = (NON_MAX_SUPPRESSION, ROI_ALIGN, MAX_ROI_POOL)
