"""What a function is traced with: example inputs or descriptions of them, from the program or from the user."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nanproof.findings.errors import InputError
from nanproof.frontends.programs.objects import as_tuple

if TYPE_CHECKING:
    from nanproof.frontends.programs.objects import Program
    from nanproof.frontends.request import Request

_FORM = re.compile(r"\s*(\w+)\s*(?:\[([^\]]*)\])?\s*")
BATCH = "batch"


def asked_for(program: Program, request: Request, label: str, function: Any) -> tuple[list[Any], dict[str, Any]]:
    """Arguments that describe the inputs. The user's win over the program's own."""
    args: tuple[Any, ...] = program.inputs or ()
    kwargs: dict[str, Any] = dict(program.kwargs)
    if request.inputs is not None:
        given = request.inputs
        args, kwargs = ((), dict(given)) if isinstance(given, Mapping) else (as_tuple(given), {})
    elif request.specs:
        args, kwargs = (), {name: described(name, text) for name, text in request.specs.items()}
    elif not args and not kwargs:
        if getattr(function, "input_signature", None) is None and _needs_inputs(function):
            raise InputError(
                f"{label} doesn't say what its inputs are: give it an input_signature, name a pair (function, inputs), "
                'or describe them, --input "x=float32[N,10]"'
            )
        return [], {}
    opened = [_open(value, request.dynamic, name) for name, value in [*_positions(args), *kwargs.items()]]
    return opened[: len(args)], dict(zip(kwargs, opened[len(args) :], strict=True))


def described(name: str, text: str) -> Any:
    """A tensor's type and sizes, such as ``float32[N,10]``; a size with a name stays open."""
    import tensorflow as tf

    form = _FORM.fullmatch(text)
    kind = getattr(tf, form[1], None) if form else None
    if form is None or not isinstance(kind, tf.DType):
        raise InputError(f"--input {name}={text}: write a type and sizes, such as float32[N,3,32,32]")
    sizes = [part.strip() for part in (form[2] or "").split(",") if part.strip()]
    for size in sizes:
        if not (size.isdecimal() or size.partition("=")[0].isidentifier()):
            raise InputError(f'--input {name}={text}: "{size}" is no size: write 32 or N')
    return tf.TensorSpec([int(size) if size.isdecimal() else None for size in sizes], kind, name=name)


def _needs_inputs(function: Any) -> bool:
    import inspect

    python = getattr(function, "python_function", function)
    try:
        inspect.signature(python).bind()
    except TypeError:
        return True
    except ValueError:
        return False
    return False


def _positions(args: tuple[Any, ...]) -> list[tuple[str, Any]]:
    return [("", value) for value in args]


def _open(value: Any, dynamic: tuple[str, ...], name: str) -> Any:
    """An example as a description of tensors like it; sizes that the user wants open are so."""
    import tensorflow as tf

    def one(leaf: Any) -> Any:
        if isinstance(leaf, tf.TensorSpec) or not (hasattr(leaf, "dtype") and hasattr(leaf, "shape")):
            return leaf
        sizes: list[int | None] = [int(size) for size in leaf.shape]
        for wish in dynamic:
            if wish == "all":
                sizes = [None] * len(sizes)
            elif wish == BATCH and sizes:
                sizes[0] = None
            elif wish.partition(":")[0] == name and (axis := wish.partition(":")[2].partition("=")[0]).isdecimal():
                sizes[int(axis)] = None
        return tf.TensorSpec(sizes, tf.as_dtype(leaf.dtype), name=name or None)

    return tf.nest.map_structure(one, value)
