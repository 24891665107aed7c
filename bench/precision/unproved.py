"""The repaired graphs that aren't proved safe yet, each with what is missing.

The tests hold this list from both sides: what is proved must leave it, and nothing else may need it.
"""

from __future__ import annotations

from collections.abc import Mapping

UNPROVED: Mapping[str, str] = {
    "safe_norm of optax": "a condition on the norm says nothing of the rows yet",
    "exact GELU": "written out with Erf, x * (1 + erf(x)) is bounded factor by factor",
    "sinc": "near 0, sin(x) / x needs |sin(x)| <= |x|",
    "masked by multiplication": "x * m + (1 - m) for m of 0 and 1 takes a split of m",
    "rectifiers that cancel": "1 + relu(x) - relu(-x) - x: that the middle is x isn't known to the linear relations",
}
