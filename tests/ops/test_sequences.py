"""Sequences of tensors: parts of unequal size, through a sequence and back, carried by loops and branches."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import onnxruntime as ort
import pytest

from nanproof.analysis import Options, analyse
from nanproof.analysis.analyse import run
from nanproof.dims import ShapeError, symbol
from nanproof.domain.box import Box, finite, of_array
from nanproof.domain.lattice import contains, join, widen
from nanproof.domain.series import Maybe, Series
from nanproof.frontends.onnx.load import load
from nanproof.model.lower import lower
from nanproof.model.ranges import decide
from nanproof.numerics.dtypes import FLOAT32, INT64
from nanproof.ops.call import Call, Setting
from nanproof.ops.registry import lookup
from nanproof.testing.node_cases import misses


def apply(name: str, *boxes: Box | None, **attrs: Any) -> Any:
    op = lookup("", name)
    assert op is not None, name
    return op.bound(Call(op, attrs, Setting(), label=name), *boxes)


def numbers(values: Any) -> Box:
    return of_array(INT64, np.array(values, np.int64))


def unit(*shape: Any, at: float = 0.0) -> Box:
    return finite(FLOAT32, shape, at, at + 1.0)


def test_parts_keep_their_blocks() -> None:
    lo = np.array([[-1.0, 0.0, 5.0]])
    x = Box(FLOAT32, (2, 6), lo, lo + 1, cuts=(None, (0, 2, 3, 6)))
    parts = apply("SplitToSequence", x, numbers([2, 1, 3]), axis=1)
    third = apply("SequenceAt", parts, numbers(-1))
    assert third.shape == (2, 3)
    assert third.hull() == (5.0, 6.0)
    assert apply("SequenceLength", parts).known == 3
    assert apply("ConcatFromSequence", parts, axis=1).cuts == x.cuts


def test_parts_of_a_symbolic_axis() -> None:
    n = symbol("N")
    x = unit(n, 6)
    parts = apply("SplitToSequence", x, numbers(3), axis=1)
    assert apply("SequenceAt", parts, numbers(1)).shape == (n, 3)
    rows = apply("SplitToSequence", x, numbers(3), axis=0)
    assert apply("SequenceAt", rows, numbers(1)).shape[1] == 6
    single = apply("SplitToSequence", x, None, axis=0, keepdims=0)
    assert apply("SequenceAt", single, numbers(1)).shape == (6,)
    assert apply("SequenceLength", single).known[()] == n
    assert apply("ConcatFromSequence", single, axis=1, new_axis=1).shape == (6, n)


def test_rows_without_their_axis() -> None:
    parts = apply("SplitToSequence", unit(2, 6), None, axis=0, keepdims=0)
    assert apply("SequenceAt", parts, numbers(0)).shape == (6,)
    assert apply("ConcatFromSequence", parts, axis=0, new_axis=1).shape == (2, 6)


def test_an_unknown_place_is_any_item() -> None:
    one, two = unit(2), unit(3, at=5.0)
    both = apply("SequenceConstruct", one, two)
    any_of = apply("SequenceAt", both, finite(INT64, (), 0, 1))
    assert any_of.hull() == (0.0, 6.0)
    assert len(any_of.shape) == 1
    assert not isinstance(any_of.shape[0], int)
    assert apply("SequenceAt", both, finite(INT64, (), 1, 7)).hull() == (5.0, 6.0)
    assert join(both, apply("SequenceConstruct", two)).hull() == (0.0, 6.0)


def test_places_are_kept_through_changes() -> None:
    items = apply("SequenceConstruct", unit(at=1.0), unit(at=2.0))
    items = apply("SequenceInsert", items, unit(at=3.0), numbers(0))
    items = apply("SequenceInsert", items, unit(at=4.0))
    items = apply("SequenceInsert", items, unit(at=5.0), numbers(-1))
    assert [box.lo for box in items.items] == [3.0, 1.0, 2.0, 5.0, 4.0]
    items = apply("SequenceErase", apply("SequenceErase", items, numbers(1)))
    assert [box.lo for box in items.items] == [3.0, 2.0, 5.0]


def test_an_unknown_place_keeps_the_length() -> None:
    items = apply("SequenceConstruct", unit(at=1.0), unit(at=2.0))
    longer = apply("SequenceInsert", items, unit(at=7.0), finite(INT64, (), 0, 2))
    assert apply("SequenceLength", longer).known == 3
    assert apply("SequenceAt", longer, numbers(0)).hull() == (1.0, 8.0)
    assert apply("SequenceLength", apply("SequenceErase", longer)).known == 2


def test_two_draws_from_a_sequence_are_not_one_tensor() -> None:
    items = apply("SplitToSequence", unit(symbol("N"), 3), None)
    place = finite(INT64, (), 0, 1)
    one, other = apply("SequenceAt", items, place), apply("SequenceAt", items, place)
    difference = apply("Sub", one, other)
    assert difference.hull() == (-1.0, 1.0)


@pytest.mark.parametrize("name", ["SequenceAt", "SequenceErase"])
def test_a_place_outside_is_an_error(name: str) -> None:
    with pytest.raises(ShapeError, match="place 2 in a sequence of 2"):
        apply(name, apply("SequenceConstruct", unit(), unit()), numbers(2))


SERIES = [
    apply("SequenceEmpty"),
    apply("SequenceConstruct", unit(2)),
    apply("SequenceConstruct", unit(2, at=3.0)),
    apply("SequenceConstruct", unit(2), unit(2, at=5.0)),
    apply("SequenceConstruct", unit(2), unit(3, at=-5.0)),
    apply("SplitToSequence", unit(symbol("N"), 3), None),
    apply("SplitToSequence", unit(symbol("N"), 3), None, keepdims=0),
    apply("SplitToSequence", Box(FLOAT32, None, 0.0, 1.0, 7), None),
    Series(unit(4), (4,), (2, 9)),
]
VALUES = [*SERIES, *(Maybe(s, present) for s in SERIES[:4] for present in (True, False, None))]


@pytest.mark.parametrize("one", VALUES, ids=repr)
def test_lattice_of_sequences_and_optionals(one: Box) -> None:
    kind = SERIES if isinstance(one, Series) else [v for v in VALUES if isinstance(v, Maybe)]
    for other in kind:
        for joined in (join(one, other), join(other, one)):
            assert contains(joined, one), (one, other, joined)
            assert contains(joined, other), (one, other, joined)
            assert type(joined) is type(one)
        if not contains(one, other):
            assert not contains(one, join(one, other))
        grown = widen(one, join(one, other))
        assert contains(grown, one)
        assert contains(grown, other)


def test_widening_of_a_growing_sequence_ends() -> None:
    current = apply("SequenceConstruct", unit(2))
    for turn in range(12):
        after = apply("SequenceInsert", current, finite(FLOAT32, (2,), -turn, 2.0**turn))
        if contains(current, after):
            return
        current = widen(current, join(current, after))
    raise AssertionError(current)


# -- whole models, against ONNX Runtime ----------------------------------------------------------------------

HEADER = '<ir_version: 10, opset_import: ["" : 21]>\n'
LOOP = """g (float[3, 2] x, int64 n) => (float[k, 2] y, float[2] first, int64 count) {{
    go = Constant<value = bool {{1}}>()
    zero = Constant<value = int64 {{0}}>()
    row = Gather<axis = 0>(x, zero)
    {start}
    filled = Loop ({trips}, go, start) <
        body = b (int64 i, bool c, seq(float[2]) s) => (bool d, seq(float[2]) t) {{
            d = Identity(c)
            f = Cast<to = 1>(i)
            r = Add(row, f)
            t = SequenceInsert(s, r)
        }}
    >
    y = ConcatFromSequence<axis = 0, new_axis = 1>(filled)
    first = SequenceAt(filled, zero)
    count = SequenceLength(filled)
}}"""
X = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def agrees(text: str, feeds: dict[str, Any], ranges: dict[str, tuple[float, float]]) -> list[Box]:
    """The Boxes of a model's outputs, which hold what ONNX Runtime computes."""
    proto = onnx.parser.parse_model(HEADER + text)
    model = load(proto)
    state = run(model, lower(model, lookup), decide(model, ranges), Setting())
    assert not state.unknown
    session = ort.InferenceSession(proto.SerializeToString())
    asked = {i.name for i in session.get_inputs()}
    real = session.run(None, {k: v for k, v in feeds.items() if k in asked})
    boxes = []
    for slot, value in zip(state.program.outputs, real, strict=True):
        box = state.boxes[slot]
        assert box is not None
        problem = misses(box, value)
        assert problem is None, problem
        boxes.append(box)
    return boxes


