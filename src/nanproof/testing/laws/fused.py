"""A fused record is at least as tight as the composition of its parts: else fusing would lose a proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from nanproof.domain.box import Box, of_array
from nanproof.numerics.dtypes import FLOAT32, of_numpy
from nanproof.numerics.runtimes import FUNCTIONS, error_form
from nanproof.ops.call import Call
from nanproof.ops.registry import lookup
from nanproof.testing.draws import Style, draw, dtype_of
from nanproof.testing.laws.apply import bounded, setting
from nanproof.testing.laws.breach import Breach, shown
from nanproof.testing.single import OPSET, Subject, node_of, schema_of

RUNTIME = "onnxruntime"
SLIGHTLY, NOISE = 1e-3, 1e-2
"""Share of the parts' width, and size of what is rounding noise in both, that the two may differ by."""
ROUNDINGS = 256
"""How many units of rounding a kernel may be declared worse than its parts: a proof isn't lost by that."""
OTHERWISE = {
    "Attention": "ONNX Runtime scales the product, which overflows before that of scaled operands, and masks with the lowest number",
    "MeanVarianceNormalization": "ONNX Runtime's kernel leaves the body's epsilon out: NaN for a constant row",
    "DynamicQuantizeLinear": "where all elements are 0, ONNX Runtime answers scale 1, the function body 0",
}
"""Operators that the runtime means otherwise than their function body does, and how."""


def fused(subject: Subject, rng: np.random.Generator, effort: int) -> Iterator[Breach]:
    """Compare with the operator's ONNX function body, on Boxes of one block."""
    if subject.op.name in OTHERWISE:
        return
    body = body_of(subject)
    if body is None or subject.dtype is not FLOAT32:
        # in the narrow dtypes a fused kernel rounds once, its parts at every step; in float64 the constants of
        # function bodies are float32 numbers, those of kernels aren't
        return
    for _ in range(max(4, effort // 4)):
        drawn = draw(rng, subject.case, subject.dtype, subject.op.samples.points, Style(whole=True, count=1))
        parts = walked(body, drawn.boxes, subject)
        if parts is None:
            return
        whole, _ = bounded(subject, drawn.boxes)
        for i, (a, b) in enumerate(zip(whole, parts, strict=False)):
            if a is None or b is None or _no_wider(a, b, _absolute(subject)):
                continue
            detail = f"result {i} is {a!r}, its parts give {b!r}"
            yield Breach("fused", str(subject), detail + shown([None] * len(drawn.boxes), drawn.boxes))


def _no_wider(whole: Box, parts: Box, absolute: float) -> bool:
    """Not wider, but for the runtime's own error of that function instead of several rounded steps.

    Where the parts overflow on the way, a kernel (which takes the maximum out first, or sums in another order) is
    another computation, and nothing is compared.
    """
    if parts.flags:
        return True
    (a, b), (c, d) = whole.hull(), parts.hull()
    if whole.flags or a > b or c > d:
        return not whole.flags and a > b
    unit = whole.dtype.unit
    room = ROUNDINGS * unit * (max(abs(a), abs(b)) + 1.0) + whole.dtype.quantum + 2.0 * absolute
    width = max(d - c, 0.0)
    room += SLIGHTLY * width + min(4.0 * width, NOISE)
    return c - room <= a and b <= d + room


def _absolute(subject: Subject) -> float:
    """How far off the runtime's own kernel of a function may be, whatever the result's size."""
    error = subject.op.error
    if error is None:
        return 0.0
    names = (error, f"{error}_{subject.case.attrs.get('approximate', 'none')}")
    return max(error_form(RUNTIME, name, subject.dtype).absolute for name in names if name in FUNCTIONS)


def body_of(subject: Subject) -> onnx.FunctionProto | None:
    """The ONNX function of an operator as called in a case; None if it is no function."""
    schema: Any = schema_of(subject.op)
    if schema is None:
        return None
    function = onnx.FunctionProto()
    if schema.has_function:
        versions = [v for v in schema.function_opset_versions if v <= OPSET] or schema.function_opset_versions
        function.ParseFromString(schema.get_function_with_opset_version(max(versions)))
        return function
    if not schema.has_context_dependent_function:
        return None
    types = [_type(dtype_of(o, subject.dtype).onnx).SerializeToString() for o in subject.case.operands if not o.absent]
    known = schema.context_dependent_function_opset_versions
    versions = [v for v in known if v <= OPSET] or known
    node = node_of(subject.op, subject.case).SerializeToString()
    try:
        function.ParseFromString(schema.get_context_dependent_function_with_opset_version(max(versions), node, types))
    except Exception:  # noqa: BLE001  # the C++ side throws what it likes for a call that it can't expand
        return None
    return function if function.node else None


def _type(code: int) -> Any:
    return helper.make_tensor_type_proto(code, None)


def walked(function: onnx.FunctionProto, boxes: Sequence[Box | None], subject: Subject) -> list[Box | None] | None:
    """The Boxes of a function's outputs, node by node; None where a node has no record."""
    attrs = dict(subject.case.attrs)
    defaults = {a.name: helper.get_attribute_value(a) for a in function.attribute_proto}
    values: dict[str, Box | None] = {"": None}
    values.update(zip(function.input, boxes, strict=False))
    for node in function.node:
        operands = [values.get(name) for name in node.input]
        given = _attributes(node, {**defaults, **attrs})
        if node.op_type == "Constant":
            array = _constant(given)
            if array is None:
                return None
            values[node.output[0]] = of_array(of_numpy(array.dtype), array)
            continue
        op = lookup(node.domain, node.op_type)
        if op is None or given is None:
            return None
        with np.errstate(all="ignore"):
            result = op.bound(Call(op, given, setting(RUNTIME), len(node.output)), *operands)
        results = result if isinstance(result, tuple) else (result,)
        values.update(zip(node.output, results, strict=False))
    return [values.get(name) for name in function.output]


def _attributes(node: onnx.NodeProto, given: dict[str, Any]) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name in given:
                found[attribute.name] = given[attribute.ref_attr_name]
            continue
        if attribute.type in {onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS}:
            return None
        value = helper.get_attribute_value(attribute)
        if isinstance(value, onnx.TensorProto):
            value = numpy_helper.to_array(value)
        found[attribute.name] = tuple(value) if isinstance(value, list) else value
        if isinstance(value, bytes):
            found[attribute.name] = value.decode()
    return found


def _constant(given: dict[str, Any] | None) -> Any:
    if not given:
        return None
    for name, dtype in (("value", None), ("value_float", np.float32), ("value_int", np.int64),
                        ("value_floats", np.float32), ("value_ints", np.int64)):  # fmt: skip
        if name in given:
            return np.asarray(given[name], dtype)
    return None
