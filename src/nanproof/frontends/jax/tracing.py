"""A call -> its jaxpr: with open sizes where they are asked for, and with the gradients of a loss where those are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nanproof.findings.errors import InputError
from nanproof.frontends.descriptions import Wishes, wishes
from nanproof.frontends.jax.arguments import Call, Leaf
from nanproof.frontends.jax.lines import Lines
from nanproof.frontends.programs.frames import innermost, shown
from nanproof.frontends.request import Request

LONGEST = 300


@dataclass(frozen=True, slots=True)
class Traced:
    """What came of a call.

    jaxpr     closed, with what nothing needs taken out
    outputs   the names of its results
    forward   how many of the results belong to the forward pass; None if that isn't known
    symbols   the names of open sizes, each with an input and the axis of it that has just this size
    """

    jaxpr: Any
    outputs: tuple[str, ...]
    forward: int | None
    symbols: dict[str, tuple[int, int]]


def traced(call: Call, request: Request, loss: Any, about: tuple[str, Lines]) -> Traced:
    """Trace a call; with phase "gradient" the loss comes first, then its gradients with regard to weights and float inputs."""
    import jax

    label, lines = about
    leaves = {leaf.name: _Axes(len(leaf.shape)) for leaf in call.leaves}
    named: dict[str, dict[int, str]] = {}
    for (name, axis), symbol in call.named.items():
        named.setdefault(name, {})[axis] = symbol
    wanted = wishes(request.dynamic, named, leaves)
    specs, symbols = _specs(call.leaves, wanted)
    function, outputs, forward = _function(call, request, loss, label)
    try:
        closed, shape = jax.make_jaxpr(function, return_shape=True)(*specs)
    except InputError:
        raise
    except Exception as error:
        raise _complaint(error, label, lines, sorted(symbols)) from error
    names = outputs or _output_names(shape)
    return Traced(_without_dead_code(closed), names, forward, symbols)


@dataclass(frozen=True, slots=True)
class _Axes:
    ndim: int


def _specs(leaves: Sequence[Leaf], wanted: Wishes) -> tuple[list[Any], dict[str, tuple[int, int]]]:
    import jax

    names = sorted(set(wanted.values()))
    dims = dict(zip(names, jax.export.symbolic_shape(", ".join(names)), strict=True)) if names else {}
    symbols: dict[str, tuple[int, int]] = {}
    specs = []
    for number, leaf in enumerate(leaves):
        shape = list(leaf.shape)
        for axis in range(len(shape)):
            name = wanted.get((leaf.name, axis))
            if name is not None:
                shape[axis] = dims[name]
                symbols.setdefault(name, (number, axis))
        specs.append(jax.ShapeDtypeStruct(tuple(shape), leaf.dtype))
    return specs, symbols


def _function(
    call: Call, request: Request, loss: Any, label: str
) -> tuple[Callable[..., Any], tuple[str, ...], int | None]:
    """What is traced, the names of its results if they are known already, and how many of them are forward."""
    import jax

    if request.phase == "forward":
        return call.function, (), None
    wished = [n for n, leaf in enumerate(call.leaves) if leaf.weight and _is_float(leaf)]
    inputs = [n for n, leaf in enumerate(call.leaves) if not leaf.weight and _is_float(leaf)]
    chosen = (*wished, *inputs)
    if not chosen:
        raise InputError(f"{label} has no float input or weight to take the gradient of")

    def scalar(*arrays: Any) -> Any:
        out = call.function(*arrays)
        if loss is not None:
            out = loss(out, *call.rest)
        leaves = jax.tree_util.tree_leaves(out)
        if loss is None and isinstance(out, tuple) and len(out) > 1 and getattr(leaves[0], "shape", None) == ():
            out = out[0]  # (loss, what else is of interest), as jax.grad takes it with has_aux
        if getattr(out, "shape", None) != ():
            raise InputError(
                f"{label} gives {_what(out)}, no loss of one number: name a loss, --loss NAME, a function of that and of the inputs left over"
            )
        return out

    names = ("loss", *(f"grad.{call.leaves[n].name}" for n in chosen))

    def both(*arrays: Any) -> list[Any]:
        value, gradients = jax.value_and_grad(scalar, argnums=chosen)(*arrays)
        return [value, *gradients]

    return both, names, 1


def _is_float(leaf: Leaf) -> bool:
    import jax

    return bool(jax.numpy.issubdtype(leaf.dtype, jax.numpy.floating))


def _what(out: Any) -> str:
    shape = getattr(out, "shape", None)
    return f"a tensor of shape {list(shape)}" if shape is not None else f"a {type(out).__name__}"


def _output_names(shape: Any) -> tuple[str, ...]:
    import jax

    from nanproof.frontends.jax.arguments import path_name

    found, _ = jax.tree_util.tree_flatten_with_path(shape)
    return tuple(path_name("out", path) for path, _ in found)


def _without_dead_code(closed: Any) -> Any:
    """The jaxpr without equations that no result needs, as compilers leave them out; all inputs stay."""
    from jax._src.interpreters import partial_eval

    jaxpr, _ = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars), instantiate=True)
    return jaxpr, closed.consts


def _complaint(error: Exception, label: str, lines: Lines, symbols: list[str]) -> InputError:
    frame = innermost(error.__traceback__, lines.owners)
    where = "" if frame is None else f"{shown(frame.filename)}:{frame.lineno}: "
    line = f" (`{frame.line.strip()}`)" if frame is not None and frame.line else ""
    kinds = {base.__name__ for base in type(error).__mro__}
    if kinds & {"ConcretizationTypeError", "TracerIntegerConversionError", "NonConcreteBooleanIndexError"}:
        return InputError(
            f"{where}{label} decides by the values of an array{line}, which no traced function can: use jnp.where, jax.lax.cond "
            "for a branch, jax.lax.while_loop for a loop; a number that is a setting belongs into a closure"
        )
    if symbols and ("InconclusiveDimensionOperation" in kinds or "symbolic" in str(error).lower()):
        return InputError(
            f"{where}{label} can't be traced with open sizes ({', '.join(symbols)}){line}: {_sentence(error)}; "
            "give those axes numbers"
        )
    return InputError(f"{where}{label} can't be traced with its example inputs{line}: {_sentence(error)}")


def _sentence(error: Exception) -> str:
    line = " ".join(str(error).strip().split("\n\n")[0].split()).rstrip(".")
    text = line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
