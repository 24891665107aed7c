"""Boxes of stored tensors: those that are looked at together are the same as each by itself."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from nanproof.analysis import Options, analyse, stored
from nanproof.analysis.stored import stored_box, stored_boxes
from nanproof.analysis.undisturbed import undisturbed
from nanproof.domain import weights
from nanproof.domain.box import Array
from nanproof.frontends.onnx import load
from nanproof.model.sources import RawSource, from_array
from nanproof.numerics.dtypes import by_name


def raw(array: Array) -> RawSource:
    return RawSource(array.tobytes(), by_name(array.dtype.name), array.shape)


def tensors() -> list[Array]:
    random = np.random.default_rng(3)
    arrays: list[Array] = []
    for kind in (np.float32, np.float64, np.float16, np.int64, np.bool_):
        shapes = ((), (4,), (3, 5), (0, 3), (2, 3, 2, 2), (3, 5))
        arrays += [np.asarray(random.normal(size=shape) * 100).astype(kind) for shape in shapes]
    for place, value in enumerate((np.nan, np.inf, -np.inf)):
        array = random.normal(size=(3, 5)).astype(np.float32)
        array[place] = value
        arrays.append(array)
    arrays += [np.full((3, 5), np.nan, np.float32), np.zeros((3, 5), np.float32)]
    return arrays


@pytest.mark.parametrize("together", [1, 200, stored.TOGETHER])
def test_together_as_each_by_itself(monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    monkeypatch.setattr(stored, "TOGETHER", together)
    arrays = tensors()
    keeps = {i: (0, -1)[i % 2] for i, array in enumerate(arrays) if array.ndim > 1 and i % 3}
    with undisturbed():
        boxes = dict(stored_boxes({i: raw(array) for i, array in enumerate(arrays)}, {1}, keeps))
    assert sorted(boxes) == list(range(len(arrays)))
    for i, array in enumerate(arrays):
        alone = stored_box(from_array(array), labelled=i == 1)
        box = boxes[i]
        assert (box.dtype, box.shape, box.flags, box.cuts) == (alone.dtype, alone.shape, alone.flags, alone.cuts)
        assert np.array_equal(box.lo, alone.lo)
        assert np.array_equal(box.hi, alone.hi)
        assert box.known is not None
        assert np.array_equal(box.known, array, equal_nan=array.dtype.kind == "f")
        if box.sums is not None:
            keep, sums = box.sums
            assert keep == keeps[i]
            wide = np.moveaxis(array.astype(np.float64), keep, 0).reshape(array.shape[keep], -1)
            assert np.allclose(sums[0] - sums[1], wide.sum(axis=1))
            assert np.allclose(sums[0] + sums[1], np.abs(wide).sum(axis=1))


@pytest.mark.parametrize("keep", [None, 0, -1])
def test_a_large_tensor_is_read_in_pieces(keep: int | None) -> None:
    array = np.random.default_rng(5).normal(size=(300, 400)).astype(np.float32)
    box = stored_box(raw(array), labelled=False, keep=keep)
    assert (box.lo, box.hi, box.flags) == (float(array.min()), float(array.max()), 0)
    assert (box.sums is None) == (keep is None)
    array[7, 8] = -np.inf
    with undisturbed():
        box = stored_box(raw(array), labelled=False, keep=keep)
    assert box.sums is None
    assert box.hull()[0] > -inf
    assert box.flags == 4


def test_weights_are_read_once_for_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ends and sums come from one reading, though the model is propagated coarsely, finely, and with modest inputs."""
    tiles: list[int] = []
    original = weights._tiles

    def counted(matrix: Array) -> Iterator[object]:
        tiles.append(matrix.size)
        return original(matrix)

    monkeypatch.setattr(weights, "_tiles", counted)
    stored_values = np.random.default_rng(6).uniform(-1, 1, (300, 400)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Log", ["m"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 300])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 400])],
        [numpy_helper.from_array(stored_values, "w")],
    )
    model = load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10))
    assert analyse(model, Options()).sites.possible == 1
    assert tiles == [stored_values.size]
