"""What the laws don't say of the elementwise records: exact bounds, decided results, verdicts, runtimes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from nanproof.dims import symbol
from nanproof.domain.box import INFS, NAN, NINF, PINF, Box, of_array, of_sizes
from nanproof.numerics.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, UINT8, DType
from nanproof.ops.call import INEVITABLE, POSSIBLE, Call, Setting
from nanproof.ops.registry import lookup
from nanproof.ops.trigonometric import quarter_turns


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def box(lo: float, hi: float, dtype: DType = FLOAT32, flags: int = 0) -> Box:
    return Box(dtype, (2, 3), float(lo), float(hi), flags)


def stored(value: Any, dtype: type = np.float32) -> Box:
    from nanproof.numerics.dtypes import of_numpy

    array = np.asarray(value, dtype)
    return of_array(of_numpy(array.dtype), array)


def bounded(name: str, *boxes: Box | None, runtime: str = "onnxruntime", **attrs: Any) -> tuple[Any, list[str]]:
    op = lookup("", name)
    assert op is not None
    call = Call(op, attrs, Setting(runtime), 1)
    return op.bound(call, *boxes), [event.code for event in call.events]


def hull(name: str, *boxes: Box | None, **attrs: Any) -> tuple[float, float]:
    ends: tuple[float, float] = bounded(name, *boxes, **attrs)[0].hull()
    return ends


# -- powers and remainders ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "exponent", "expected"),
    [
        ((-1, 2), 2.0, (0, 4)),
        ((-2, 1), 3.0, (-8, 1)),
        ((-3, -2), 2.0, (4, 9)),
        ((0, 9), 0.5, (0, 3)),
        ((-3, 2), 0.0, (1, 1)),
        ((2, 4), -1.0, (0.25, 0.5)),
        ((-4, -2), -1.0, (-0.5, -0.25)),
        ((-3, 2), 1.0, (-3, 2)),
    ],
)
def test_a_fixed_exponent_is_bounded_as_tightly_as_an_interval_can(
    base: tuple[float, float], exponent: float, expected: tuple[float, float]
) -> None:
    lo, hi = hull("Pow", box(*base), stored(exponent))
    assert lo <= expected[0] <= hi
    assert (lo, hi) == pytest.approx(expected, rel=1e-6, abs=0)


def test_a_square_is_never_negative_in_any_runtime() -> None:
    for runtime in ("onnxruntime", "torch", "ieee"):
        assert bounded("Pow", box(-1, 1), stored(2.0), runtime=runtime)[0].lo == 0.0


@pytest.mark.parametrize(
    ("base", "exponent", "flags", "codes"),
    [
        ((-1, 4), 0.5, NAN, ["NP106"]),
        ((0, 4), 0.5, 0, []),
        ((-4, -1), 0.5, NAN, ["NP106"]),
        ((0, 4), -0.5, INFS, ["NP106"]),
        ((1, 4), -0.5, 0, []),
        ((-4, 4), 2.0, 0, []),
        ((0, 1e20), 2.0, PINF, ["NP202"]),
    ],
)
def test_powers_fail_where_they_do(base: tuple[float, float], exponent: float, flags: int, codes: list[str]) -> None:
    result, seen = bounded("Pow", box(*base), stored(exponent))
    assert seen == codes
    assert result.flags == flags


def test_a_root_of_negative_numbers_only_has_no_value() -> None:
    assert not bounded("Pow", box(-4, -1), stored(0.5))[0].has_finite


@pytest.mark.parametrize(
    ("x", "y", "fmod", "expected"),
    [
        ((-7, 9), 4, 1, (-4, 4)),
        ((1, 3), 4, 1, (1, 3)),
        ((9, 11), 4, 1, (1, 3)),
        ((-11, -9), 4, 1, (-3, -1)),
        ((0, 100), 4, 1, (0, 4)),
    ],
)
def test_remainders(x: tuple[float, float], y: float, fmod: int, expected: tuple[float, float]) -> None:
    assert hull("Mod", box(*x), stored(float(y)), fmod=fmod) == expected


def test_integer_divisors_that_can_be_0_crash_and_don_t_make_nan() -> None:
    zero = box(-1, 1, INT64)
    for name in ("Div", "Mod"):
        result, codes = bounded(name, box(-7, 9, INT64), zero)
        assert codes == ["NP118"]
        assert result.flags == 0
    assert bounded("Div", box(-7, 9), box(-1, 1))[1] == ["NP103"]
    assert bounded("Mod", box(-7, 9), box(-1, 1), fmod=1)[1] == ["NP105"]


def test_the_quotient_of_integers_is_cut_off_towards_0() -> None:
    assert hull("Div", box(-7, 9, INT64), box(2, 3, INT64)) == (-3, 4)
    assert hull("Div", box(-7, 9, INT64), box(-2, 3, INT64)) == (-9, 9)


def test_symbolic_sizes_are_divided_where_the_division_is_exact() -> None:
    n = symbol("N")
    sizes = of_sizes(INT64, np.array([n * 4, 7], object), 1, 1e9)
    known = bounded("Div", sizes, stored(2, np.int64))[0].known
    assert list(known) == [n * 2, 3]


# -- waves -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [1.0, 1e5, 1e10, 1e22, 1.7e308, 6381956970095103 * 2.0**797, -3.0, -1e22])
def test_quarter_turns_agree_with_a_library_of_many_digits(x: float) -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(400):
        assert quarter_turns(x) == int(mpmath.floor(mpmath.mpf(x) / (mpmath.pi / 2)))


@pytest.mark.parametrize(
    ("name", "ends", "expected"),
    [
        ("Sin", (0, 3), (0, 1)),
        ("Sin", (-2, -1), (-1, math.sin(-1))),
        ("Sin", (0, 10), (-1, 1)),
        ("Cos", (-1, 1), (math.cos(1), 1)),
        ("Cos", (3, 4), (-1, math.cos(4))),
        ("Sin", (1e22, 1e22), (math.sin(1e22), math.sin(1e22))),
    ],
)
def test_waves_are_exact_about_their_extremes(
    name: str, ends: tuple[float, float], expected: tuple[float, float]
) -> None:
    assert hull(name, box(*ends, FLOAT64), runtime="ieee") == pytest.approx(expected, abs=1e-14)


def test_a_tangent_across_a_pole_is_large_but_finite() -> None:
    result, codes = bounded("Tan", box(1, 2))
    assert result.flags == 0
    assert codes == []
    assert 2e7 < result.hi < 1e9
    # 177.5 is 1.5e-5 from a pole, and its tangent rounds to infinity
    assert bounded("Tan", box(177.5, 177.5, FLOAT16))[1] == ["NP214"]


def test_pytorch_overflows_early_in_sinh() -> None:
    assert bounded("Sinh", box(0, 89), runtime="torch")[1] == ["NP201"]
    assert bounded("Sinh", box(0, 89), runtime="ieee")[1] == []


# -- comparisons, logic, choice ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "x", "y", "expected"),
    [
        ("Greater", (1, 2), (-1, 0), (1, 1)),
        ("Greater", (0, 2), (1, 3), (0, 1)),
        ("Greater", (0, 1), (1, 3), (0, 0)),
        ("GreaterOrEqual", (1, 2), (0, 1), (1, 1)),
        ("Less", (0, 1), (2, 3), (1, 1)),
        ("LessOrEqual", (2, 3), (0, 1), (0, 0)),
        ("Equal", (0, 1), (2, 3), (0, 0)),
        ("Equal", (2, 2), (2, 2), (1, 1)),
        ("Equal", (0, 2), (2, 3), (0, 1)),
    ],
)
def test_comparisons_have_three_values(name: str, x: Any, y: Any, expected: tuple[float, float]) -> None:
    result = bounded(name, box(*x), box(*y))[0]
    assert result.dtype is BOOL
    assert result.hull() == expected
    assert (result.known is not None) == (expected[0] == expected[1])


def test_nan_compares_as_false() -> None:
    assert hull("Greater", box(1, 2, flags=NAN), box(-1, 0)) == (0, 1)


def test_tests_of_special_values_follow_the_flags() -> None:
    assert hull("IsNaN", box(0, 1)) == (0, 0)
    assert hull("IsNaN", box(0, 1, flags=NAN)) == (0, 1)
    assert hull("IsNaN", Box(FLOAT32, (2,), math.inf, -math.inf, NAN)) == (1, 1)
    assert hull("IsInf", box(0, 1, flags=NINF), detect_negative=0) == (0, 0)


def test_a_decided_condition_takes_one_branch_as_it_is() -> None:
    x, y = box(0, 1), box(5, 6, flags=NAN)
    assert bounded("Where", Box(BOOL, (2, 3), 1.0, 1.0), x, y)[0] is x


def test_a_known_mask_keeps_minus_infinity_in_its_place() -> None:
    mask = of_array(BOOL, np.tril(np.ones((4, 4), bool)))
    scores = Box(FLOAT32, (4, 4), -1.0, 1.0)
    result = bounded("Where", mask, scores, stored(-np.inf))[0]
    assert result.flags == NINF
    # the first column is seen from everywhere: no row is -Inf throughout
    assert (result.block_flags()[:, 0] == 0).all()


# -- casts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "to", "codes"),
    [
        (box(0, 1), 10, []),
        (box(0, 65519), 10, []),
        (box(0, 65520), 10, ["NP209"]),
        (box(0, 1e39, FLOAT64), 1, ["NP209"]),
        (box(0, 300), 2, ["NP210"]),
        (box(-0.5, 255.5), 2, []),
        (box(0, 1, flags=NAN), 7, ["NP210"]),
        (box(0, 2**31), 6, ["NP210"]),
        (box(1e-8, 1e-8), 10, ["NP402"]),
        (box(1e-8, 1), 10, ["NP402"]),
        (box(0, 1e-8), 10, []),
    ],
)
def test_casts_fail_where_they_do(x: Box, to: int, codes: list[str]) -> None:
    assert bounded("Cast", x, to=to)[1] == codes


def test_a_cast_that_must_fail_is_inevitable() -> None:
    op = lookup("", "Cast")
    assert op is not None
    for x, verdict in ((box(1e5, 2e5), INEVITABLE), (box(0, 2e5), POSSIBLE)):
        call = Call(op, {"to": 10}, Setting())
        op.bound(call, x)
        assert [event.verdict for event in call.events] == [verdict]


def test_a_cast_allows_for_both_roundings() -> None:
    # between the midpoint of two bfloat16 and the float32 next to it: once rounded up, by way of float32 down to even
    x = 1.0 + 2.0**-8 + 2.0**-40
    assert hull("Cast", box(x, x, FLOAT64), to=16) == (1.0, 1.0 + 2.0**-7)


def test_casts_to_integers_and_bools() -> None:
    assert hull("Cast", box(-1.9, 2.9), to=7) == (-1, 2)
    assert hull("Cast", box(0.25, 2.9), to=9) == (1, 1)
    assert hull("Cast", box(-1, 300, INT32), to=2) == (0, 255)
    assert bounded("CastLike", box(0, 3, UINT8), box(0, 1, FLOAT16))[0].dtype is FLOAT16


def test_a_cast_to_a_wider_float_changes_nothing() -> None:
    result = bounded("Cast", box(-1, 2, FLOAT16, NAN), to=11)[0]
    assert (result.hull(), result.flags, result.dtype) == ((-1, 2), NAN, FLOAT64)


# -- activations ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("Swish", -0.2784645, 4.966536),
        ("Mish", -0.3088434, 4.999552),
        ("Gelu", -0.1699712, 4.999999),
        ("HardSwish", -0.375, 5.0),
    ],
)
def test_the_dip_of_an_activation_is_found_and_no_deeper(name: str, least: float, most: float) -> None:
    lo, hi = hull(name, box(-1e30, 5))
    assert lo == pytest.approx(least, abs=1e-5)
    assert hi == pytest.approx(most, abs=1e-4)


@pytest.mark.parametrize("name", ["Softplus", "Elu", "Celu", "Swish", "Mish", "HardSwish", "Relu"])
def test_no_rounding_error_makes_an_activation_overflow(name: str) -> None:
    result, codes = bounded(name, box(-1, FLOAT32.max))
    assert (result.flags, codes, result.hi) == (0, [], FLOAT32.max)


def test_pytorch_overflows_early_in_hardswish() -> None:
    assert bounded("HardSwish", box(0, 1e38), runtime="torch")[1] == ["NP214"]
    assert bounded("HardSwish", box(0, 5e37), runtime="torch")[1] == []


def test_sigmoid_reaches_0_where_its_runtime_says_so() -> None:
    assert bounded("Sigmoid", box(-20, 0))[0].lo == 0.0
    assert bounded("Sigmoid", box(-20, 0), runtime="torch")[0].lo > 0.0
    op = lookup("", "Sigmoid")
    assert op is not None
    assert op.explain is not None
    text = op.explain(Call(op, {}, Setting()), [box(-20, 0)])
    assert text == "sigmoid(x) reaches 0 in float32 (onnxruntime) for x in [-20, 0]"


def test_special_operands_allow_for_every_runtime() -> None:
    assert bounded("Softsign", box(0, 1, flags=PINF))[0].flags == NAN
    assert bounded("Gelu", box(0, 1, flags=NINF))[0].flags == NAN
    assert hull("ThresholdedRelu", box(2, 3, flags=NAN)) == (0, 3)


def test_limits_of_clip_may_be_absent_or_cross() -> None:
    assert hull("Clip", box(-7, 9), None, stored(1.0)) == (-7, 1)
    assert hull("Clip", box(-7, 9), stored(2.0), stored(1.0)) == (1, 1)
    x = box(0, 1)
    assert bounded("Clip", x, stored(0.0), stored(6.0))[0] is x


def test_extremes_may_drop_nan() -> None:
    result = bounded("Max", box(0, 1, flags=NAN), box(-5, -4))[0]
    assert (result.hull(), result.flags) == ((-5, 1), NAN)


def test_onnx_runtime_may_take_the_wrong_one_of_two_int64() -> None:
    big, small = box(3666656304, 3666656304, INT64), box(35, 35, INT64)
    assert hull("Max", big, small) == (35, 3666656304)
    assert hull("Max", big, small, runtime="torch") == (3666656304, 3666656304)


# -- random numbers --------------------------------------------------------------------------------------


def test_dropout_keeps_its_operand_outside_training() -> None:
    op = lookup("", "Dropout")
    assert op is not None
    x = box(-2, 4)
    result, mask = op.bound(Call(op, {}, Setting(), 2), x)  # type: ignore[misc]
    assert result is x
    assert mask.hull() == (1, 1)
    training = Box(BOOL, (), 1.0, 1.0)
    result, mask = op.bound(Call(op, {}, Setting(), 2), x, stored(0.5), training)  # type: ignore[misc]
    assert result.hull() == pytest.approx((-4, 8), rel=1e-5)
    assert mask.hull() == (0, 1)


def test_normal_numbers_are_bounded_by_their_generator() -> None:
    lo, hi = hull("RandomNormal", shape=np.array([4]), mean=1.0, scale=2.0, runtime="torch")
    assert (lo, hi) == pytest.approx((1 - 17.4, 1 + 17.4), rel=1e-5)
