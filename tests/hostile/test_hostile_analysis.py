"""Models that load and then ask for the impossible: one sentence and exit code 2, or an answer, within seconds and little memory."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from nanproof.analysis import blame, propagate
from nanproof.cli.main import BUG, CLEAN, FOUND, USAGE, main
from nanproof.findings.errors import InputError, InternalError
from nanproof.frontends.onnx import load
from nanproof.ops.registry import lookup

SECONDS = 30
MEMORY = 3 << 30


def model(op: str, *inputs: Any, outputs: int = 1, kind: int = TensorProto.FLOAT, **attrs: Any) -> onnx.ModelProto:
    """One node "bad": a list is the shape of an input, an array a stored tensor, None an absent operand."""
    names = ["" if given is None else f"x{i}" for i, given in enumerate(inputs)]
    infos = [
        helper.make_tensor_value_info(n, kind, g) for n, g in zip(names, inputs, strict=True) if isinstance(g, list)
    ]
    stored = [numpy_helper.from_array(g, n) for n, g in zip(names, inputs, strict=True) if isinstance(g, np.ndarray)]
    node = helper.make_node(op, names, [f"y{i}" for i in range(outputs)], "bad", **attrs)
    return whole([node], infos, stored, [f"y{i}" for i in range(outputs)])


def whole(
    nodes: list[onnx.NodeProto], infos: list[Any], stored: list[onnx.TensorProto], results: list[str]
) -> onnx.ModelProto:
    outputs = [helper.make_empty_tensor_value_info(name) for name in results]
    graph = helper.make_graph(nodes, "g", infos, outputs, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 26)], ir_version=10)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


IMAGE, KERNEL = [1, 1, 5, 5], [1, 1, 3, 3]
TYPED = model("Add", [2], ints(1, 2))
WRONG = {
    "two types": (TYPED, "one type.*float32 and int64"),
    "wrong type": (model("Sqrt", [2], kind=TensorProto.INT32), "int32"),
    "broadcast": (model("Add", [2, 3], [2, 5]), "broadcast"),
    "axis": (model("Softmax", [2, 3], axis=7), "axis|attribute"),
    "huge axis": (model("Concat", [2, 3], [2, 3], axis=1 << 62), "axis"),
    "negative axis": (model("Gather", [2, 3], ints(0), axis=-9), "axis"),
    "perm": (model("Transpose", [2, 3], perm=[0, 0]), "perm"),
    "long perm": (model("Transpose", [2, 3], perm=[0, 1, 2]), "perm"),
    "reshape": (model("Reshape", [2, 3], ints(4, 4)), "16"),
    "negative reshape": (model("Reshape", [2, 3], ints(-2, -3)), "bad"),
    "two unknown sizes": (model("Reshape", [2, 3], ints(-1, -1)), "bad"),
    "kernel": (model("MaxPool", IMAGE, kernel_shape=[2]), "kernel|window"),
    "huge kernel": (model("MaxPool", IMAGE, kernel_shape=[1 << 40, 2]), "window|attribute"),
    "no kernel": (model("AveragePool", IMAGE, kernel_shape=[0, 2]), "kernel"),
    "strides": (model("Conv", IMAGE, KERNEL, strides=[1]), "strides"),
    "no stride": (model("Conv", IMAGE, KERNEL, strides=[0, 1]), "strides"),
    "pads": (model("Conv", IMAGE, KERNEL, pads=[1, 1]), "pads"),
    "dilations": (model("Conv", IMAGE, KERNEL, dilations=[1, -1]), "dilations"),
    "channels": (model("Conv", IMAGE, [1, 2, 3, 3]), "bad"),
    "split": (model("Split", [6], ints(1, 2), outputs=2), "6"),
    "many splits": (model("Split", [6], num_outputs=1 << 40, outputs=2), "parts|outputs"),
    "matmul": (model("MatMul", [2, 3], [4, 5]), "bad"),
    "gemm": (model("Gemm", [2, 3], [4, 5]), "bad"),
    "blocks": (model("DepthToSpace", [1, 4, 2, 2], blocksize=0), "bad"),
    "pad": (model("Pad", [2, 3], ints(1, 1)), "Pad"),
    "tile": (model("Tile", [2, 3], ints(1)), "Tile"),
    "scan": (model("Scan", [2], num_scan_inputs=5, body=helper.make_graph([], "b", [], [])), "num_scan_inputs"),
    "loop": (model("Loop", ints(3)[0:1].reshape(()), None, [2], body=helper.make_graph([], "b", [], [])), "body"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_node_is_told_in_one_sentence(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proto, message = WRONG[name]
    path = tmp_path / "wrong.onnx"
    path.write_bytes(proto.SerializeToString())
    assert main(["check", str(path)]) == USAGE
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert err.startswith(f"nanproof: {path}: ")
    assert '"bad"' in err
    with pytest.raises(InputError, match=message):
        raise InputError(err)


# ------------------------------------------------------------------------------------------ memory and time


def doubled(op: str, times: int, stored: np.ndarray | None = None, **attrs: Any) -> onnx.ModelProto:
    names = ["x", *(f"v{i}" for i in range(times - 1)), "y"]
    nodes = [helper.make_node(op, [a, a], [b], **attrs) for a, b in pairwise(names)]
    if stored is not None:
        return whole(nodes, [], [numpy_helper.from_array(stored, "x")], ["y"])
    return whole(nodes, [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])], [], ["y"])


def loops(depth: int, trips: int, op: str = "Exp") -> onnx.ModelProto:
    """Loops within loops, each with a stacked result."""

    def body(level: int) -> onnx.GraphProto:
        p = f"_{level}"
        if level == 1:
            made = helper.make_node(op, ["in" + p] * (2 if op == "Add" else 1), ["out" + p])
        else:
            made = helper.make_node("Loop", ["n", "", "in" + p], ["out" + p, "all" + p], body=body(level - 1))
        copies = [helper.make_node("Identity", [a + p], [b + p]) for a, b in (("go", "on"), ("out", "slice"))]
        infos = [
            helper.make_tensor_value_info("i" + p, TensorProto.INT64, []),
            helper.make_tensor_value_info("go" + p, TensorProto.BOOL, []),
            helper.make_tensor_value_info("in" + p, TensorProto.FLOAT, None),
        ]
        outputs = [helper.make_empty_tensor_value_info(n + p) for n in ("on", "out", "slice")]
        return helper.make_graph([made, *copies], "body" + p, infos, outputs)

    node = helper.make_node("Loop", ["n", "", "x"], ["y", "ys"], body=body(depth))
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])]
    return whole([node], infos, [numpy_helper.from_array(np.array(trips, np.int64), "n")], ["y", "ys"])


def branches(depth: int) -> onnx.ModelProto:
    """If within If, as deep as protobuf goes: one branch nests, the other doesn't."""
    graph = helper.make_graph(
        [helper.make_node("Exp", ["x"], ["o0"])], "g", [], [helper.make_empty_tensor_value_info("o0")]
    )
    for level in range(1, depth):
        flat = helper.make_node("Exp", ["x"], [f"f{level}"])
        other = helper.make_graph([flat], "f", [], [helper.make_empty_tensor_value_info(f"f{level}")])
        node = helper.make_node("If", ["c"], [f"o{level}"], then_branch=graph, else_branch=other)
        graph = helper.make_graph([node], "g", [], [helper.make_empty_tensor_value_info(f"o{level}")])
    flat = helper.make_graph(
        [helper.make_node("Exp", ["x"], ["f"])], "f", [], [helper.make_empty_tensor_value_info("f")]
    )
    infos = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    return whole([helper.make_node("If", ["c"], ["y"], then_branch=graph, else_branch=flat)], infos, [], ["y"])


