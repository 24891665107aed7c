"""Objects of a program that uses TensorFlow, as graphs: functions and modules are traced, TensorFlow 1 graphs taken as they are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nanproof.findings.errors import InputError
from nanproof.frontends.leaves import Exported
from nanproof.frontends.programs.frames import innermost, shown
from nanproof.frontends.tensorflow import converting
from nanproof.frontends.tensorflow.converting import Converted, Question, convert
from nanproof.frontends.tensorflow.graph import ARGUMENT, Body, Call, Graph, Ref, read
from nanproof.frontends.tensorflow.messages import message
from nanproof.frontends.tensorflow.saving import save
from nanproof.frontends.tensorflow.signatures import asked_for
from nanproof.frontends.tensorflow.tensors import onnx_kind
from nanproof.frontends.tensorflow.traces import places

if TYPE_CHECKING:
    from nanproof.frontends.programs.objects import Program
    from nanproof.frontends.request import Request


def exported(program: Program, request: Request, label: str) -> Exported:
    """The program as ONNX, whatever it is."""
    quiet()
    import tensorflow as tf

    model = program.model
    if isinstance(model, tf.Graph):
        found = from_graph(model, _wanted(model, program.inputs or ()))
    elif _is_symbolic(model):
        found = from_graph(model.graph, [model, *(item for item in program.inputs or () if _is_symbolic(item))])
    else:
        found = from_function(concrete_of(program, request, label), label)
    return handed(found)


def handed(found: Converted) -> Exported:
    """What a front end hands on."""
    return Exported(lambda path: save(found.proto, path), converting.RUNTIME, list(found.notes), dict(found.roles))


def quiet() -> None:
    """Keep TensorFlow's start-up messages, and the graphics cards, out of it."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")


def _is_symbolic(model: Any) -> bool:
    return {"SymbolicTensor", "Operation"} & {base.__name__ for base in type(model).__mro__} != set()


def _wanted(graph: Any, named: Sequence[Any]) -> list[Any]:
    return [graph.as_graph_element(item) if isinstance(item, str) else item for item in named]


# ------------------------------------------------------------------------------------------------------- traced functions


def concrete_of(program: Program, request: Request, label: str) -> Any:
    """A function or a module, traced with what it says of its inputs."""
    import tensorflow as tf

    model = program.model
    if hasattr(model, "structured_input_signature") and hasattr(model, "captured_inputs"):
        return model  # a concrete function
    if not callable(model):
        raise InputError(f"{label} is a {type(model).__name__}, which can't be called")
    function = model if hasattr(model, "get_concrete_function") else _as_function(tf, model)
    args, kwargs = asked_for(program, request, label, function)
    return concrete(function, args, kwargs, label)


def concrete(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], label: str) -> Any:
    """A function traced with descriptions of its inputs. Raises InputError with the user's line where that fails."""
    try:
        return function.get_concrete_function(*args, **kwargs)
    except InputError:
        raise
    except Exception as error:
        raise _complaint(error, label) from error


def _as_function(tf: Any, model: Any) -> Any:
    if isinstance(model, tf.Module) and hasattr(model.__call__, "get_concrete_function"):
        return model.__call__
    return tf.function(model)


def _complaint(error: Exception, label: str) -> InputError:
    frame = innermost(error.__traceback__)
    where = "" if frame is None else f"{shown(frame.filename)}:{frame.lineno}: "
    text = " ".join(str(error).split())[:300].rstrip(".")
    return InputError(f"{where}{label} can't be traced with its example inputs: {type(error).__name__}: {text}")


@dataclass(frozen=True, slots=True)
class Told:
    """What a caller knows of a traced function: names of its inputs and outputs, and lines of its operators."""

    names: Sequence[str] = ()
    outputs: Sequence[str] = ()
    lines: Mapping[str, str] = field(default_factory=dict)


