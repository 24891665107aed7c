"""The laws that every record obeys, by name.

A law is a function ``law(subject, rng, effort)`` that yields a Breach for everything that doesn't fit. ``effort``
is the number of Boxes to draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from nanproof.testing.laws.breach import Breach
from nanproof.testing.laws.concrete import concrete
from nanproof.testing.laws.fused import fused
from nanproof.testing.laws.order import exact_on_points, monotone, paths_agree
from nanproof.testing.laws.readings import readings
from nanproof.testing.laws.robust import robust
from nanproof.testing.single import Subject

Law: TypeAlias = "Callable[[Subject, np.random.Generator, int], Iterator[Breach]]"

LAWS: Mapping[str, Law] = MappingProxyType(
    {
        "concrete": concrete,
        "points": exact_on_points,
        "monotone": monotone,
        "paths": paths_agree,
        "robust": robust,
        "readings": readings,
        "fused": fused,
    }
)
