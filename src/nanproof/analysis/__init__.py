"""From a Model to a verdict for every site: labelling, propagation, checking, explaining."""

from __future__ import annotations

from nanproof.analysis.analyse import analyse
from nanproof.analysis.options import Options

__all__ = ["Options", "analyse"]
