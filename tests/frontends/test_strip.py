"""Big initialisers stay in the file, and the model is the same as if it had been parsed whole."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper
from tests.frontends.models import model

from nanproof.findings.errors import InputError
from nanproof.frontends.onnx import container, load
from nanproof.frontends.onnx.strip import strip
from nanproof.model.sources import MappedSource


def big(side: int = 200) -> bytes:
    weights = [numpy_helper.from_array(np.full((side, side), value, np.float32), f"w{value}") for value in range(3)]
    weights.insert(1, numpy_helper.from_array(np.ones(3, np.float32), "small"))
    nodes = [helper.make_node("MatMul", ["x", "w0"], ["a"]), helper.make_node("MatMul", ["a", "w2"], ["y"])]
    return model(nodes, inputs={"x": [2, side]}, constants=weights).SerializeToString()


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "SMALLEST_FILE", 0)


def test_the_same_model(always: None, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(big())
    stripped = strip(path)
    assert stripped is not None
    assert len(stripped[0]) < 2000
    assert sorted(stripped[1]) == [0, 2, 3]
    whole, left = load(path.read_bytes()).graph, load(path).graph
    assert [node.outputs for node in whole.nodes] == [node.outputs for node in left.nodes]
    assert list(whole.constants) == list(left.constants) == ["w0", "small", "w1", "w2"]
    for name, source in whole.constants.items():
        np.testing.assert_array_equal(left.constants[name].array(), source.array())
        assert isinstance(left.constants[name], MappedSource) == (name != "small")


def test_damaged_files_are_told_alike(always: None, tmp_path: Path) -> None:
    data, rng = big(), random.Random(3)
    path = tmp_path / "m.onnx"
    outcomes = {True: 0, False: 0}
    for _ in range(300):
        changed = bytearray(data)
        places = [rng.randrange(80) if rng.random() < 0.5 else len(data) - 1 - rng.randrange(150) for _ in range(2)]
        for place in places:
            changed[place] = rng.randrange(256)
        path.write_bytes(changed[: rng.randrange(len(data))] if rng.random() < 0.1 else changed)
        results = []
        for target in (path, path.read_bytes()):
            try:
                load(target)
                results.append(True)
            except InputError:  # noqa: PERF203
                results.append(False)
        assert results[0] == results[1]
        outcomes[results[0]] += 1
    assert min(outcomes.values()) > 10


def test_memory(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(big(5000))  # 300 MB
    code = (
        "import sys, resource; from nanproof.frontends.onnx import load; before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "load(sys.argv[1], known=lambda domain, op: True); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True, timeout=60
    )
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(result.stdout) * unit < 64 << 20
