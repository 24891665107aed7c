"""Interval arithmetic for operators that are a formula of several rounded steps.

The precision of the intermediate results, and whether a product and a sum are fused,
is the runtime's own affair. So every step is widened by one rounding in the operator's
dtype at both ends: that holds for each of its steps in that dtype or in any finer one.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import TypeAlias

from nanproof.numerics.dtypes import DType

Ends: TypeAlias = "tuple[float, float]"

OWN = 2.0**-51
"""The rounding of the analysis's own float64 step."""


class Steps:
    """The steps of one formula; ``over`` says that some intermediate result may have left the dtype."""

    __slots__ = ("dtype", "over")

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype
        self.over = False

    def near(self, lo: float, hi: float, ulps: float = 1.0) -> Ends:
        """A real-valued interval, widened by ``ulps`` roundings; NaN (of infinite ends) says nothing."""
        if lo != lo or hi != hi:
            self.over = True
            return -inf, inf
        rate, quantum = ulps * self.dtype.unit * 2.0 + OWN, self.dtype.quantum
        lo, hi = lo - abs(lo) * rate - quantum, hi + abs(hi) * rate + quantum
        if lo < self.dtype.min or hi > self.dtype.max:
            self.over = True
        return lo, hi

    def add(self, x: Ends, y: Ends) -> Ends:
        """X + y."""
        return self.near(x[0] + y[0], x[1] + y[1])

    def sub(self, x: Ends, y: Ends) -> Ends:
        """X - y."""
        return self.near(x[0] - y[1], x[1] - y[0])

    def mul(self, x: Ends, y: Ends) -> Ends:
        """X * y."""
        corners = [a * b if a and b else 0.0 for a in x for b in y]
        if any(c != c for c in corners):
            self.over = True
            return -inf, inf
        return self.near(min(corners), max(corners))

    def square(self, x: Ends) -> Ends:
        """X * x, never negative."""
        far = max(abs(x[0]), abs(x[1]))
        least = 0.0 if x[0] <= 0.0 <= x[1] else min(abs(x[0]), abs(x[1]))
        lo, hi = self.near(least * least, far * far)
        return max(lo, 0.0), hi

    def div(self, x: Ends, y: Ends) -> Ends:
        """X / y, for a divisor that isn't 0."""
        if y[0] <= 0.0 <= y[1]:
            self.over = True
            return -inf, inf
        corners = [a / b for a in x for b in y]
        return self.near(min(corners), max(corners)) if corners == corners else self.near(-inf, inf)

    def sqrt(self, x: Ends) -> Ends:
        """The root of what isn't negative."""
        lo, hi = self.near(sqrt(max(x[0], 0.0)), sqrt(max(x[1], 0.0)) if x[1] < inf else inf)
        return max(lo, 0.0), hi
