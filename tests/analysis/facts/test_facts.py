"""Facts that intervals miss, in the forms that exporters write, and look-alikes that must not be proved."""

from __future__ import annotations

import numpy as np
import onnx.parser
import onnxruntime as ort
import pytest

from nanproof.analysis import Options, analyse
from nanproof.findings.report import Report
from nanproof.frontends.onnx.load import load

HEADER = '<ir_version: 10, opset_import: ["" : 26]>\n'
LAST = "ax = Constant<value = int64[1] {-1}>()\n first = Constant<value = int64[1] {0}>()\n"


def check(body: str, ranges: dict[str, tuple[float, float]], inputs: str = "float[3, 4] x") -> Report:
    text = f"{HEADER}g ({inputs}) => (float[a, b] y) {{ {LAST} {body} }}"
    return analyse(load(onnx.parser.parse_model(text)), Options(ranges=ranges))


SHIFT = "m = ReduceMax(x, ax)\n d = Sub(x, m)\n e = Exp(d)\n"

SAFE = {
    "exp of x - max(x) can't overflow": "m = ReduceMax(x, ax)\n d = Sub(x, m)\n y = Exp(d)",
    "the same with the axis put back": "m = ReduceMax<keepdims = 0>(x, ax)\n u = Unsqueeze(m, ax)\n d = Sub(x, u)\n y = Exp(d)",
    "log-sum-exp": SHIFT + "s = ReduceSum(e, ax)\n l = Log(s)\n y = Add(l, m)",
    "softmax by hand": SHIFT + "s = ReduceSum(e, ax)\n y = Div(e, s)",
    "softmax over all": "m = ReduceMax(x)\n d = Sub(x, m)\n e = Exp(d)\n s = ReduceSum(e)\n y = Div(e, s)",
    "root of max - x": "m = ReduceMax(x, ax)\n d = Sub(m, x)\n y = Sqrt(d)",
    "root of x - min": "m = ReduceMin(x, ax)\n d = Sub(x, m)\n y = Sqrt(d)",
    "root of max - min": "m = ReduceMax(x, ax)\n n = ReduceMin(x, ax)\n d = Sub(m, n)\n y = Sqrt(d)",
    "log of the sum of a softmax": "p = Softmax(x)\n s = ReduceSum(p, ax)\n y = Log(s)",
    "maximum computed twice": "m = ReduceMax(x, ax)\n n = ReduceMax(x, ax)\n d = Sub(x, n)\n y = Exp(d)",
}


@pytest.mark.parametrize("name", SAFE)
def test_proved(name: str) -> None:
    report = check(SAFE[name], {"x": (-1e4, 1e4)})
    assert not report.found, report


UNSAFE = {
    "the maximum of something else": "z = Neg(x)\n m = ReduceMax(z, ax)\n d = Sub(x, m)\n y = Exp(d)",
    "rows of the other axis": SHIFT + "s = ReduceSum(e, first)\n y = Log(s)",
    "max and min the wrong way round": "m = ReduceMax(x, ax)\n n = ReduceMin(x, first)\n d = Sub(n, m)\n y = Sqrt(d)",
    "the sum of a softmax over another axis": "p = Softmax(x)\n s = ReduceSum(p, first)\n y = Log(s)",
    "the minimum": "m = ReduceMin(x, ax)\n d = Sub(x, m)\n y = Exp(d)",
    "rows laid along the wrong axis": "m = ReduceMax<keepdims = 0>(x, first)\n u = Unsqueeze(m, ax)\n d = Sub(x, u)\n y = Exp(d)",
}


@pytest.mark.parametrize("name", UNSAFE)
def test_not_proved(name: str) -> None:
    inputs = "float[4, 4] x" if "wrong axis" in name else "float[3, 4] x"
    assert check(UNSAFE[name], {"x": (-1e4, 1e4)}, inputs).found


CENTRE = "m = ReduceMean(x, ax)\n d = Sub(x, m)\n"
NORMS = {
    "layer norm": CENTRE + "q = Mul(d, d)\n v = ReduceMean(q, ax)\n w = Add(v, eps)\n r = Sqrt(w)\n n = Div(d, r)\n",
    "layer norm by Pow": CENTRE
    + "q = Pow(d, two)\n v = ReduceMean(q, ax)\n w = Add(v, eps)\n r = Sqrt(w)\n n = Div(d, r)\n",
    "rms norm by reciprocal": "q = Mul(x, x)\n v = ReduceMean(q, ax)\n w = Add(v, eps)\n r = Sqrt(w)\n i = Reciprocal(r)\n n = Mul(x, i)\n",
    "normalise by the norm": "l = ReduceL2(x, ax)\n c = Clip(l, eps)\n n = Div(x, c)\n",
    "normalise by the root of a sum": "q = ReduceSumSquare(x, ax)\n w = Add(q, eps)\n r = Sqrt(w)\n n = Div(x, r)\n",
}
NUMBERS = "eps = Constant<value = float {1e-5}>()\n two = Constant<value = float {2.0}>()\n"


@pytest.mark.parametrize("name", NORMS)
def test_normalised_rows_are_bounded_whatever_their_input(name: str) -> None:
    # exp(40 * n) overflows once n exceeds 2.2: a row of 4 reaches at most 2
    body = NUMBERS + NORMS[name] + "k = Constant<value = float {40.0}>()\n t = Mul(n, k)\n y = Exp(t)"
    assert not check(body, {"x": (-1e3, 1e3)}).found


def test_a_norm_of_other_rows_bounds_nothing() -> None:
    body = (
        NUMBERS + "l = ReduceL2(x, first)\n c = Clip(l, eps)\n z = Neg(x)\n q = Add(z, x)\n n = Div(z, c)\n y = Exp(n)"
    )
    assert check(body.replace("first)\n c", "ax)\n c").replace("z = Neg(x)", "z = Exp(x)"), {"x": (-5, 5)}).found


@pytest.mark.parametrize("name", NORMS)
def test_the_bound_on_normalised_rows_holds_in_the_runtime(name: str) -> None:
    text = f"{HEADER}g (float[r, 4] x) => (float[r, 4] n) {{ {LAST} {NUMBERS} {NORMS[name]} }}"
    session = ort.InferenceSession(onnx.parser.parse_model(text).SerializeToString())
    rng = np.random.default_rng(7)
    spikes = np.zeros((4000, 4))
    spikes[:, 0] = 10.0 ** rng.uniform(-22, 3, 4000)
    spikes[2000:] += rng.normal(size=(2000, 4)) * 10.0 ** rng.uniform(-25, 1, (2000, 1))
    largest = np.abs(session.run(None, {"x": spikes.astype(np.float32)})[0]).max()
    limit = 1.0 if name.startswith("normalise") else 2.0
    assert largest <= limit * (1 + 32 * 2.0**-24)


def test_a_sum_over_nothing_is_0_whatever_its_terms() -> None:
    body = "m = ReduceMax(x, ax)\n d = Sub(x, m)\n e = Exp(d)\n s = ReduceSum(e)\n y = Log(s)"
    text = f"{HEADER}g (float[n, 3] x) => (float[a, b] y) {{ {LAST} {body} }}"
    model = load(onnx.parser.parse_model(text))
    ranges = {"x": (-1.0, 1.0)}
    assert "NP101" in {f.code for f in analyse(model, Options(ranges=ranges, dims={"n": (0, 4)})).found}
    assert not analyse(model, Options(ranges=ranges, dims={"n": (1, 4)})).found
