"""From the name of an object to the object, and from what it is to a program: a model and what it is called with."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

from nanproof.findings.errors import InputError
from nanproof.findings.names import hint
from nanproof.frontends.programs.frames import place
from nanproof.frontends.programs.target import ProgramTarget, parse

KEYS = ("model", "inputs", "kwargs", "dynamic_shapes", "loss", "targets", "optimizer", "clip_norm")
CALLS = 3
"""Factories that return factories are called so many times."""
LIKE_MODELS = frozenset({
    "torch.nn.modules.module.Module", "torch.export.exported_program.ExportedProgram", "keras.src.models.model.Model",
    "keras.src.layers.layer.Layer",
})  # fmt: skip
"""Classes of frameworks whose instances (and subclasses that need no arguments) are models."""


@dataclass(frozen=True, slots=True)
class Program:
    """A model (or function) with what the program says of how it is called. None: it doesn't say.

    ``loss`` is called with the model's outputs and then with ``targets``. ``optimizer`` takes a step, an object of the
    framework's or a function of the parameters, on gradients that are cut to the norm ``clip_norm`` together.
    """

    model: Any
    inputs: tuple[Any, ...] | None = None
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    dynamic_shapes: Any = None
    loss: Any = None
    targets: tuple[Any, ...] | None = None
    optimizer: Any = None
    clip_norm: float | None = None
    make: Callable[[], Any] | None = field(default=None, compare=False)
    """Makes the model anew, with fresh weights; None where the program has just the one."""


def loaded(target: ProgramTarget) -> Any:
    """Import the module of a target and return the object. Runs the user's code."""
    module = _module(target)
    found: Any = module
    for number, part in enumerate(target.name.split(".")):
        if not hasattr(found, part):
            known = [name for name in vars(found) if not name.startswith("_")] if hasattr(found, "__dict__") else []
            guess = hint(part, known)
            owner = target.where if not number else ".".join(target.name.split(".")[:number])
            raise InputError(f'{owner} has no "{part}"' + (f": {guess}" if guess else ""))
        found = getattr(found, part)
    return found


def named(text: str, program: ProgramTarget | None) -> Any:
    """The object that an option names: in the target's own module, or with a file or module of its own."""
    other = parse(text)
    if other is not None:
        return loaded(other)
    if program is None:
        raise InputError(f'"{text}" needs a file or a module: write it as file.py:{text}')
    return loaded(ProgramTarget(text, program.file, program.module))


def named_or_text(text: str, program: ProgramTarget | None) -> Any:
    """The object that an option names, if the target's module has one of that name or a file is named, too; else the text."""
    if parse(text) is not None:
        return named(text, program)
    first = text.split(".", 1)[0]
    if program is None or not first.isidentifier() or not hasattr(_module(program), first):
        return text
    return named(text, program)


def program_of(found: Any, label: str, *, described: bool = False) -> Program:
    """What an object says: a model, a factory, a (model, inputs) pair, or a dict with the keys of ``KEYS``.

    A function that needs arguments is itself the model where its inputs are ``described`` elsewhere.
    """
    made, program = _called_through(found, label, described=described)
    if made is found:
        return program
    return replace(program, make=lambda: _called_through(found, label, described=described)[1].model)


def _called_through(found: Any, label: str, *, described: bool) -> tuple[Any, Program]:
    """What factories make in the end, and what that says."""
    for _ in range(CALLS):
        if isinstance(found, Mapping) and "model" in found:
            return found, _from_mapping(found, label)
        if isinstance(found, (tuple, list)):
            return found, _from_tuple(found, label)
        if inspect.isclass(found) and is_model(found):
            found = called(found, label, f"{label} needs arguments: name a function that makes the model instead")
        elif inspect.isfunction(found) or inspect.isbuiltin(found) or inspect.ismethod(found):
            if described and _needs_arguments(found):
                break
            found = called(
                found,
                label,
                f"{label} needs arguments: name a function that takes none, or say what they are, such as --input x=float32[N,10]",
            )
        else:
            break
    return found, Program(found)


