"""A witness in a few words: 'x = [0, 0, 104] gives -inf'."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nanproof.confirm.variables import Sample, Variable, ordinary
from nanproof.findings.wording import number

ITEMS = 6
"""Elements of a tensor that are listed."""
TENSORS = 3
"""Tensors that are described before the rest is counted."""


def summary(variables: Sequence[Variable], sample: Sample, gives: str) -> str:
    """The tensors of a witness that aren't ordinary, and what they give."""
    telling = [v for v in variables if not np.array_equal(sample[v.name], ordinary(v))] or list(variables)
    telling.sort(key=lambda v: (v.is_weight, v.size > ITEMS))
    parts = [f"{v.name} {_told(sample[v.name])}" for v in telling[:TENSORS]]
    if len(telling) > TENSORS:
        parts.append(f"{len(telling) - TENSORS} more")
    what = ", ".join(parts) if parts else "any input"
    return f"{what} {'give' if len(parts) > 1 else 'gives'} {gives}"


def _told(array: Any) -> str:
    flat = array.reshape(-1).astype(np.float64)
    if not flat.size:
        return "without elements"
    if flat.size == 1:
        return f"= {number(float(flat[0]))}"
    if (flat == flat[0]).all():
        return f"= {number(float(flat[0]))} everywhere"
    if flat.size <= ITEMS:
        return "= " + _nested(array.astype(np.float64))
    return f"({'x'.join(map(str, array.shape))}, {number(float(flat.min()))} to {number(float(flat.max()))})"


def _nested(array: Any) -> str:
    if not array.ndim:
        return number(float(array))
    return f"[{', '.join(_nested(part) for part in array)}]"
