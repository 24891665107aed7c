from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from nanproof.frontends.onnx.external import DataFolder
from nanproof.frontends.onnx.tensors import read_tensor
from nanproof.model import sources
from nanproof.model.graph import Source
from nanproof.model.sources import MappedFile, MappedSource, RawSource, byte_count, from_array
from nanproof.numerics.dtypes import FLOAT32, INT4, UINT2, by_onnx

KINDS = [code for code in TensorProto.DataType.values() if code not in {0, 8, 27, 28}]
NOWHERE = DataFolder(None)


def values_of(code: int, count: int) -> np.ndarray[Any, Any]:
    kind = helper.tensor_dtype_to_np_dtype(code)
    plain = np.arange(count) % 3
    return (plain.astype(np.float32) if code != TensorProto.FLOAT8E8M0 else plain.astype(np.float32) + 1).astype(kind)


def pieces(source: Source, limit: int) -> list[np.ndarray[Any, Any]]:
    found, at = [], 0
    for start, piece in source.chunks(limit):
        assert start == at
        assert piece.ndim == 1
        at += piece.size
        found.append(piece)
    return found


@pytest.mark.parametrize("count", [0, 1, 2, 5, 35])
@pytest.mark.parametrize("code", KINDS, ids=TensorProto.DataType.Name)
def test_every_dtype_from_raw_and_typed_fields(code: int, count: int, tmp_path: Path) -> None:
    values = values_of(code, count)
    raw = numpy_helper.from_array(values, "t")
    typed = helper.make_tensor("t", code, [count], values.tolist() if code not in {14, 15} else values)
    assert not typed.HasField("raw_data")
    path = tmp_path / "t.bin"
    path.write_bytes(b"\0" * 3 + raw.raw_data)
    dtype = by_onnx(code)
    sources = [
        read_tensor(raw, "t", NOWHERE),
        read_tensor(typed, "t", NOWHERE),
        MappedSource(MappedFile(path, path.stat().st_size), 3, dtype, (count,)),
    ]
    for source in sources:
        assert source.dtype is dtype
        assert source.shape == (count,)
        assert source.array().dtype == values.dtype
        np.testing.assert_array_equal(source.array().astype(np.complex128), values.astype(np.complex128))
        together = np.concatenate([np.zeros(0, values.dtype), *pieces(source, 8)])
        np.testing.assert_array_equal(together.astype(np.complex128), values.astype(np.complex128))


def test_strings_are_opaque() -> None:
    source = read_tensor(helper.make_tensor("s", TensorProto.STRING, [2], [b"a", b"\xff"]), "s", NOWHERE)
    assert source.array().tolist() == ["a", "\ufffd"]


@given(st.integers(0, 40), st.integers(1, 16))
def test_packed_pieces_start_on_a_byte(count: int, limit: int) -> None:
    values = np.arange(count) % 4
    for dtype, kind in ((INT4, ml_dtypes.int4), (UINT2, ml_dtypes.uint2)):
        raw = numpy_helper.from_array(values.astype(kind), "t").raw_data
        source = RawSource(raw, dtype, (count,))
        assert source.nbytes == byte_count(count, dtype)
        assert [int(value) for piece in pieces(source, limit) for value in piece] == values.tolist()


def test_arrays_keep_their_bits() -> None:
    nan = np.array([0x7FC00001, 0xFFFFFFFF], np.uint32).view(np.float32)
    assert from_array(nan).array() is nan
    assert read_tensor(numpy_helper.from_array(nan, "n"), "n", NOWHERE).array().view(np.uint32).tolist() == [
        0x7FC00001,
        0xFFFFFFFF,
    ]


def resident() -> int:
    """Bytes of mapped files that this process holds in memory."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("RssFile"):
            return int(line.split()[1]) * 1024
    pytest.skip("the system doesn't say")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_mapped_pages_are_given_back(tmp_path: Path) -> None:
    size = 64 << 20
    path = tmp_path / "w.bin"
    path.write_bytes(os.urandom(1 << 20) * (size >> 20))
    source = MappedSource(MappedFile(path, size), 0, FLOAT32, (size // 4,))
    before = resident()
    highest = 0
    for _, piece in source.chunks():
        piece.view(np.uint8).max()
        highest = max(highest, resident() - before)
    assert highest < 16 << 20
    source.array().view(np.uint8).max()
    assert resident() - before > size // 2
    source.release()
    assert resident() - before < 4 << 20


def test_a_mapped_file_is_fetched_ahead_in_order_and_never_past_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data"
    path.write_bytes(bytes(1 << 20))
    file = MappedFile(path, 1 << 20)
    asked: list[tuple[int, int]] = []

    class Map:
        def madvise(self, _advice: int, start: int, length: int) -> None:
            asked.append((start, start + length))

    monkeypatch.setattr(MappedFile, "map", lambda _: Map())
    monkeypatch.setattr(sources, "FETCH", 1 << 16)
    monkeypatch.setattr(sources, "AHEAD", 1 << 18)
    source = MappedSource(file, 1 << 18, FLOAT32, (1 << 17,))  # the half in the middle
    for start in range(0, source.nbytes + 1, 1 << 15):
        source.expect(start)
    assert all(stop == following for (_, stop), (following, _) in pairwise(asked))
    assert (asked[0][0], asked[-1][1]) == (1 << 18, 1 << 20)
    asked.clear()
    MappedSource(file, 0, FLOAT32, (1 << 14,)).expect(0)  # back at the front: a tensor and its neighbour
    assert (asked[0][0], asked[-1][1]) == (0, 1 << 17)


def test_onnx_agrees_about_arrays() -> None:
    tensor = onnx.TensorProto(name="h", data_type=TensorProto.FLOAT16, dims=[2], int32_data=[0x3C00, 0xFC00])
    np.testing.assert_array_equal(read_tensor(tensor, "h", NOWHERE).array(), numpy_helper.to_array(tensor))
