from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nanproof import dims
from nanproof.dims import ShapeError, Size, symbol

N, M, K = symbol("N"), symbol("M"), symbol("K")
SIZES = st.integers(0, 4)


def at(shape: tuple[Size, ...], values: dict[str, int]) -> tuple[int, ...]:
    return tuple(dims.evaluate(size, values) for size in shape)


@st.composite
def hidden(draw: st.DrawFn, shape: tuple[int, ...], names: dict[str, int]) -> tuple[Size, ...]:
    """The shape with some of its sizes replaced by expressions that have their value."""
    result: list[Size] = []
    for size in shape:
        how = draw(st.sampled_from(["known", "own", "shared", "offset"]))
        if how == "known":
            result.append(size)
        elif how == "own":
            name = f"s{len(names)}"
            names[name] = size
            result.append(symbol(name))
        elif how == "shared":
            names[f"shared{size}"] = size
            result.append(symbol(f"shared{size}"))
        else:
            name = f"o{len(names)}"
            offset = draw(st.integers(0, size))
            names[name] = size - offset
            result.append(symbol(name) + offset)
    return tuple(result)


@given(st.lists(SIZES, max_size=4).map(tuple), st.lists(SIZES, max_size=4).map(tuple))
def test_broadcast_of_known_shapes_is_numpys(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    try:
        expected = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(ShapeError, match="don't broadcast"):
            dims.broadcast(a, b)
    else:
        assert dims.broadcast(a, b) == expected


@given(st.data(), st.lists(SIZES, max_size=4).map(tuple), st.lists(SIZES, max_size=4).map(tuple))
def test_broadcast_of_unknown_shapes_is_numpys_in_every_run(
    data: st.DataObject, a: tuple[int, ...], b: tuple[int, ...]
) -> None:
    try:
        expected = np.broadcast_shapes(a, b)
    except ValueError:
        assume(False)
    names: dict[str, int] = {}
    x, y = data.draw(hidden(a, names)), data.draw(hidden(b, names))
    assert at(dims.broadcast(x, y), names) == expected
    assert at(dims.broadcast(y, x), names) == expected
    assert at(dims.broadcast_all([x, y, (), x]), names) == expected


def test_broadcast_of_unknown_sizes() -> None:
    assert dims.broadcast((N, 1), (3,)) == (N, 3)
    assert dims.broadcast((N,), (5,)) == (5,)
    assert dims.broadcast((N,), (1,)) == (N,)
    assert dims.broadcast((N, 8), (N, 1)) == (N, 8)
    assert str(dims.broadcast((N,), (M,))[0]) == "broadcast(M, N)"
    assert dims.broadcast((N,), dims.broadcast((M,), (N,))) == dims.broadcast((N,), (M,))


@st.composite
def factorings(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes of as many elements."""
    primes = draw(st.lists(st.sampled_from([1, 2, 3, 5, 7]), max_size=5))

    def shape() -> tuple[int, ...]:
        sizes = [1] * draw(st.integers(1, 4))
        for prime in primes:
            sizes[draw(st.integers(0, len(sizes) - 1))] *= prime
        return tuple(sizes)

    return shape(), shape()


@given(st.data(), factorings())
def test_reshape_is_numpys_in_every_run(data: st.DataObject, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    before, after = shapes
    names: dict[str, int] = {}
    source = data.draw(hidden(before, names))
    target = list(data.draw(hidden(after, names)))
    hole = data.draw(st.integers(-1, len(target) - 1))
    if hole >= 0:
        target[hole] = -1
    assert at(dims.reshape(source, tuple(target)), names) == after


@given(
    st.lists(SIZES, min_size=1, max_size=3).map(tuple), st.lists(st.integers(-1, 6), min_size=1, max_size=3).map(tuple)
)
def test_reshape_of_known_shapes_fails_where_numpy_does(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    try:
        expected = np.empty(shape).reshape(target).shape
    except ValueError:
        # NumPy refuses to work out -1 for an empty array, ONNX doesn't: both are fine for us
        assume(0 not in shape or -1 not in target)
        with pytest.raises(ShapeError):
            dims.reshape(shape, target, allow_zero=True)
    else:
        assert dims.reshape(shape, target, allow_zero=True) == expected


def test_reshape_algebra() -> None:
    assert dims.reshape((N, 4, 8), (-1, 32)) == (N, 32)
    assert dims.reshape((N, 128, 768), (0, 0, 12, 64)) == (N, 128, 12, 64)
    assert dims.reshape((N, M, 12, 64), (N * M, -1)) == (N * M, 768)
    assert dims.reshape((N + 1, 6), (-1, 2)) == (3 * N + 3, 2)
    assert dims.reshape((N, 0), (N, -1)) == (N, 0)
    assert str(dims.reshape((N, 7), (-1, 2))[0]) == "3*N + N//2"
    assert dims.reshape((2, 0, 3), (0, 0, -1)) == (2, 0, 3)


@pytest.mark.parametrize(
    ("shape", "target", "message"),
    [
        ((2, 3), (-1, -1), "more than one -1"),
        ((2, 3), (-1, 4), "4 does not divide 6"),
        ((2, 3), (7,), "6 elements don't fit 7"),
        ((2,), (2, 0), "no axis 1 to copy"),
        ((2 * N + 1,), (2, -1), r"2 does not divide 2\*N \+ 1"),
    ],
)
def test_reshape_says_what_cannot_fit(shape: tuple[Size, ...], target: tuple[Size, ...], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        dims.reshape(shape, target)


def test_concat() -> None:
    assert dims.concat([(N, 3), (M, 3), (2, 3)], 0) == (N + M + 2, 3)
    assert dims.concat([(N, 3), (4, 3)], -1) == (4, 6)
    with pytest.raises(ShapeError, match="different ranks"):
        dims.concat([(1,), (1, 2)], 0)
    with pytest.raises(ShapeError, match="have to be equal: 2 against 3"):
        dims.concat([(1, 2), (1, 3)], 0)
    with pytest.raises(ShapeError, match="axis 2 does not exist"):
        dims.concat([(1, 2)], 2)


def test_product_and_merge() -> None:
    assert dims.product(()) == 1
    assert dims.product((N, 0, M)) == 0
    assert dims.product((N, 2, 3)) == 6 * N
    assert dims.merge(N, 4) == 4
    assert dims.merge_shapes((N, 3), (2, K)) == (2, 3)
    with pytest.raises(ShapeError, match="have to be equal"):
        dims.merge(N, N + 1)


@given(st.integers(-40, 40), st.integers(1, 12))
def test_divides(n: int, divisor: int) -> None:
    assert dims.divides(divisor, n) == (n % divisor == 0)
    assert dims.divides(divisor, N * divisor) is True


def test_divides_of_unknown_sizes() -> None:
    assert dims.divides(4, 2 * N) is None
    assert dims.divides(2, 4 * N + 1) is False
    assert dims.divides(N, N * M) is True
    assert dims.divides(N, M) is None
    assert dims.divides(0, N) is None
