"""The tables against the installed runtimes: no result may fall outside of what a table allows.

A slice of the sweep (``runtime_sweep.py`` does millions of points). A failure here after an update of a runtime means
that proofs for that runtime no longer hold: run the sweep and correct the table.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from tests.numerics import runtime_sweep as sweeps

from nanproof.numerics.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, DType
from nanproof.numerics.rounding import nearest_array
from nanproof.numerics.runtimes import ErrorForm, error_form
from nanproof.numerics.runtimes import widen as true_widen

DTYPES = (FLOAT32, FLOAT64, FLOAT16, BFLOAT16)
CASES = [("torch", function) for function in sweeps.REAL if function not in {"hardsigmoid", "cbrt"}]
CASES += [("onnxruntime", function) for function in sweeps.REAL if function in sweeps.ONNX_OPS]
CASES += [("xla", function) for function in sweeps.REAL if function not in {"mod", "hardsigmoid"}]  # nothing of XLA's
PACKAGES = {"torch": "torch", "onnxruntime": "onnxruntime", "xla": "jax"}


def points(dtype: DType) -> int:
    return 50_000 if dtype is FLOAT32 else 15_000


@pytest.mark.parametrize(("runtime", "function"), CASES)
def test_no_result_falls_outside_its_form(runtime: str, function: str) -> None:
    pytest.importorskip(PACKAGES[runtime])
    assert sweeps.covers(runtime, function, FLOAT32)
    for dtype in DTYPES:
        if sweeps.covers(runtime, function, dtype):
            outcome = sweeps.sweep(runtime, function, dtype, points(dtype))
            assert outcome.points > points(dtype) // 2
            assert outcome.outside == 0, outcome.example


@pytest.mark.parametrize("log", [False, True], ids=["softmax", "log_softmax"])
@pytest.mark.parametrize("runtime", PACKAGES)
def test_softmax_rows(runtime: str, *, log: bool) -> None:
    pytest.importorskip(PACKAGES[runtime])
    covered = [dtype for dtype in DTYPES if sweeps.covers(runtime, "softmax", dtype)]
    assert FLOAT32 in covered
    for dtype, length in product(covered, (2, 37) if runtime == "xla" else (1, 2, 7, 37, 600)):
        outside, _, example = sweeps.sweep_softmax(runtime, dtype, length, log=log)
        assert outside == 0, example


@pytest.mark.parametrize("alpha", [0.3, 1.7, 20.0])
@pytest.mark.parametrize("function", ["elu", "celu"])
@pytest.mark.parametrize("runtime", ["torch", "onnxruntime"])
def test_other_alphas(runtime: str, function: str, alpha: float) -> None:
    pytest.importorskip(PACKAGES[runtime])
    outside, example = sweeps.sweep_alpha(runtime, function, alpha, 20_000)
    assert outside == 0, example


@pytest.mark.parametrize("dtype", DTYPES, ids=repr)
@pytest.mark.parametrize("runtime", PACKAGES)
def test_arithmetic_is_correctly_rounded(runtime: str, dtype: DType) -> None:
    """No double rounding, and no flushing of subnormals but where it is known: the exact operations are exact in every dtype there is."""
    pytest.importorskip(PACKAGES[runtime])
    x, y = (sweeps.as_taken(runtime, dtype, operand) for operand in sweeps.operands("fmod", dtype, 40_000))
    for name, operate in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide)):
        with np.errstate(all="ignore"):
            real = nearest_array(dtype, operate(x, y))
        for full in sweeps.run_arithmetic(runtime, name, dtype, (x, y)):
            expected = sweeps.as_taken(runtime, dtype, real[: full.size])
            if runtime == "xla":  # flushed before the last rounding, which may go up to the smallest normal number
                full = np.where((full == 0) & (np.abs(expected) == dtype.tiny), expected, full)
            np.testing.assert_array_equal(full, expected, err_msg=name)


def test_the_facts_that_verdicts_rest_on() -> None:
    sigmoid = error_form("onnxruntime", "sigmoid", FLOAT32)
    at_minus_20 = 1 / (1 + math.exp(20))
    assert true_widen(sigmoid, FLOAT32, at_minus_20, at_minus_20)[0] == 0.0
    assert true_widen(sigmoid, FLOAT32, 1.0, 1.0)[1] > 1.0
    torch_sigmoid = error_form("torch", "sigmoid", FLOAT32)
    assert true_widen(torch_sigmoid, FLOAT32, at_minus_20, at_minus_20)[0] > 0.0
    assert true_widen(torch_sigmoid, FLOAT32, 1.0, 1.0)[1] == 1.0
    assert true_widen(error_form("torch", "cosh", FLOAT32), FLOAT32, 1.0, math.cosh(88.8))[1] == math.inf
    assert true_widen(error_form("ieee", "cosh", FLOAT32), FLOAT32, 1.0, math.cosh(88.8))[1] < math.inf


# Planted faults: a table that promises too much must be caught.
OPTIMISTIC = [
    ("torch", "rsqrt", ErrorForm(ulps=0.1)),
    ("torch", "cosh", ErrorForm(ulps=4.0)),
    ("torch", "fmod", ErrorForm()),
    ("torch", "sigmoid", ErrorForm(ulps=2.0, quanta=1.0)),
    ("torch", "sqrt", ErrorForm()),
    ("onnxruntime", "sigmoid", ErrorForm(ulps=4.0)),
    ("onnxruntime", "tanh", ErrorForm(absolute=4e-7, image=(-1.0, 1.0))),
    ("onnxruntime", "log", ErrorForm(ulps=0.5)),
    ("onnxruntime", "elu", ErrorForm(ulps=4.0)),
    ("xla", "tanh", ErrorForm(ulps=1.5, quanta=2.0**24)),
    ("xla", "erf", ErrorForm(ulps=6.0, image=(-1.0, 1.0))),
    ("xla", "exp2", ErrorForm(ulps=6.0, flushes=True)),
]


@pytest.mark.parametrize(("runtime", "function", "form"), OPTIMISTIC, ids=lambda case: str(case)[:12])
def test_an_optimistic_table_is_caught(
    runtime: str, function: str, form: ErrorForm, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(PACKAGES[runtime])
    monkeypatch.setattr(sweeps, "error_form", lambda *_: form)
    assert sweeps.sweep(runtime, function, FLOAT32, 40_000).outside > 0
