from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.dims.strategies import NAMES, Sized, sized, values

from nanproof.dims import Dim, Size, evaluate, most, same, substitute, symbol, symbols
from nanproof.dims.dim import atoms

N, M, K = symbol("N"), symbol("M"), symbol("K")


@given(sized(), values())
def test_evaluation_is_the_concrete_computation(it: Sized, at: dict[str, int]) -> None:
    assert evaluate(it.size, at) == it.meaning(at)


@given(sized(), sized(), values(1))
def test_division_by_a_symbolic_size(a: Sized, b: Sized, at: dict[str, int]) -> None:
    if b.size == 0 or b.meaning(at) == 0:
        return
    for size, meaning in (
        (a.size // b.size, a.meaning(at) // b.meaning(at)),
        (a.size % b.size, a.meaning(at) % b.meaning(at)),
    ):
        if not any(atom.kind == "unknown" for atom in atoms(size)):  # given up because it grew too large
            assert evaluate(size, at) == meaning


@given(sized(), sized())
def test_a_product_divides_again(a: Sized, b: Sized) -> None:
    if b.size != 0:
        assert a.size * b.size // b.size == a.size


@given(sized(), sized(), sized())
def test_ring_laws_hold_as_expressions(a: Sized, b: Sized, c: Sized) -> None:
    assert a.size + b.size == b.size + a.size
    assert a.size * b.size == b.size * a.size
    assert (a.size + b.size) + c.size == a.size + (b.size + c.size)
    assert a.size * (b.size + c.size) == a.size * b.size + a.size * c.size
    assert a.size - a.size == 0


@given(sized())
def test_equal_sizes_hash_alike_and_a_dim_is_never_constant(it: Sized) -> None:
    again = it.size + N - N
    assert again == it.size
    assert hash(again) == hash(it.size)
    assert isinstance(it.size, int) or (symbols(it.size) <= set(NAMES) and symbols(it.size))


@given(sized(), sized(), values())
def test_substitution_commutes_with_evaluation(it: Sized, other: Sized, at: dict[str, int]) -> None:
    inner = evaluate(other.size, at)
    assume(inner >= 0)  # a symbol stands for a size
    assert evaluate(substitute(it.size, {"N": other.size}), at) == it.meaning({**at, "N": inner})


@given(sized(), values())
def test_substituting_numbers_for_all_symbols_gives_a_number(it: Sized, at: dict[str, int]) -> None:
    assert substitute(it.size, dict(at)) == it.meaning(at)


@given(sized(), values(1, 12))
def test_the_text_is_a_python_expression_with_the_same_value(it: Sized, at: dict[str, int]) -> None:
    assert eval(str(it.size), {"max": max, "min": min}, dict(at)) == it.meaning(at)


@given(sized(), sized(), values())
def test_same_is_right_when_it_answers(a: Sized, b: Sized, at: dict[str, int]) -> None:
    answer = same(a.size, b.size)
    assert answer is None or answer == (a.meaning(at) == b.meaning(at))


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (2 * N + 1, "2*N + 1"),
        (N * N - N, "N**2 - N"),
        ((N + 1) // 2, "(N + 1)//2"),
        (N % 2, "N - 2*(N//2)"),
        (3 - N, "-N + 3"),
        (most(N, 7), "max(7, N)"),
        (N * M, "M*N"),
    ],
)
def test_text(size: Size, text: str) -> None:
    assert str(size) == text


@pytest.mark.parametrize(
    ("size", "simple"),
    [
        ((N * 4 * 8) // 32, N),
        ((2 * N + 3) // 2, N + 1),
        (((N + 1) // 2 + 1) // 2, (N + 3) // 4),
        ((N * N - M * M) // (N - M), N + M),
        ((N * M + N) // (M + 1), N),
        ((6 * N) // (4 * M), (3 * N) // (2 * M)),
        ((N * K) // (M * K), N // M),
        ((N * M + K) // M, N + K // M),
        (0 // N, 0),
        (most(N, N + 1, 0), N + 1),
        (most(most(N, M), K), most(N, most(M, K))),
    ],
)
def test_simplification(size: Size, simple: Size) -> None:
    assert size == simple


def test_a_dim_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="size N is not known"):
        bool(N)


def test_division_by_zero_is_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        _ = N // 0


@pytest.mark.parametrize(
    "grow", [lambda x, i: most(x + symbol(f"a{i}"), x * 2 + symbol(f"b{i}")), lambda x, i: x * (x + 1 + i)]
)
def test_an_expression_that_grows_without_end_is_given_up(grow: object) -> None:
    size: Size = N
    for i in range(300):
        size = grow(size, i)  # type: ignore[operator]
    assert isinstance(size, Dim)
    assert len(str(size)) < 20_000


@given(st.integers(0, 60), st.integers(1, 9), st.integers(1, 9))
def test_nested_floors_merge(n: int, a: int, b: int) -> None:
    assert evaluate((N // a + 2) // b, {"N": n}) == (n // a + 2) // b