@pytest.mark.parametrize("trips", [1, 5, 70])
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("start", ["start = SequenceEmpty<dtype = 1>()", "start = SequenceConstruct(row)"])
def test_a_loop_that_fills_a_sequence(trips: int, given: bool, start: str) -> None:
    first = start if given else f"m = Constant<value = int64 {{{trips}}}>()\n    {start}"
    text = LOOP.format(start=first, trips="n" if given else "m")
    ranges = {"x": (0.0, 9.0)} | ({"n": (1.0, 100.0)} if given else {})
    y, row, count = agrees(text, {"x": X, "n": np.array(trips, np.int64)}, ranges)
    assert y.shape is not None
    assert y.shape[1] == 2
    assert row.shape == (2,)
    assert row.hull()[0] >= 0.0
    if not given and trips < 64:
        assert y.shape == (trips + ("Empty" not in start), 2)
        assert count.is_point
        assert row.hull() == (0.0, 9.0)


def test_branches_that_return_sequences() -> None:
    text = """g (float[3, 2] x, bool c) => (seq(float[2]) s, float[k] y, int64 n) {
        s = If (c) <
            then_branch = t () => (seq(float[2]) a) { a = SplitToSequence<axis = 0, keepdims = 0>(x) },
            else_branch = e () => (seq(float[2]) b) { z = Constant<value = int64 {1}>()
                                                     r = Gather<axis = 0>(x, z)
                                                     b = SequenceConstruct(r) }
        >
        y = ConcatFromSequence<axis = 0>(s)
        n = SequenceLength(s) }"""
    for taken in (True, False):
        _, y, n = agrees(text, {"x": X, "c": np.array(taken)}, {"x": (1.0, 6.0)})
        assert y.hull() == (1.0, 6.0)
        assert n.hull() == (1.0, 3.0)


