"""``nanproof.fix``: one change for each finding, all of them together, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from tests.fix.changing import judge, model

import nanproof
from nanproof.analysis import Options
from nanproof.findings import Fix, InputError
from nanproof.fix import changes, sample
from nanproof.fix.candidates import Candidates
from nanproof.fix.points import FIRST, Drawn, drawn_values, points
from nanproof.fix.rewrite import Rewrite
from nanproof.fix.rewrites import log_domain
from nanproof.numerics.dtypes import FLOAT32

EXAMPLE = Path(__file__).parents[2] / "examples" / "logistic_regression" / "model.onnx"
QUESTION = {"ranges": {"x": (-50.0, 50.0), "y": (0.0, 1.0)}, "weights": "architecture"}


def test_the_example_is_fixed_whole(tmp_path: Path) -> None:
    fixed = nanproof.fix(EXAMPLE, **QUESTION, samples=200)
    assert [len(finding.fixes) for finding in fixed.report.found] == [1, 1]
    assert fixed.fixed
    fixed.save(tmp_path / "fixed.onnx")
    onnx.checker.check_model(str(tmp_path / "fixed.onnx"), full_check=True)
    assert not nanproof.check(tmp_path / "fixed.onnx", **QUESTION).found
    before, after = onnx.load(EXAMPLE), onnx.load(tmp_path / "fixed.onnx")
    assert before.opset_import == after.opset_import
    assert list(before.graph.initializer) == list(after.graph.initializer)
    assert list(before.graph.input) == list(after.graph.input)


def test_a_fix_says_for_what_it_was_proved() -> None:
    fixed = nanproof.fix(EXAMPLE, **QUESTION, samples=100)
    (fix,) = fixed.report.found[0].fixes
    assert fix.kind == "rewrite"
    assert fix.samples == 100
    assert fix.ulps is not None
    assert fix.ulps <= 4
    assert fix.proved is not None
    assert fix.proved.startswith("proved safe, 100 samples finite")


def test_the_same_question_gets_the_same_answer() -> None:
    one, other = (nanproof.fix(EXAMPLE, **QUESTION, samples=50) for _ in range(2))
    assert one.model == other.model
    assert [f.fixes for f in one.report.findings] == [f.fixes for f in other.report.findings]


GUARDED = {
    "Log": ("g (float[4] x) => (float[4] y) { y = Log(x) }", (0.0, 10.0), "Max"),
    "Sqrt": ("g (float[4] x) => (float[4] y) { y = Sqrt(x) }", (-1.0, 10.0), "Max"),
    "Exp": ("g (float[4] x) => (float[4] y) { y = Exp(x) }", (-1.0, 100.0), "Min"),
    "Reciprocal": ("g (float[4] x) => (float[4] y) { y = Reciprocal(x) }", (0.0, 10.0), "Max"),
    "Reciprocal of both signs": ("g (float[4] x) => (float[4] y) { y = Reciprocal(x) }", (-10.0, 10.0), "Where"),
    "Div": ("g (float[4] x) => (float[4] y) { e = Exp(x)\n y = Div(e, x) }", (-10.0, 0.0), "Min"),
}


@pytest.mark.parametrize("what", GUARDED)
def test_where_no_rewrite_fits_the_operand_is_guarded(what: str) -> None:
    text, span, guard = GUARDED[what]
    fixed = nanproof.fix(model(text), ranges={"x": span}, samples=200)
    assert fixed.fixed
    assert {fix.kind for f in fixed.report.found for fix in f.fixes} == {"guard"}
    assert guard in {node.op_type for node in fixed.model.graph.node}


def test_an_exponent_is_limited_so_that_the_sum_after_it_fits() -> None:
    text = "g (float[8] x) => (float y) { e = Exp(x)\n y = ReduceSum<keepdims=0>(e) }"
    fixed = nanproof.fix(model(text), ranges={"x": (-1.0, 100.0)}, samples=100)
    assert fixed.fixed


def test_a_fix_of_one_finding_leaves_the_other_alone() -> None:
    text = "g (float[4] x) => (float[4] y, float[4] z) { s = Sigmoid(x)\n y = Log(s)\n z = Sqrt(x) }"
    fixed = nanproof.fix(
        model(text),
        ranges={"x": (-50.0, 50.0)},
        samples=50,
        choose=lambda report: replace(report, findings=tuple(f for f in report.findings if f.code == "NP101")),
    )
    assert [bool(f.fixes) for f in fixed.report.found] == [True, False]
    assert [f.code for f in fixed.after.found] == ["NP102"]


def test_every_keeps_the_alternatives() -> None:
    text = "g (float[4] x) => (float[4] y) { s = Sigmoid(x)\n y = Log(s) }"
    fixed = nanproof.fix(model(text), ranges={"x": (-50.0, 50.0)}, samples=50, every=True)
    (finding,) = fixed.report.found
    assert len(finding.fixes) > 1
    assert finding.fixes[0].title == "log-sigmoid"


def test_functions_are_seen_through() -> None:
    proto = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 20, "f" : 1]>
        g (float[4] x) => (float[4] y) { y = f.loss(x) }
        <domain: "f", opset_import: ["" : 20]> loss (v) => (w) { s = Sigmoid(v)\n w = Log(s) }""")
    fixed = nanproof.fix(proto, ranges={"x": (-50.0, 50.0)}, samples=50)
    assert fixed.fixed


# -- nothing is accepted on trust -------------------------------------------------------------------


