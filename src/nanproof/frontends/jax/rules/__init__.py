"""What each primitive is in ONNX: one table a family, put together here.

A rule takes the translator, the block to write into and the equation, and returns the names of the results. It raises
``UnmappedError`` with a reason for what it can't say; then the result is any value of its type, and a note says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from nanproof.frontends.jax.rules import (
    bits,
    choosing,
    control,
    convolution,
    elementwise,
    filling,
    gathering,
    products,
    reducing,
    running,
    scattering,
    shaping,
    slicing,
    sorting,
    types,
    windows,
)

if TYPE_CHECKING:
    from nanproof.frontends.jax.translating import Rule

_FAMILIES = (
    bits, choosing, control, convolution, elementwise, filling, gathering, products, reducing, running, scattering, shaping,
    slicing, sorting, types, windows,
)  # fmt: skip

RULES: Mapping[str, Rule] = MappingProxyType(
    {name: rule for family in _FAMILIES for name, rule in family.RULES.items()}
)
