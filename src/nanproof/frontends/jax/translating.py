"""A jaxpr -> ONNX nodes, equation by equation, with calls inlined and every equation at its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nanproof.findings.errors import InputError
from nanproof.frontends.jax.lines import Lines
from nanproof.frontends.jax.writing import FOREIGN, Block

INLINED = frozenset({
    "jit", "pjit", "call", "closed_call", "core_call", "eval_jaxpr", "remat", "remat2", "checkpoint", "remat_opt", "composite",
    "custom_jvp_call", "custom_jvp_call_jaxpr", "custom_vjp_call", "custom_vjp_call_jaxpr", "custom_vmap_call", "linear_call",
})  # fmt: skip
"""Primitives that call a function of the program: its equations take their place."""
BODIES = ("jaxpr", "call_jaxpr", "fun_jaxpr", "callee", "call")
GRADIENT = "gradient"
SAID = {"erf_inv": "erfinv", "integer_pow": "pow", "cbrt": "pow"}
"""Primitives whose derivatives are known under another name."""
KEY_BITS = np.dtype(np.uint32)
"""What stands for a random key: one number. Which one it is makes no difference to the ranges of what is drawn."""


class UnmappedError(Exception):
    """An equation that has no counterpart in ONNX, with the reason if it is not that the primitive is unknown."""


@dataclass(frozen=True, slots=True)
class Type:
    """Type and sizes of a value; a size may be an expression over open ones."""

    dtype: np.dtype[Any]
    shape: tuple[Any, ...]

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_float(self) -> bool:
        """Whether this is a float of any width: those of ml_dtypes have a kind of their own."""
        return self.dtype.kind == "f" or (self.dtype.kind == "V" and "float" in self.dtype.name)

    @property
    def is_bool(self) -> bool:
        return self.dtype.kind == "b"

    @property
    def is_unsigned(self) -> bool:
        return self.dtype.kind == "u"


@dataclass(frozen=True, slots=True)
class Equation:
    """One application of a primitive, as rules see it."""

    name: str
    inputs: tuple[str, ...]
    operands: tuple[Type, ...]
    results: tuple[Type, ...]
    params: Mapping[str, Any]


Rule = Callable[["Translator", Block, Equation], "str | Sequence[str]"]


@dataclass(slots=True)
class Translator:
    """Walks jaxprs. ``unmapped`` collects the primitives without a counterpart, with the reason."""

    rules: Mapping[str, Rule]
    lines: Lines
    titles: Mapping[int, str] = field(default_factory=dict)
    """Names that the program has for arrays it closes over, by identity."""
    paired: bool = False
    """Whether nodes say which call of the program they belong to: a graph with derivatives."""
    forward_known: bool = True
    """Whether it is known which results are those of the forward pass; else lines and names have to tell."""
    unmapped: dict[str, str] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    """The primitive of each call: the first one that was written."""
    casts: dict[str, str] = field(default_factory=dict)
    """Numbers that were made of truth values -> those, so that a branch's condition stays recognisable."""

    def run(self, block: Block, closed: Any, operands: Sequence[str]) -> list[str]:
        """Write the equations of a closed jaxpr into a block, and return the names of its results."""
        jaxpr, consts = (closed.jaxpr, closed.consts) if hasattr(closed, "consts") else (closed, ())
        known: dict[Any, str] = {}
        known.update(zip(jaxpr.constvars, (self.kept(block, value) for value in consts), strict=True))
        known.update(zip(jaxpr.invars, operands, strict=True))
        return self.equations(block, jaxpr, known)

    def kept(self, block: Block, value: Any) -> str:
        """The name of an array that the program closes over: its own name, and once only."""
        title = self.titles.get(id(value))
        if title is None or is_key(getattr(value, "dtype", None)):
            return stored(block, value)
        key = ("closed over", id(value))
        if key not in block.book.known:
            block.book.known[key] = block.book.store(np.asarray(value), title)
        return block.book.known[key]

    def equations(self, block: Block, jaxpr: Any, known: dict[Any, str]) -> list[str]:
        """Write equations; ``known`` names the values of the variables that are there already."""

        def value(atom: Any) -> str:
            return known[atom] if not hasattr(atom, "val") else stored(block, atom.val, atom.aval.dtype)

        for equation in jaxpr.eqns:
            before = block.place, block.phase, block.derives, block.pair
            block.place = self.lines.line(equation) or block.place
            if self.lines.is_backward(equation):
                block.phase = GRADIENT
            if self.paired:
                self._pair(block, equation)
            results = self._equation(block, equation, tuple(value(atom) for atom in equation.invars))
            for variable, name in zip(equation.outvars, results, strict=True):
                known[variable] = name
                kind = type_of(variable.aval)
                if name in block.made and name not in block.book.types:
                    block.book.declare(name, kind.dtype, kind.shape)
            block.place, block.phase, block.derives, block.pair = before
        return [value(atom) for atom in jaxpr.outvars]

    def _pair(self, block: Block, equation: Any) -> None:
        """Say which call of the program the next nodes compute or derive."""
        name = SAID.get(equation.primitive.name, equation.primitive.name)
        block.pair = f"{block.pair}/{self.lines.call(equation)}"
        block.derives = self.calls.setdefault(block.pair, name)
        if self.lines.is_derived(equation) and block.derives != name and not self.forward_known:
            block.phase = GRADIENT

    def _equation(self, block: Block, equation: Any, inputs: tuple[str, ...]) -> Sequence[str]:
        name = equation.primitive.name
        if name in INLINED:
            body = next((equation.params[key] for key in BODIES if hasattr(equation.params.get(key), "eqns")), None)
            if body is not None:
                return self.run(block, body, inputs)
        label, block.label = block.label, name.replace("-", "_")
        operands = tuple(type_of(atom.aval) for atom in equation.invars)
        results = tuple(type_of(variable.aval) for variable in equation.outvars)
        seen = Equation(name, inputs, operands, results, equation.params)
        mark = len(block.nodes)
        try:
            found = self.rules.get(name, _unmapped)(self, block, seen)
            return [found] if isinstance(found, str) else found
        except UnmappedError as reason:
            del block.nodes[mark:]
            self.unmapped.setdefault(name, str(reason))
            return self._unknown(block, seen)
        finally:
            block.label = label

    def _unknown(self, block: Block, equation: Equation) -> Sequence[str]:
        """A node that no record knows: any value of the declared type."""
        if not equation.results:
            return []
        inputs = [name for name in equation.inputs if name]
        return block.emit(equation.name, *inputs, outputs=len(equation.results), domain=FOREIGN)


def _unmapped(_: Translator, block: Block, eqn: Equation) -> str:
    raise UnmappedError


def type_of(aval: Any) -> Type:
    """The type of an abstract value. Random keys are numbers here."""
    dtype, shape = getattr(aval, "dtype", None), getattr(aval, "shape", None)
    if dtype is None or shape is None:
        raise InputError(f"a value of the kind {type(aval).__name__} has no counterpart in ONNX")
    return Type(KEY_BITS if is_key(dtype) else np.dtype(dtype), tuple(shape))


def is_key(dtype: Any) -> bool:
    """Whether a type is that of random keys."""
    return not isinstance(dtype, np.dtype) and "key<" in str(dtype)


def stored(block: Block, value: Any, dtype: Any = None) -> str:
    """The name of a stored value of the program. A literal is of the type that the equation gives it."""
    kind = getattr(value, "dtype", None) if dtype is None else dtype
    if is_key(kind):
        return block.constant(np.zeros(np.shape(value), KEY_BITS))
    return block.constant(np.asarray(value, kind))
