"""The interval that every initial value may lie in: from the user, from the stored values, or from a documented default.

Defaults, where the user says nothing (each but the first two is *assumed*, and reported as such):

===========================================  ============================================================================
bool, and integers of 8 bits or less         every value of the type
stored constants; weights if `model`         exactly what is stored
weights if `architecture`                    see `around`
float inputs                                 [-10, 10]
integer inputs that index (Gather, labels)   [0, n - 1], n = size of the indexed axis or the number of classes
integer inputs called a mask                 [0, 1]
other integer inputs                         [0, 1000]
random values                                [0, 1]
what an optimiser keeps                      what its state may be in any later step, as the front end says
sizes that the model leaves open             1 to 65536
===========================================  ============================================================================
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nanproof.dims import symbols
from nanproof.findings.errors import InputError
from nanproof.model.indices import index_limits
from nanproof.model.roles import Role, stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nanproof.model.graph import Array, Declared, Graph, Model, Source
    from nanproof.numerics.dtypes import DType

    Bound = float | int | Array
    UserRanges = Mapping[str, tuple[Bound, Bound]]
    Weights = Literal["model", "architecture"]

FLOAT_INPUT = (-10.0, 10.0)
INTEGER_INPUT = (0.0, 1000.0)
SIZE = (1, 65536)
HUGE = 1e30
"""A stored tensor that reaches this far isn't trained: it is a mask or a limit, and stays exact."""


@dataclass(frozen=True, slots=True)
class Range:
    """What one initial value may be. With `exact` it is what is stored, and `lo` and `hi` are the limits of its type, unread."""

    lo: float
    hi: float
    assumed: bool
    why: str
    exact: bool = False
    array: tuple[Array, Array] | None = None  # bounds element by element

    def __post_init__(self) -> None:
        if not self.lo <= self.hi:
            raise ValueError(f"a range needs lo <= hi, got [{self.lo}, {self.hi}]")


def decide(model: Model, user: UserRanges, weights: Weights = "model") -> dict[str, Range]:
    """Give every initial value its range. Raises InputError for a range that is wrong or that names nothing."""
    if weights not in {"model", "architecture"}:
        raise InputError(
            f'--weights is "{weights}": say model (the stored values) or architecture (any value near them)'
        )
    graph = model.graph
    sources = dict(stored(graph))
    declared = {item.name: item for item in graph.inputs}
    given = match(user, [name for name in declared if name not in sources], list(sources)) if user else {}
    limits = index_limits(graph)
    variances = _variances(graph) if weights == "architecture" else set()
    exact: dict[DType, Range] = {}
    found: dict[str, Range] = {}
    for name, item in declared.items():
        if name in given:
            inner = item.item or item
            found[name] = _user_range(name, given[name], inner.dtype, inner.shape)
        elif name not in sources:
            found[name] = (
                Range(*model.valid[name], assumed=True, why="any valid state")
                if name in model.valid
                else _default(item.item or item, model.roles.get(name, Role.INPUT), limits.get(name))
            )
    for name, source in sources.items():
        dtype = source.dtype
        if given and name in given:
            if name not in found:
                found[name] = _user_range(name, given[name], dtype, source.shape)
            continue
        if weights == "architecture" and model.roles.get(name) is Role.WEIGHT:
            around_it = around(source, variance=name in variances)
            if around_it is not None:
                found[name] = around_it
                continue
        if dtype not in exact:
            exact[dtype] = Range(*_span(dtype), assumed=False, why="as stored", exact=True)
        found[name] = exact[dtype]
    return found


def decide_sizes(
    model: Model, user: Mapping[str, tuple[int, int | None]]
) -> tuple[dict[str, tuple[int, int | None]], tuple[str, ...]]:
    """Give every open size of the inputs its range; also return the names whose range is assumed."""
    names: dict[str, None] = {}
    for item in model.graph.inputs:
        for size in item.shape or ():
            names.update(dict.fromkeys(symbols(size)))
    for name, (low, high) in user.items():
        if name not in names:
            raise InputError(f'--dim names "{name}", the model has no such open size{_hint(name, names)}')
        if low < 0 or (high is not None and high < low):
            raise InputError(
                f"--dim {name}={low}..{'' if high is None else high} is empty or negative: give it as {name}=LOW..HIGH"
            )
    return {name: user.get(name, SIZE) for name in names}, tuple(name for name in names if name not in user)


def match(user: UserRanges, inputs: Sequence[str], stored_names: Sequence[str] = ()) -> dict[str, tuple[Bound, Bound]]:
    """Resolve names and wildcards (`*`, `?`, `[a-z]`). A full name beats a wildcard, a later wildcard beats an earlier one.

    A wildcard means inputs only: stored tensors (weights, but an epsilon or an exponent too) are named in full.
    """
    known = [*inputs, *stored_names]
    full = set(known)
    found: dict[str, tuple[Bound, Bound]] = {}
    for pattern, bounds in user.items():
        if pattern in full:
            continue
        hits = [name for name in inputs if fnmatchcase(name, pattern)] if any(mark in pattern for mark in "*?[") else []
        if not hits:
            raise InputError(
                f'a range is given for "{pattern}", which is no input or initialiser of the model{_hint(pattern, known)}'
            )
        for name in hits:
            found[name] = bounds
    found.update({name: bounds for name, bounds in user.items() if name in full})
    return found


