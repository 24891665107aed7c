"""Variables: what they hold, and what changes them. Also what only hands a value on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanproof.frontends.tensorflow.context import Context, Translation, UntranslatableError
from nanproof.frontends.tensorflow.tensors import onnx_kind
from nanproof.frontends.tensorflow.values import Opaque, Tensor, Value, Variable

if TYPE_CHECKING:
    from nanproof.frontends.tensorflow.graph import Call


def _handle(c: Context, call: Call) -> Value:
    kind = onnx_kind(call.get("dtype"))
    if kind is None:
        return Opaque(call.op)
    found = c.program.variable(call.text("shared_name") or call.name, (kind, call.get("shape")))
    found.reference = call.op != "VarHandleOp"
    return found


def _pass(c: Context, call: Call, *values: Value) -> list[Value] | Value:
    """The same values; a reference to a variable, as TensorFlow 1 has them, is read here."""
    read = [c.read(value) if isinstance(value, Variable) and value.reference else value for value in values]
    return read if len(read) != 1 else read[0]


def _read(c: Context, call: Call, variable: Value) -> Value:
    return c.read(variable) if isinstance(variable, Variable) else variable


def _held(variable: Value) -> Variable:
    if not isinstance(variable, Variable):
        raise UntranslatableError("a change of what is no variable")
    return variable


def _assign(c: Context, call: Call, variable: Value, value: Value) -> Value:
    held = _held(variable)
    if c.program.restoring and isinstance(value, Tensor) and value.held is not None:
        held.stored = value.held
        return held
    held.now, held.changed = c.tensor(value), True
    return held


def _changed(kind: str) -> Translation:
    def translation(c: Context, call: Call, variable: Value, change: Value) -> Value:
        held = _held(variable)
        held.now, held.changed = c.op(kind, c.read(held), c.tensor(change)), True
        return held

    return translation


def _resource_gather(c: Context, call: Call, variable: Value, index: Value) -> Tensor:
    if int(call.get("batch_dims", 0)):
        raise UntranslatableError("a gather of a variable with batches")
    return c.op("Gather", c.tensor(variable), c.int64(c.tensor(index)), axis=0)


def _resource_gather_nd(c: Context, call: Call, variable: Value, index: Value) -> Tensor:
    return c.op("GatherND", c.tensor(variable), c.int64(c.tensor(index)))


def _scatter(reduction: str) -> Translation:
    def translation(c: Context, call: Call, variable: Value, index: Value, updates: Value) -> Value:
        held = _held(variable)
        places, change = c.op("Unsqueeze", c.int64(c.tensor(index)), c.ints([-1])), c.tensor(updates)
        if reduction == "sub":
            change = c.op("Neg", change)
        held.now = c.op("ScatterND", c.read(held), places, change, reduction=reduction.replace("sub", "add"))
        held.changed = True
        return held

    return translation


def _shape(c: Context, call: Call, variable: Value) -> Tensor:
    kind = onnx_kind(call.get("out_type", 3))
    return c.cast(c.shape_vector(c.tensor(variable)), kind or 6)


def _restore(c: Context, call: Call, *about: Value) -> list[Value]:
    """The values that a checkpoint has under the names given."""
    names = about[1]
    if not isinstance(names, Tensor) or names.held is None or c.program.bundle is None:
        raise UntranslatableError("a checkpoint that isn't there")
    found: list[Value] = []
    for name in names.held.ravel():
        key = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
        array = c.program.bundle.get(key)
        if array is None:
            found.append(Opaque(key))
        else:
            made = Tensor(key, 1, array.shape, array)
            found.append(made)
    return found


def _opaque(c: Context, call: Call, *values: Value) -> Value:
    return Opaque(call.op)


TRANSLATIONS: dict[str, Translation] = {
    "Assign": _assign,
    "AssignAdd": _changed("Add"),
    "AssignAddVariableOp": _changed("Add"),
    "AssignSub": _changed("Sub"),
    "AssignSubVariableOp": _changed("Sub"),
    "AssignVariableOp": _assign,
    "CheckNumerics": _pass,
    "CheckNumericsV2": _pass,
    "DebugGradientIdentity": _pass,
    "Identity": _pass,
    "IdentityN": _pass,
    "PreventGradient": _pass,
    "ReadVariableOp": _read,
    "RefIdentity": _pass,
    "ResourceGather": _resource_gather,
    "ResourceGatherNd": _resource_gather_nd,
    "ResourceScatterAdd": _scatter("add"),
    "ResourceScatterUpdate": _scatter("none"),
    "RestoreV2": _restore,
    "ScatterAdd": _scatter("add"),
    "ScatterSub": _scatter("sub"),
    "ScatterUpdate": _scatter("none"),
    "Snapshot": _pass,
    "StopGradient": _pass,
    "VarHandleOp": _handle,
    "VarIsInitializedOp": _opaque,
    "Variable": _handle,
    "VariableShape": _shape,
    "VariableV2": _handle,
}

HANDLES: frozenset[str] = frozenset(TRANSLATIONS)
"""All of these take a variable as such."""
