"""Soundness at extreme magnitudes: Boxes whose ends are drawn from the whole range of their dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.ops.soundness import allowed, bound, concrete, random_cuts, spread

from nanproof.domain.box import Box, of_array
from nanproof.domain.partition import Blocks, fine, pack
from nanproof.numerics.dtypes import by_name, to_numpy
from nanproof.numerics.rounding import nearest_array
from nanproof.ops.call import Setting
from nanproof.ops.record import Case, Op, Operand

SPECIAL = ((1, np.nan), (2, np.inf), (4, -np.inf))


def drawn_box(rng: Any, operand: Operand, dtype_name: str) -> tuple[Box, Any]:
    """A Box of blocks of very different sizes, and a tensor that it allows, of values at its ends, equal rows included."""
    dtype = by_name(operand.dtype or dtype_name)
    shape = operand.shape
    if operand.values is not None:
        array = np.asarray(operand.values, to_numpy(dtype)).reshape(shape)
        return of_array(dtype, array), array
    cuts = random_cuts(rng, shape)
    grid = tuple(1 if c is None else len(c) - 1 for c in cuts) if cuts else (1,) * len(shape)
    low = operand.low if operand.low is not None else (-dtype.max if dtype.min < 0 else 0)
    high = operand.high if operand.high is not None else dtype.max
    ends = _ends(rng, dtype, (2, *grid), (low, high))
    if rng.random() < 0.3:
        ends[1] = ends[0]
    lo, hi = ends.min(0), ends.max(0)
    spots = np.zeros(grid, np.uint8)
    if dtype.is_float and operand.low is None and rng.random() < 0.3:
        spots = (rng.integers(0, 8, grid) * (rng.random(grid) < 0.5)).astype(np.uint8)
    if 0 in shape:
        lo, hi = np.full(grid, np.inf), np.full(grid, -np.inf)
        spots[:] = 0
    box = pack(dtype, shape, cuts, Blocks(lo, hi, spots if spots.any() else None))
    low_e, high_e, flags = spread(box)
    mode = rng.integers(0, 4)
    share = rng.uniform(0, 1, shape) if mode else rng.integers(0, 2, shape).astype(float)
    values = low_e * (1 - share) + high_e * share
    if mode == 1:
        values = np.where(rng.random(shape) < 0.5, low_e, high_e)
    if mode == 2:
        values = high_e + 0.0
    values = nearest_array(dtype, values) if dtype.is_float else np.round(values)
    values = np.clip(values, low_e, high_e)
    for bit, value in SPECIAL:
        values = np.where(((flags & bit) != 0) & (rng.random(shape) < 0.4), value, values)
    if 0 in shape:
        values = np.zeros(shape)
    array = np.asarray(values).astype(to_numpy(dtype))
    if operand.stored or rng.random() < 0.15:
        box = of_array(dtype, array)
        if rng.random() < 0.5:
            box = fine(box)
    return box, array


def _ends(rng: Any, dtype: Any, size: tuple[int, ...], limits: tuple[float, float]) -> Any:
    top = float(rng.choice([1.0, 30.0, 1e4, dtype.max**0.25, dtype.max**0.5, dtype.max * 0.4, dtype.max]))
    base = float(rng.choice([0.0, 0.0, 1.0, 100.0])) * top / 100.0
    if rng.random() < 0.2:
        top = float(rng.choice([dtype.tiny, dtype.quantum * 4, dtype.tiny**0.5]))
        base = 0.0
    ends = base + rng.uniform(-1, 1, size) * top * rng.choice([1.0, 1e-6, 0.1, 0.0], size)
    ends = np.clip(ends, *limits)
    return nearest_array(dtype, ends) if dtype.is_float else np.round(np.clip(ends, -1e6, 1e6))


def check(op: Op, case: Case, dtype: str, seed: int, *, runtime: str = "onnxruntime") -> str:
    """Draw operands, bound them, run them, compare: what the runtime said ("ran" or "no kernel")."""
    rng = np.random.default_rng(seed)
    drawn = [(None, None) if o.absent else drawn_box(rng, o, dtype) for o in case.operands]
    boxes, arrays = [b for b, _ in drawn], [a for _, a in drawn]
    setting = Setting(runtime="onnxruntime" if runtime == "onnxruntime" else "ieee")
    with np.errstate(all="ignore"):
        answers, call = bound(op, boxes, case, setting)
        results = concrete(op, case, arrays, runtime=runtime)
    if results is None:
        return "no kernel"
    for i, result in enumerate(results):
        wrong = allowed(answers[i], result)
        assert wrong is None, (
            f"{wrong}\n{op.name} {case} {dtype} seed {seed} output {i}\n{boxes}\n{arrays}\n{answers[i]}\n{result}"
        )
    plain = all(b is None or not b.flags for b in boxes)
    if plain and any(a.flags for a in answers):
        assert call.events, f"{op.name} {case} seed {seed}: NaN or Inf is born without an event"
    return "ran"
