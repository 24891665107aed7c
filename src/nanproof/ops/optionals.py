"""Optional values: wrapped, asked for, unwrapped. A tensor or a sequence counts as an optional that is there."""

from __future__ import annotations

from typing import Any

import numpy as np

from nanproof.domain.box import Box, nothing, of_array
from nanproof.domain.series import Maybe
from nanproof.numerics.dtypes import BOOL, FLOAT32
from nanproof.ops.call import Call
from nanproof.ops.record import Case, Op, Operand, Samples

_X = Operand((2, 3))


def _optional(call: Call, x: Box | None = None) -> Box:
    """The operand, there for sure; without an operand, nothing."""
    if x is None:
        return Maybe(nothing(FLOAT32, None), present=False)
    return x if isinstance(x, Maybe) else Maybe(x, present=True)


OPTIONAL = Op(
    "Optional",
    run=lambda xp, x=None, **_: x,
    bound=_optional,
    exact=True,
    samples=Samples(cases=(Case((_X,)),)),
)


def _element(call: Call, x: Box) -> Box:
    """What the optional holds. Where it holds nothing the runtime stops, so that there is no result to bound."""
    return x.inner if isinstance(x, Maybe) else x


OPTIONAL_GET_ELEMENT = Op(
    "OptionalGetElement",
    run=lambda xp, x, **_: x,
    bound=_element,
    exact=True,
    samples=Samples(cases=(Case((_X,)),), dtypes=("float32", "int64")),
)


def _has(call: Call, x: Box | None = None) -> Box:
    """Depends on whether there is a value, not on the value."""
    present = False if x is None else x.present if isinstance(x, Maybe) else True
    if present is None:
        return Box(BOOL, (), 0.0, 1.0)
    return of_array(BOOL, np.asarray(present))


def _run_has(xp: Any, x: Any = None, **_: Any) -> Any:
    return xp.asarray(x is not None)


OPTIONAL_HAS_ELEMENT = Op(
    "OptionalHasElement",
    run=_run_has,
    bound=_has,
    exact=True,
    result="bool",
    stops=True,
    samples=Samples(cases=(Case((_X,)), Case((Operand(absent=True),))), dtypes=("float32", "int64")),
)

OPS = (OPTIONAL, OPTIONAL_GET_ELEMENT, OPTIONAL_HAS_ELEMENT)
