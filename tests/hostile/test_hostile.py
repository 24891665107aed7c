"""Every wrong file gets one sentence that names the file, the thing and the way out; never a traceback, a hang or a full memory."""

from __future__ import annotations

import os
import time
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.frontends.models import external, model, relu, tensor

from nanproof.findings.errors import InputError
from nanproof.frontends.onnx import load, load_text
from nanproof.model.lower import lower

GOOD = model([relu()]).SerializeToString()
ADD = helper.make_node("Add", ["x", "w"], ["y"], "add")


def nested(depth: int) -> onnx.ModelProto:
    graph = helper.make_graph([relu("x", "inner0")], "g", [], [helper.make_empty_tensor_value_info("inner0")])
    for level in range(1, depth):
        node = helper.make_node("If", ["c"], [f"inner{level}"], then_branch=graph, else_branch=graph)
        graph = helper.make_graph([node], "g", [], [helper.make_empty_tensor_value_info(f"inner{level}")])
    proto = model(
        [helper.make_node("If", ["c"], ["y"], then_branch=graph, else_branch=graph)], inputs={"x": [2], "c": []}
    )
    proto.graph.input[1].type.tensor_type.elem_type = TensorProto.BOOL
    return proto


def function(name: str, nodes: list[onnx.NodeProto], opset: int = 26) -> onnx.FunctionProto:
    return helper.make_function(
        "f", name, ["a"], ["b"], nodes, [helper.make_opsetid("", opset), helper.make_opsetid("f", 1)]
    )


def calling(*functions: onnx.FunctionProto) -> onnx.ModelProto:
    proto = model([helper.make_node("F0", ["x"], ["y"], "call", domain="f")])
    proto.opset_import.add(domain="f", version=1)
    proto.functions.extend(functions)
    return proto


def overfull() -> onnx.ModelProto:
    proto = calling(function("F0", [relu("a", "b")]))
    proto.graph.node[0].input.append("x")
    return proto


def bomb() -> onnx.ModelProto:
    """Twenty functions that call the next one eight times each: 8^20 nodes."""
    functions = []
    for level in range(20):
        nodes = [
            helper.make_node(f"F{level + 1}", [f"v{i}" if i else "a"], [f"v{i + 1}" if i < 7 else "b"], domain="f")
            for i in range(8)
        ]
        functions.append(function(f"F{level}", nodes))
    return calling(*functions, function("F20", [relu("a", "b")]))


def changed(proto: onnx.ModelProto, change: str) -> onnx.ModelProto:
    if change == "no opset":
        del proto.opset_import[:]
    elif change == "opset 0":
        proto.opset_import[0].version = 0
    elif change == "input type":
        proto.graph.input[0].type.tensor_type.elem_type = 77
    return proto