def is_model(found: Any) -> bool:
    """Whether an object, or the instances of a class, are models of a framework that we know."""
    kind = found if inspect.isclass(found) else type(found)
    return any(f"{base.__module__}.{base.__qualname__}" in LIKE_MODELS for base in kind.__mro__)


def called(function: Callable[..., Any], label: str, otherwise: str) -> Any:
    """The result of a call without arguments, or one sentence on why there is none."""
    if _needs_arguments(function):
        raise InputError(otherwise)
    try:
        return function()
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{place(error.__traceback__)}{label} raised {_raised(error)}") from error


def _needs_arguments(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind()
    except TypeError:
        return True
    except ValueError:
        return False  # a builtin without a signature
    return False


def _from_mapping(found: Mapping[str, Any], label: str) -> Program:
    for key in found:
        if key not in KEYS:
            raise InputError(f'{label}: the key "{key}" means nothing: {hint(str(key), KEYS)}')
    inputs = found.get("inputs")
    by_name = dict(inputs) if isinstance(inputs, Mapping) else {}
    return Program(
        _instance(found["model"], label),
        None if inputs is None else () if by_name else as_tuple(inputs),
        {**by_name, **dict(found.get("kwargs") or {})},
        found.get("dynamic_shapes"),
        found.get("loss"),
        None if found.get("targets") is None else as_tuple(found["targets"]),
        found.get("optimizer"),
        found.get("clip_norm"),
    )


def _from_tuple(found: tuple[Any, ...] | list[Any], label: str) -> Program:
    if not 2 <= len(found) <= 3 or (len(found) == 3 and not isinstance(found[2], Mapping)):
        raise InputError(
            f"{label}: a pair is (model, inputs), or (model, inputs, keyword inputs); this has {len(found)}"
        )
    inputs = found[1]
    kwargs: Mapping[str, Any] = found[2] if len(found) == 3 else {}
    if isinstance(inputs, Mapping):
        return Program(_instance(found[0], label), (), {**inputs, **kwargs})
    return Program(_instance(found[0], label), as_tuple(inputs), dict(kwargs))


def _instance(model: Any, label: str) -> Any:
    if inspect.isclass(model) and is_model(model):
        return called(model, label, f"{label}: {model.__name__} needs arguments: give an instance")
    return model


def as_tuple(inputs: Any) -> tuple[Any, ...]:
    """Positional inputs: one alone needs no tuple."""
    return tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)


def _module(target: ProgramTarget) -> ModuleType:
    try:
        if target.file is None:
            assert target.module is not None
            sys.path.insert(0, "")
            return importlib.import_module(target.module)
        return _module_of_file(target)
    except InputError:
        raise
    except SystemExit as stop:
        raise InputError(
            f"{target.where} ends the process when it is imported (exit code {stop.code}): "
            'keep what runs under `if __name__ == "__main__":`'
        ) from None
    except ModuleNotFoundError as error:
        if target.module is not None and error.name in {target.module, target.module.split(".", 1)[0]}:
            raise InputError(
                f"there is no module {error.name} (looked in the current folder and on Python's path)"
            ) from None
        raise InputError(
            f"{place(error.__traceback__)}{target.where} needs the module {error.name}, which is not installed"
        ) from error
    except Exception as error:
        raise InputError(f"{place(error.__traceback__)}importing {target.where} raised {_raised(error)}") from error


def _module_of_file(target: ProgramTarget) -> ModuleType:
    """Import a file as Python would run it: its folder comes first on the path, its name is its own. Once: a loss and an
    optimiser that options name are those that the model knows.
    """
    assert target.file is not None
    file = target.file.resolve()
    other = f"_nanproof_{abs(hash(str(file)))}"
    for known in (sys.modules.get(file.stem), sys.modules.get(other)):
        if getattr(known, "__file__", None) == str(file):
            return known  # type: ignore[return-value]
    sys.path.insert(0, str(file.parent))
    name = file.stem if file.stem.isidentifier() and file.stem not in sys.modules else other
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"{target.where} can't be imported as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _raised(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__
