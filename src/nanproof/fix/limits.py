"""How much a change may change."""

from __future__ import annotations

NEAR = 4.0
"""A change of the outputs by so many units in the last place ends the search: nothing better is to be expected."""
APART = 0.01
"""A change of ordinary outputs by more than this share of the largest is another computation, and no fix."""
