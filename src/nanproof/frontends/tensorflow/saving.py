"""Writing the ONNX file, with large tensors beside it."""

from __future__ import annotations

from pathlib import Path

import onnx

BESIDE = 1 << 30
"""Bytes of stored tensors from which they get a file of their own."""


def save(proto: onnx.ModelProto, path: Path) -> None:
    """Write the model."""
    size = sum(len(tensor.raw_data) for tensor in proto.graph.initializer)
    if size > BESIDE:
        onnx.save(proto, path, save_as_external_data=True, location=f"{path.name}.data")
    else:
        onnx.save(proto, path)