def expanded_then_moved() -> onnx.ModelProto:
    """A view of one element claims 2^40; a later movement would spread it out."""
    nodes = [
        helper.make_node("Expand", ["x", "big"], ["a"]),
        helper.make_node("Reshape", ["a", "flat"], ["b"]),
        helper.make_node("Add", ["b", "b"], ["y"]),
    ]
    arrays = {"x": np.ones(1, np.float32), "big": ints(1 << 20, 1 << 20), "flat": ints(-1)}
    return whole(nodes, [], [numpy_helper.from_array(v, n) for n, v in arrays.items()], ["y"])


COLUMN, ROW = np.arange(1 << 16, dtype=np.int64).reshape(-1, 1), np.arange(1 << 16, dtype=np.int64).reshape(1, -1)
POINT = np.ones(1, np.float32)
HUGE = {
    "ConstantOfShape": model("ConstantOfShape", ints(1 << 30, 1 << 29)),
    "Expand": model("Expand", POINT, ints(1 << 40)),
    "Expand then Reshape": expanded_then_moved(),
    "Range": model("Range", np.array(0), np.array(1 << 50), np.array(1)),
    "Tile": model("Tile", POINT, ints(1 << 50)),
    "EyeLike": model("EyeLike", [1 << 30, 1 << 20]),
    "OneHot": model("OneHot", ints(1, 2), np.array(1 << 50), np.array([0, 1], np.float32)),
    "Pad": model("Pad", POINT, ints(1 << 40, 1 << 40)),
    "Pad by reflection": model("Pad", np.ones(3, np.float32), ints(1 << 40, 1 << 40), mode="reflect"),
    "Resize": model("Resize", [1, 1, 2, 2], None, np.array([1, 1, 1e9, 1e9], np.float32), mode="linear"),
    "outer sum": model("Add", COLUMN, ROW),
    "outer choice": model("Where", COLUMN % 2 == 0, ROW, COLUMN),
    "Gather": model("Gather", np.ones((1, 4000), np.float32), np.zeros(1 << 20, np.int64)),
    "GatherND": model("GatherND", np.ones((1, 1 << 16), np.float32), np.zeros((1 << 16, 1), np.int64)),
    "windows": model("AveragePool", [1, 1, 60_000, 4], kernel_shape=[50_000, 1], pads=[40_000, 0, 40_000, 0]),
    "input of 2^62": model("Relu", [1 << 31, 1 << 31]),
    "doubled by Concat": doubled("Concat", 60, axis=0),
    "doubled known by Concat": doubled("Concat", 60, np.arange(4, dtype=np.float32), axis=0),
    "doubled by Add": doubled("Add", 60),
    "doubled by Mul": doubled("Mul", 60),
    "loops in loops": loops(6, 64),
    "loops in loops without end": loops(5, 1 << 40, "Add"),
    "loop of 2^62": loops(1, 1 << 62, "Add"),
    "branches": branches(28),
}  # fmt: skip
LIMITED = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
from nanproof.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("name", HUGE)
def test_absurd_sizes_take_neither_memory_nor_time(name: str, tmp_path: Path) -> None:
    path = tmp_path / "huge.onnx"
    path.write_bytes(HUGE[name].SerializeToString())
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, "check", str(path)],
        capture_output=True,
        text=True,
        timeout=4 * SECONDS,
        check=False,
    )
    assert time.perf_counter() - start < SECONDS
    assert done.returncode in {CLEAN, FOUND, USAGE}, done.stderr
    assert "memory" not in done.stderr or "any memory" in done.stderr
    assert "Traceback" not in done.stderr


