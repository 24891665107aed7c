"""A model together with its loss as one module, whose first output is the loss and whose parameters keep their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from nanproof.findings.errors import InputError
from nanproof.frontends.programs.objects import Program
from nanproof.frontends.torch.examples import Examples, signature_of

MODEL = "model"
PREFIX = f"{MODEL}."
"""What the names of parameters begin with in the module with the loss."""


def with_loss(program: Program, loss: Any, given: Examples, label: str) -> tuple[Any, Examples]:
    """The module that computes the loss, and what to call it with.

    The loss is what ``loss`` makes of the outputs and of the inputs left over; without one, it is the model's output, the
    first of them, or what it calls its loss. The other outputs come after it, cut off from the gradients.
    """
    import torch

    model, asked = program.model, loss if loss is not None else program.loss
    extra = _parameters_of(asked, given.rest, label) if asked is not None else ()
    signature = signature_of(model)
    own = list(signature.parameters.values())

    def forward(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        count = len(args) - len(extra)
        outputs = model(*args[:count], **kwargs)
        value = asked(outputs, *args[count:]) if asked is not None else _loss_in(outputs)
        return (_one_number(value, label, has_loss=asked is not None), *_others(outputs, value))

    module = torch.nn.Module()
    module.model = model
    if isinstance(asked, torch.nn.Module):
        module.objective = asked
    module.forward = forward
    forward.__signature__ = inspect.Signature(_in_order(own, given, extra))  # type: ignore[attr-defined]
    return module, replace(given, args=(*given.args, *given.rest), rest=())


def _in_order(own: list[inspect.Parameter], given: Examples, extra: tuple[str, ...]) -> list[inspect.Parameter]:
    """The model's parameters that are given by position, then those of the loss, then those given by name."""
    kinds = inspect.Parameter
    positional = [p for p in own if p.kind in {kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD}]
    first = positional[: len(given.args)]
    by_name = [p for p in own if p.name in given.kwargs and p not in first]
    variable = [p for p in own if p.kind is kinds.VAR_POSITIONAL]
    spread = [
        kinds(f"{p.name}_{i}", kinds.POSITIONAL_ONLY) for p in variable for i in range(len(given.args) - len(first))
    ]
    taken = {p.name for p in (*first, *by_name, *spread)}
    names = [name if name not in taken else f"{name}_of_loss" for name in extra]
    head = [p.replace(kind=kinds.POSITIONAL_ONLY, default=kinds.empty) for p in first]
    named = [kinds(name, kinds.POSITIONAL_ONLY) for name in names]
    tail = [p.replace(kind=kinds.KEYWORD_ONLY, default=kinds.empty) for p in by_name]
    loose = [kinds(name, kinds.KEYWORD_ONLY) for name in given.kwargs if name not in {p.name for p in by_name}]
    return [*head, *spread, *named, *tail, *loose]


def _parameters_of(loss: Callable[..., Any], rest: tuple[Any, ...], label: str) -> tuple[str, ...]:
    """What the loss calls the inputs that are left over for it."""
    try:
        signature = signature_of(loss)
        bound = signature.bind(None, *rest)
    except TypeError as error:
        count = f"{len(rest)} input{'s' if len(rest) != 1 else ''} left over"
        raise InputError(
            f"{label}: the loss can't be called with the model's outputs and {count}: {error}; "
            "give what it needs after the model's own inputs"
        ) from None
    except ValueError:  # a builtin without a signature
        return tuple(f"target_{i}" if i else "target" for i in range(len(rest)))
    names: list[str] = []
    for name, value in bound.arguments.items():
        several = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        names += [f"{name}_{i}" for i in range(len(value))] if several else [name]
    return tuple(names[1:])


def _loss_in(outputs: Any) -> Any:
    """The loss that a model returns itself."""
    if isinstance(outputs, Mapping):
        return outputs["loss"] if "loss" in outputs else next(iter(outputs.values()), None)
    if getattr(outputs, "loss", None) is not None:
        return outputs.loss
    return outputs[0] if isinstance(outputs, (tuple, list)) and outputs else outputs


def _one_number(value: Any, label: str, *, has_loss: bool) -> Any:
    import torch

    way = "return the mean or the sum" if has_loss else "name a loss, --loss NAME (loss=... in Python)"
    if not isinstance(value, torch.Tensor):
        raise InputError(f"{label}: the loss is a {type(value).__name__}, no tensor: {way}")
    if value.numel() != 1:
        raise InputError(
            f"{label}: the loss has the sizes {list(value.shape)}, and gradients are those of one number: {way}"
        )
    if not value.is_floating_point():
        raise InputError(f"{label}: the loss is of type {value.dtype}, which has no gradient: {way}")
    if not value.requires_grad:
        raise InputError(
            f"{label}: the loss depends on nothing that has a gradient: it is detached, computed under no_grad, or out of "
            "operators that are not differentiable"
        )
    return value


def _others(outputs: Any, loss: Any) -> tuple[Any, ...]:
    """The tensors that the model gives beside the loss."""
    import torch
    from torch.utils import _pytree as pytree

    leaves = list(outputs.values()) if isinstance(outputs, Mapping) else pytree.tree_leaves(outputs)
    return tuple(v.detach() for v in leaves if isinstance(v, torch.Tensor) and v is not loss)


def differentiated(module: Any, given: Examples, label: str) -> tuple[Examples, str]:
    """The example inputs with those marked that gradients are taken of, and a note on which gradients are checked.

    Gradients are those of parameters that are trained and of inputs that require one; of all float inputs, where nothing else
    is there.
    """
    import torch
    from torch.utils import _pytree as pytree

    trained = [name for name, p in module.named_parameters() if p.requires_grad]
    tensors = [v for v in pytree.tree_leaves((given.args, dict(given.kwargs))) if isinstance(v, torch.Tensor)]
    every = not trained and not any(v.requires_grad for v in tensors)

    def marked(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        wanted = value.requires_grad or (every and (value.is_floating_point() or value.is_complex()))
        return value.detach().clone().requires_grad_(wanted)

    args, kwargs = pytree.tree_map(marked, (given.args, dict(given.kwargs)))
    leaves = [v for v in pytree.tree_leaves((args, kwargs)) if isinstance(v, torch.Tensor)]
    count = sum(v.requires_grad for v in leaves)
    if not trained and not count:
        raise InputError(f"{label}: neither a parameter nor an input has a gradient: there is nothing to train")
    parts = [f"{len(trained)} parameter{'s' * (len(trained) != 1)}"] if trained else []
    parts += [f"{count} input{'s' * (count != 1)}"] if count else []
    return replace(given, args=args, kwargs=kwargs), f"gradients are those of {' and '.join(parts)}"
