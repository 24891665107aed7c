"""Sequences and optional values: Boxes of what isn't a tensor.

A Series stands for sequences of tensors, a Maybe for a value that may be absent.
Both are Boxes whose interval and flags are those of all elements inside, so that
whoever only asks what values may occur needs not tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TypeAlias

from nanproof.dims import Dim, Size
from nanproof.domain.box import Box, top
from nanproof.numerics.dtypes import DType

MOST_ITEMS = 1024
"""Longer sequences forget which tensor is where."""

Sizes: TypeAlias = "tuple[Size | None, ...] | None"
"""The shape of every tensor of a sequence: None for a size (or a rank) in which they may differ."""

Join: TypeAlias = "Callable[[Box, Box], Box]"
Covers: TypeAlias = "Callable[[Box, Box], bool]"


class Series(Box):
    """The abstract value of a sequence of tensors. Treat as immutable.

    ``items`` are the tensors in order, where their number is known. Else ``rest``
    is a Box that holds any of them, ``sizes`` says what their shapes have in
    common, and there are ``least`` to ``most`` (None: no limit) of them; ``length``
    is their number as a size, where it has a name.
    """

    __slots__ = ("items", "least", "length", "most", "rest", "sizes")

    def __init__(
        self,
        rest: Box,
        sizes: Sizes,
        span: tuple[int, int | None],
        *,
        items: tuple[Box, ...] | None = None,
        length: Size | None = None,
    ) -> None:
        super().__init__(rest.dtype, None, *rest.hull(), rest.flags)
        self.items = items
        self.rest = rest
        self.sizes = sizes
        self.least, self.most = span
        self.length: Size | None = self.least if self.least == self.most else length

    def any(self, fresh: Callable[[str], Dim]) -> Box:
        """A new Box of some tensor of the sequence; ``fresh`` makes the sizes that differ."""
        rest = self.rest
        if self.sizes is None:
            return Box(rest.dtype, None, *rest.hull(), rest.flags)
        if rest.shape is not None and None not in self.sizes:
            return Box(
                rest.dtype, rest.shape, rest.lo, rest.hi, rest.flags, cuts=rest.cuts, spots=rest.spots
            )  # not ``rest`` itself: two draws from a sequence aren't one tensor
        shape = tuple(fresh(f"size{i}") if n is None else n for i, n in enumerate(self.sizes))
        return Box(rest.dtype, shape, *rest.hull(), rest.flags)

    def __repr__(self) -> str:
        most = "" if self.most is None else self.most
        count = self.least if self.least == self.most else f"{self.least}..{most}"
        return f"Series({count} x {self.rest!r})"


class Maybe(Box):
    """The abstract value of an optional: what it holds if it holds anything.

    ``present`` is None where both may be.
    """

    __slots__ = ("inner", "present")

    def __init__(self, inner: Box, present: bool | None) -> None:
        super().__init__(inner.dtype, None, *inner.hull(), inner.flags)
        self.inner = inner
        self.present = present

    def __repr__(self) -> str:
        state = {True: "", False: "absent, ", None: "maybe "}[self.present]
        return f"Maybe({state}{self.inner!r})"


def listed(dtype: DType, items: Sequence[Box], join: Join) -> Series:
    """The sequence of known tensors."""
    rest, sizes = merged(dtype, items, join)
    count = len(items)
    kept = tuple(items) if count <= MOST_ITEMS else None
    return Series(rest, sizes, (count, count), items=kept)


def series_of(box: Box) -> Series:
    """A Box that a sequence is expected in; of any other Box only the values are taken."""
    if isinstance(box, Maybe):
        return series_of(box.inner)
    if isinstance(box, Series):
        return box
    lo, hi = box.hull()
    return Series(Box(box.dtype, None, lo, hi, box.flags), None, (0, None))


def merged(dtype: DType, items: Sequence[Box], join: Join) -> tuple[Box, Sizes]:
    """One Box that holds any of some tensors, and what their shapes have in common."""
    if not items:
        return Box(dtype, None, inf, -inf), None
    sizes: Sizes = items[0].shape
    for item in items[1:]:
        sizes = common(sizes, item.shape)
    return _covering(items, sizes, join), sizes


def _covering(items: Sequence[Box], sizes: Sizes, join: Join) -> Box:
    if sizes is not None and None not in sizes:
        rest = items[0]
        for item in items[1:]:
            rest = join(rest, item)
        return rest
    lo, hi = min(b.hull()[0] for b in items), max(b.hull()[1] for b in items)
    flags = 0
    for box in items:
        flags |= box.flags
    return Box(items[0].dtype, None, lo, hi, flags)


def common(first: Sizes, second: Sizes) -> Sizes:
    """What two shapes have in common."""
    if first is None or second is None or len(first) != len(second):
        return None
    return tuple(a if a == b else None for a, b in zip(first, second, strict=True))


def with_one_of(series: Series, box: Box, join: Join) -> tuple[Box, Sizes]:
    """``rest`` and ``sizes`` of a sequence that also holds another tensor."""
    if series.most == 0:
        return box, box.shape
    sizes = common(series.sizes, box.shape)
    return _covering((series.rest, box), sizes, join), sizes


# -- lattice -------------------------------------------------------------------------------------------------


def joined(first: Box, second: Box, join: Join) -> Box:
    """Join where at least one operand is no plain Box."""
    if isinstance(first, Maybe) or isinstance(second, Maybe):
        return _joined_maybe(first, second, join)
    one, two = series_of(first), series_of(second)
    if one.items is not None and two.items is not None and len(one.items) == len(two.items):
        pairs = list(zip(one.items, two.items, strict=True))
        if all(a.shape == b.shape for a, b in pairs):
            return listed(one.dtype if one.items else two.dtype, [join(a, b) for a, b in pairs], join)
    return _pooled(one, two, join, span=(min(one.least, two.least), _most(one.most, two.most)))


def _most(one: int | None, two: int | None) -> int | None:
    return None if one is None or two is None else max(one, two)


def _pooled(one: Series, two: Series, join: Join, *, span: tuple[int, int | None]) -> Series:
    """A sequence of the tensors of both, in any order."""
    if one.most == 0 or two.most == 0:
        source = two if one.most == 0 else one
        return Series(source.rest, source.sizes, span)
    sizes = common(one.sizes, two.sizes)
    length = one.length if one.length == two.length else None
    return Series(_covering((one.rest, two.rest), sizes, join), sizes, span, length=length)


def _joined_maybe(first: Box, second: Box, join: Join) -> Maybe:
    one, two = _maybe(first), _maybe(second)
    present = one.present if one.present == two.present else None
    if one.present is False:
        return Maybe(two.inner, present)
    return Maybe(one.inner if two.present is False else join(one.inner, two.inner), present)


def _maybe(box: Box) -> Maybe:
    return box if isinstance(box, Maybe) else Maybe(box, True)


def widened(old: Box, new: Box, join: Join, widen: Join) -> Box:
    """Widening where at least one operand is no plain Box: a length that moved may be any."""
    if isinstance(old, Maybe) or isinstance(new, Maybe):
        before, grown = _maybe(old), _joined_maybe(old, new, join)
        return Maybe(grown.inner if before.present is False else widen(before.inner, grown.inner), grown.present)
    one, two = series_of(old), series_of(joined(old, new, join))
    if one.items is not None and two.items is not None:
        return listed(two.dtype, [widen(a, b) for a, b in zip(one.items, two.items, strict=True)], widen)
    least = two.least if two.least == one.least else 0
    most = two.most if two.most == one.most else None
    rest = two.rest
    if one.most != 0:
        rest = widen(Box(rest.dtype, None, *one.rest.hull(), one.rest.flags) if rest.shape is None else one.rest, rest)
    return Series(rest, two.sizes, (least, most), length=two.length)


def covers(outer: Box, inner: Box, contains: Covers) -> bool:
    """Containment where at least one operand is no plain Box."""
    if isinstance(outer, Maybe) or isinstance(inner, Maybe):
        big, small = _maybe(outer), _maybe(inner)
        if big.present is not None and big.present != small.present:
            return False
        return small.present is False or (big.present is not False and contains(big.inner, small.inner))
    one, two = series_of(outer), series_of(inner)
    if one.items is not None:
        return (
            two.items is not None
            and len(one.items) == len(two.items)
            and all(contains(a, b) for a, b in zip(one.items, two.items, strict=True))
        )
    if two.least < one.least or (one.most is not None and (two.most is None or two.most > one.most)):
        return False
    if one.length is not None and one.length != two.length:
        return False
    if two.most == 0:
        return True
    if one.sizes is not None and common(one.sizes, two.sizes) != one.sizes:
        return False
    if one.rest.shape is not None:
        return contains(one.rest, two.rest)
    return contains(one.rest, Box(two.dtype, None, *two.rest.hull(), two.rest.flags))


def forgotten(box: Box) -> Box:
    """Any value of the same kind: what is left of a Box that doesn't settle."""
    if isinstance(box, Maybe):
        return Maybe(forgotten(box.inner), None)
    if isinstance(box, Series):
        return Series(top(box.dtype), None, (0, None))
    return top(box.dtype)
