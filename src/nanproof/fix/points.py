"""Concrete initial values to try a model with: corners, special numbers, ordinary values, anything in range."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.dims.dim import fold
from nanproof.model.ranges import Range, decide, decide_sizes
from nanproof.numerics.dtypes import DType, to_numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nanproof.analysis import Options
    from nanproof.model.graph import Model

    Array = NDArray[Any]

SIZE = 3
"""What a size that the model leaves open is tried with, if its range has it."""
LARGEST = 1 << 22
"""Initial values of more elements aren't drawn: the stored ones are used."""
ORDINARY = "ordinary"
FIRST = (*[ORDINARY] * 4, "low", "high", "zero")
THEN = ("mixed corners", ORDINARY, "uniform", "magnitudes", "special", ORDINARY)
LARGE = 1 << 15
"""Values of more elements are drawn anew for every fourth point only: drawing them takes longer than using them."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What one initial value is drawn from."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    lo: Array | float
    hi: Array | float
    stored: Array | None = None

    @property
    def large(self) -> bool:
        """Whether drawing it takes long."""
        return int(np.prod(self.shape)) > LARGE


def drawn_values(model: Model, options: Options) -> tuple[Drawn, ...] | None:
    """Every initial value that isn't fixed; None if one can't be drawn (a sequence, a string, an unknown rank)."""
    ranges = decide(model, options.ranges, options.weights)  # type: ignore[arg-type]
    sizes, _ = decide_sizes(model, options.dims)
    found: list[Drawn] = []
    for item in model.graph.inputs:
        if item.name in model.graph.constants:
            continue
        if item.dtype is None or item.shape is None or item.kinds or item.dtype.kind in {"string", "complex"}:
            return None
        shape = tuple(_size(size, sizes) for size in item.shape)
        found.append(_drawn(item.name, item.dtype, shape, ranges[item.name]))
    for name, source in model.graph.constants.items():
        chosen = ranges.get(name)
        if chosen is None or chosen.exact or not source.dtype.is_float or int(np.prod(source.shape)) > LARGEST:
            continue
        found.append(_drawn(name, source.dtype, tuple(source.shape), chosen, source.array()))
    return tuple(found)


def _size(size: Any, sizes: Mapping[str, tuple[int, int | None]]) -> int:
    if isinstance(size, int):
        return size

    def chosen(atom: Any) -> Any:
        low, high = sizes.get(atom.text, (1, None)) if atom.kind == "symbol" else (1, None)
        return max(low, SIZE if high is None else min(SIZE, high))

    value = fold(size, chosen)
    return value if isinstance(value, int) else SIZE


def _drawn(name: str, dtype: DType, shape: tuple[int, ...], chosen: Range, stored: Array | None = None) -> Drawn:
    if chosen.array is not None:
        lo, hi = (np.asarray(end, np.float64) for end in chosen.array)
        return Drawn(name, dtype, shape, lo, hi, stored)
    return Drawn(name, dtype, shape, max(chosen.lo, dtype.min), min(chosen.hi, dtype.max), stored)


def points(values: tuple[Drawn, ...], count: int, seed: int = 0) -> Iterator[tuple[str, dict[str, Array]]]:
    """The kind of each point, and the point: a value for every name. The same seed gives the same points."""
    random = np.random.default_rng(seed)
    kept: dict[tuple[str, str], Array] = {}
    for index in range(count):
        kind = FIRST[index] if index < len(FIRST) else THEN[index % len(THEN)]
        point: dict[str, Array] = {}
        for value in values:
            key = (value.name, kind)
            if not value.large or index % 4 == 0 or key not in kept:
                kept[key] = _one(value, kind, random)
            point[value.name] = kept[key]
        yield kind, point


def _one(value: Drawn, kind: str, random: np.random.Generator) -> Array:
    lo, hi, shape, dtype = value.lo, value.hi, value.shape, value.dtype
    target = to_numpy(dtype)
    if dtype.is_bool:
        return np.asarray(random.integers(0, 2, shape)).astype(bool)
    if dtype.is_integer:
        least, most = int(np.min(lo)), int(np.max(hi))
        return np.asarray(random.integers(least, most, shape, endpoint=True)).astype(target)
    with np.errstate(all="ignore"):
        if kind == ORDINARY and value.stored is not None:
            drawn = np.asarray(value.stored, np.float64)
            if random.random() < 0.5:
                spread = np.minimum(0.1, np.asarray(hi, np.float64) / 2 - np.asarray(lo, np.float64) / 2)
                drawn = drawn + random.normal(0.0, 1.0, shape) * spread
        else:
            drawn = _floats(kind, lo, hi, shape, random)
        clipped = np.clip(drawn, lo, hi).astype(target)
        # the nearest float may lie a hair outside of a range that isn't made of floats
        inside: Array = np.where(clipped.astype(np.float64) > hi, np.asarray(hi).astype(target), clipped)
        return np.asarray(inside).astype(target)


def _floats(kind: str, lo: Any, hi: Any, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    if kind == "low":
        return np.full(shape, lo, np.float64)
    if kind == "high":
        return np.full(shape, hi, np.float64)
    if kind == "zero":
        return np.zeros(shape)
    if kind == "mixed corners":
        return np.asarray(np.where(random.random(shape) < 0.5, lo, hi))
    if kind == "magnitudes":
        sizes = 10.0 ** random.uniform(
            -12, np.log10(max(float(np.max(np.abs(hi))), float(np.max(np.abs(lo))), 1e-11)), shape
        )
        return np.where(random.random(shape) < 0.5, -sizes, sizes)
    if kind == "special":
        return random.choice(SPECIAL, shape)
    if kind == ORDINARY:  # about 1 where the range has that
        width = np.asarray(hi, np.float64) / 2 - np.asarray(lo, np.float64) / 2
        if bool(np.all((np.asarray(lo) <= 0) & (np.asarray(hi) >= 0))):
            return np.asarray(random.normal(0.0, 1.0, shape)) * np.minimum(1.0, width)
        return np.asarray(lo + random.random(shape) * np.minimum(2 * width, 4.0))
    return np.asarray(lo, np.float64) + random.random(shape) * (np.asarray(hi, np.float64) - np.asarray(lo, np.float64))


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 1e-3, -1e-3, 1e-30, 1e-45, -1e-45, 10.0, -10.0, 88.0, -104.0,
                    1e4, -1e4, 1e38, -1e38])  # fmt: skip
