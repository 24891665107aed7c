"""Which optimiser takes the step: an object, a class or a function of the parameters, or text such as ``adam(lr=1e-3, eps=1e-10)``."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nanproof.findings.errors import InputError
from nanproof.findings.names import hint
from nanproof.frontends.torch.update.lines import line_of, noted

if TYPE_CHECKING:
    from nanproof.frontends.programs.objects import Program
    from nanproof.frontends.request import Request

_CALL = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", re.DOTALL)
NEEDS_MORE = {
    "LBFGS": "it computes the loss several times in one step",
    "SparseAdam": "it takes sparse gradients only, which no exported graph has",
}
"""Optimisers whose step is no function of gradients and state."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """An optimiser over the module's own parameters.

    place  the user's line that makes it, as 'file:line'; empty where nobody's line does
    clip   the norm that all gradients together are cut to before the step; None for none
    """

    optimizer: Any
    place: str = ""
    clip: float | None = None

    @property
    def name(self) -> str:
        return type(self.optimizer).__name__


def chosen(program: Program, request: Request, parameters: Sequence[Any], label: str) -> Chosen:
    """The optimiser that the request names, else the one that the program has."""
    import torch

    asked = program.optimizer
    clip = request.clip_norm if request.clip_norm is not None else program.clip_norm
    if asked is None:
        raise InputError(
            f'{label} has no optimiser: name one, --optimizer adam or --optimizer "sgd(lr=0.1, momentum=0.9)", or put it under '
            '"optimizer" in the dict that the program gives'
        )
    if isinstance(asked, str):
        asked = _of_text(asked)
    if not isinstance(asked, torch.optim.Optimizer):
        asked = _made(asked, [p for p in parameters if p.requires_grad], label)
    kind = type(asked).__name__
    if kind in NEEDS_MORE:
        raise InputError(f"{label}: the step of {kind} can't be checked: {NEEDS_MORE[kind]}")
    return Chosen(asked, line_of(asked), _norm(clip, label))


def known() -> dict[str, Any]:
    """PyTorch's optimisers by their names in small letters."""
    import torch

    base = torch.optim.Optimizer
    found = [kind for kind in vars(torch.optim).values() if inspect.isclass(kind) and issubclass(kind, base)]
    return {kind.__name__.lower(): kind for kind in found if kind is not base}


def _of_text(text: str) -> Any:
    """A function of parameters, of ``adam`` or ``adam(lr=1e-3)``. Nothing of the text is run."""
    form = _CALL.fullmatch(text)
    if form is None:
        raise InputError(
            f'--optimizer "{text}": write a name, or a name with settings, such as "adam(lr=1e-3, eps=1e-8)"'
        )
    kinds = known()
    kind = kinds.get(form[1].lower())
    if kind is None:
        raise InputError(
            f'--optimizer "{text}": neither the program nor PyTorch has it: {hint(form[1].lower(), list(kinds))}'
        )
    settings = _settings(text, form[2] or "")
    allowed = [name for name in inspect.signature(kind).parameters if name != "params"]
    for name in settings:
        if name not in allowed:
            raise InputError(f'--optimizer "{text}": {kind.__name__} has no setting "{name}": {hint(name, allowed)}')

    def make(parameters: Any) -> Any:
        try:
            return kind(parameters, **settings)
        except (TypeError, ValueError) as error:
            raise InputError(f'--optimizer "{text}": {kind.__name__} refuses its settings: {error}') from None

    return make


def called(text: str, parameters: str) -> str | None:
    """The text as Python that calls one of PyTorch's; None for anything else."""
    form = _CALL.fullmatch(text)
    kind = None if form is None else known().get(form[1].lower())
    if form is None or kind is None:
        return None
    return f"{kind.__name__}({', '.join(filter(None, (parameters, (form[2] or '').strip())))})"


def _settings(text: str, inner: str) -> Mapping[str, Any]:
    wrong = InputError(
        f'--optimizer "{text}": settings are names with plain values, such as "adam(lr=1e-3, betas=(0.9, 0.99))"'
    )
    try:
        call = ast.parse(f"_({inner})", mode="eval").body
    except (SyntaxError, ValueError):
        raise wrong from None
    if not isinstance(call, ast.Call) or call.args or any(word.arg is None for word in call.keywords):
        raise wrong
    try:
        return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise wrong from None


def _made(maker: Any, parameters: list[Any], label: str) -> Any:
    """What a class or a function makes of the parameters."""
    import torch

    if not callable(maker):
        raise InputError(
            f"{label}: the optimiser is a {type(maker).__name__}: give a torch.optim.Optimizer, or a function of the parameters"
        )
    with noted():
        try:
            made = maker(parameters)
        except InputError:
            raise
        except Exception as error:
            text = " ".join(str(error).split())[:200]
            raise InputError(f"{label}: making the optimiser raised {type(error).__name__}: {text}") from error
    if not isinstance(made, torch.optim.Optimizer):
        raise InputError(
            f"{label}: what should make the optimiser gives a {type(made).__name__}, no torch.optim.Optimizer"
        )
    return made


def _norm(clip: Any, label: str) -> float | None:
    if clip is None:
        return None
    if isinstance(clip, bool) or not isinstance(clip, (int, float)) or not 0 < clip < float("inf"):
        raise InputError(f"{label}: gradients are clipped to a norm, a number above 0; {clip!r} is none")
    return float(clip)
