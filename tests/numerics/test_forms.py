"""Widening: what it must hold for any form, any dtype, any interval."""

from __future__ import annotations

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanproof.numerics import dtypes
from nanproof.numerics.dtypes import BFLOAT16, DTYPES, FLOAT16, FLOAT32, FLOAT64, FLOATS, INT32
from nanproof.numerics.rounding import nearest
from nanproof.numerics.runtimes import FUNCTIONS, RUNTIMES, ErrorForm, error_form, scaled, softmax_form, widen

INF = math.inf
FORMS = sorted(
    {
        error_form(runtime, function, dtype)
        for runtime, function, dtype in itertools.product(RUNTIMES, FUNCTIONS, (FLOAT32, FLOAT64, FLOAT16, BFLOAT16))
    }
    | {
        softmax_form(r, d, n, log=log) for r in RUNTIMES for d in FLOATS for n in (1, 1e4, INF) for log in (False, True)
    },
    key=repr,
)
forms = st.sampled_from(FORMS)
kinds = st.sampled_from([d for d in FLOATS if d.min == -d.max])
reals = (
    st.floats(allow_nan=False) | st.floats(-2, 2) | st.sampled_from([0.0, 1.0, -1.0, 1e-38, -1e-40, 3.4e38, 65520.0])
)


def inside(form: ErrorForm, x: float) -> float:
    """A value that the function can have."""
    return min(max(x, form.image[0]), form.image[1])


@given(forms, kinds, reals, reals)
def test_ordered_rounded_and_outward(form: ErrorForm, dtype: dtypes.DType, x: float, y: float) -> None:
    x, y = sorted((inside(form, x), inside(form, y)))
    lo, hi = widen(form, dtype, x, y)
    assert lo <= hi
    assert lo <= max(nearest(dtype, x), form.image[0])
    assert hi >= min(nearest(dtype, y), form.image[1])
    if form.image == (-INF, INF):
        assert (nearest(dtype, lo), nearest(dtype, hi)) == (lo, hi)


@given(forms, kinds, reals, reals, reals)
def test_monotone(form: ErrorForm, dtype: dtypes.DType, x: float, y: float, z: float) -> None:
    a, b, c = sorted((x, y, z))
    outer = widen(form, dtype, a, c)
    for inner in (widen(form, dtype, a, b), widen(form, dtype, b, c), widen(form, dtype, b, b)):
        assert outer[0] <= inner[0]
        assert inner[1] <= outer[1]


@given(forms, kinds, st.lists(st.tuples(reals, reals), min_size=1, max_size=5))
def test_arrays_as_scalars(form: ErrorForm, dtype: dtypes.DType, pairs: list[tuple[float, float]]) -> None:
    ends = np.array([sorted(p) for p in pairs])
    lo, hi = widen(form, dtype, ends[:, 0], ends[:, 1])
    one = [widen(form, dtype, a, b) for a, b in ends.tolist()]
    assert lo.tolist() == [p[0] for p in one]
    assert hi.tolist() == [p[1] for p in one]


def test_exact_forms_round_only() -> None:
    assert widen(ErrorForm(), FLOAT32, 0.1, 0.1) == (nearest(FLOAT32, 0.1),) * 2
    assert widen(ErrorForm(), FLOAT16, 1e5, 1e6) == (INF, INF)
    assert widen(ErrorForm(), FLOAT32, -INF, INF) == (-INF, INF)


def test_flushed_results_reach_zero() -> None:
    form = ErrorForm(flushes=True)
    assert widen(form, FLOAT32, 1e-39, 1.0) == (0.0, 1.0)
    assert widen(form, FLOAT32, -1.0, -1e-39) == (-1.0, 0.0)
    assert widen(form, FLOAT32, 1e-37, 1.0)[0] > 0.0
    assert widen(ErrorForm(), FLOAT32, 1e-39, 1.0)[0] > 0.0


def test_ceiling_means_infinity() -> None:
    form = ErrorForm(ceiling=100.0)
    assert widen(form, FLOAT32, 0.0, 99.0) == (0.0, 99.0)
    assert widen(form, FLOAT32, -100.0, 100.0) == (-INF, INF)
    assert widen(form, FLOAT32, 150.0, 200.0) == (150.0, INF)


def test_scaled() -> None:
    form = ErrorForm(ulps=1.0, absolute=1e-7, quanta=2.0)
    assert scaled(form, 3.0) == ErrorForm(ulps=1.0, absolute=3e-7, quanta=6.0)
    assert scaled(form, 0.5) == form


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_function_has_a_form_in_every_dtype(runtime: str) -> None:
    for function, dtype in itertools.product(FUNCTIONS, DTYPES):
        form = error_form(runtime, function, dtype)
        assert form == ErrorForm() or dtype.is_float
        assert form.ulps * 2 * dtype.unit + form.relative < 1.0
        assert form.image[0] < form.image[1]


def test_unknown_names() -> None:
    with pytest.raises(KeyError, match="no runtime"):
        error_form("tvm", "exp", FLOAT32)
    with pytest.raises(KeyError, match="no error form"):
        error_form("torch", "frobnicate", FLOAT32)


def test_dtypes_are_one_object_each() -> None:
    for dtype in DTYPES:
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert copy.deepcopy(dtype) is dtype
        assert dtypes.by_name(dtype.name) is dtypes.by_onnx(dtype.onnx) is dtype
        assert dtypes.of_numpy(dtypes.to_numpy(dtype)) is dtype
    assert dtypes.by_name("tensor(double)") is FLOAT64
    assert dtypes.by_name("fp16") is FLOAT16
    with pytest.raises(KeyError, match="no data type"):
        dtypes.by_name("float7")
    with pytest.raises(KeyError, match="not known"):
        dtypes.by_onnx(99)


def test_dtypes_have_the_codes_and_limits_of_onnx() -> None:
    onnx = pytest.importorskip("onnx")
    for dtype in DTYPES:
        assert onnx.helper.tensor_dtype_to_np_dtype(dtype.onnx) == dtypes.to_numpy(dtype)
        if dtype.is_integer and dtype.bits >= 8:
            limits = np.iinfo(dtypes.to_numpy(dtype))
            assert int(dtype.min) == limits.min
            assert int(dtype.max) <= limits.max < 2 * int(dtype.max)
    assert INT32.max == 2.0**31 - 1
