"""Exponentials, logarithms and square roots."""

from __future__ import annotations

from nanproof.domain.box import NAN, NINF
from nanproof.ops.classes import increasing
from nanproof.ops.conditions import Requirement, X
from nanproof.ops.record import Op, around

EXP = Op(
    "Exp",
    run=lambda xp, x: xp.exp(x),
    bound=increasing,
    overflow="NP201",
    error="exp",
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