def around(source: Source, *, variance: bool = False) -> Range | None:
    """Return the range of a trained tensor whose values may change: the stored ones only say of what size they are.

    With w = max - min of the tensor it is [min - w, max + w]. If all elements are the same v (fresh biases and gains), it is
    [v - r, v + r] with r = max(1, |v|). The running variance of a BatchNormalization is never negative. None where the tensor
    stays exact: it is empty, or holds NaN, Inf or numbers beyond 1e30 as masks do.
    """
    lo, hi = extremes(source)
    if not (math.isfinite(lo) and math.isfinite(hi)) or max(abs(lo), abs(hi)) >= HUGE:
        return None
    width = hi - lo if hi > lo else max(1.0, abs(lo))
    least, most = _span(source.dtype)
    low, high = max(lo - width, least), min(hi + width, most)
    return Range(max(low, 0.0) if variance and lo >= 0 else low, high, assumed=True, why="around the stored values")


def extremes(source: Source) -> tuple[float, float]:
    """Return the least and the greatest element, read in pieces; NaN if there is one or if there are no elements."""
    lo, hi = math.inf, -math.inf
    for _, piece in source.chunks():
        values = piece if piece.dtype in {np.dtype(np.float32), np.dtype(np.float64)} else piece.astype(np.float64)
        low, high = float(values.min()), float(values.max())
        if math.isnan(low) or math.isnan(high):
            return math.nan, math.nan
        lo, hi = min(lo, low), max(hi, high)
    return (lo, hi) if lo <= hi else (math.nan, math.nan)


def _default(item: Declared, role: Role, limit: int | None) -> Range:
    dtype = item.dtype
    if dtype is None or dtype.kind == "string":
        return Range(-math.inf, math.inf, assumed=False, why="holds no numbers")
    if role is Role.RANDOM:
        return Range(0.0, 1.0, assumed=True, why="default of random values")
    if dtype.is_bool:
        return Range(0.0, 1.0, assumed=False, why="every bool")
    if dtype.is_integer:
        if limit is not None and limit > 0:
            return Range(0.0, min(float(limit - 1), dtype.max), assumed=True, why=f"indexes {limit} elements")
        if dtype.bits <= 8:
            return Range(dtype.min, dtype.max, assumed=False, why=f"every {dtype.name}")
        if "mask" in item.name.lower():
            return Range(0.0, 1.0, assumed=True, why="default of integer masks")
        return Range(*INTEGER_INPUT, assumed=True, why="default of integer inputs")
    return Range(
        max(FLOAT_INPUT[0], dtype.min), min(FLOAT_INPUT[1], dtype.max), assumed=True, why="default of float inputs"
    )


def _user_range(name: str, bounds: tuple[Bound, Bound], dtype: DType | None, shape: tuple[Any, ...] | None) -> Range:
    try:
        low, high = (np.asarray(bound, np.float64) for bound in bounds)
    except (TypeError, ValueError):
        raise InputError(f'the range of "{name}" is {bounds!r:.60}: give two numbers, low and high') from None
    if np.isnan(low).any() or np.isnan(high).any():
        raise InputError(f'the range of "{name}" has a NaN bound: give two numbers, as in {name}=0,1')
    if low.ndim or high.ndim:
        try:
            low, high = np.broadcast_arrays(low, high)
        except ValueError:
            low = np.empty((0,))
        if not low.size or (
            shape is not None
            and (
                len(shape) != low.ndim
                or any(isinstance(a, int) and a != b for a, b in zip(shape, low.shape, strict=True))
            )
        ):
            raise InputError(f'the range of "{name}" is given element by element, but not in the shape of "{name}"')
    if (low > high).any():
        worst = np.unravel_index(np.argmax(low > high), low.shape)
        raise InputError(
            f'the range of "{name}" is empty, its low end {low[worst]:g} is above its high end {high[worst]:g}: swap them'
        )
    if dtype is not None and dtype.kind != "string":
        least, most = _span(dtype)
        if (low > most).any() or (high < least).any():
            raise InputError(
                f'the range of "{name}" lies outside of what {dtype.name} can hold, [{least:g}, {most:g}]: correct it'
            )
        low, high = np.clip(low, least, most), np.clip(high, least, most)
    array = (low, high) if low.ndim else None
    return Range(float(low.min()), float(high.max()), assumed=False, why="given", array=array)


def _span(dtype: DType) -> tuple[float, float]:
    return (-math.inf, math.inf) if dtype.kind == "string" else (dtype.min, dtype.max)


def _variances(graph: Graph) -> set[str]:
    return {node.inputs[4] for node in graph.nodes if node.op == "BatchNormalization" and len(node.inputs) > 4}


def _hint(name: str, known: Iterable[str]) -> str:
    candidates = [other for _, other in zip(range(2000), known, strict=False)]
    close = difflib.get_close_matches(name, candidates, 1, 0.5)
    if close:
        return f': did you mean "{close[0]}"?'
    if not candidates:
        return ""
    return f": it has {', '.join(candidates[:6])}{' ...' if len(candidates) > 6 else ''}"