# ------------------------------------------------------------------------------------------------- who is to blame


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(propagate, "_with_record", fail)


def test_a_bug_of_our_own_stays_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "good.onnx"
    path.write_bytes(model("Add", [2], [2]).SerializeToString())
    failing(monkeypatch, IndexError("tuple index out of range"))
    assert main(["check", str(path)]) == BUG
    err = capsys.readouterr().err
    assert 'IndexError at node "bad" (Add): tuple index out of range' in err
    assert "this is a bug in nanproof" in err


def test_onnx_is_asked_who_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    from nanproof import check

    failing(monkeypatch, IndexError("tuple index out of range"))
    with pytest.raises(InputError, match=r"bad.*ONNX says: .*perm.*float32"):
        check(load(model("Transpose", [2, 3], perm=[5, 6])))
    monkeypatch.setattr(blame, "_JUDGE", "import sys; sys.exit(1)")  # no answer is no acquittal
    with pytest.raises(InternalError):
        check(load(model("Transpose", [2, 3], perm=[5, 6])))


def test_a_judge_that_hangs_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    from nanproof import check

    failing(monkeypatch, ValueError("no"))
    monkeypatch.setattr(blame, "PATIENCE", 0.2)
    monkeypatch.setattr(blame, "_JUDGE", "import time; time.sleep(60)")
    with pytest.raises(InternalError, match="ValueError"):
        check(load(model("Add", [2], [2])))


def test_records_are_there() -> None:
    """What this file is about has records: it would pass for nothing without them."""
    for name in ("Add", "Conv", "MaxPool", "Reshape", "Split", "Resize", "GatherND"):
        assert lookup("", name) is not None
