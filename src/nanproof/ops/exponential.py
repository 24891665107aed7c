"""Exponentials, logarithms and square roots."""

from __future__ import annotations

import math

from nanproof.domain.box import NAN, NINF, Box
from nanproof.numerics import scalar
from nanproof.ops.call import Call
from nanproof.ops.classes import increasing
from nanproof.ops.conditions import Requirement, X
from nanproof.ops.record import Op, around


def _vanishes(call: Call, x: Box) -> str | None:
    """Exp of a number that is negative enough is 0."""
    lo, hi = x.hull()
    if not lo <= hi or call.rounded(scalar.exp(lo), scalar.exp(hi), x.dtype)[0] > 0.0:
        return None
    last = math.log(x.dtype.quantum / 2.0) if x.dtype.quantum > 5e-324 else -745.1332191019412
    return f"exp(x) reaches 0 in {x.dtype.name} once x is below {last:.5g}; x goes down to {lo:.5g}"


EXP = Op(
    "Exp",
    run=lambda xp, x: xp.exp(x),
    bound=increasing,
    overflow="NP201",
    error="exp",
    explain=lambda call, boxes: _vanishes(call, boxes[0]),
    samples=around(0.0, 88.72, -87.34, -103.97, also=(11.09, 709.78, -745.0)),
)

LOG = Op(
    "Log",
    run=lambda xp, x: xp.log(x),
    bound=increasing,
    requires=(Requirement("NP101", X > 0, NAN | NINF),),
    smooth=(X > 0,),
    error="log",
    samples=around(0.0, 1.0, also=(1e-45, 3e38)),
)

SQRT = Op(
    "Sqrt",
    run=lambda xp, x: xp.sqrt(x),
    bound=increasing,
    requires=(Requirement("NP102", X >= 0, NAN),),
    smooth=(X > 0,),
    error="sqrt",
    samples=around(0.0, 1.0, also=(1e-45, 3e38)),
)

OPS = (EXP, LOG, SQRT)
