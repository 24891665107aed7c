"""Elementwise affine relations: what intervals forget about a - a.

A Form says that every element of a tensor equals

    sum of coefficient * symbol  +  a constant in [low, high]  +  e,   |e| <= slack

where a symbol stands for the element of an earlier tensor at the same place
(under NumPy's right-aligned broadcasting), or at the place that a *track* of
data movements leads to: x and its own transpose have different tracks, so that
x - transpose(x) is not proved 0. ``slack`` collects the rounding of every step
on the way, so nothing is proved in the reals that fails in floats.
"""

from __future__ import annotations

from math import inf
from typing import TypeAlias

from nanproof.domain.box import Box, Shape

MOST_TERMS = 8
"""Longer sums become a symbol of their own, unless more is asked for."""


class Symbol:
    """One earlier tensor, told apart by identity; its bounds go with it."""

    __slots__ = ("hi", "lo", "shape")

    def __init__(self, lo: float, hi: float, shape: Shape) -> None:
        self.lo = lo
        self.hi = hi
        self.shape = shape


Track: TypeAlias = "tuple[object, ...]"
Key: TypeAlias = "tuple[Symbol, Track]"


class Form:
    """A linear combination of symbols. Immutable."""

    __slots__ = ("high", "low", "slack", "terms")

    def __init__(self, terms: dict[Key, float], low: float, high: float, slack: float) -> None:
        self.terms = terms
        self.low = low
        self.high = high
        self.slack = slack

    def bounds(self) -> tuple[float, float]:
        """The interval of the combination; (-inf, inf) once arithmetic overflows."""
        lo, hi = self.low - self.slack, self.high + self.slack
        total = abs(lo) + abs(hi)
        for (symbol, _), factor in self.terms.items():
            a, b = factor * symbol.lo, factor * symbol.hi
            lo += min(a, b)
            hi += max(a, b)
            total += max(abs(a), abs(b))
        if not total < inf:
            return -inf, inf
        # float64 itself rounds: a generous bound on this very loop
        room = total * (len(self.terms) + 4) * 2.0**-52
        return lo - room, hi + room


def form_of(box: Box) -> Form | None:
    """The relation of a Box; a Box without one is its own symbol. None if it isn't finite."""
    if isinstance(box.form, Form):
        return box.form
    if box.symbol is None:
        lo, hi = box.hull()
        if box.flags or not lo <= hi:
            return None
        box.symbol = Symbol(lo, hi, box.shape)
    return Form({(box.symbol, ()): 1.0}, 0.0, 0.0, 0.0)


def combine(first: Form, second: Form, sign: float, most: int = MOST_TERMS) -> tuple[Form | None, bool]:
    """First + sign * second in at most so many terms, and whether any symbol met itself (only then is it worth bounding)."""
    met = False
    terms = dict(first.terms)
    for key, factor in second.terms.items():
        value = sign * factor
        if key in terms:
            met = True
            value += terms[key]
            if value == 0.0:
                del terms[key]
                continue
        terms[key] = value
    if len(terms) > most:
        return None, met
    if sign > 0:
        low, high = first.low + second.low, first.high + second.high
    else:
        low, high = first.low - second.high, first.high - second.low
    slack = first.slack + second.slack
    rounding = (abs(low) + abs(high) + slack) * 2.0**-52
    return Form(terms, low - rounding, high + rounding, slack * (1 + 2.0**-50)), met


def scaled(form: Form, factor: float) -> Form:
    """Factor * form."""
    ends = form.low * factor, form.high * factor
    terms = {key: value * factor for key, value in form.terms.items()}
    # each coefficient is rounded once: charge that to the slack
    drift = sum(abs(v) * max(abs(k[0].lo), abs(k[0].hi)) for k, v in terms.items()) * 2.0**-52
    slack = abs(factor) * form.slack * (1 + 2.0**-50) + drift + max(map(abs, ends)) * 2.0**-52
    return Form(terms, min(ends), max(ends), slack)


def shifted(form: Form, low: float, high: float) -> Form:
    """Form + a constant in [low, high]."""
    rounding = (abs(form.low + low) + abs(form.high + high)) * 2.0**-52
    return Form(form.terms, form.low + low - rounding, form.high + high + rounding, form.slack)


def rounded(form: Form, error: float) -> Form:
    """The same relation after a rounding of at most ``error``."""
    return Form(form.terms, form.low, form.high, form.slack + error) if error else form


def moved(form: Form | None, step: object) -> Form | None:
    """The relation after a data movement that is the same for every tensor it is done to."""
    if form is None:
        return None
    terms = {(symbol, (*track, step)): f for (symbol, track), f in form.terms.items()}
    return Form(terms, form.low, form.high, form.slack)


class Pieces:
    """The relations of a concatenation: one Form a piece, along one axis."""

    __slots__ = ("axis", "forms", "points", "shapes")

    def __init__(
        self,
        axis: int,
        points: tuple[int, ...],
        forms: tuple[Form | None, ...],
        shapes: tuple[Shape, ...],
    ) -> None:
        self.axis = axis
        self.points = points
        self.forms = forms
        self.shapes = shapes

    def between(self, axis: int, start: int, stop: int, stride: int) -> Form | None:
        """The relation of a slice that stays within one piece."""
        if axis != self.axis:
            return None
        for i, form in enumerate(self.forms):
            low, high = self.points[i], self.points[i + 1]
            first, behind = (start, stop) if stride > 0 else (stop + 1, start + 1)
            if low <= first and behind <= high:
                return sliced(form, self.shapes[i], axis, (start - low, stop - low, stride))
        return None


def sliced(form: Form | None, shape: Shape, axis: int, part: tuple[int, int, int]) -> Form | None:
    """The relation of ``x[start:stop:stride]`` along an axis; a whole slice is x itself."""
    if shape is not None and part == (0, shape[axis], 1):
        return form
    return moved(form, ("slice", shape, axis, part))
