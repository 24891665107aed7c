"""Dim: a size that is not known yet, as a polynomial with integer coefficients.

`symbol("N") * 2 + 1` is a Dim; whatever turns out to be constant is a plain int again, so that a Dim is never constant
and code over known sizes runs on ints alone. What a polynomial can't say (a floor, a maximum) is an *atom*: an opaque
factor that still knows its parts, so that it can be evaluated and bounded.

A symbol stands for a size, so it is never negative. `==` asks whether two sizes are equal *as expressions*: `N == M` is
False although N may be M in some run. Ask `same` for the three-valued question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from operator import itemgetter
from typing import NamedTuple, TypeAlias, Union

_TEXT = itemgetter(0)

# A size whose expression grew past this says nothing that a reader or a bound could use. Giving it up keeps hostile
# graphs (x = max(x + a, x + b), a thousand times) from taking exponential time.
MOST_PARTS = 256
MOST_BITS = 256


class Atom(NamedTuple):
    """A factor that is not split further: a symbol, or a function of other sizes."""

    text: str
    kind: str  # "symbol", "floor", "max", "min", "broadcast" or "unknown"
    args: tuple[Size, ...] = ()
    parts: int = 1


Monomial: TypeAlias = tuple[Atom, ...]  # sorted by text, an atom of power n stands n times; () is the constant
Terms: TypeAlias = tuple[tuple[Monomial, int], ...]


@dataclass(frozen=True, slots=True, repr=False)
class Dim:
    """An unknown size: a sum of integer multiples of products of atoms, never constant, in canonical order."""

    terms: Terms

    def __add__(self, other: Size) -> Size:
        if other == 0:
            return self
        total = dict(self.terms)
        for monomial, factor in terms_of(other):
            total[monomial] = total.get(monomial, 0) + factor
        return build(total.items())

    __radd__ = __add__

    def __neg__(self) -> Size:
        return Dim(tuple((monomial, -factor) for monomial, factor in self.terms))

    def __sub__(self, other: Size) -> Size:
        return self + -other

    def __rsub__(self, other: int) -> Size:
        return -self + other

    def __mul__(self, other: Size) -> Size:
        if isinstance(other, int) and 0 < other < 1 << MOST_BITS // 2 and len(self.terms) == 1:
            monomial, factor = self.terms[0]
            if abs(factor) < 1 << MOST_BITS // 2:
                return Dim(((monomial, factor * other),))
        theirs = terms_of(other)
        if len(self.terms) * len(theirs) > MOST_PARTS:
            return unknown("product", (self, other))
        total: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in theirs:
                monomial = tuple(sorted(left + right, key=_TEXT)) if left and right else left or right
                total[monomial] = total.get(monomial, 0) + a * b
        return build(total.items())

    __rmul__ = __mul__

    def __floordiv__(self, other: Size) -> Size:
        from nanproof.dims.division import floor_divide

        return floor_divide(self, other)

    def __rfloordiv__(self, other: int) -> Size:
        from nanproof.dims.division import floor_divide

        return floor_divide(other, self)

    def __mod__(self, other: Size) -> Size:
        return self - other * (self // other)

    def __rmod__(self, other: int) -> Size:
        return other - self * (other // self)

    def __bool__(self) -> bool:
        raise TypeError(f"the size {self} is not known: compare it with `same` or `bounds`")

    def __str__(self) -> str:
        pieces = [_term_text(monomial, factor) for monomial, factor in self.terms]
        return pieces[0] + "".join(f" - {piece[1:]}" if piece[0] == "-" else f" + {piece}" for piece in pieces[1:])

    def __repr__(self) -> str:
        return f"Dim({self})"


Size: TypeAlias = Union[int, Dim]


def symbol(name: str) -> Dim:
    """The unknown size called `name`."""
    return of_atom(Atom(name, "symbol"))


def of_atom(atom: Atom) -> Dim:
    """An atom as a size."""
    return Dim((((atom,), 1),))


def function(kind: str, args: tuple[Size, ...], text: str) -> Dim:
    """An atom of `kind` over other sizes, or an unknown where that grows too large."""
    parts = 1 + sum(count_parts(arg) for arg in args)
    return of_atom(Atom(text, kind, args, parts)) if parts <= MOST_PARTS else unknown(kind, args)


def unknown(kind: str, args: Iterable[Size]) -> Dim:
    """A size about which nothing is known; the same parts give the same unknown."""
    text = "\0".join([kind, *map(str, args)])
    return of_atom(Atom("?" + blake2b(text.encode(), digest_size=5).hexdigest(), "unknown"))


def terms_of(size: Size) -> Terms:
    """The terms of any size, a constant included."""
    if isinstance(size, Dim):
        return size.terms
    return (((), size),) if size else ()


def build(terms: Iterable[tuple[Monomial, int]]) -> Size:
    """The size with these terms, in canonical order: the largest degree first, then by name; an int if constant."""
    kept = [term for term in terms if term[1]]
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][0]:
        return kept[0][1]
    if len(kept) > 1:
        kept.sort(key=order)
    dim = Dim(tuple(kept))
    if count_parts(dim) > MOST_PARTS or any(abs(factor) >> MOST_BITS for _, factor in kept):
        return unknown("sum", (dim,))
    return dim


def order(term: tuple[Monomial, int]) -> tuple[int, list[str]]:
    """A monomial order (graded, then lexicographic), which exact division needs."""
    return -len(term[0]), [atom.text for atom in term[0]]


def count_parts(size: Size) -> int:
    """How many atoms the expression names."""
    return 1 if isinstance(size, int) else sum(atom.parts for monomial, _ in size.terms for atom in monomial)


def sole_atom(size: Size) -> Atom | None:
    """The atom that the size consists of, if it is one."""
    if isinstance(size, int) or len(size.terms) != 1:
        return None
    monomial, factor = size.terms[0]
    return monomial[0] if factor == 1 and len(monomial) == 1 else None


def atoms(size: Size) -> Iterator[Atom]:
    """Every atom of the expression, those inside other atoms included."""
    if isinstance(size, Dim):
        for monomial, _ in size.terms:
            for atom in monomial:
                yield atom
                for arg in atom.args:
                    yield from atoms(arg)


def symbols(size: Size) -> frozenset[str]:
    """The names that the size depends on."""
    return frozenset(atom.text for atom in atoms(size) if atom.kind == "symbol")


def fold(size: Size, value: Callable[[Atom], Size]) -> Size:
    """The size with each of its outermost atoms replaced by its value."""
    if isinstance(size, int):
        return size
    total: Size = 0
    for monomial, factor in size.terms:
        product: Size = factor
        for atom in monomial:
            product = product * value(atom)
        total = total + product
    return total


def _term_text(monomial: Monomial, factor: int) -> str:
    if not monomial:
        return str(factor)
    powers: dict[str, int] = {}
    for atom in monomial:
        alone = atom.kind != "floor" or (factor == 1 and len(monomial) == 1)
        name = atom.text if alone else f"({atom.text})"
        powers[name] = powers.get(name, 0) + 1
    text = "*".join(name if power == 1 else f"{name}**{power}" for name, power in powers.items())
    return {1: text, -1: f"-{text}"}.get(factor, f"{factor}*{text}")
