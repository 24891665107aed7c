"""What a function is called with: arrays by name, which of them are weights, and what is no array and stays as it is."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nanproof.findings.errors import InputError
from nanproof.frontends.descriptions import described
from nanproof.frontends.programs.objects import Program, as_tuple
from nanproof.frontends.request import Request

WEIGHTS = frozenset({"params", "parameters", "param", "weights", "variables", "theta", "model", "net", "module"})
"""Arguments of these names hold what training changes; so do those that end in _params or _weights."""
SELF = "model"


@dataclass(frozen=True, slots=True)
class Leaf:
    """One array among the arguments. ``value`` is None where only its type is known."""

    name: str
    dtype: Any
    shape: tuple[Any, ...]
    value: Any = None
    weight: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """How to call a function with arrays in a row: ``function(*arrays)``."""

    function: Any
    leaves: tuple[Leaf, ...]
    static: tuple[str, ...] = ()
    """Names of arguments that are no arrays and keep the value that they have."""
    rest: tuple[Any, ...] = ()
    """Inputs that are left over, for the loss."""
    named: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """Sizes that descriptions give a name: {(input, axis): name}."""


def call_of(program: Program, request: Request, label: str) -> Call:
    """The call of a program with its example inputs. The caller's win over the program's own."""
    import jax

    signature = signature_of(program.model, label)
    named: dict[tuple[str, int], str] = {}
    args, kwargs = program.inputs or (), dict(program.kwargs)
    if request.inputs is not None:
        given = request.inputs
        args, kwargs = ((), dict(given)) if isinstance(given, Mapping) else (as_tuple(given), {})
    elif request.specs:
        sizes: dict[str, int] = {}
        for name, text in request.specs.items():
            kwargs[name], names = _made(name, text, sizes)
            named.update({(name, axis): symbol for axis, symbol in names.items()})
    bound, rest = _bound(signature, args, kwargs, (program, request, label))
    roots = dict(bound.arguments)
    own = _arrays_in(program.model)
    flat: list[Leaf] = []
    static: list[str] = []
    keys: list[tuple[Any, Any, list[bool]]] = []
    owners = [(SELF, program.model, True)] if own else []
    owners += [(name, value, is_weights(name, value)) for name, value in roots.items()]
    for name, value, weights in owners:
        found, tree = jax.tree_util.tree_flatten_with_path(value)
        taken = [is_array(leaf) for _, leaf in found]
        keys.append((tree, [leaf for _, leaf in found], taken))
        for (path, leaf), array in zip(found, taken, strict=True):
            where = path_name(name, path, signature)
            if array:
                flat.append(_leaf(where, leaf, weight=weights))
            elif leaf is not None and not callable(leaf):
                static.append(where)

    def function(*arrays: Any) -> Any:
        left = iter(arrays)
        values = [
            jax.tree_util.tree_unflatten(tree, [next(left) if array else leaf for leaf, array in zip(old, taken, strict=True)])
            for tree, old, taken in keys
        ]  # fmt: skip
        model = values.pop(0) if own else program.model
        called = signature.bind_partial()
        called.arguments = dict(zip(roots, values, strict=True))
        return model(*called.args, **called.kwargs)

    return Call(function, tuple(flat), tuple(static), rest, named)


def signature_of(model: Any, label: str) -> inspect.Signature:
    """How a function is called."""
    try:
        return inspect.signature(model)
    except (TypeError, ValueError):
        raise InputError(f"{label} doesn't say which arguments it takes: wrap it in a function of your own") from None


def is_array(leaf: Any) -> bool:
    """Whether a leaf is an array, or a number that JAX would make one of; truth values of Python are settings."""
    if isinstance(leaf, bool) or leaf is None:
        return False
    return isinstance(leaf, (int, float, complex, np.ndarray, np.generic)) or (
        hasattr(leaf, "dtype") and hasattr(leaf, "shape")
    )


def is_weights(name: str, value: Any) -> bool:
    """Whether an argument holds weights: by its name, or because it is a module that can be called."""
    low = name.lower()
    if low in WEIGHTS or low.endswith(("_params", "_weights", "_variables")):
        return True
    return callable(value) and _arrays_in(value)


def path_name(root: str, path: tuple[Any, ...], signature: inspect.Signature | None = None) -> str:
    """``params.layers.0.w`` for a leaf of a tree."""
    parts = [root]
    for key in path:
        for attribute in ("key", "name", "idx"):
            if hasattr(key, attribute):
                parts.append(str(getattr(key, attribute)))
                break
        else:
            parts.append(str(key))
    return ".".join(parts)


def _arrays_in(model: Any) -> bool:
    """Whether an object is a tree of arrays, as the modules of some libraries are."""
    import jax

    leaves = jax.tree_util.tree_leaves(model)
    return not (len(leaves) == 1 and leaves[0] is model) and any(is_array(leaf) for leaf in leaves)


def _leaf(name: str, leaf: Any, *, weight: bool) -> Leaf:
    import jax

    if isinstance(leaf, jax.ShapeDtypeStruct):
        return Leaf(name, leaf.dtype, tuple(leaf.shape), None, weight)
    array = leaf if hasattr(leaf, "dtype") else jax.numpy.asarray(leaf)
    dtype = jax.dtypes.canonicalize_dtype(array.dtype) if isinstance(array.dtype, np.dtype) else array.dtype
    return Leaf(name, dtype, tuple(array.shape), leaf, weight)


def _bound(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], about: tuple[Program, Request, str]
) -> tuple[inspect.BoundArguments, tuple[Any, ...]]:
    """The arguments by name, and the positional ones that are too many."""
    program, request, label = about
    parameters = list(signature.parameters.values())
    places = [p for p in parameters if p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD} and p.name not in kwargs]
    rest = program.targets or ()
    if not any(p.kind is p.VAR_POSITIONAL for p in parameters) and len(args) > len(places):
        if program.loss is None and request.loss is None:
            raise InputError(f"{label} takes {len(places)} inputs and {len(args)} are given")
        args, rest = args[: len(places)], (*args[len(places) :], *rest)
    missing = [p.name for p in places[len(args) :] if p.default is p.empty]
    missing += [
        p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty and p.name not in kwargs
    ]
    if missing:
        raise InputError(
            f"{label} takes {', '.join(missing)}: give example inputs, as a pair (function, inputs) in the program or as "
            f'descriptions such as --input "{missing[0]}=float32[N,10]"'
        )
    try:
        return signature.bind(*args, **kwargs), rest
    except TypeError as error:
        raise InputError(f"{label} can't be called with its example inputs: {error}") from None


KINDS = (
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool",
    "complex64", "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip
"""Types that a description may name."""


def _made(name: str, text: str, sizes: dict[str, int]) -> tuple[Any, dict[int, str]]:
    """An array type of a description, and which of its axes have a name."""
    import jax

    kind, shape, named = described(name, text, sizes, KINDS)
    return jax.ShapeDtypeStruct(shape, jax.numpy.dtype(kind)), named
