"""The one error of this package."""

from __future__ import annotations


class ShapeError(ValueError):
    """Two sizes can't fit, whatever the unknown ones turn out to be; the text says which and why."""
