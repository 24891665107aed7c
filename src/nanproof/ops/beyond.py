"""Functions that ONNX has no operator for and frameworks have: log1p, expm1 and their kin, in a domain of our own.

Front ends write them with an ONNX function as their body, so that any runtime can run the model; the analysis reads the
record, which knows more than the parts would say.
"""

from __future__ import annotations

import math
from typing import Any

from nanproof.domain.box import INFS, NAN, NINF
from nanproof.ops.classes import elementwise, increasing, least, most
from nanproof.ops.conditions import Requirement, X
from nanproof.ops.elementwise import Pair
from nanproof.ops.pairs import space
from nanproof.ops.record import Case, Op, Operand, Samples

DOMAIN = "nanproof"
_USUAL = (Case((Operand((5, 4)),)), Case((Operand(()),)))
_INSIDE = (X > -1.0) & (X < 1.0)

LOG1P = Op(
    "Log1p",
    domain=DOMAIN,
    run=lambda xp, x: xp.log1p(x),
    bound=increasing,
    requires=(Requirement("NP101", X > -1.0, NAN | NINF),),
    smooth=(X > -1.0,),
    error="log1p",
    samples=Samples((0.0, -1.0, 1.0, 1e-10, -0.41, 3e38, -1e-40), _USUAL),
)

EXPM1 = Op(
    "Expm1",
    domain=DOMAIN,
    run=lambda xp, x: xp.expm1(x),
    bound=increasing,
    overflow="NP201",
    error="expm1",
    samples=Samples((0.0, 88.72, -17.0, 1e-10, 11.09, 709.78), _USUAL),
)

EXP2 = Op(
    "Exp2",
    domain=DOMAIN,
    run=lambda xp, x: xp.exp2(x),
    bound=increasing,
    overflow="NP201",
    error="exp2",
    samples=Samples((0.0, 1.0, 128.0, -126.0, -149.0, 16.0), _USUAL),
)

CBRT = Op(
    "Cbrt",
    domain=DOMAIN,
    run=lambda xp, x: xp.cbrt(x),
    bound=increasing,
    smooth=(X.isnt(0.0),),
    error="cbrt",
    samples=Samples((0.0, 1.0, -1.0, 8.0, 3e38, 1e-40), _USUAL),
)

ERF_INV = Op(
    "ErfInv",
    domain=DOMAIN,
    run=lambda xp, x: xp.erfinv(x),
    bound=increasing,
    requires=(Requirement("NP109", _INSIDE, NAN | INFS),),
    smooth=(_INSIDE,),
    error="erfinv",
    samples=Samples((0.0, 1.0, -1.0, 0.99, 1.0 - 2.0**-24), _USUAL),
)


def _angle(f: Any, y: Pair, x: Pair) -> Pair:
    """The angle of a rectangle that neither holds the origin nor meets the negative half of the first axis is extreme at its
    corners; of any other it can be anything. No class fits: the angle jumps there.
    """
    xp = space(*y, *x)
    corners = [f(a, b) for a in y for b in x]
    away = (x[0] > 0.0) | (y[0] > 0.0) | (y[1] < 0.0)
    return xp.where(away, least(*corners), -math.pi), xp.where(away, most(*corners), math.pi)


ATAN2 = Op(
    "Atan2",
    domain=DOMAIN,
    run=lambda xp, y, x: xp.atan2(y, x),
    bound=elementwise(_angle),
    error="atan2",
    samples=Samples(
        (0.0, 1.0, -1.0, 1e-40, 3e38, -3e38),
        # 0 and -0 are one number to the laws, and their angles with a negative number are pi and -pi
        (
            Case((Operand((5, 4)), Operand((4,), low=1e-3))),
            Case((Operand((9,), low=1e-3), Operand((9,), stored=True))),
            Case((Operand((9,), high=-1e-3), Operand((9,)))),
        ),
    ),
)

OPS = (LOG1P, EXPM1, EXP2, CBRT, ERF_INV, ATAN2)
