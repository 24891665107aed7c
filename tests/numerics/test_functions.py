"""The function namespaces: scalar against mpmath, arrays against scalar, special values, and every name in all."""

from __future__ import annotations

import math
import random

import mpmath
import numpy as np
import pytest

from nanproof.numerics import scalar
from nanproof.numerics.arrays import numpy_namespace as xp
from nanproof.numerics.arrays import torch_namespace

INF, NAN = math.inf, math.nan


def _sigmoid(x: mpmath.mpf) -> mpmath.mpf:
    return 1 / (1 + mpmath.exp(-x))


def _softplus(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.log(1 + mpmath.exp(x))


REFERENCE = {
    "exp": mpmath.exp,
    "expm1": lambda x: mpmath.exp(x) - 1,
    "log": mpmath.log,
    "log1p": lambda x: mpmath.log(1 + x),
    "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10,
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asinh": lambda x: mpmath.sign(x) * mpmath.asinh(abs(x)),
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "erf": mpmath.erf,
    "erfinv": mpmath.erfinv,
    "erfc": mpmath.erfc,
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "log_sigmoid": lambda x: -_softplus(-x),
    "softsign": lambda x: x / (1 + abs(x)),
    "silu": lambda x: x * _sigmoid(x),
    "mish": lambda x: x * mpmath.tanh(_softplus(x)),
    "gelu": lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "gelu_tanh": lambda x: x * _sigmoid(2 * mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3)),
}
DOMAIN = {
    "log": (1e-300, INF), "log2": (1e-300, INF), "log10": (1e-300, INF), "sqrt": (0.0, INF), "rsqrt": (1e-300, INF),
    "log1p": (-1 + 1e-15, INF), "asin": (-1.0, 1.0), "acos": (-1.0, 1.0), "acosh": (1.0, INF),
    "atanh": (-1 + 1e-15, 1 - 1e-15), "erfinv": (-1 + 1e-15, 1 - 1e-15),
}  # fmt: skip
# Relative errors in units of 2**-53. The tails of gelu lose digits in the rounding of their exponent's argument.
TOLERANCE = {"gelu": 4000.0, "gelu_tanh": 4000.0, "erfc": 4.0, "silu": 6.0, "mish": 8.0, "cbrt": 3.0}


def points(name: str) -> list[float]:
    rng = random.Random(name)
    lo, hi = DOMAIN.get(name, (-INF, INF))
    found = [rng.choice([-1, 1]) * 2.0 ** rng.uniform(-40, 9) for _ in range(150)]
    found += [rng.uniform(-40, 40) for _ in range(60)] + [rng.uniform(-1, 1) for _ in range(60)]
    found += [0.5, -0.5, 1.0, -1.0, 2.0, 1e-200, -1e-200, 1 + 2**-30, 1 - 2**-30, 20.0, -37.0]
    return [x for x in found if lo <= x <= hi]


@pytest.mark.parametrize("name", REFERENCE)
def test_scalar_is_close_to_the_real_function(name: str) -> None:
    function = getattr(scalar, name)
    with mpmath.workprec(1200 if name == "mish" else 800):
        for x in points(name):
            real = REFERENCE[name](mpmath.mpf(x))
            if abs(real) > mpmath.mpf(1.7e308) or abs(real) < mpmath.mpf(1e-307):
                continue
            error = abs(mpmath.mpf(function(x)) - real) / abs(real) if real else mpmath.mpf(0)
            assert error <= TOLERANCE.get(name, 3.0) * 2.0**-53, (x, function(x))


@pytest.mark.parametrize("name", [n for n in REFERENCE if hasattr(xp, n)])
def test_arrays_agree_with_scalar(name: str) -> None:
    xs = np.array(points(name))
    with np.errstate(all="ignore"):
        many = getattr(xp, name)(xs)
    one = np.array([getattr(scalar, name)(x) for x in xs.tolist()])
    assert many.shape == xs.shape
    np.testing.assert_allclose(many, one, rtol=TOLERANCE.get(name, 3.0) * 2.0**-52, atol=1e-320)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 2.5, 3.0, 750.0, -750.0, 1e300, -1e300, 5e-324, INF, -INF, NAN]
