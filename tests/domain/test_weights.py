"""Sums of weights by sign: never less than the exact ones, 0 where they are 0, the same by every way to read them."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanproof.domain import weights
from nanproof.domain.box import NAN, NINF, PINF, Array, extent, of_array
from nanproof.domain.weights import look, signed_sums, stacked_sums, sums_of
from nanproof.numerics.dtypes import FLOAT32
from nanproof.ops.flow import FEW, hull_of, weighed, weighed_hull

KEEPS = (0, -1)


def drawn(*shape: int, seed: int = 1) -> Array:
    """Values over many magnitudes; the first row and column are of one sign."""
    random = np.random.default_rng(seed)
    values = (random.normal(size=shape) * 10.0 ** random.uniform(-12, 6, shape)).astype(np.float32)
    values[0] = np.abs(values[0])
    values[..., 0] = np.abs(values[..., 0])
    return values


def exactly(array: Array, keep: int) -> list[tuple[Fraction, Fraction]]:
    rows = np.moveaxis(array, keep, 0).reshape(array.shape[keep], -1).astype(np.float64).tolist()
    return [
        (sum((Fraction(v) for v in row if v > 0), Fraction(0)), sum((Fraction(-v) for v in row if v < 0), Fraction(0)))
        for row in rows
    ]


@pytest.fixture
def tiny_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "STREAM", 256)


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("shape", [(7, 5), (3, 200), (200, 3), (5, 4, 3, 3), (1, 90), (90, 1)])
@pytest.mark.usefixtures("tiny_tiles")
def test_streamed_sums_hold_the_exact_ones(shape: tuple[int, ...], keep: int) -> None:
    array = drawn(*shape)
    sums = look(array, keep).sums
    assert sums is not None
    for (positive, negative), high, low in zip(exactly(array, keep), *sums.tolist(), strict=True):
        whole = positive + negative
        for true, found in ((positive, high), (negative, low)):
            assert true <= Fraction(found) <= true + whole * Fraction(1, 2**40)
            assert (found == 0.0) == (true == 0)


@pytest.mark.usefixtures("tiny_tiles")
def test_a_tiny_weight_of_the_other_sign_is_not_lost() -> None:
    array = np.array([[1.0, 1e8], [-1e-30, 1e8]] * 40, np.float32)
    sums = look(array, -1).sums
    assert sums is not None
    assert sums[1, 0] > 0.0
    assert sums[1, 1] == 0.0


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.usefixtures("tiny_tiles")
def test_ends_and_flags_are_those_of_all_elements(keep: int) -> None:
    array = drawn(40, 30)
    assert look(array, keep)[:3] == extent(array)
    for value, flag in ((np.nan, NAN), (np.inf, PINF), (-np.inf, NINF)):
        spoilt = array.copy()
        spoilt[17, 3] = value
        seen = look(spoilt, keep)
        assert seen.flags == flag
        assert (seen.lo, seen.hi) == extent(spoilt)[:2]
        assert seen.sums is None
    assert look(np.full((9, 9), np.nan, np.float32), keep)[:3] == (inf, -inf, NAN)
    assert look(np.zeros((0, 4), np.float32), keep)[:2] == (inf, -inf)


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.usefixtures("tiny_tiles")
def test_the_order_in_memory_makes_no_difference(keep: int) -> None:
    array = drawn(31, 23)
    turned = np.asfortranarray(array)
    assert np.allclose(signed_sums(turned, keep), signed_sums(array, keep), rtol=1e-12)
    assert np.allclose(signed_sums(array.T, -1 - keep), signed_sums(array, keep), rtol=1e-12)


@pytest.mark.parametrize("keep", KEEPS)
def test_stacked_tensors_are_summed_as_each_by_itself(keep: int) -> None:
    stack = np.stack([drawn(4, 6, seed=i) for i in range(5)])
    for array, sums in zip(stack, stacked_sums(stack, keep), strict=True):
        assert np.array_equal(sums, signed_sums(array, keep))
        for (positive, negative), high, low in zip(exactly(array, keep), *sums.tolist(), strict=True):
            assert abs(Fraction(high) - positive) <= positive * Fraction(1, 2**48)
            assert abs(Fraction(low) - negative) <= negative * Fraction(1, 2**48)


@pytest.mark.parametrize("kind", [np.float16, np.float64, ml_dtypes.bfloat16])
@pytest.mark.usefixtures("tiny_tiles")
def test_other_float_types(kind: type) -> None:
    array = np.clip(drawn(20, 30), -100, 100).astype(kind)
    seen = look(array, 0)
    assert seen.sums is not None
    assert (seen.lo, seen.hi) == (float(array.min()), float(array.max()))
    assert np.allclose(seen.sums, stacked_sums(array[None], 0)[0], rtol=1e-9)


def test_a_box_keeps_its_sums_for_one_axis() -> None:
    box = of_array(FLOAT32, drawn(6, 5))
    assert sums_of(box, -1) is sums_of(box, -1)
    assert sums_of(box, 0).shape == (2, 6)
    assert sums_of(box, -1).shape == (2, 5)


ends = st.floats(-1e6, 1e6)


@given(st.integers(0, 50), st.sampled_from([1, 3, FEW, FEW + 1, 60]), ends, ends)
def test_one_bound_for_all_channels_is_their_hull(seed: int, channels: int, one: float, other: float) -> None:
    lo, hi = min(one, other), max(one, other)
    sums = np.abs(np.random.default_rng(seed).normal(size=(2, channels)))
    sums[seed % 2, 0] = 0.0
    usual = hull_of(weighed(sums[0], sums[1], lo, hi))
    for found, expected in zip(weighed_hull(sums, lo, hi), usual, strict=True):
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-9)
        assert (found == 0.0) == (expected == 0.0) or lo > 0.0 or hi < 0.0
