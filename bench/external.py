"""A model with gigabytes of external weights: a stack of MatMul, Add, Relu whose matrices lie in one data file.

The values are really written (a sparse file would cost no reading), seeded, and different for every layer.

    python bench/external.py 4 folder
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from onnx import TensorProto, helper

SIDE = 4096  # a matrix of SIDE x SIDE float32 values is 64 MiB
MATRIX_BYTES = SIDE * SIDE * 4
SPARE_BYTES = 2 << 30  # left free on the disk


class NoRoomError(OSError):
    """The disk is too full for the model."""


@contextmanager
def external_model(gigabytes: float, folder: Path | None = None) -> Iterator[Path]:
    """The path of model.onnx in a temporary folder, which is deleted afterwards."""
    with TemporaryDirectory(prefix="nanproof-bench-", dir=folder) as name:
        yield write(Path(name), gigabytes)


def write(folder: Path, gigabytes: float) -> Path:
    """Write model.onnx and weights.bin; the path of the model."""
    layers = max(1, round(gigabytes * (1 << 30) / MATRIX_BYTES))
    free = shutil.disk_usage(folder).free
    needed = layers * MATRIX_BYTES + SPARE_BYTES
    if free < needed:
        raise NoRoomError(f"{folder} has {free / 2**30:.1f} GiB free, {needed / 2**30:.1f} GiB are needed")
    random = np.random.default_rng(4)
    # A row's absolute sum is below 1, so that ranges stay finite through all layers.
    block = random.uniform(-1.0, 1.0, SIDE * SIDE).astype(np.float32) / np.float32(SIDE)
    view = memoryview(block).cast("B")
    nodes, weights = [], []
    value = "x"
    with (folder / "weights.bin").open("wb", buffering=0) as data:
        for layer in range(layers):
            # The same seeded values, turned by another amount for every layer.
            cut = int(random.integers(SIDE * SIDE)) * 4
            _write_all(data, view[cut:])
            _write_all(data, view[:cut])
            weights += [_external(f"W{layer}", layer * MATRIX_BYTES), _bias(f"b{layer}", random)]
            nodes += [
                helper.make_node("MatMul", [value, f"W{layer}"], [f"m{layer}"], f"layer{layer}/MatMul"),
                helper.make_node("Add", [f"m{layer}", f"b{layer}"], [f"a{layer}"], f"layer{layer}/Add"),
                helper.make_node("Relu", [f"a{layer}"], [f"r{layer}"], f"layer{layer}/Relu"),
            ]
            value = f"r{layer}"
    graph = helper.make_graph(
        nodes,
        "external",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", SIDE])],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, ["batch", SIDE])],
        weights,
    )
    path = folder / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    return path


def _write_all(data: object, view: memoryview) -> None:
    done = 0
    while done < len(view):
        done += data.write(view[done : done + (1 << 26)])  # type: ignore[attr-defined]


def _external(name: str, offset: int) -> TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[SIDE, SIDE])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "weights.bin"), ("offset", offset), ("length", MATRIX_BYTES)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def _bias(name: str, random: np.random.Generator) -> TensorProto:
    return onnx.numpy_helper.from_array(random.uniform(-1, 1, SIDE).astype(np.float32), name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gigabytes", type=float)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    print(write(options.folder, options.gigabytes))
