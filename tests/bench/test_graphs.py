"""The benchmark measures what it says: models of exactly so many nodes, valid, and finite from end to end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from bench import external, graphs


@pytest.mark.parametrize("kind", graphs.KINDS)
@pytest.mark.parametrize("nodes", [7, 300])
def test_generated_graph(kind: str, nodes: int) -> None:
    model = graphs.make(kind, nodes)
    assert len(model.graph.node) == nodes
    assert model.SerializeToString(deterministic=True) == graphs.make(kind, nodes).SerializeToString(deterministic=True)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    shape = [2 if isinstance(size, str) else size for size in graphs.KINDS[kind][1]]
    (result,) = session.run(None, {"x": np.random.default_rng(0).normal(size=shape).astype(np.float32)})
    assert np.isfinite(result).all()


def test_external_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "SIDE", 16)
    monkeypatch.setattr(external, "MATRIX_BYTES", 16 * 16 * 4)
    with external.external_model(3 * 1024 / 2**30, tmp_path) as path:
        weights = path.with_name("weights.bin").read_bytes()
        assert len(weights) == 3 * 1024
        assert len({weights[i : i + 1024] for i in range(0, 3072, 1024)}) == 3
        onnx.checker.check_model(str(path), full_check=True)
        loaded = onnx.load(path)
        assert {node.op_type for node in loaded.graph.node} == {"MatMul", "Add", "Relu"}
    assert not list(tmp_path.iterdir())


def test_external_model_needs_room(tmp_path: Path) -> None:
    with pytest.raises(external.NoRoomError, match="are needed"), external.external_model(1e9, tmp_path):
        pass
