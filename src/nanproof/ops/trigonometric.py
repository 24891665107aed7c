"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from nanproof.domain.box import INFS, NAN, Box
from nanproof.numerics.dtypes import FLOAT64
from nanproof.ops.call import Call
from nanproof.ops.classes import decreasing, elementwise, increasing, least, most, unimodal
from nanproof.ops.conditions import Requirement, X
from nanproof.ops.elementwise import Pair
from nanproof.ops.pairs import space
from nanproof.ops.record import Op, Samples, around

HALF_PI = math.pi / 2.0
SAFE = 1e5
"""Up to here, float64 counts quarter turns with an error under 1e-10."""


@cache
def _half_pi_bits() -> tuple[int, int]:
    """(pi / 2) * 2**shift as an integer, and the shift: enough bits for every float64, by Machin's formula."""
    shift = 1300

    def arctan_of_inverse(n: int) -> int:
        term = (1 << shift) // n
        total, k, sign = term, 1, -1
        while term:
            term //= n * n
            k += 2
            total += sign * (term // k)
            sign = -sign
        return total

    return 2 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239)), shift


def quarter_turns(x: float) -> int:
    """floor(x / (pi / 2)), exact for every float: no float64 but 0 is a multiple of pi / 2."""
    if -SAFE < x < SAFE:
        turns = x / HALF_PI
        whole = math.floor(turns)
        if 1e-9 < turns - whole < 1.0 - 1e-9:
            return whole
    numerator, denominator = float(x).as_integer_ratio()
    half_pi, shift = _half_pi_bits()
    return (numerator << shift) // (denominator * half_pi)


def _turns(x: Any) -> Any:
    """Quarter turns of a float; of an array as integers of any size."""
    if isinstance(x, (float, int)):
        return quarter_turns(x)
    return np.frompyfunc(quarter_turns, 1, 1)(np.asarray(x, np.float64))


def _reaches(first: Any, last: Any, residue: int) -> Any:
    """Whether a number that is ``residue`` modulo 4 lies in (first, last]."""
    found = (last - residue) // 4 > (first - residue) // 4
    return found if isinstance(found, bool) else np.asarray(found, bool)


def _wave(peak: int) -> Any:
    def rule(f: Any, x: Pair) -> Pair:
        xp = space(*x)
        first, last = _turns(x[0]), _turns(x[1])
        ends = f(x[0]), f(x[1])
        lo = xp.where(_reaches(first, last, peak + 2), -1.0, least(*ends))
        return lo, xp.where(_reaches(first, last, peak), 1.0, most(*ends))

    rule.__name__ = "wave"
    rule.__doc__ = "Extremes are at the ends and at the odd (sine) or even (cosine) quarter turns between them."
    return elementwise(rule)


def _tangent(call: Call, x: Box) -> Box:
    """Rises between its poles, which no float hits.

    The largest magnitude over all float64 is 2.2e18 (6381956970095103 * 2**797 is
    nearest to a pole); over all float32, and so over all narrower floats, 6.2e8.
    """
    largest = 2.2e18 if x.dtype is FLOAT64 else 6.3e8

    def rule(f: Any, x: Pair) -> Pair:
        xp = space(*x)
        first, last = _turns(x[0]), _turns(x[1])
        pole = (last + 1) // 2 > (first + 1) // 2
        pole = pole if isinstance(pole, bool) else np.asarray(pole, bool)
        return xp.where(pole, -largest, f(x[0])), xp.where(pole, largest, f(x[1]))

    return elementwise(rule)(call, x)


SIN = Op(
    "Sin",
    run=lambda xp, x: xp.sin(x),
    bound=_wave(1),
    error="sin",
    samples=around(0.0, HALF_PI, -HALF_PI, 3 * HALF_PI, also=(1e5, 1e9)),
)

COS = Op(
    "Cos",
    run=lambda xp, x: xp.cos(x),
    bound=_wave(0),
    error="cos",
    samples=around(0.0, HALF_PI, math.pi, -math.pi, also=(1e5, 1e9)),
)

TAN = Op(
    "Tan",
    run=lambda xp, x: xp.tan(x),
    bound=_tangent,
    overflow="NP214",  # float16 only: 177.5 is next to a pole
    error="tan",
    samples=around(0.0, HALF_PI, -HALF_PI, also=(1.0, 177.5)),
)

_INSIDE = (X >= -1.0) & (X <= 1.0)
_STRICTLY = (X > -1.0) & (X < 1.0)

ASIN = Op(
    "Asin",
    run=lambda xp, x: xp.asin(x),
    bound=increasing,
    requires=(Requirement("NP107", _INSIDE, NAN),),
    smooth=(_STRICTLY,),
    error="asin",
    samples=around(0.0, 1.0, -1.0),
)

ACOS = Op(
    "Acos",
    run=lambda xp, x: xp.acos(x),
    bound=decreasing,
    requires=(Requirement("NP107", _INSIDE, NAN),),
    smooth=(_STRICTLY,),
    error="acos",
    samples=around(0.0, 1.0, -1.0),
)

ATAN = Op(
    "Atan", run=lambda xp, x: xp.atan(x), bound=increasing, error="atan", samples=around(0.0, 1.0, -1.0, also=(1e30,))
)

SINH = Op(
    "Sinh",
    run=lambda xp, x: xp.sinh(x),
    bound=increasing,
    overflow="NP201",
    error="sinh",
    samples=around(0.0, 88.72, 89.41, -88.72, also=(11.7, 710.4)),
)

COSH = Op(
    "Cosh",
    run=lambda xp, x: xp.cosh(x),
    bound=unimodal(0.0),
    overflow="NP201",
    error="cosh",
    samples=around(0.0, 88.72, 89.41, -88.72, also=(11.7, 710.4)),
)

TANH = Op(
    "Tanh",
    run=lambda xp, x: xp.tanh(x),
    bound=increasing,
    error="tanh",
    explain=lambda call, boxes: _saturates(call, boxes[0]),
    samples=around(0.0, 1.0, -1.0, 9.0, -9.0, also=(4.9, 19.0)),
)

ASINH = Op(
    "Asinh",
    run=lambda xp, x: xp.asinh(x),
    bound=increasing,
    error="asinh",
    samples=around(0.0, 1.0, -1.0, also=(1e30,)),
)

ACOSH = Op(
    "Acosh",
    run=lambda xp, x: xp.acosh(x),
    bound=increasing,
    requires=(Requirement("NP108", X >= 1.0, NAN),),
    smooth=(X > 1.0,),
    error="acosh",
    samples=around(1.0, also=(0.0, 2.0, 1e30)),
)

ATANH = Op(
    "Atanh",
    run=lambda xp, x: xp.atanh(x),
    bound=increasing,
    requires=(Requirement("NP109", _STRICTLY, NAN | INFS),),
    smooth=(_STRICTLY,),
    error="atanh",
    samples=Samples((0.0, 1.0, -1.0, 0.99)),
)


def _saturates(call: Call, x: Box) -> str | None:
    lo, hi = x.hull()
    if not lo <= hi:
        return None
    low, high = call.rounded(math.tanh(lo), math.tanh(hi), x.dtype)
    ends = [text for text, there in (("-1", low <= -1.0), ("1", high >= 1.0)) if there]
    if not ends:
        return None
    return (
        f"tanh(x) reaches {' and '.join(ends)} in {x.dtype.name} ({call.setting.runtime}) for x in [{lo:.5g}, {hi:.5g}]"
    )


OPS = (SIN, COS, TAN, ASIN, ACOS, ATAN, SINH, COSH, TANH, ASINH, ACOSH, ATANH)
