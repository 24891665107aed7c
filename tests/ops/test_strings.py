"""Strings: right shapes, nothing to bound, and no claim about what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import onnxruntime as ort
import pytest

from nanproof.analysis.analyse import run
from nanproof.domain.box import Box
from nanproof.frontends.onnx.load import load
from nanproof.model.lower import lower
from nanproof.model.ranges import decide
from nanproof.ops.call import Setting
from nanproof.ops.registry import OPS, lookup
from nanproof.testing.node_cases import collected, misses

HEADER = '<ir_version: 10, opset_import: ["" : 21]>\n'


def boxes_of(model: Any, *, ranges: dict[str, tuple[float, float]] | None = None) -> list[Box]:
    loaded = load(model)
    program = lower(loaded, lookup)
    state = run(loaded, program, decide(loaded, ranges or {}), Setting())
    assert not state.unknown
    found = [state.boxes[slot] for slot in program.outputs]
    assert all(box is not None for box in found)
    return found  # type: ignore[return-value]


def fits(box: Box, result: Any) -> bool:
    if box.shape is None:
        return True
    sizes = zip(box.shape, np.shape(result), strict=True)
    return all(not isinstance(n, int) or n == m for n, m in sizes)


@pytest.mark.parametrize("op", ["StringNormalizer", "StringConcat", "StringSplit", "RegexFullMatch", "TfIdfVectorizer"])
def test_node_cases(op: str) -> None:
    cases = collected()[op]
    assert cases
    for case in cases:
        feeds, expected = case.data_sets[0]
        del feeds
        for box, result in zip(boxes_of(case.model), expected, strict=True):
            array = np.asarray(result)
            assert fits(box, array), case.name
            assert box.dtype.name == ("string" if array.dtype.kind in "OSU" else array.dtype.name)
            if array.dtype.kind not in "OSU":
                assert misses(box, array) is None, case.name


@pytest.mark.parametrize("op", [op for op in OPS if op.samples.dtypes == ("string",)], ids=lambda op: op.name)
def test_run_gives_what_the_runtime_does(op: Any) -> None:
    from nanproof.execution import reference
    from nanproof.testing.single import cases, feeds_of, model_of, stored, subjects

    for subject, case in zip(subjects(op), cases(op), strict=True):
        sample = [np.array(o.values, object) for o in stored(case).operands]
        real = reference.run(model_of(subject).SerializeToString(), feeds_of(case, sample))
        own = op.run(np, *sample, **case.attrs)
        for mine, theirs in zip(own if isinstance(own, tuple) else (own,), real, strict=False):
            assert np.asarray(mine).tolist() == np.asarray(theirs).tolist()


def test_strings_pass_through_movements_and_branches() -> None:
    text = """g (string[2, 3] x, bool c, float[2] v) => (string[6] y, float[2] w) {
        t = Transpose<perm = [1, 0]>(x)
        six = Constant<value = int64[1] {6}>()
        r = Reshape(t, six)
        u = Concat<axis = 0>(r, r)
        two = Constant<value = int64[1] {2}>()
        twelve = Constant<value = int64[1] {12}>()
        none = Constant<value = int64[1] {0}>()
        s = Slice(u, none, twelve, none, two)
        y = If (c) <
            then_branch = a () => (string[6] p) { p = Identity(s) },
            else_branch = b () => (string[6] q) { q = Identity(r) }
        >
        word = Constant<value_string = "a">()
        first = Gather<axis = 0>(y, none)
        e = Equal(first, word)
        k = Squeeze(e)
        w = If (k) <
            then_branch = f () => (float[2] m) { m = Neg(v) },
            else_branch = h () => (float[2] n) { n = Identity(v) }
        > }"""
    model = onnx.parser.parse_model(HEADER + text)
    y, w = boxes_of(model, ranges={"v": (1, 2)})
    assert (y.dtype.name, y.shape) == ("string", (6,))
    assert w.hull() == (-2.0, 2.0)  # whether the word is there isn't known
    feeds = {"x": np.array([list("abc"), list("def")], object), "c": np.array(True), "v": np.float32([1, 2])}
    real = ort.InferenceSession(model.SerializeToString()).run(None, feeds)
    assert real[0].shape == y.shape
    assert misses(w, real[1]) is None


def test_strings_pass_through_loops() -> None:
    text = """g (string[2] x, int64 n) => (string[2] y, string[k, 2] all) {
        go = Constant<value = bool {1}>()
        y, all = Loop (n, go, x) <
            body = b (int64 i, bool c, string[2] s) => (bool d, string[2] t, string[2] u) {
                d = Identity(c)
                t = StringConcat(s, s)
                u = Identity(s)
            }
        > }"""
    y, everything = boxes_of(onnx.parser.parse_model(HEADER + text))
    assert (y.dtype.name, y.shape) == ("string", (2,))
    assert everything.dtype.name == "string"
    assert everything.shape is not None
    assert everything.shape[1] == 2
