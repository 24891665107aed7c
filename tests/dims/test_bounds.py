from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.dims.strategies import NAMES, Sized, sized

from nanproof.dims import Interval, Size, at_most, bounds, interval, joint, symbol

N, M = symbol("N"), symbol("M")


@st.composite
def ranges_and_values(draw: st.DrawFn) -> tuple[dict[str, tuple[int, int | None]], dict[str, int]]:
    ranges: dict[str, tuple[int, int | None]] = {}
    at = {}
    for name in NAMES:
        low = draw(st.integers(0, 9))
        span = draw(st.one_of(st.none(), st.integers(0, 9)))
        ranges[name] = (low, None if span is None else low + span)
        at[name] = low + draw(st.integers(0, 40 if span is None else span))
    return ranges, at


@given(sized(), ranges_and_values())
def test_bounds_are_sound(it: Sized, where: tuple[dict[str, tuple[int, int | None]], dict[str, int]]) -> None:
    ranges, at = where
    low, high = interval(it.size, ranges)
    value = it.meaning(at)
    assert low is None or low <= value
    assert high is None or value <= high
    least, most = bounds(it.size, ranges)
    if value >= 0:
        assert least <= value
        assert most is None or value <= most


@given(sized(), sized(), ranges_and_values())
def test_quotients_of_unknown_sizes_are_bounded(
    a: Sized, b: Sized, where: tuple[dict[str, tuple[int, int | None]], dict[str, int]]
) -> None:
    ranges, at = where
    if b.meaning(at) == 0:
        return
    low, high = interval(a.size // b.size, ranges)
    value = a.meaning(at) // b.meaning(at)
    assert low is None or low <= value
    assert high is None or value <= high


@given(st.integers(0, 9), st.integers(0, 9))
def test_joint_size_is_bounded(n: int, m: int) -> None:
    if n == m or 1 in (n, m):
        low, high = bounds(joint(N, M), {"N": (min(n, 3), n + 2), "M": (m, m)})
        real = 0 if 0 in (n, m) else max(n, m)
        assert low <= real <= (high or 0)


@pytest.mark.parametrize(
    ("size", "ranges", "expected"),
    [
        (7, {}, (7, 7)),
        (N, {}, (0, None)),
        (N - 3, {}, (-3, None)),
        (3 - N, {}, (None, 3)),
        (N % 4, {}, (0, 3)),
        (2 * N + 1, {"N": (1, 5)}, (3, 11)),
        (N * N - 1, {"N": (2, 3)}, (3, 8)),
        ((N + 1) // 2, {"N": (224, 299)}, (112, 150)),
        (N // M, {"N": (0, 12), "M": (3, None)}, (0, 4)),
        (N - 2 * (N // 2) - 1, {}, (-1, 0)),
        (N - M, {"N": (5, 9), "M": (1, 2)}, (3, 8)),
    ],
)
def test_intervals_that_should_be_tight(
    size: Size, ranges: dict[str, tuple[int, int | None]], expected: Interval
) -> None:
    assert interval(size, ranges) == expected


def test_a_size_is_never_negative() -> None:
    assert bounds(3 - N) == (0, 3)
    assert bounds(N - 10, {"N": (0, 5)}) == (0, 0)


def test_at_most_has_three_answers() -> None:
    assert at_most(N, N + 1) is True
    assert at_most(N + 1, N) is False
    assert at_most(N, M) is None
