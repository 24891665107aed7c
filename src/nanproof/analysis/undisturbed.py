"""Work on a million small objects without what gets in its way."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def undisturbed() -> Iterator[None]:
    """No NumPy warnings (Inf and NaN are our daily bread), no garbage collection (it doubles the time)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        if was_on:
            gc.enable()