PROTOS = {
    "cycle": (model([relu("b", "a"), relu("a", "b"), relu("x", "y")]), "cycle"),
    "self loop": (model([relu("y", "y")]), "cycle"),
    "dangling input": (model([relu("ghost")]), "ghost"),
    "dangling output": (model([relu()], outputs=("y", "ghost")), "ghost"),
    "defined twice": (model([relu(), relu()]), "twice"),
    "node redefines input": (model([relu("x", "x")], outputs=("x",)), "twice"),
    "node redefines constant": (model([relu("x", "w")], outputs=("w",), constants=[tensor("w", [0], b"")]), "twice"),
    "constant twice": (model([relu()], constants=[tensor("w", [0], b""), tensor("w", [0], b"")]), "twice"),
    "no operator": (model([onnx.NodeProto(input=["x"], output=["y"])]), "no operator name"),
    "too few inputs": (model([helper.make_node("Add", ["x"], ["y"], "add")]), "add.*1 inputs"),
    "too many inputs": (model([helper.make_node("Relu", ["x", "x"], ["y"])]), "2 inputs"),
    "absent input": (model([helper.make_node("Add", ["x", ""], ["y"])]), "optional"),
    "missing attribute": (model([helper.make_node("Concat", ["x", "x"], ["y"], "c")]), "axis"),
    "wrong attribute": (model([helper.make_node("Concat", ["x", "x"], ["y"], "c", axis=1.5)]), "axis.*float.*integer"),
    "wrong attribute list": (model([helper.make_node("Transpose", ["x"], ["y"], perm="no")]), "perm.*string.*integers"),
    "2^60 elements": (model([ADD], constants=[tensor("w", [1 << 30, 1 << 30], b"\0" * 4)]), "w.*elements"),
    "2^59 elements": (model([ADD], constants=[tensor("w", [1 << 59], b"\0" * 4)]), "w.*holds 4"),
    "huge beside an empty axis": (model([ADD], constants=[tensor("w", [0, 1 << 62, 1 << 62], b"")]), "elements"),
    "short data": (model([ADD], constants=[tensor("w", [3], b"\0" * 4)]), "w.*12 bytes.*4"),
    "no data": (model([ADD], constants=[tensor("w", [3])]), "w.*3 values.*0"),
    "negative size": (model([ADD], constants=[tensor("w", [-3], b"\0" * 4)]), "-3"),
    "200 axes": (model([ADD], constants=[tensor("w", [1] * 200, b"\0" * 4)]), "200 axes"),
    "unknown dtype": (model([ADD], constants=[tensor("w", [1], b"\0" * 4, 99)]), "99"),
    "undefined dtype": (model([ADD], constants=[tensor("w", [1], b"\0" * 4, 0)]), "type code 0"),
    "strings miscounted": (model([ADD], constants=[tensor("w", [5], None, TensorProto.STRING)]), "5"),
    "unknown input dtype": (changed(model([relu()]), "input type"), "77"),
    "no opset": (changed(model([relu()]), "no opset"), "opset"),
    "opset 0": (changed(model([relu()]), "opset 0"), "opset"),
    "external without folder": (model([ADD], constants=[external("w", [1], location="w.bin")]), "path"),
    "recursive function": (calling(function("F0", [helper.make_node("F0", ["a"], ["b"], domain="f")])), "calls itself"),
    "function bomb": (bomb(), "expand"),
    "function lacks output": (calling(function("F0", [relu("a", "c")])), "output"),
    "function called with too much": (overfull(), "2 inputs"),
    "constant without value": (model([helper.make_node("Constant", [], ["y"])]), "value"),
    "constant of a wrong kind": (model([helper.make_node("Constant", [], ["y"], value=1.0)]), "value"),
}


@pytest.mark.parametrize("name", PROTOS)
def test_wrong_model(name: str, tmp_path: Path) -> None:
    proto, message = PROTOS[name]
    path = tmp_path / "wrong.onnx"
    path.write_bytes(proto.SerializeToString())
    target = proto if name == "external without folder" else path
    start = time.perf_counter()
    with pytest.raises(InputError, match=message) as caught:
        load(target)
    assert time.perf_counter() - start < 20
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 500
    if target is path:
        assert text.startswith(f"{path}: ")


FILES = {
    "empty": (b"", "empty"),
    "zeros": (b"\0" * 100, "no ONNX model"),
    "random": (np.random.default_rng(1).bytes(10_000), "no ONNX model"),
    "text": (b"import torch\nprint(1)\n", "text"),
    "pickle": (b"\x80\x02}q\x00.", "pickle"),
    "html": (b"<!DOCTYPE html><html></html>", "web page"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "lfs"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + b"\0" * 64, "HDF5"),
    "safetensors": (b"\x40\0\0\0\0\0\0\0" + b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', "safetensors"),
    "no graph": (onnx.ModelProto(ir_version=8).SerializeToString(), "no ONNX model"),
}


@pytest.mark.parametrize("name", FILES)
def test_wrong_file(name: str, tmp_path: Path) -> None:
    data, message = FILES[name]
    path = tmp_path / "wrong.onnx"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        load(path)
    with pytest.raises(InputError, match=message):
        load(data)


def test_every_truncation_is_told(tmp_path: Path) -> None:
    weights = numpy_helper.from_array(np.ones((4, 4), np.float32), "w")
    data = model(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], inputs={"x": [2, 4]}, constants=[weights]
    ).SerializeToString()
    for end in range(len(data)):
        try:
            lower(load(data[:end]), lambda domain, op: None)
        except InputError:  # noqa: PERF203
            continue


