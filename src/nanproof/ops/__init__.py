"""What each operator means: one record an operator, in one small file a family."""

from __future__ import annotations

from nanproof.ops.record import Op
from nanproof.ops.registry import OPS, lookup

__all__ = ["OPS", "Op", "lookup"]
