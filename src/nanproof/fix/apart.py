"""How far apart two results are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from nanproof.numerics.dtypes import of_numpy


def finite(value: Any) -> bool:
    """Whether no element is NaN or Inf; what has no floats is finite."""
    if value is None or not isinstance(value, np.ndarray) or value.dtype.kind not in "fV":
        return True
    with np.errstate(all="ignore"):
        return bool(np.isfinite(value.astype(np.float64)).all())


def difference(pairs: Iterable[tuple[Any, Any]]) -> tuple[float, float] | None:
    """The largest difference of the pairs, in ulps of the first one's type and as a share, both of its largest element.

    None if nothing can be compared.
    """
    found: tuple[float, float] | None = None
    for one, other in pairs:
        if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray) or one.shape != other.shape:
            continue
        if one.dtype.kind not in "fV" or not one.size or not (finite(one) and finite(other)):
            continue
        dtype = of_numpy(one.dtype)
        a, b = one.astype(np.float64), other.astype(np.float64)
        largest, apart = float(np.abs(a).max()), float(np.abs(a - b).max())
        ulps = apart / max(largest * 2.0 * dtype.unit, dtype.quantum)
        share = apart / max(largest, dtype.tiny)
        found = (ulps, share) if found is None else (max(found[0], ulps), max(found[1], share))
    return found
