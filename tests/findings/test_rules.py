"""Each rule page is complete, and its two examples do in ONNX Runtime what the page says."""

from __future__ import annotations

import itertools
import re

import numpy as np
import onnx
import onnx.checker
import onnx.helper
import onnx.parser
import pytest

from nanproof.findings import Example, Rule
from nanproof.findings.rules import RULES, find

CODES = [f"NP{n}" for n in (*range(101, 119), *range(201, 216), *range(301, 309), *range(401, 405))]

# What the runtime does with these isn't NaN or Inf that a test could see; each says why.
NOT_SEEN_IN_OUTPUT = {
    "NP110": "the runtime refuses a step of 0",
    "NP111": "ONNX Runtime returns zeros, other runtimes NaN",
    "NP118": "the runtime stops with an error",
    "NP210": "the result is an arbitrary integer",
    "NP211": "the result is an arbitrary integer",
}


def models() -> list[tuple[str, Example]]:
    return [(f"{rule.code}-{kind}", getattr(rule, kind)) for rule in RULES for kind in ("bad", "good")]


def example_id(case: object) -> str:
    return case if isinstance(case, str) else ""


def test_every_code_has_one_rule_in_order() -> None:
    assert [rule.code for rule in RULES] == CODES
    assert len({rule.slug for rule in RULES}) == len(RULES)
    assert find("NP101") is RULES[0]
    assert find("NP999") is None


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_page_is_well_written(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.slug)
    assert not rule.title.endswith(".")
    for text in (rule.summary, rule.why, rule.advice):
        assert text.endswith(".")
        assert "  " not in text
        assert not re.search(r"\bplease\b|!", text, re.IGNORECASE)
    assert rule.bad != rule.good


@pytest.mark.parametrize(("name", "example"), models(), ids=example_id)
def test_example_is_a_valid_model(name: str, example: Example) -> None:
    model = onnx.parser.parse_model(example.model)
    onnx.checker.check_model(model, full_check=True)
    assert model.opset_import[0].version == 26
    assert model.ir_version == 10
    boolean = {i.name for i in model.graph.input if i.type.tensor_type.elem_type == onnx.TensorProto.BOOL}
    assert set(example.ranges) == {i.name for i in model.graph.input} - boolean


def inputs(model: onnx.ModelProto, example: Example) -> list[dict[str, np.ndarray]]:
    """Samples from the ranges: all corners with each input constant, then mixtures of ends, zeros and random values."""
    rng = np.random.default_rng(0)
    specs = []
    for value in model.graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        specs.append((value.name, shape, dtype, *example.ranges.get(value.name, (0, 1))))

    def fill(values: list[float], draw: bool) -> dict[str, np.ndarray]:
        feed = {}
        for (name, shape, dtype, lo, hi), value in zip(specs, values, strict=True):
            if not draw:
                feed[name] = np.full(shape, value).astype(dtype)
                continue
            ends = rng.choice([lo, hi, min(max(0.0, lo), hi)], size=shape)
            drawn = rng.uniform(lo, hi, size=shape)
            drawn = np.round(drawn) if dtype.kind in "iub" else drawn
            feed[name] = np.where(rng.random(shape) < 0.5, ends, drawn).astype(dtype)
        return feed

    points = [sorted({lo, hi, min(max(0.0, lo), hi)}) for *_, lo, hi in specs]
    corners = [fill(list(corner), draw=False) for corner in itertools.product(*points)]
    constant = [fill([float(rng.uniform(lo, hi)) for *_, lo, hi in specs], draw=False) for _ in range(100)]
    return corners + constant + [fill([0.0] * len(specs), draw=True) for _ in range(200)]


def fails(example: Example) -> bool:
    """Whether some sample makes some value of the model NaN or Inf in ONNX Runtime (-Inf as a mask put in on purpose is none)."""
    ort = pytest.importorskip("onnxruntime")
    model = onnx.parser.parse_model(example.model)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for feed in inputs(model, example):
        with np.errstate(all="ignore"):
            results = session.run(None, feed)
        if not all(np.isfinite(np.asarray(result, np.float64)).all() for result in results):
            return True
    return False


@pytest.mark.parametrize("rule", [r for r in RULES if r.code not in NOT_SEEN_IN_OUTPUT], ids=lambda rule: rule.code)
def test_bad_example_fails_in_onnxruntime(rule: Rule) -> None:
    assert fails(rule.bad)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_good_example_stays_finite_in_onnxruntime(rule: Rule) -> None:
    assert not fails(rule.good)