def from_function(function: Any, label: str, told: Told | None = None) -> Converted:
    """A traced function as ONNX. What it captures is stored in the model."""
    told = told or Told()
    inner = function.graph
    graph = _read(inner, told.lines)
    captured = {held.op.name: value for value, held in inner.captures}
    variables = {id(variable.handle): variable for variable in inner.variables}
    arguments: list[tuple[str, Any]] = []
    stored: dict[str, Any] = {}
    for name, value in captured.items():
        variable = variables.get(id(value))
        if variable is not None:
            path = _free(variable.name.rsplit(":", 1)[0], stored)
            stored[path] = variable.numpy()
            arguments.append((name, path))
        elif onnx_kind(value.dtype.as_datatype_enum) is not None:
            arguments.append((name, value.numpy()))
    free = [tensor.op.name for tensor in inner.inputs if tensor.op.name not in captured]
    shown_as = dict(zip(free, [*told.names, *free[len(told.names) :]], strict=True))
    results = {name: (tensor.op.name, tensor.value_index) for name, tensor in _outputs(function, told.outputs).items()}
    effects = [operation.name for operation in inner.control_outputs]
    main = _with_arguments(graph.main, [name for name, _ in arguments])
    question = Question(shown_as, results, effects, stored=stored, arguments=arguments)
    try:
        return convert(replace(graph, main=main), question)
    except InputError as error:
        raise InputError(f"{label}: {error}") from None


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """The name, with a number where another variable has it: layers of one name are told apart by their order."""
    number, free = 1, name
    while free in taken:
        free = f"{name}_{number}"
        number += 1
    return free


def _outputs(function: Any, names: Sequence[str]) -> dict[str, Any]:
    """The tensors that a function hands back, by name."""
    tensors = list(function.outputs)
    structure = function.structured_outputs
    if len(names) == len(tensors):
        keys = list(names)
    elif isinstance(structure, Mapping) and len(structure) == len(tensors):
        keys = [str(key) for key in sorted(structure)]
    else:
        keys = ["output"] if len(tensors) == 1 else [f"output_{number}" for number in range(len(tensors))]
    return dict(zip(keys, tensors, strict=True))


def _with_arguments(main: Body, names: Sequence[str]) -> Body:
    calls: dict[str, Call] = dict(main.calls)
    for name in names:
        calls[name] = Call(name, ARGUMENT)
    return replace(main, calls=calls, parameters=tuple(names))


def _read(graph: Any, lines: Mapping[str, str] | None = None) -> Graph:
    definition = message("GraphDef")
    definition.ParseFromString(graph.as_graph_def(add_shapes=True).SerializeToString())
    own = {("", name): line for name, line in (lines or {}).items()}
    return read(definition, {**places(graph), **own})


# ------------------------------------------------------------------------------------------------------ TensorFlow 1 graphs


def from_graph(graph: Any, wanted: Sequence[Any]) -> Converted:
    """A TensorFlow 1 graph as ONNX, its variables as their initialisers set them up."""
    found = _read(graph)
    outputs: dict[str, Ref] = {}
    effects: list[str] = []
    for item in wanted:
        if hasattr(item, "value_index"):
            outputs[item.op.name] = (item.op.name, item.value_index)
        else:
            effects.append(item.name)
    return convert(found, Question(outputs=outputs, effects=effects, stored=initial_values(graph)))


def initial_values(graph: Any) -> dict[str, Any]:
    """What the variables of a graph hold once they are set up; the same every time, whatever seeds the program left out."""
    import tensorflow as tf

    variables = graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)
    if not variables:
        return {}
    definition = graph.as_graph_def()
    for number, node in enumerate(definition.node):
        if "seed" in node.attr and not node.attr["seed"].i and not node.attr["seed2"].i:
            node.attr["seed"].i, node.attr["seed2"].i = number + 1, 1
    with tf.Graph().as_default() as copy:
        tf.graph_util.import_graph_def(definition, name="")
        setters = [copy.get_operation_by_name(variable.initializer.name) for variable in variables]
        with tf.compat.v1.Session(graph=copy) as session:
            for setter in setters:  # one after the other: some are set from others
                session.run(setter)
            values = session.run([_reading(tf, copy, variable) for variable in variables])
            return dict(zip([variable.op.name for variable in variables], values, strict=True))


def _reading(tf: Any, graph: Any, variable: Any) -> Any:
    """What a variable holds, as a tensor of a copy of its graph."""
    if not hasattr(variable, "handle"):
        return graph.get_tensor_by_name(variable.name)
    handle = graph.get_tensor_by_name(variable.handle.name)
    return tf.raw_ops.ReadVariableOp(resource=handle, dtype=variable.dtype.base_dtype)
