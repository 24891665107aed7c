"""GridSample: an image read at places that a grid names."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from nanproof.dims import Size
from nanproof.domain.box import ALL, INFS, NAN, Box, Shape
from nanproof.ops.call import Call
from nanproof.ops.record import Case, Op, Operand, Samples

CUBIC = -0.75
"""The coefficient of the cubic convolution that all runtimes use."""


def _weights(mode: str, rank: int) -> tuple[float, float]:
    """How much the weights of one place add up to, the positive ones and the negative ones.

    Linear weights lie in [0, 1] and add up to 1. Those of a cubic convolution add up to 1 as well; their
    magnitudes add up to at most 1.375 along an axis, half-way between two elements.
    """
    if mode in {"cubic", "bicubic"}:
        total = 1.375**rank
        return (total + 1.0) / 2.0, (total - 1.0) / 2.0
    return 1.0, 0.0


def _grid_sample(call: Call, x: Box, grid: Box) -> Box:
    """No class fits: weighted means of neighbours, of elements outside of the image too.

    Those are 0, or elements of the image again. Each of the weights is off by a few roundings
    (a place less its floor, a product for each axis, for cubic ones a polynomial of degree 3).
    """
    shape = _placed(call, x, grid)
    if (shape is not None and 0 in shape) or (not x.flags and not x.has_finite):
        return Box(x.dtype, shape, inf, -inf)
    mode = str(call.attr("mode", "linear"))
    lo, hi = x.hull()
    if call.attr("padding_mode", "zeros") == "zeros":
        lo, hi = min(lo, 0.0), max(hi, 0.0)
    flags = x.flags
    if mode != "nearest" and x.flags & INFS:
        flags |= ALL
    if grid.flags or not _readable(x, grid):
        flags |= NAN
        lo, hi = min(lo, 0.0), max(hi, 0.0)
    if mode == "nearest" or not lo <= hi:
        return Box(x.dtype, shape, lo, hi, flags) if lo <= hi or flags else Box(x.dtype, shape, inf, -inf)
    rank = 3 if x.shape is None else max(len(x.shape) - 2, 1)
    plus, minus = _weights(mode, rank)
    low, high = plus * lo - minus * hi, plus * hi - minus * lo
    far = max(abs(lo), abs(hi)) * (plus + minus)
    steps = (4.0**rank if minus else 2.0**rank) + (24.0 if minus else 6.0) * rank
    err = far * steps * 2.0 * x.dtype.unit + (x.dtype.quantum * steps if far else 0.0)
    if not far + err <= x.dtype.max:
        # what is mixed along one axis may overflow, and then meets weights of 0 and of both signs
        call.overflowed(low, high, x.dtype, ALL, never=False)
        return Box(x.dtype, shape, x.dtype.min, x.dtype.max, ALL)
    return call.settle(x.dtype, shape, low, high, err=err, spots=flags)


def _readable(x: Box, grid: Box) -> bool:
    """Whether places are finite numbers once they count elements, and whole numbers can be told apart there."""
    if x.shape is None or not all(isinstance(n, int) for n in x.shape[2:]):
        return False
    lo, hi = grid.hull()
    return lo <= hi and max(abs(lo), abs(hi)) * max([1, *(int(n) for n in x.shape[2:])]) < 2.0**22  # type: ignore[arg-type]


def _placed(call: Call, x: Box, grid: Box) -> Shape:
    if x.shape is None or grid.shape is None:
        return None
    sizes: tuple[Size, ...] = grid.shape[1:-1]
    return (x.shape[0], x.shape[1], *sizes)


# -- run -----------------------------------------------------------------------------------------------------


def _run_grid_sample(xp: Any, x: Any, grid: Any, **attrs: Any) -> Any:
    image, places = np.asarray(x, float), np.asarray(grid, float)
    sizes = image.shape[2:]
    aligned, mode = bool(attrs.get("align_corners", 0)), attrs.get("mode", "linear")
    taps = []
    for axis, size in enumerate(sizes):
        place = places[..., len(sizes) - 1 - axis]
        at = (place + 1) / 2 * (size - 1) if aligned else ((place + 1) * size - 1) / 2
        taps.append(_taps(at, size, (mode, attrs.get("padding_mode", "zeros"), aligned)))
    result = np.zeros((*image.shape[:2], *places.shape[1:-1]))
    for which in np.ndindex(*(len(t) for t in taps)):
        weight, valid, index = np.ones(places.shape[:-1]), np.ones(places.shape[:-1], bool), []
        for axis, k in enumerate(which):
            place, part, inside = taps[axis][k]
            weight, valid = weight * part, valid & inside
            index.append(place)
        for n in range(image.shape[0]):
            where = (slice(None), *(i[n] for i in index))
            found = image[n][where]
            result[n] += np.where(valid[n], weight[n] * found, 0.0)
    return xp.asarray(result)


def _taps(at: Any, size: int, how: tuple[str, str, bool]) -> list[tuple[Any, Any, Any]]:
    """(element, weight, whether it is inside) of all neighbours along an axis."""
    mode, padding, aligned = how
    low, high = (0.0, size - 1.0) if aligned else (-0.5, size - 0.5)
    if mode not in {"cubic", "bicubic"}:
        at = _within(at, size, padding, (low, high))
    if mode == "nearest":
        return [_tap(np.rint(at), np.ones_like(at), size, padding, (low, high))]
    base = np.floor(at)
    t = at - base
    linear = mode in {"linear", "bilinear"}
    parts = {0: 1 - t, 1: t} if linear else {k: _cubic(np.abs(t - k)) for k in (-1, 0, 1, 2)}
    return [_tap(base + k, w, size, padding, (low, high)) for k, w in parts.items()]


def _cubic(d: Any) -> Any:
    near = ((CUBIC + 2) * d - (CUBIC + 3)) * d * d + 1
    return np.where(d <= 1, near, ((d - 5) * d + 8) * d * CUBIC - 4 * CUBIC)


def _within(at: Any, size: int, padding: str, ends: tuple[float, float]) -> Any:
    if padding == "border":
        return np.clip(at, 0, size - 1)
    if padding == "reflection":
        low, high = ends
        span = high - low
        if span <= 0:
            return np.zeros_like(at)
        folded = np.abs(at - low) % (2 * span)
        return np.clip(low + np.where(folded > span, 2 * span - folded, folded), low, high)
    return at


def _tap(place: Any, weight: Any, size: int, padding: str, ends: tuple[float, float]) -> tuple[Any, Any, Any]:
    kept = _within(place, size, padding, ends)
    inside = (kept >= 0) & (kept <= size - 1) if padding == "zeros" else np.ones_like(kept, bool)
    return np.clip(np.rint(kept), 0, size - 1).astype(int), weight, inside


def _case(mode: str, padding: str = "zeros", aligned: int = 0, rank: int = 2) -> Case:
    grid = Operand((2, 3, 4, 2) if rank == 2 else (1, 2, 3, 2, 3), low=-1.8, high=1.8)
    image = Operand((2, 2, 4, 5) if rank == 2 else (1, 2, 3, 4, 3))
    return Case((image, grid), {"mode": mode, "padding_mode": padding, "align_corners": aligned})


GRID_SAMPLE = Op(
    "GridSample",
    run=_run_grid_sample,
    bound=_grid_sample,
    overflow="NP207",
    infinite="NP213",
    samples=Samples(
        (0.0, 1.0, -1.0),
        cases=(
            *(_case(m, p) for m in ("linear", "nearest", "cubic") for p in ("zeros", "border", "reflection")),
            _case("linear", aligned=1),
            _case("cubic", "border", aligned=1),
            _case("linear", "border", rank=3),
        ),
        dtypes=("float32",),
    ),
)

OPS = (GRID_SAMPLE,)
