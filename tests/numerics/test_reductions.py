"""The bound on sums, against exact sums and what runtimes compute."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from nanproof.numerics.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, DType, by_name
from nanproof.numerics.reductions import sum_error
from nanproof.numerics.rounding import nearest_array
from nanproof.numerics.runtimes import RUNTIMES, accumulator


def exact(terms: np.ndarray) -> Fraction:
    return sum((Fraction(t) for t in terms.tolist()), Fraction(0))


def one_by_one(terms: np.ndarray, kind: type) -> float:
    total = kind(0)
    for t in terms.astype(kind):
        total = kind(total + t)
    return float(total)


TERMS = {
    "ordinary": lambda rng, n: rng.normal(0, 1, n),
    "one sign": lambda rng, n: rng.uniform(0, 1, n),
    "one big": lambda rng, n: np.concatenate([[1000.0], rng.uniform(0, 1e-3, n - 1)]),
    "cancelling": lambda rng, n: np.concatenate([rng.uniform(0, 9, n // 2), -rng.uniform(0, 9, n - n // 2)]),
    "worst": lambda rng, n: np.concatenate([[1.0], np.full(n - 1, 2.0**-12 * (1 + 2.0**-9))]),
    "subnormal": lambda rng, n: rng.integers(-50, 50, n) * 2.0**-24,
}


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("n", [1, 2, 3, 10, 257, 2000])
def test_any_accumulator_stays_within_the_bound(terms: str, n: int) -> None:
    rng = np.random.default_rng(n)
    for dtype, kind in ((FLOAT16, np.float16), (FLOAT32, np.float32), (FLOAT64, np.float64)):
        x = nearest_array(dtype, TERMS[terms](rng, max(n, 2)))[:n]
        magnitude = float(sum(abs(x)))
        real = exact(x)
        for order in (x, np.sort(x), np.sort(x)[::-1]):
            got = one_by_one(order, kind)
            assert abs(Fraction(got) - real) <= Fraction(sum_error(n, magnitude, dtype, dtype))
        if dtype is FLOAT16:
            got = float(np.float16(one_by_one(x, np.float32)))
            assert abs(Fraction(got) - real) <= Fraction(sum_error(n, magnitude, FLOAT32, FLOAT16))


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT16, BFLOAT16, FLOAT64], ids=repr)
def test_what_torch_sums(dtype: DType) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    for n in (3, 100, 4097):
        a = nearest_array(dtype, rng.normal(0, 1, (8, n)))
        b = nearest_array(dtype, rng.normal(0, 1, (n, 4)))
        kind = getattr(torch, dtype.name)
        ta, tb = torch.from_numpy(a).to(kind), torch.from_numpy(b).to(kind)
        inner = accumulator("torch", dtype)
        product = (ta @ tb).to(torch.float64).numpy()
        magnitude = np.abs(a) @ np.abs(b)
        bound = sum_error(n, magnitude, inner, dtype)
        for i, j in ((0, 0), (3, 1), (7, 3)):
            real = sum(
                (Fraction(p) * Fraction(q) for p, q in zip(a[i].tolist(), b[:, j].tolist(), strict=True)), Fraction(0)
            )
            assert abs(Fraction(float(product[i, j])) - real) <= Fraction(float(bound[i, j]))
        sums = ta.sum(1).to(torch.float64).numpy()
        for i in range(8):
            error = abs(Fraction(float(sums[i])) - exact(a[i]))
            assert error <= Fraction(sum_error(n, float(np.abs(a[i]).sum()), inner, dtype))


def test_products_that_underflow() -> None:
    a = np.full(500, 1.1 * 2.0**-75, np.float32)
    real = exact(a.astype(np.float64)) * Fraction(float(a[0]))
    got = one_by_one(a * a, np.float32)
    assert abs(Fraction(got) - real) <= Fraction(sum_error(500, float(real), FLOAT32, FLOAT32))


def test_limits() -> None:
    assert sum_error(10, 5.0, INT32, INT32) == 0.0
    assert sum_error(10, 0.0, FLOAT32, FLOAT32) == 0.0
    assert sum_error(math.inf, 0.0, FLOAT32, FLOAT32) == 0.0
    assert sum_error(math.inf, 1.0, FLOAT32, FLOAT32) == math.inf
    assert sum_error(4, math.inf, FLOAT32, FLOAT16) == math.inf
    many = sum_error(4, np.array([0.0, 1.0, math.inf]), FLOAT32, FLOAT16)
    assert many.tolist() == [0.0, sum_error(4, 1.0, FLOAT32, FLOAT16), math.inf]
    assert sum_error(math.inf, np.array([0.0, 1.0]), FLOAT32, FLOAT32).tolist() == [0.0, math.inf]


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_accumulators(runtime: str) -> None:
    for name in ("float16", "bfloat16", "float8_e4m3fn", "float32"):
        assert accumulator(runtime, by_name(name)) is FLOAT32
    assert accumulator(runtime, FLOAT64) is FLOAT64
    assert accumulator(runtime, INT32) is INT32