ONE = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf", "erfc", "exp", "exp2",
    "expm1", "floor", "gelu", "gelu_tanh", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2",
    "log_sigmoid", "mish", "negative", "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sign", "silu", "sin",
    "sinh", "softplus", "softsign", "sqrt", "square", "tan", "tanh", "trunc", "signbit",
]  # fmt: skip
TWO = [
    "add", "atan2", "copysign", "divide", "equal", "fmod", "greater", "greater_equal", "hypot", "less", "less_equal",
    "logaddexp", "maximum", "minimum", "multiply", "nextafter", "not_equal", "pow", "power", "remainder", "subtract",
]  # fmt: skip


def same(a: float, b: float) -> bool:
    return a == b or (a != a and b != b) or abs(a - b) <= 1e-15 * abs(b)


@pytest.mark.parametrize("name", ONE)
def test_special_values_as_numpy_has_them(name: str) -> None:
    one, many = getattr(scalar, name), getattr(xp, name)
    with np.errstate(all="ignore"):
        for x in SPECIAL:
            assert same(one(x), many(np.array([x]))[0]), (x, one(x), many(np.array([x])))


@pytest.mark.parametrize("name", TWO)
def test_special_pairs_as_numpy_has_them(name: str) -> None:
    one, many = getattr(scalar, name), getattr(xp, name)
    with np.errstate(all="ignore"):
        for x in SPECIAL:
            for y in SPECIAL:
                assert same(one(x, y), many(np.array([x]), np.array([y]))[0]), (x, y, one(x, y))


def test_signs_of_infinities() -> None:
    assert scalar.divide(1.0, -0.0) == -INF
    assert scalar.reciprocal(-0.0) == -INF
    assert scalar.pow(-0.0, -3.0) == -INF
    assert scalar.pow(-1e200, 3.0) == -INF
    assert scalar.pow(-1e200, 2.0) == INF
    assert math.isnan(scalar.pow(-2.0, 0.5))


def test_shapes_of_element_by_element_functions() -> None:
    for name in ("erf", "erfc", "gelu"):
        assert getattr(xp, name)(np.zeros((2, 0, 3))).shape == (2, 0, 3)
        assert getattr(xp, name)(np.zeros(())).shape == ()
        assert getattr(xp, name)(np.zeros((3, 2)).T).shape == (2, 3)


def test_every_scalar_name_is_there_for_arrays_and_tensors() -> None:
    public = [n for n in vars(scalar) if not n.startswith("_") and callable(getattr(scalar, n))]
    names = [n for n in public if n not in {"Final", "TypeVar", "float64", "bool", "fabs"}]
    assert [n for n in names if not hasattr(xp, n)] == []
    pytest.importorskip("torch")
    tensors = torch_namespace()
    assert [n for n in names if not hasattr(tensors, n)] == []


def test_softplus_of_large_tensors_is_finite() -> None:
    torch = pytest.importorskip("torch")
    xs = [39.0, 41.0, 1e4, 1e300]
    result = torch_namespace().softplus(torch.tensor(xs, dtype=torch.float64))
    assert result.tolist() == [scalar.softplus(x) for x in xs]


def test_tensors_agree_with_scalar_and_have_gradients() -> None:
    torch = pytest.importorskip("torch")
    tensors = torch_namespace()
    for name in REFERENCE:
        xs = [x for x in points(name) if abs(x) < 30]
        tensor = torch.tensor(xs, dtype=torch.float64, requires_grad=True)
        result = getattr(tensors, name)(tensor)
        one = np.array([getattr(scalar, name)(x) for x in xs])
        np.testing.assert_allclose(result.detach().numpy(), one, rtol=1e-12, atol=1e-14, err_msg=name)
        result.sum().backward()
        assert tensor.grad is not None
