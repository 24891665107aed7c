"""Operators that ONNX Runtime adds to ONNX: its optimiser writes them into the models that it saves.

Most are several of ONNX's operators in one, so their bounds are made of those operators' bounds.
"""

from __future__ import annotations

from nanproof.ops.contributed import activations, attention, moved, normalized, products, rotary
from nanproof.ops.record import Op

OPS: tuple[Op, ...] = (
    *activations.OPS,
    *attention.OPS,
    *moved.OPS,
    *normalized.OPS,
    *products.OPS,
    *rotary.OPS,
)