def _planted(build: object) -> Rewrite:
    (log_sigmoid,) = [rewrite for rewrite in log_domain.REWRITES if rewrite.name == "log-sigmoid"]
    return replace(log_sigmoid, build=build)  # type: ignore[arg-type]


def _verified(rewrite: Rewrite) -> tuple[bool, sample.Sampled]:
    proto = model("g (float[4] x) => (float[4] y) { s = Sigmoid(x)\n y = Log(s) }")
    asked = judge({"x": (-50.0, 50.0)})
    before = asked.report(proto)
    (finding,) = before.found
    after, touched = changes.changed(proto, changes.Rewriting(rewrite, (((), "y"),)))
    sampler = sample.Sampler(drawn_values(asked.model(proto), asked.options), None, 200)
    watched = sample.Watched(touched.changed, ("y",), touched.free)
    return asked.rule(after, before, finding).accepted, sampler.compare(proto, after, watched)


def test_a_planted_rewrite_with_the_wrong_sign_is_seen_in_the_outputs() -> None:
    accepted, sampled = _verified(_planted(lambda d, m: d.op("Neg", d.op("Softplus", m.value("x")))))
    assert accepted  # it is finite, after all
    assert sampled.ulps is not None
    assert sampled.ulps > 1e6


def test_a_planted_rewrite_that_still_fails_is_rejected_twice() -> None:
    accepted, sampled = _verified(_planted(lambda d, m: d.op("Log", d.op("Sigmoid", m.value("x")))))
    assert not accepted
    assert sampled.failing is not None


def test_a_planted_rewrite_that_fails_elsewhere_is_rejected() -> None:
    def build(draft: object, match: object) -> str:
        one = draft.op("Exp", draft.op("Mul", match.value("x"), match.value("x")))  # type: ignore[attr-defined]
        return draft.op("Neg", one)  # type: ignore[attr-defined, no-any-return]

    accepted, _ = _verified(_planted(build))
    assert not accepted


def test_a_rewrite_that_changes_values_is_no_fix() -> None:
    proto = model("g (float[4] x) => (float[4] y) { s = Sigmoid(x)\n y = Log(s) }")
    wrong = _planted(lambda d, m: d.op("Neg", d.op("Softplus", m.value("x"))))
    from nanproof.fix import candidates

    before = candidates.REWRITES
    try:
        candidates.REWRITES = (wrong,)
        fixed = nanproof.fix(proto, ranges={"x": (-50.0, 50.0)}, samples=100)
    finally:
        candidates.REWRITES = before
    assert {fix.title for f in fixed.report.found for fix in f.fixes} == {"guard-log"}


# -- points ----------------------------------------------------------------------------------------


def test_points_lie_in_their_range_and_reach_its_corners() -> None:
    value = Drawn("x", FLOAT32, (3, 2), 0.1, 7.3)
    drawn = [point["x"] for _, point in points((value,), 100)]
    assert all((p >= np.float32(0.1)).all() and (p.astype(float) <= 7.3000002).all() for p in drawn)
    assert drawn[FIRST.index("low")].max() == np.float32(0.1)
    assert drawn[FIRST.index("high")].min() == np.float32(7.3)


def test_open_sizes_and_weights_are_drawn() -> None:
    proto = model("g (float[n,2] x) => (float[n,2] y) <float[2,2] w = {1,2,3,4}> { y = MatMul(x, w) }")
    asked = judge({})
    values = drawn_values(asked.model(proto), Options(weights="architecture", dims={"n": (5, 9)}))
    assert values is not None
    assert [(v.name, v.shape) for v in values] == [("x", (5, 2)), ("w", (2, 2))]


# -- delivery --------------------------------------------------------------------------------------


def test_no_file_is_replaced_without_force(tmp_path: Path) -> None:
    fixed = nanproof.fix(EXAMPLE, **QUESTION, samples=10)
    path = tmp_path / "model.onnx"
    path.write_bytes(b"precious")
    with pytest.raises(InputError, match="exists"):
        fixed.save(path)
    assert path.read_bytes() == b"precious"
    fixed.save(path, force=True)
    onnx.checker.check_model(str(path))


def test_external_data_go_along(tmp_path: Path) -> None:
    weights = np.linspace(-3, 3, 20, dtype=np.float32).reshape(4, 5)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["s"]), helper.make_node("Softmax", ["s"], ["p"], axis=-1),
         helper.make_node("Log", ["p"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", 1, [2, 4])],
        [helper.make_tensor_value_info("y", 1, [2, 5])],
        [numpy_helper.from_array(weights, "w")],
    )  # fmt: skip
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    onnx.save(proto, source / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    fixed = nanproof.fix(source / "m.onnx", ranges={"x": (-50.0, 50.0)}, samples=50)
    assert fixed.fixed
    assert fixed.report.found[0].fixes[0].samples == 50
    fixed.save(source / "beside.onnx")
    fixed.save(target / "elsewhere.onnx")
    for path in (source / "beside.onnx", target / "elsewhere.onnx"):
        again = onnx.load(path)
        np.testing.assert_array_equal(numpy_helper.to_array(again.graph.initializer[0]), weights)
        assert not nanproof.check(path, ranges={"x": (-50.0, 50.0)}).found
    with pytest.raises(InputError, match=r"m\.data exists"):
        fixed.save(target / "other.onnx")


def test_the_public_function_and_the_package_share_a_name() -> None:
    assert callable(nanproof.fix)
    assert Candidates is nanproof.fix.candidates.Candidates
    with pytest.raises(ValueError, match="the kind of a fix"):
        Fix("t", "t", kind="magic")