def test_optionals() -> None:
    text = """g (float[2] x, bool c) => (bool has, float[2] y) {
        o = If (c) <
            then_branch = t () => (optional(float[2]) a) { a = Optional(x) },
            else_branch = e () => (optional(float[2]) b) { n = Neg(x)
                                                          b = Optional(n) }
        >
        has = OptionalHasElement(o)
        y = OptionalGetElement(o) }"""
    has, y = agrees(text, {"x": X[0], "c": np.array(True)}, {"x": (1.0, 6.0)})
    assert y.hull() == (-6.0, 6.0)
    assert has.is_point


def test_an_absent_optional_adds_nothing() -> None:
    absent, there = apply("Optional"), apply("Optional", unit(2))
    assert apply("OptionalHasElement", absent).known == np.False_
    either = join(absent, there)
    assert apply("OptionalHasElement", either).hull() == (0.0, 1.0)
    assert apply("OptionalGetElement", either).shape == (2,)


def test_hazards_are_seen_through_sequences() -> None:
    text = """<ir_version: 10, opset_import: ["" : 21]>
    g (float[2] x, float[2] z) => (float[2] y) {
        s = SequenceConstruct(x, z)
        one = Constant<value = int64 {1}>()
        v = SequenceAt(s, one)
        y = Log(v) }"""
    model = onnx.parser.parse_model(text)
    safe = analyse(load(model), Options(ranges={"x": (-1, 1), "z": (1, 2)}))
    assert not safe.found
    risky = analyse(load(model), Options(ranges={"x": (1, 2), "z": (-1, 1)}))
    assert [f.code for f in risky.found] == ["NP101"]
