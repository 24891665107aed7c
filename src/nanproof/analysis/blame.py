"""A node whose bound raised: is the model wrong, or are we?

Sizes that don't fit are the model's. Of any other exception ONNX itself is the
judge: a model of this one node, with the operands as they are known, goes
through its checker and its strict shape inference. What ONNX rejects is told
as wrong input; everything else is a bug of our own and stays one.

ONNX is asked in a process of its own, with little memory and time: on some
nodes (Einsum with a malformed equation) its inference never comes back.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from nanproof.dims import ShapeError
from nanproof.domain.box import Box
from nanproof.findings.errors import InputError, InternalError
from nanproof.model.graph import Graph, Node
from nanproof.numerics.dtypes import to_numpy

if TYPE_CHECKING:
    from onnx import ModelProto

    from nanproof.analysis.state import State
    from nanproof.model.lower import Step

PATIENCE = 5
"""Seconds that ONNX has to answer."""

SHOWN = 4096
"""Most elements of a known operand that ONNX is told."""

MAX_RANK = 64
"""NumPy's limit, and far above any model's."""

MAX_ELEMENTS = 1 << 60

_REJECTED = 3
_JUDGE = """
import sys
sys.path[:] = sys.argv[1:]
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))
except (ImportError, ValueError, OSError):
    pass
import onnx, onnx.checker, onnx.shape_inference
model = onnx.ModelProto.FromString(sys.stdin.buffer.read())
try:
    context = onnx.checker.C.CheckerContext()
    context.ir_version = model.ir_version
    context.opset_imports = {entry.domain: entry.version for entry in model.opset_import}
    onnx.checker.check_node(model.graph.node[0], context)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
except Exception as error:
    sys.stdout.buffer.write(str(error).encode("utf-8", "replace"))
    sys.exit(3)
"""
_NOISE = re.compile(r"\[\w+Error\]|Inference error\(s\):|\(op_type:[^)]*\):?|==> Context:.*|Bad node spec.*", re.DOTALL)
_LONGEST = 240


def explained(error: Exception, state: State, step: Step) -> Exception:
    """The exception to raise instead: InputError where the model is wrong, InternalError where we are."""
    operands = [state.boxes[slot] if slot >= 0 else None for slot in step.inputs]
    node = step.node
    reason = _sentence(str(error)) if isinstance(error, ShapeError) else _nonsense(node, operands)
    if reason is None:
        reason = _onnx_says(node, operands, state.setting.opset)
    if reason is not None:
        inputs = ", ".join("absent" if box is None else _shown(box) for box in operands[:6])
        return InputError(
            f"{named(node)} can't be computed: {reason} (its inputs are {inputs or 'none'}): "
            "correct the node, or export the model again"
        )
    if isinstance(error, MemoryError):
        return error
    return InternalError(f"{type(error).__name__} at {named(node)}: {_sentence(str(error))}")


def named(node: Node) -> str:
    """Name a node in a message, with the line of the user's program that made it."""
    what = (
        f'node "{node.name}" ({node.op})' if node.name else f'the {node.op} node that makes "{(*node.outputs, "")[0]}"'
    )
    return f"{what} at {node.location.file}:{node.location.line}" if node.location is not None else what


def _shown(box: Box) -> str:
    shape = (
        "[...]"
        if box.shape is None
        else f"[{', '.join(map(str, box.shape[:8]))}{', ...' if len(box.shape) > 8 else ''}]"
    )
    return f"{box.dtype.name}{shape}"


def _sentence(text: str) -> str:
    """One line without a full stop, and not too long."""
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."