def test_bytes_where_text_belongs() -> None:
    for old in (b"Relu", b"node-name", b"\x01x", b"\x01y"):
        data = (
            model([relu(name="node-name", doc_string="node-name")]).SerializeToString().replace(old, old[:-1] + b"\xff")
        )
        try:
            lower(load(data), lambda domain, op: None)
        except InputError:
            continue


def test_zip(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", b"")
    with pytest.raises(InputError, match="zip"):
        load(path)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path / "absent.onnx")
    with pytest.raises(InputError, match="folder"):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="no regular file"):
        load(tmp_path / "pipe")
    with pytest.raises(InputError):
        load("nul\0byte.onnx")


def test_file_over_two_gigabytes_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big.onnx"
    with path.open("wb") as file:
        file.truncate(5 << 30)
    with pytest.raises(InputError, match="external data"):
        load(path)


@pytest.mark.parametrize("depth", [5, 14])
def test_deep_nesting_within_protobufs_limit_loads(depth: int) -> None:
    # Both branches of each level differ, so the tree doubles with each level; protobuf itself allows about 30 levels.
    program = lower(load(nested(depth).SerializeToString()), lambda domain, op: None)
    assert program.size >= 2**depth


def test_absurd_nesting_is_told() -> None:
    graph = b""
    for _ in range(200):  # NodeProto.attribute(5) > AttributeProto.g(6) > GraphProto.node(1)
        for tag in (b"\x32", b"\x2a", b"\x0a"):
            graph = tag + _varint(len(graph)) + graph
    with pytest.raises(InputError, match="no ONNX model"):
        load(b"\x08\x08\x3a" + _varint(len(graph)) + graph)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def test_text_with_an_error() -> None:
    with pytest.raises(InputError, match="text"):
        load_text("<ir_version: 8> g (float x => y {")


# ---------------------------------------------------------------------------------------------------- external data

OUTSIDE = [
    "../secret.bin",
    "/etc/passwd",
    "a/../../secret.bin",
    "..\\secret.bin",
    "C:\\secret.bin",
    "\\\\host\\share",
    "..",
    "",
]


def _external(folder: Path, **entries: object) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(model([ADD], constants=[external("w", [4], **entries)]).SerializeToString())
    return path


@pytest.mark.parametrize("location", OUTSIDE)
def test_external_path_that_leaves_the_folder(location: str, tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_bytes(b"\0" * 16)
    folder = tmp_path / "model"
    folder.mkdir()
    with pytest.raises(InputError, match="w"):
        load(_external(folder, location=location))


BAD_ENTRIES = [
    ({"location": "w.bin", "offset": -4}, "offset"),
    ({"location": "w.bin", "offset": "x"}, "offset"),
    ({"location": "w.bin", "offset": "9" * 5000}, "offset"),
    ({"location": "w.bin", "offset": 4}, "cut short"),
    ({"location": "w.bin", "length": 8}, "16 bytes"),
    ({"location": "w.bin", "length": 1 << 62}, "16 bytes"),
    ({"location": "absent.bin"}, "isn't beside the model"),
    ({"location": "a" * 5000}, "isn't beside the model"),
    ({"location": "."}, "no regular file"),
    ({"offset": 0}, "file name"),
]


@pytest.mark.parametrize(("entries", "message"), BAD_ENTRIES)
def test_wrong_external_data(entries: dict[str, object], message: str, tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(b"\0" * 16)
    with pytest.raises(InputError, match=message):
        load(_external(tmp_path, **entries))


def test_links_of_a_huggingface_cache_are_followed(tmp_path: Path) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "abc"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    (blobs / "d1").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    _external(blobs, location="model.onnx_data").rename(blobs / "d2")
    (snapshot / "model.onnx_data").symlink_to("../../blobs/d1")
    (snapshot / "model.onnx").symlink_to("../../blobs/d2")
    loaded = load(snapshot / "model.onnx")
    assert loaded.graph.constants["w"].array().tolist() == [0, 1, 2, 3]
