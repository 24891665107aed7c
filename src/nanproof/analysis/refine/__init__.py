"""Refinement on demand: what one pass leaves open is looked at again, part by part of what its values can be."""

from __future__ import annotations

from nanproof.analysis.refine.refining import Refined, refined
from nanproof.analysis.refine.search import Purse

__all__ = ["Purse", "Refined", "refined"]
