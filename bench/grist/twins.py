"""Cases in TensorFlow: as TensorFlow 1 graphs, and as Keras models. Their sites are the lines with the same marks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal

from nanproof.frontends.keras.lines import watch
from nanproof.frontends.opened import Opened
from nanproof.frontends.opening import open_target

from .case import Case, Input

Form = Literal["tf1", "keras"]
FORMS: tuple[Form, ...] = ("tf1", "keras")
_FILES = {"tf1": ("regressions", "networks", "tensorfuzz", "generative", "small_tests"), "keras": ("layers",)}


@dataclass(frozen=True, slots=True)
class Twin:
    """What was read of a case: the model, and the names of its weights by those in the case."""

    opened: Opened
    weights: Mapping[str, str]


def ids(form: Form) -> tuple[str, ...]:
    """The cases that there are in a form."""
    return tuple(_programs(form))


def twin(case: Case, form: Form, *, training: bool = False) -> Twin:
    """The case as it is read by nanproof's front end; with ``training`` the gradients and the optimiser's step too."""
    quiet()
    if form == "keras":
        return _keras(_programs(form)[case.id]())
    return Twin(open_target(graph_of(case, training=training)), {})


def graph_of(case: Case, *, training: bool = False) -> Any:
    """The loss of a case as a tensor of a graph of its own; with ``training``, and the operation that minimises it."""
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default():
        v1.set_random_seed(1)
        given = {item.name: v1.placeholder(_kind(tf, item), _shape(item), item.name) for item in case.inputs}
        loss = _programs("tf1")[case.id](given)
        if training and case.training is not None:
            return loss, _optimiser(v1, case).minimize(loss)
        return loss


def _kind(tf: Any, item: Input) -> Any:
    return tf.int32 if item.role == "index" else tf.float32


def _shape(item: Input) -> list[int | None]:
    """With an open batch, unless the program has its samples in its source."""
    return list(item.shape) if item.values is not None or not item.shape else [None, *item.shape[1:]]


def _optimiser(v1: Any, case: Case) -> Any:
    training = case.training
    assert training is not None
    step = training.learning_rate
    made = {
        "sgd": v1.train.GradientDescentOptimizer, "adam": v1.train.AdamOptimizer, "adagrad": v1.train.AdagradOptimizer,
        "rmsprop": v1.train.RMSPropOptimizer, "momentum": lambda rate: v1.train.MomentumOptimizer(rate, 0.9),
    }  # fmt: skip
    return made[training.optimizer](step)


def _keras(model: Any) -> Twin:
    names = {}
    for layer in model.layers:
        for weight in layer.weights:
            short = layer.name if weight.name == "kernel" else layer.name.replace("W", "b")
            names[short] = weight.path
    return Twin(open_target(model), names)


@cache
def _programs(form: Form) -> dict[str, Any]:
    quiet()
    package = __name__.rpartition(".")[0]
    folder, table = ("graphs", "GRAPHS") if form == "tf1" else ("models", "MODELS")
    if form == "keras":
        watch()
    found: dict[str, Any] = {}
    for name in _FILES[form]:
        found.update(getattr(import_module(f"{package}.{folder}.{name}"), table))
    return found


def quiet() -> None:
    """Keep TensorFlow's start-up messages to itself."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
