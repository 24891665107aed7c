"""A Keras model as a TensorFlow function, and so as ONNX."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nanproof.findings.errors import InputError
from nanproof.frontends.keras.lines import following
from nanproof.frontends.tensorflow import live

if TYPE_CHECKING:
    from nanproof.frontends.leaves import Exported
    from nanproof.frontends.programs.objects import Program
    from nanproof.frontends.request import Request


def exported(program: Program, request: Request, label: str) -> Exported:
    """The model as ONNX, as it is used (or, if asked, as it is trained)."""
    live.quiet()
    import keras

    backend = keras.backend.backend()
    if backend != "tensorflow":
        raise InputError(
            f"{label} is a Keras model on {backend}: set KERAS_BACKEND=tensorflow, or name a function of {backend} that calls it"
        )
    import tensorflow as tf

    model = program.model
    training = request.mode == "train"
    given = program.inputs is not None or program.kwargs or request.inputs is not None or request.specs
    specs = None if given else _specs(model, label)

    def called(*args: Any, **kwargs: Any) -> Any:
        return model(*args, training=training, **kwargs)

    function, lines = tf.function(called), dict[str, str]()
    with following(lines):
        if specs is None:
            traced, names = live.concrete_of(replace(program, model=function), request, label), []
        else:
            traced = live.concrete(function, [specs], {}, label)
            names = [tensor.name for tensor in keras.tree.flatten(specs)]
    told = live.Told(names, _output_names(model), lines)
    return live.handed(live.from_function(traced, label, told))


def _specs(model: Any, label: str) -> Any:
    """What a model says of its inputs, in the structure in which it takes them."""
    import keras
    import tensorflow as tf

    inputs = getattr(model, "_inputs_struct", None)
    if inputs is None and model.built:
        listed = getattr(model, "inputs", None) or [
            tf.TensorSpec(shape, model.compute_dtype, "input") for shape in _built_for(model)
        ]
        inputs = listed[0] if len(listed) == 1 else None
    if inputs is None:
        raise InputError(
            f"{label} has no inputs yet: build it with keras.Input, name a pair (model, inputs), "
            'or describe them, --input "x=float32[N,10]"'
        )
    return keras.tree.map_structure(
        lambda tensor: tf.TensorSpec(tensor.shape, tensor.dtype, name=tensor.name.rsplit(":", 1)[0]), inputs
    )


def _built_for(model: Any) -> list[tuple[int | None, ...]]:
    """The shape that a model written as a class was built for, if it is one."""
    shapes = list((model.get_build_config() or {}).get("shapes_dict", {}).values()) or [
        (model.get_build_config() or {}).get("input_shape")
    ]
    return [tuple(shape) for shape in shapes if shape and all(size is None or isinstance(size, int) for size in shape)]


def _output_names(model: Any) -> list[str]:
    return list(getattr(model, "output_names", None) or ())