def _nonsense(node: Node, operands: Sequence[Box | None]) -> str | None:
    """What no runtime takes, although ONNX's inference does: numbers past all limits."""
    for name, value in node.attrs.items():
        numbers: tuple[Any, ...] = value if isinstance(value, tuple) else (value,)
        if any(isinstance(n, float) and not isfinite(n) for n in numbers):
            return f'its attribute "{name}" is no finite number'
        if (name in _COUNTS and type(value) is int and value < 1) or (
            (node.op, name) == ("Celu", "alpha") and not numbers[0]
        ):
            return f'its attribute "{name}" is {numbers[0]}, which nothing can be divided by or into'
        if any(isinstance(n, int) and abs(n) >= 1 << 31 for n in numbers):
            return f'its attribute "{name}" is past the 32-bit integers'
    for position, box in enumerate(operands):
        if box is None or box.shape is None:
            continue
        if len(box.shape) > MAX_RANK:
            return f"its input {position} has {len(box.shape)} axes, more than the {MAX_RANK} that any runtime takes"
        if _product(box.shape) >= MAX_ELEMENTS:
            return f"its input {position} has more elements than any memory holds"
        known = box.known
        if known is not None and known.size <= SHOWN and (box.dtype.is_integer or known.dtype == object):
            numbers = tuple(known.reshape(-1).tolist())
            if known.size > MAX_RANK and known.ndim == 1 and position in _SHAPES.get(node.op, ()):
                return (
                    f"its input {position} asks for {known.size} axes, more than the {MAX_RANK} that any runtime takes"
                )
            if _product(numbers) >= MAX_ELEMENTS or any(type(n) is int and n < -(1 << 62) for n in numbers):
                return f"its input {position} asks for more elements than any memory holds"
    return None


_COUNTS = frozenset(
    {"size", "blocksize", "group", "num_groups", "num_heads", "kv_num_heads", "q_num_heads", "hidden_size"}
)
"""Attributes of 1 or more, which ONNX doesn't check everywhere."""

_SHAPES = {
    "Reshape": (1,), "Expand": (1,), "ConstantOfShape": (0,), "Tile": (1,), "Unsqueeze": (1,),
}  # fmt: skip
"""Operands that hold one number for each axis of the result (or more)."""


def _product(sizes: Sequence[Any]) -> int:
    total = 1
    for size in sizes:
        if type(size) is int:
            total *= abs(size) or 1
    return total


def _onnx_says(node: Node, operands: Sequence[Box | None], opset: int) -> str | None:
    """Why ONNX rejects the node; None where it doesn't, or can't be asked."""
    try:
        model = _model(node, operands, opset)
    except Exception:  # noqa: BLE001 - a node that can't be written down can't be judged: the blame stays with us
        return None
    if model is None:
        return None
    command = [sys.executable, "-I", "-c", _JUDGE, *sys.path]
    try:
        answer = subprocess.run(  # noqa: S603 - our own program
            command, input=model.SerializeToString(), capture_output=True, timeout=PATIENCE, check=False
        )
    except (OSError, MemoryError, subprocess.TimeoutExpired):
        return None
    if answer.returncode != _REJECTED:
        return None
    text = answer.stdout.decode("utf-8", "replace")
    return f"ONNX says: {_sentence(_NOISE.sub(' ', text)) or 'it is invalid'}"


def _model(node: Node, operands: Sequence[Box | None], opset: int) -> ModelProto | None:
    """A model of the one node; None where it has bodies."""
    from onnx import helper, numpy_helper

    values = [v for value in node.attrs.values() for v in (value if isinstance(value, tuple) else (value,))]
    if node.domain or any(isinstance(value, Graph) for value in values):
        return None
    names = [f"i{place}" if box is not None else "" for place, box in enumerate(operands)]
    outputs = [f"o{place}" if name else "" for place, name in enumerate(node.outputs)]
    proto = helper.make_node(node.op, names, outputs, name="n")
    for name, value in node.attrs.items():
        given: Any = numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value
        if not (isinstance(value, tuple) and not value):  # an empty list doesn't say its type
            proto.attribute.append(helper.make_attribute(name, given))
    inputs, stored = [], []
    for name, box in zip(names, operands, strict=True):
        if box is None:
            continue
        shape = None if box.shape is None else [n if isinstance(n, int) else str(n) for n in box.shape]
        if box.known is not None and box.known.dtype != object and box.known.size <= SHOWN:
            known = np.ascontiguousarray(box.known).astype(to_numpy(box.dtype)).reshape(box.known.shape)
            stored.append(numpy_helper.from_array(known, name))
        else:
            inputs.append(helper.make_tensor_value_info(name, box.dtype.onnx, shape))
    results = [helper.make_empty_tensor_value_info(name) for name in outputs if name]
    graph = helper.make_graph([proto], "g", inputs, results, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
