"""A program over PyTorch computes what ONNX Runtime computes, for one start and for many, with gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.confirm.graphs import proto

from nanproof.execution import onnx_runtime
from nanproof.execution.torch_program import TorchProgram, Watch, built
from nanproof.frontends.onnx import load
from nanproof.model.lower import lower
from nanproof.numerics.tensors import to_array, to_tensor
from nanproof.ops import lookup

GRAPHS = {
    "dense": """g (float[2, 3] x) => (float[2, 3] y) {
        w = Constant<value = float[3, 3] {1, 2, 3, 4, 5, 6, 7, 8, 9.5}>()
        a = MatMul(x, w)
        b = Softmax<axis = -1>(a)
        y = Log(b) }""",
    "shapes": """g (float[2, 3] x) => (float[3, 2] y) {
        s = Shape(x)
        i = Constant<value = int64[2] {1, 0}>()
        t = Gather(s, i)
        r = Reshape(x, t)
        y = Exp(r) }""",
    "if": """g (float[2] x) => (float[2] y) {
        zero = Constant<value = float {0.0}>()
        s = ReduceSum<keepdims = 0>(x)
        c = Greater(s, zero)
        y = If (c) <then_branch = t () => (float[2] a) { a = Exp(x) }, else_branch = e () => (float[2] b) { b = Neg(x) }> }""",
    "loop": """g (float[2] x) => (float[2] y, float[3, 2] z) {
        n = Constant<value = int64 {3}>()
        go = Constant<value = bool {1}>()
        y, z = Loop (n, go, x) <body = b (int64 i, bool c, float[2] u) => (bool d, float[2] v, float[2] w) {
            d = Identity(c)
            v = Mul(u, x)
            w = Add(v, u) }> }""",
    "scan": """g (float[4, 2] x, float[2] s) => (float[2] t, float[4, 2] y) {
        t, y = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] c, float[2] d) {
            c = Add(a, e)
            d = Mul(c, c) }> (s, x) }""",
}


def program(text: str, *, watch: str = "", taps: bool = True) -> TorchProgram:
    lowered = lower(load(proto(text)), lookup)
    watches = []
    if watch:
        found = (*lowered.steps, *(i for s in lowered.steps for b in s.branches for i in b.steps))
        step = next(s for s in found if watch in s.node.outputs)
        watches = [Watch(step.outputs, lambda operands, results: results[0].amin().double())]
    return built(lowered, {}, lowered.inputs, taps=lowered.outputs if taps else (), watches=watches)


@pytest.mark.parametrize("name", GRAPHS)
def test_it_computes_what_the_runtime_computes(name: str) -> None:
    rng = np.random.default_rng(1)
    source = proto(GRAPHS[name])
    feeds = {
        i.name: rng.normal(size=[d.dim_value for d in i.type.tensor_type.shape.dim]).astype(np.float32)
        for i in source.graph.input
    }
    taps, _ = program(GRAPHS[name])([to_tensor(x) for x in feeds.values()])
    for mine, theirs in zip(taps, onnx_runtime.run(source.SerializeToString(), feeds), strict=True):
        np.testing.assert_allclose(to_array(mine), theirs, rtol=1e-5)


def test_what_does_not_depend_on_a_variable_is_computed_once() -> None:
    assert [step.node.op for step in program(GRAPHS["shapes"]).steps] == ["Shape", "Gather", "Reshape", "Exp"]
    text = "g (float[2] x) => (float[2] y) { c = Constant<value = float[2] {1, 2}>()\n e = Exp(c)\n y = Add(x, e) }"
    assert [step.node.op for step in program(text).steps] == ["Add"]


def test_only_what_is_asked_for_is_run() -> None:
    text = "g (float[2] x) => (float[2] y) { a = Exp(x)\n b = Sqrt(x)\n y = Add(a, b) }"
    assert [step.node.op for step in program(text, watch="a", taps=False).steps] == ["Exp"]


@pytest.mark.parametrize(
    ("name", "watch", "vectorised"), [("dense", "b", True), ("if", "a", False), ("loop", "w", True)]
)
def test_many_starts_are_as_each_alone(name: str, watch: str, *, vectorised: bool) -> None:
    made = program(GRAPHS[name], watch=watch, taps=False)
    shape = {"dense": (5, 2, 3)}.get(name, (5, 2))
    x = torch.tensor(np.random.default_rng(2).normal(size=shape).astype(np.float32), requires_grad=True)
    together = made.margins([x])
    assert made.vectorised == vectorised
    for row, start in zip(together, x, strict=True):
        _, (alone,) = made([start.detach()])
        assert float(row[0].detach()) == pytest.approx(np.inf if alone is None else float(alone), rel=1e-6)
    together[torch.isfinite(together)].sum().backward()
    assert x.grad is not None
    assert torch.isfinite(x.grad).all()
    assert x.grad.abs().sum() > 0
