"""The stable rewrites: one file a family, an explicit tuple in each. What comes first is tried first."""

from __future__ import annotations

from nanproof.fix.rewrite import Rewrite
from nanproof.fix.rewrites import (
    exponentials,
    half,
    log_domain,
    log_one_minus,
    masks,
    norms,
    roots,
    softmax,
    trigonometry,
    variance,
)

REWRITES: tuple[Rewrite, ...] = (
    *log_domain.REWRITES,
    *log_one_minus.REWRITES,
    *softmax.REWRITES,
    *exponentials.REWRITES,
    *variance.REWRITES,
    *norms.REWRITES,
    *roots.REWRITES,
    *masks.REWRITES,
    *trigonometry.REWRITES,
    *half.REWRITES,
)

__all__ = ["REWRITES"]
