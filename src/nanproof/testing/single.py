"""One operator as a model of one node, and the usual ways to call it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import defs, helper, numpy_helper

from nanproof.numerics.dtypes import DType, by_name
from nanproof.ops.record import Case, Op, Operand
from nanproof.testing.draws import dtype_of

OPSET = 26
IR_VERSION = 13

ONE = (
    (Operand((5, 4)),),
    (Operand(()),),
    (Operand((0, 3)),),
)
TWO = (
    (Operand((9,)), Operand((9,))),
    (Operand((5, 4)), Operand((5, 4))),
    (Operand((5, 4)), Operand((4,))),
    (Operand((5, 1)), Operand((2, 1, 4))),
    (Operand(()), Operand((3,))),
    (Operand((4,)), Operand((4,), stored=True)),
)
MANY = (
    (Operand((5, 4)), Operand((4,)), Operand((5, 1))),
    (Operand((5, 4)),),
)


class Subject(NamedTuple):
    """What a law is held against: one operator, called in one way, in one dtype."""

    op: Op
    case: Case
    number: int
    dtype: DType

    def __str__(self) -> str:
        attrs = ", ".join(f"{k}={v!r}" for k, v in self.case.attrs.items())
        return f"{self.op.name} case {self.number} ({attrs}) {self.dtype.name}"


def schema_of(op: Op) -> defs.OpSchema | None:
    """The ONNX schema of an operator at the opset that we normalise to; None if it is newer or not ONNX's."""
    try:
        return defs.get_schema(op.name, OPSET, op.domain)
    except defs.SchemaError:
        pass
    try:
        return defs.get_schema(op.name, op.domain)
    except defs.SchemaError:
        return None


def opset_of(op: Op) -> int:
    """The opset to declare: newer operators need their own."""
    schema = schema_of(op)
    if op.domain or schema is None:
        return 1 if schema is None else schema.since_version
    return max(OPSET, schema.since_version)


def cases(op: Op) -> tuple[Case, ...]:
    """The record's own cases, or the usual ones for its number of operands."""
    if op.samples.cases:
        return op.samples.cases
    schema = schema_of(op)
    if schema is None:
        return ()
    if schema.inputs and schema.inputs[-1].option == defs.OpSchema.FormalParameterOption.Variadic:
        usual = MANY
    else:
        usual = {1: ONE, 2: TWO}.get(schema.min_input, ())  # type: ignore[assignment]
    return tuple(Case(operands) for operands in usual)


def subjects(op: Op) -> Iterator[Subject]:
    """All combinations of case and dtype."""
    for number, case in enumerate(cases(op)):
        for name in case.dtypes or op.samples.dtypes:
            yield Subject(op, stored(case), number, by_name(name))


def stored(case: Case) -> Case:
    """The case as it reads when it comes out of a file: attributes are float32 numbers there."""
    return replace(case, attrs={name: _stored(value) for name, value in case.attrs.items()})


def _stored(value: Any) -> Any:
    if isinstance(value, float):
        return float(np.float32(value))
    if isinstance(value, (list, tuple)):
        return tuple(_stored(v) for v in value)
    return value


def node_of(op: Op, case: Case) -> onnx.NodeProto:
    """The node of a case: operands x0, x1 ..., results y0, y1 ..."""
    inputs = ["" if o.absent else f"x{i}" for i, o in enumerate(case.operands)]
    node = helper.make_node(op.name, inputs, [f"y{i}" for i in range(case.outputs)], domain=op.domain)
    schema = schema_of(op)
    for name, value in case.attrs.items():
        if isinstance(value, np.ndarray):
            value = numpy_helper.from_array(value)
        kind = None
        if schema is not None and name in schema.attributes:
            kind = int(schema.attributes[name].type.value)  # type: ignore[attr-defined]
        node.attribute.append(helper.make_attribute(name, value, attr_type=kind))
    return node


def model_of(subject: Subject) -> onnx.ModelProto:
    """The model of one node; the types of its results are for the runtime to infer."""
    op, case, _, dtype = subject
    inputs = [
        helper.make_tensor_value_info(f"x{i}", dtype_of(o, dtype).onnx, list(_shape(o)))
        for i, o in enumerate(case.operands)
        if not o.absent
    ]
    outputs = [onnx.ValueInfoProto(name=f"y{i}") for i in range(case.outputs)]
    graph = helper.make_graph([node_of(op, case)], op.name, inputs, outputs)
    versions = [helper.make_opsetid("", OPSET if op.domain else opset_of(op))]
    if op.domain:
        versions.append(helper.make_opsetid(op.domain, opset_of(op)))
    return helper.make_model(graph, opset_imports=versions, ir_version=IR_VERSION)


def _shape(operand: Operand) -> tuple[int, ...]:
    return operand.shape if operand.values is None else np.shape(operand.values)


def feeds_of(case: Case, sample: list[Any]) -> dict[str, Any]:
    """The operands of a sample by the names of the model's inputs."""
    return {f"x{i}": x for i, (o, x) in enumerate(zip(case.operands, sample, strict=True)) if not o.absent}
