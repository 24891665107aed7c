"""Example inputs: from the program, from the caller, or made of descriptions such as ``x=float32[N,3,32,32]``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nanproof.findings.errors import InputError
from nanproof.findings.names import hint
from nanproof.frontends.descriptions import described
from nanproof.frontends.programs.objects import Program, as_tuple
from nanproof.frontends.request import Request

KINDS = (
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Examples:
    """What to call a model with. ``rest`` goes to the loss; ``named`` are sizes to keep open: {input: {axis: name}}."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    rest: tuple[Any, ...] = ()
    named: Mapping[str, Mapping[int, str]] = field(default_factory=dict)


def examples(program: Program, request: Request, label: str) -> Examples:
    """The example inputs of a program. The caller's win over the program's own."""
    signature = signature_of(program.model)
    named: dict[str, Mapping[int, str]] = {}
    args, kwargs = program.inputs, dict(program.kwargs)
    if request.inputs is not None:
        given = request.inputs
        args, kwargs = ((), dict(given)) if isinstance(given, Mapping) else (as_tuple(given), {})
    elif request.specs:
        args, kwargs = (), {}
        sizes: dict[str, int] = {}
        for name, text in request.specs.items():
            kwargs[name], named[name] = made(name, text, sizes)
    elif args is None and not kwargs:
        own = getattr(program.model, "example_inputs", getattr(program.model, "example_input_array", None))
        if own is not None:
            args, kwargs = ((), dict(own)) if isinstance(own, Mapping) else (as_tuple(own), {})
    rest = program.targets or ()
    if args is None and not kwargs and any(_needed(p) for p in signature.parameters.values()):
        wanted = [name for name, p in signature.parameters.items() if _needed(p)]
        raise InputError(
            f"{label} takes {', '.join(wanted)}: give example inputs, as a pair (model, inputs) in the program or as "
            f'descriptions such as --input "{wanted[0]}=float32[N,10]"'
        )
    args, kwargs, surplus = split(signature, args or (), kwargs)
    if surplus and not _takes_rest(program, request):
        raise InputError(f"{label} takes {len(args)} inputs and {len(args) + len(surplus)} are given")
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise InputError(
            f"{label} can't be called with its example inputs: {error}{_guess(kwargs, signature)}"
        ) from None
    return Examples(args, kwargs, (*surplus, *rest), named)


def signature_of(model: Any) -> inspect.Signature:
    """How the model is called."""
    return inspect.signature(model.forward if hasattr(model, "forward") else model)


def split(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], tuple[Any, ...]]:
    """Positional inputs as far as the model takes them, keyword inputs that it knows by position, and what is left over."""
    parameters = signature.parameters.values()
    positional = [p.name for p in parameters if p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD}]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return args, kwargs, ()
    surplus = args[len(positional) :]
    args = args[: len(positional)]
    known = any(p.kind is p.VAR_KEYWORD for p in parameters)
    if not known:
        left = [name for name in kwargs if name not in signature.parameters]
        surplus = (*surplus, *(kwargs[name] for name in left))
        kwargs = {name: value for name, value in kwargs.items() if name not in left}
    return args, kwargs, surplus


def made(name: str, text: str, sizes: dict[str, int]) -> tuple[Any, dict[int, str]]:
    """A tensor of a description, and which of its axes have a name. Sizes of one name are equal, in all inputs."""
    import torch

    dtype, shape, named = described(name, text, sizes, KINDS)
    kind = getattr(torch, dtype)
    if kind.is_floating_point or kind.is_complex:
        return torch.rand(shape, dtype=torch.float32 if not kind.is_complex else kind).to(kind), named
    return torch.zeros(shape, dtype=kind), named


def _needed(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and parameter.kind in {
        parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY,
    }  # fmt: skip


def _takes_rest(program: Program, request: Request) -> bool:
    return program.loss is not None or request.loss is not None


def _guess(kwargs: Mapping[str, Any], signature: inspect.Signature) -> str:
    for name in kwargs:
        if name not in signature.parameters:
            return f": {hint(name, list(signature.parameters))}"
    return ""
