"""Rounding against tables: every value, every midpoint, and both float64 neighbours of each."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right

import numpy as np
import pytest

from nanproof.numerics import rounding
from nanproof.numerics.dtypes import (
    BFLOAT16,
    DTYPES,
    FLOAT4_E2M1FN,
    FLOAT8_E8M0FNU,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    FLOATS,
    INT8,
    INT64,
    UINT8,
    DType,
    to_numpy,
)

SMALL = [d for d in FLOATS if d.bits <= 16]


def values(dtype: DType) -> list[float]:
    """All finite values, from the bit patterns."""
    store = np.uint16 if dtype.bits == 16 else np.uint8
    patterns = np.arange(2**dtype.bits, dtype=store).view(to_numpy(dtype))
    with np.errstate(invalid="ignore"):
        wide = patterns.astype(np.float64)
    return sorted(set(wide[np.isfinite(wide)].tolist()))


def expected_nearest(dtype: DType, table: list[float], x: float) -> float:
    """By the definition, over a table that has the values that would come next too."""
    if x <= table[0] or x >= table[-1]:
        clipped = table[0] if x < 0 or x <= table[0] else table[-1]
        return clipped if dtype.min <= clipped <= dtype.max else math.copysign(math.inf, x)
    i = bisect_right(table, x) - 1
    below, above = table[i], table[i + 1]
    if below == x:
        found = x
    elif x - below != above - x:  # exact: all are close in exponent
        found = below if x - below < above - x else above
    elif dtype is FLOAT8_E8M0FNU:
        found = above
    else:
        quantum = above - below
        found = below if math.fmod(below / quantum, 2.0) == 0.0 else above
    return found if dtype.min <= found <= dtype.max else math.copysign(math.inf, x)


def extended(dtype: DType, table: list[float]) -> list[float]:
    if dtype is FLOAT8_E8M0FNU:
        return [*table, 2.0**128]
    beyond = dtype.max + (table[-1] - table[-2])
    return [-beyond, *table, beyond]


def points(dtype: DType, table: list[float]) -> list[float]:
    wide = np.array(table)
    middle = (wide[:-1] + wide[1:]) / 2
    last = dtype.max + (table[-1] - table[-2]) / 2
    special = [last, -last, 0.0, -0.0, 1e-300, -1e-300, 5e-324, -5e-324, 1e300, -1e300, 3e38, math.inf, -math.inf]
    base = np.concatenate([wide, middle, special])
    return np.concatenate([base, np.nextafter(base, math.inf), np.nextafter(base, -math.inf)]).tolist()


@pytest.mark.parametrize("dtype", SMALL, ids=repr)
def test_limits_agree_with_the_bit_patterns(dtype: DType) -> None:
    table = values(dtype)
    positive = [v for v in table if v > 0]
    assert (table[0], table[-1], positive[0]) == (dtype.min, dtype.max, dtype.quantum)
    assert dtype.tiny in positive
    above_one = min(v for v in table if v > 1.0)
    assert above_one - 1.0 == 2 * dtype.unit


@pytest.mark.parametrize("dtype", SMALL, ids=repr)
def test_nearest_is_right_at_every_value_and_midpoint(dtype: DType) -> None:
    table = values(dtype)
    xs = points(dtype, table)
    longer = extended(dtype, table)
    want = [expected_nearest(dtype, longer, x) for x in xs]
    assert [rounding.nearest(dtype, x) for x in xs] == want
    assert rounding.nearest_array(dtype, np.array(xs)).tolist() == want


@pytest.mark.parametrize("dtype", SMALL, ids=repr)
def test_neighbours_agree_with_the_table(dtype: DType) -> None:
    table = values(dtype)
    xs = points(dtype, table)
    up, down, least, most = [], [], [], []
    for x in xs:
        i, j = bisect_left(table, x), bisect_right(table, x)
        up.append(table[j] if j < len(table) else math.inf)
        least.append(table[i] if i < len(table) else math.inf)
        down.append(table[i - 1] if i else -math.inf)
        most.append(table[j - 1] if j else -math.inf)
        if dtype.overflows_to == "inf":
            # Where there are infinities, they are values.
            least[-1] = x if x == -math.inf else least[-1]
            most[-1] = x if x == math.inf else most[-1]
    array = np.array(xs)
    assert rounding.next_up_array(dtype, array).tolist() == up
    assert rounding.next_down_array(dtype, array).tolist() == down
    assert rounding.at_least_array(dtype, array).tolist() == least
    assert rounding.at_most_array(dtype, array).tolist() == most
    assert [rounding.next_up(dtype, x) for x in xs] == up
    assert [rounding.next_down(dtype, x) for x in xs] == down
    assert [rounding.at_least(dtype, x) for x in xs] == least
    assert [rounding.at_most(dtype, x) for x in xs] == most


def float32_points() -> np.ndarray:
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2**32, 100_000, dtype=np.uint32)
    near_ends = np.concatenate([np.arange(3000), np.arange(0x7F7FF000, 0x7F800000), [0x00800000, 0x007FFFFF]])
    bits = np.concatenate([bits, near_ends.astype(np.uint32), (near_ends + 2**31).astype(np.uint32)])
    narrow = bits.view(np.float32)
    wide = narrow[np.isfinite(narrow)].astype(np.float64)
    with np.errstate(over="ignore"):
        above = np.nextafter(wide.astype(np.float32), np.float32(math.inf)).astype(np.float64)
    above[np.isinf(above)] = 2.0**128
    middle = (wide + above) / 2
    base = np.concatenate([wide, middle])
    return np.concatenate([base, np.nextafter(base, math.inf), np.nextafter(base, -math.inf), [math.inf, -math.inf]])


def test_float32_agrees_with_numpy() -> None:
    xs = float32_points()
    with np.errstate(over="ignore", under="ignore"):
        narrow = xs.astype(np.float32)
    want = narrow.astype(np.float64)
    assert [rounding.nearest(FLOAT32, x) for x in xs.tolist()] == want.tolist()
    assert rounding.nearest_array(FLOAT32, xs).tolist() == want.tolist()
    finite = narrow[np.isfinite(narrow)]
    with np.errstate(over="ignore"):
        up = np.nextafter(finite, np.float32(math.inf)).astype(np.float64)
        down = np.nextafter(finite, np.float32(-math.inf)).astype(np.float64)
    wide = finite.astype(np.float64)
    assert np.array_equal(rounding.next_up_array(FLOAT32, wide), up)
    assert np.array_equal(rounding.next_down_array(FLOAT32, wide), down)
    assert [rounding.next_up(FLOAT32, x) for x in wide[:20000].tolist()] == up[:20000].tolist()
    assert [rounding.next_down(FLOAT32, x) for x in wide[:20000].tolist()] == down[:20000].tolist()


def test_rounding_inward_encloses() -> None:
    xs = float32_points()
    low, high = rounding.at_most_array(FLOAT32, xs), rounding.at_least_array(FLOAT32, xs)
    assert np.all(low <= xs)
    assert np.all(xs <= high)
    assert np.all((high == low) | (rounding.next_up_array(FLOAT32, low) == high))
    some = xs[::7]
    assert [rounding.at_most(FLOAT32, x) for x in some.tolist()] == low[::7].tolist()
    assert [rounding.at_least(FLOAT32, x) for x in some.tolist()] == high[::7].tolist()


@pytest.mark.parametrize("dtype", FLOATS, ids=repr)
def test_nan_stays_nan(dtype: DType) -> None:
    for scalar in (rounding.nearest, rounding.next_up, rounding.next_down, rounding.at_least, rounding.at_most):
        assert math.isnan(scalar(dtype, math.nan))
    for many in (
        rounding.nearest_array,
        rounding.next_up_array,
        rounding.next_down_array,
        rounding.at_least_array,
        rounding.at_most_array,
    ):
        assert math.isnan(many(dtype, np.array([math.nan]))[0])


@pytest.mark.parametrize("dtype", [d for d in FLOATS if d is not FLOAT8_E8M0FNU], ids=repr)
def test_the_sign_of_zero_is_kept(dtype: DType) -> None:
    assert math.copysign(1.0, rounding.nearest(dtype, -0.0)) == -1.0
    assert math.copysign(1.0, rounding.nearest(dtype, -1e-310 if dtype is not FLOAT64 else -0.0)) == -1.0
    assert np.signbit(rounding.nearest_array(dtype, np.array([-0.0])))[0]


@pytest.mark.parametrize("dtype", [INT8, UINT8, INT64], ids=repr)
def test_integers(dtype: DType) -> None:
    assert rounding.nearest(dtype, 5.0) == 5.0
    assert rounding.at_least(dtype, 4.5) == 5.0
    assert rounding.at_most(dtype, 4.5) == 4.0
    assert rounding.next_up(dtype, 4.0) == 5.0
    assert rounding.next_down(dtype, 4.0) == 3.0
    assert rounding.next_up(dtype, dtype.max) == math.inf
    assert rounding.next_down(dtype, dtype.min) == -math.inf
    assert rounding.at_least(dtype, -1e30) == dtype.min
    assert rounding.at_most(dtype, 1e30) == dtype.max
    xs = np.array([4.0, 4.5, dtype.max, dtype.min, -1e30, 1e30])
    for one, many in (
        (rounding.next_up, rounding.next_up_array),
        (rounding.next_down, rounding.next_down_array),
        (rounding.at_least, rounding.at_least_array),
        (rounding.at_most, rounding.at_most_array),
    ):
        assert many(dtype, xs).tolist() == [one(dtype, x) for x in xs.tolist()]


def test_double_rounding_would_be_wrong_here() -> None:
    # Just above the midpoint of 1 and its neighbour: float32 first would round to the midpoint, then down.
    x = 1.0 + 2.0**-8 + 2.0**-40
    assert rounding.nearest(BFLOAT16, x) == 1.0 + 2.0**-7
    assert rounding.nearest(FLOAT16, 1.0 + 2.0**-11 + 2.0**-50) == 1.0 + 2.0**-10
    assert rounding.nearest(FLOAT4_E2M1FN, 6.9) == 6.0


def test_every_type_takes_every_function() -> None:
    for dtype in DTYPES:
        assert rounding.nearest(dtype, 1.0) == 1.0
