"""Activations that ONNX Runtime fuses with the addition before them, and those that it names in an attribute."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import Any

from nanproof.dims import ShapeError
from nanproof.domain.box import Box
from nanproof.domain.moves import part as piece
from nanproof.ops.activations import GELU, SIGMOID, SOFTPLUS, SOFTSIGN, SWISH
from nanproof.ops.arithmetic import ADD, MUL
from nanproof.ops.call import Call
from nanproof.ops.composing import fits, loosened, part, softened
from nanproof.ops.contributed.moved import DOMAIN, contributed
from nanproof.ops.record import Case, Op, Operand, Samples
from nanproof.ops.rectifiers import ELU, HARD_SIGMOID, HARD_SWISH, LEAKY_RELU, RELU, SELU, THRESHOLDED_RELU
from nanproof.ops.rounding import CLIP
from nanproof.ops.trigonometric import TANH
from nanproof.ops.variadic import SUM

FLOATS = ("float32", "float16")
POINTS = (0.0, 1.0, -1.0, -0.75, -4.0, -6.0, 5.0, 3e38)


def gelu(call: Call, x: Box, *, tanh: bool = False) -> Box:
    """Gelu as a part; in float16, ONNX Runtime has a kernel of its own for it."""
    found = part(call, GELU, x, **({"approximate": "tanh"} if tanh else {}))
    return loosened(call, found, 4.0) if x.dtype.bits < 32 else found


def with_bias(call: Call, x: Box, bias: Box | None) -> Box:
    """X + bias, a vector over the last axis."""
    if bias is None:
        return x
    fits(bias, x.shape, "the bias")
    return part(call, ADD, x, bias)


def _bias_gelu(call: Call, x: Box, bias: Box) -> Box:
    """Gelu(x + bias)."""
    return loosened(call, gelu(call, with_bias(call, x, bias)), 2.0)


def _fast_gelu(call: Call, x: Box, bias: Box | None = None) -> Box:
    """Gelu by tanh of x + bias."""
    return loosened(call, gelu(call, with_bias(call, x, bias), tanh=True), 2.0)


def _split(call: Call, x: Box) -> tuple[Box, Box]:
    """The halves of the last axis."""
    if x.shape is None:
        return x, x
    size = x.shape[-1]
    if not isinstance(size, int):
        half = call.fresh("half")
        one = Box(x.dtype, (*x.shape[:-1], half), *x.hull(), x.flags)
        return one, one
    if size % 2:
        raise ShapeError(f"the last axis of {size} elements has no halves")

    axis = len(x.shape) - 1
    return piece(x, axis, (0, size // 2, 1)), piece(x, axis, (size // 2, size, 1))


def _bias_split_gelu(call: Call, x: Box, bias: Box) -> Box:
    """The first half of x + bias times the Gelu of the second."""
    left, right = _split(call, with_bias(call, x, bias))
    return loosened(call, part(call, MUL, left, gelu(call, right)), 2.0)


def _run_split(xp: Any, x: Any, bias: Any) -> Any:
    x = x + bias
    half = x.shape[-1] // 2
    return x[..., :half] * xp.gelu(x[..., half:])


def _bias_add(call: Call, x: Box, bias: Box, skip: Box) -> Box:
    """X + bias + skip."""
    return part(call, SUM, x, bias, skip)


_X, _BIAS = Operand((2, 3, 4)), Operand((4,))


def _samples(*cases: Case, dtypes: tuple[str, ...] = FLOATS) -> Samples:
    return Samples(POINTS, cases, dtypes)


BIAS_GELU = Op(
    "BiasGelu",
    run=lambda xp, x, bias: xp.gelu(x + bias),
    bound=_bias_gelu,
    overflow="NP203",
    domain=DOMAIN,
    samples=_samples(Case((_X, _BIAS)), Case((Operand((3, 4)), Operand((4,), stored=True))), dtypes=("float32",)),
)

FAST_GELU = Op(
    "FastGelu",
    run=lambda xp, x, bias=None: xp.gelu_tanh(x if bias is None else x + bias),
    bound=_fast_gelu,
    overflow="NP203",
    domain=DOMAIN,
    samples=_samples(Case((_X, _BIAS)), Case((_X,))),
)

BIAS_SPLIT_GELU = Op(
    "BiasSplitGelu",
    run=_run_split,
    bound=_bias_split_gelu,
    overflow="NP204",
    infinite="NP213",
    domain=DOMAIN,
    samples=_samples(Case((_X, _BIAS))),
)

BIAS_ADD = Op(
    "BiasAdd",
    run=lambda xp, x, bias, skip: x + bias + skip,
    bound=_bias_add,
    overflow="NP203",
    domain=DOMAIN,
    samples=_samples(Case((_X, _BIAS, _X))),
)

# -- activations named by an attribute ---------------------------------------------------------------------------

_NAMED: Mapping[str, tuple[Op, tuple[str, ...]]] = MappingProxyType(
    {
        "Relu": (RELU, ()),
        "Tanh": (TANH, ()),
        "Sigmoid": (SIGMOID, ()),
        "LeakyRelu": (LEAKY_RELU, ("alpha",)),
        "HardSigmoid": (HARD_SIGMOID, ("alpha", "beta")),
        "HardSwish": (HARD_SWISH, ()),
        "Elu": (ELU, ("alpha",)),
        "Selu": (SELU, ("alpha", "gamma")),
        "Softplus": (SOFTPLUS, ()),
        "Softsign": (SOFTSIGN, ()),
        "ThresholdedRelu": (THRESHOLDED_RELU, ("alpha",)),
        "Gelu": (GELU, ()),
        "QuickGelu": (SWISH, ("alpha",)),
        "SiLU": (SWISH, ()),
    }
)
"""Each with the parameters that it takes, in their order."""


def activated(call: Call, x: Box, name: str, given: Mapping[str, float]) -> Box:
    """An activation by its name, with its parameters. What is certain to overflow before it may be finite behind it."""
    softened(call)
    if name == "Clip":
        low, high = given.get("min", -inf), given.get("max", inf)
        ends = [None if abs(end) == inf else Box(x.dtype, (), end, end) for end in (low, high)]
        return part(call, CLIP, x, *ends)
    if name not in _NAMED:
        raise ShapeError(f'its activation "{name}" is not known')
    op, takes = _NAMED[name]
    return loosened(
        call, part(call, op, x, **{k: given[k] for k in takes if k in given}), 2.0 if op is not RELU else 0.0
    )


def parameters(name: str, values: tuple[float, ...]) -> dict[str, float]:
    """The parameters of an activation from the list that a fused Conv has."""
    takes = ("min", "max") if name == "Clip" else _NAMED[name][1] if name in _NAMED else ()
    return dict(zip(takes, values, strict=False))


def run_activated(xp: Any, x: Any, name: str, given: Mapping[str, float]) -> Any:
    """Its concrete meaning."""
    if name == "Clip":
        return xp.clip(x, given.get("min", -inf), given.get("max", inf))
    op, takes = _NAMED[name]
    return op.run(xp, x, **{k: given[k] for k in takes if k in given})


OWN_GELU = contributed(GELU, Case((Operand((2, 3)),)), bound=gelu, dtypes=FLOATS)

OPS = (OWN_GELU, BIAS_GELU, FAST_GELU, BIAS_SPLIT_GELU, BIAS_ADD)
