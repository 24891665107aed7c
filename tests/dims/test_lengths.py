from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanproof.dims import ShapeError, Size, bounds, conv_length, evaluate, slice_length, symbol

N, M = symbol("N"), symbol("M")

POSITIONS = st.one_of(st.integers(-12, 12), st.sampled_from([2**63 - 1, 2**31 - 1, -(2**63), -(2**31)]))


@given(st.integers(0, 10), POSITIONS, POSITIONS, st.integers(-4, 4).filter(bool))
def test_slice_length_is_pythons(n: int, start: int, end: int, step: int) -> None:
    expected = len(range(n)[start:end:step])
    assert slice_length(n, start, end, step) == expected
    assert evaluate(slice_length(N, start, end, step), {"N": n}) == expected
    assert evaluate(slice_length(N + 2, start, end, step), {"N": n}) == len(range(n + 2)[start:end:step])


@given(st.integers(0, 10), st.integers(0, 10), st.integers(-4, 4).filter(bool))
def test_symbolic_positions(n: int, m: int, step: int) -> None:
    at = {"N": n, "M": m}
    assert evaluate(slice_length(N, M, 2**63 - 1, step), at) == len(range(n)[m : 2**63 - 1 : step])
    assert evaluate(slice_length(N, 1, M, step), at) == len(range(n)[1:m:step])
    assert evaluate(slice_length(N, 0, N - 1, step), at) == len(range(n)[0 : n - 1 : step])
    assert evaluate(slice_length(N, -M - 1, N, step), at) == len(range(n)[-m - 1 : n : step])


def test_a_position_of_unknown_sign_is_not_guessed() -> None:
    # x[:N - 5] is x[:-2] where N is 3
    length = slice_length(N, 0, N - 5)
    assert bounds(length, {"N": (3, 9)}) == (0, 9)


def test_slices_that_should_be_simple() -> None:
    assert slice_length(N, 0, 2**63 - 1) == N
    assert slice_length(N, 0, N) == N
    assert slice_length(N + 1, 1, 2**31 - 1) == N
    assert slice_length(2 * N, 0, 2**63 - 1, 2) == N
    assert slice_length(N, -1, -(2**63), -1) == N
    with pytest.raises(ShapeError, match="step"):
        slice_length(N, 0, 1, 0)


def windows(size: int, kernel: int, stride: int, pads: tuple[int, int], dilation: int) -> tuple[int, int]:
    """How many windows fit, counted one by one: whole ones, and those that start before the padding at the end."""
    span = (kernel - 1) * dilation + 1
    starts = range(0, pads[0] + size + pads[1], stride)
    whole = [start for start in starts if start + span <= pads[0] + size + pads[1]]
    # a window sticks out by less than one stride: the next would lie past the end altogether
    begun = [start for start in starts if start < pads[0] + size and start + span - stride < pads[0] + size + pads[1]]
    return len(whole), len(begun)


@given(
    st.integers(1, 30),
    st.integers(1, 5),
    st.integers(1, 4),
    st.tuples(st.integers(0, 4), st.integers(0, 4)),
    st.integers(1, 3),
)
def test_conv_length_counts_windows(size: int, kernel: int, stride: int, pads: tuple[int, int], dilation: int) -> None:
    if (kernel - 1) * dilation + 1 > size + sum(pads):
        with pytest.raises(ShapeError, match="does not fit"):
            conv_length(size, kernel, stride, pads, dilation)
        return
    whole, begun = windows(size, kernel, stride, pads, dilation)
    known: Size = size
    for unknown in (known, N):
        assert evaluate(conv_length(unknown, kernel, stride, pads, dilation), {"N": size}) == whole
        assert evaluate(conv_length(unknown, kernel, stride, pads, dilation, ceil=True), {"N": size}) == begun


def test_conv_lengths_of_a_stack_stay_short() -> None:
    size: Size = N
    for _ in range(5):
        size = conv_length(size, 3, 2, (1, 1))
    assert str(size) == "(N + 31)//32"
    assert bounds(size, {"N": (224, 224)}) == (7, 7)


def test_bad_windows() -> None:
    with pytest.raises(ShapeError, match="at least 1"):
        conv_length(N, 3, 0)
