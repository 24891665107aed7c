"""Single nodes that ask for too much: the records' own test cases, with sizes, counts and attributes made absurd."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from nanproof.numerics.dtypes import to_numpy
from nanproof.ops.record import Operand
from nanproof.ops.registry import OPS
from nanproof.testing.draws import dtype_of
from nanproof.testing.single import OPSET, Subject, node_of, opset_of, subjects

SIZES = (0, 1, 2, 3, 64, 1000, 1 << 16, 1 << 20, (1 << 24) + 1, (1 << 31) - 1, 1 << 31, 1 << 40, 1 << 60, (1 << 63) - 1)
COUNTS = (*SIZES, -1, -2, -(1 << 31), -(1 << 63))
REALS = (0.0, -1.0, 1e-30, 1e5, 1e9, 1e30, float("inf"), float("nan"))


def claims() -> list[Subject]:
    """One subject for every case of every record."""
    found: dict[tuple[str, int], Subject] = {}
    for op in OPS:
        if op.domain or op.samples.dtypes == ("string",):
            continue
        for subject in subjects(op):
            found.setdefault((op.name, subject.number), subject)
    return list(found.values())


def claiming(subject: Subject, rng: random.Random) -> bytes:
    """The model of a case, with one to three numbers of it changed."""
    operands = [_copy(operand, subject) for operand in subject.case.operands]
    attrs = {k: v.tolist() if k == "shape" and isinstance(v, np.ndarray) else v for k, v in subject.case.attrs.items()}
    node = node_of(subject.op, replace(subject.case, attrs=attrs))
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(len(operands) + 1) if operands else 0
        if place < len(operands):
            _change(operands[place], rng)
        elif node.attribute:
            _change_attribute(rng.choice(node.attribute), rng)
    inputs, stored = [], []
    for number, operand in enumerate(operands):
        if operand is None:
            continue
        if operand["values"] is not None:
            stored.append(numpy_helper.from_array(operand["values"], f"x{number}"))
        else:
            inputs.append(helper.make_tensor_value_info(f"x{number}", operand["dtype"], operand["shape"]))
    outputs = [onnx.ValueInfoProto(name=f"y{i}") for i in range(subject.case.outputs)]
    graph = helper.make_graph([node], "claims", inputs, outputs, stored)
    versions = [helper.make_opsetid("", max(OPSET, opset_of(subject.op)))]
    return helper.make_model(graph, opset_imports=versions, ir_version=13).SerializeToString()  # type: ignore[no-any-return]


def _copy(operand: Operand, subject: Subject) -> dict[str, Any] | None:
    if operand.absent:
        return None
    dtype = dtype_of(operand, subject.dtype)
    values = None if operand.values is None else np.array(operand.values).astype(to_numpy(dtype))
    shape = list(operand.shape) if values is None else list(values.shape)
    return {"dtype": dtype.onnx, "shape": shape, "values": values}


def _change(operand: dict[str, Any] | None, rng: random.Random) -> None:
    if operand is None:
        return
    values = operand["values"]
    if values is None:
        if operand["shape"] and rng.random() < 0.8:
            operand["shape"][rng.randrange(len(operand["shape"]))] = rng.choice(SIZES)
        elif rng.random() < 0.5:
            operand["shape"] = [rng.choice(SIZES) for _ in range(rng.choice((0, 1, 2, 3, 4, 5, 70)))]
        elif operand["dtype"] == onnx.TensorProto.FLOAT:  # known elements: all ways to work on them are open
            shape = (
                operand["shape"]
                if math.prod(n or 1 for n in operand["shape"]) < 1 << 16
                else (rng.choice((1, 100, 1 << 14)),)
            )
            operand["values"] = np.linspace(-2, 3, math.prod(shape), dtype=np.float32).reshape(shape)
    elif values.size and values.dtype.kind in "iu":
        limits = np.iinfo(values.dtype)
        values.reshape(-1)[rng.randrange(values.size)] = min(max(rng.choice(COUNTS), limits.min), limits.max)
    elif values.size and values.dtype.kind == "f":
        values.reshape(-1)[rng.randrange(values.size)] = rng.choice(REALS)


def _change_attribute(attribute: onnx.AttributeProto, rng: random.Random) -> None:
    if attribute.type == onnx.AttributeProto.INT:
        attribute.i = rng.choice(COUNTS)
    elif attribute.type == onnx.AttributeProto.INTS:
        if attribute.ints and rng.random() < 0.7:
            attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(COUNTS)
        else:
            attribute.ints.extend([rng.choice(COUNTS)] * rng.choice((1, 2, 70)))
    elif attribute.type == onnx.AttributeProto.FLOAT:
        attribute.f = rng.choice(REALS)
    elif attribute.type == onnx.AttributeProto.STRING:
        attribute.s = rng.choice((b"", b"SAME_UPPER", b"nonsense", b"\xff", b"...->...", b"." * 70))
