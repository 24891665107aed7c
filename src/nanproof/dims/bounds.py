"""How large a size can be, given the ranges of its symbols."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import TypeAlias

from nanproof.dims.dim import Atom, Dim, Size, build, terms_of

Interval: TypeAlias = "tuple[int | None, int | None]"  # None: no bound on that side
Ranges: TypeAlias = "Mapping[str, tuple[int, int | None]]"

_NO_RANGES: Ranges = MappingProxyType({})
_MOST_REFINEMENTS = 3  # floors taken apart in one expression; each doubles the work


def bounds(size: Size, ranges: Ranges = _NO_RANGES) -> tuple[int, int | None]:
    """The least and the largest value that the size can take; None where it has no largest.

    A symbol without a range is any size from 0 up. What is asked about is a *size*, so the least value is never below
    0; `interval` bounds an expression that may be negative.
    """
    if isinstance(size, int):
        return size, size
    low, high = interval(size, ranges)
    return max(low or 0, 0), high if high is None else max(high, 0)


def interval(size: Size, ranges: Ranges = _NO_RANGES) -> Interval:
    """The interval of an expression over sizes, which may be negative."""
    if isinstance(size, int):
        return size, size
    return _growing(size, ranges) or _interval(size, ranges, _MOST_REFINEMENTS)


def _growing(size: Dim, ranges: Ranges) -> Interval | None:
    """The exact interval of a polynomial of symbols without a minus: its value where all are least, or largest.

    Almost every size that is not known is of this kind, so it is worth a path of its own.
    """
    low, high = 0, 0
    bounded = True
    for monomial, factor in size.terms:
        if factor < 0:
            return None
        least = most = factor
        for atom in monomial:
            if atom.kind != "symbol":
                return None
            start, end = ranges.get(atom.text, (0, None))
            least *= start
            if end is None:
                bounded = False
            else:
                most *= end
        low += least
        high += most
    return low, high if bounded else None


def _interval(size: Size, ranges: Ranges, refinements: int) -> Interval:
    if isinstance(size, int):
        return size, size
    plain = _sum(size, ranges, refinements)
    floor = next((term for term in size.terms if _is_lone_floor(term[0])), None) if refinements else None
    if floor is None:
        return plain
    # x - 2*floor(x / 2) is in [0, 1]: floor(x / k) lies between (x - k + 1) / k and x / k
    (atom,), factor = floor
    x, k = atom.args
    assert isinstance(k, int)
    rest = build(term for term in size.terms if term is not floor) * k
    top = _interval(rest + (x if factor > 0 else x - (k - 1)) * factor, ranges, refinements - 1)[1]
    bottom = _interval(rest + (x - (k - 1) if factor > 0 else x) * factor, ranges, refinements - 1)[0]
    return _tighter(plain, (None if bottom is None else -(-bottom // k), None if top is None else top // k))


def same(a: Size, b: Size, ranges: Ranges = _NO_RANGES) -> bool | None:
    """Whether two sizes are equal: True or False where that holds in every run, else None."""
    if a == b:
        return True
    low, high = interval(a - b, ranges)
    return False if (low is not None and low > 0) or (high is not None and high < 0) else None


def at_most(a: Size, b: Size, ranges: Ranges = _NO_RANGES) -> bool | None:
    """Whether a <= b: True or False where that holds in every run, else None."""
    low, high = interval(b - a, ranges)
    if low is not None and low >= 0:
        return True
    return False if high is not None and high < 0 else None


def _is_lone_floor(monomial: tuple[Atom, ...]) -> bool:
    return len(monomial) == 1 and monomial[0].kind == "floor" and isinstance(monomial[0].args[1], int)


def _sum(size: Dim, ranges: Ranges, refinements: int) -> Interval:
    """Interval arithmetic term by term."""
    low: int | None = 0
    high: int | None = 0
    for monomial, factor in terms_of(size):
        term: Interval = (factor, factor)
        powers: dict[Atom, int] = {}
        for atom in monomial:
            powers[atom] = powers.get(atom, 0) + 1
        for atom, power in powers.items():
            term = _times(term, _power(_of_atom(atom, ranges, refinements), power))
        low = None if low is None or term[0] is None else low + term[0]
        high = None if high is None or term[1] is None else high + term[1]
    return low, high


def _of_atom(atom: Atom, ranges: Ranges, refinements: int) -> Interval:
    if atom.kind == "symbol":
        return ranges.get(atom.text, (0, None))
    if atom.kind == "unknown":
        return None, None
    parts = [_interval(arg, ranges, refinements and refinements - 1) for arg in atom.args]
    if atom.kind == "floor":
        return _quotient(parts[0], parts[1])
    lows, highs = [part[0] for part in parts], [part[1] for part in parts]
    if atom.kind == "min":
        return _least(lows), min((high for high in highs if high is not None), default=None)
    low, high = max((low for low in lows if low is not None), default=None), _largest(highs)
    if atom.kind == "broadcast" and (low is None or any(other is None or other <= 0 for other in lows)):
        low = 0  # a 0 beats a 1
    return low, high


def _least(lows: list[int | None]) -> int | None:
    return None if None in lows else min(low for low in lows if low is not None)


def _largest(highs: list[int | None]) -> int | None:
    return None if None in highs else max(high for high in highs if high is not None)


def _times(a: Interval, b: Interval) -> Interval:
    corners = [_product(x, y) for x in _ends(a) for y in _ends(b)]
    low, high = min(corners), max(corners)
    return None if isinstance(low, float) else low, None if isinstance(high, float) else high


def _ends(a: Interval) -> tuple[int | float, int | float]:
    return -inf if a[0] is None else a[0], inf if a[1] is None else a[1]


def _product(x: int | float, y: int | float) -> int | float:  # noqa: PYI041 - the kinds are told apart
    """A product of end points, of which only the infinite ones are floats."""
    if x == 0 or y == 0:
        return 0
    if isinstance(x, float) or isinstance(y, float):
        return inf if (x > 0) == (y > 0) else -inf
    return x * y


def _negated(a: Interval) -> Interval:
    return None if a[1] is None else -a[1], None if a[0] is None else -a[0]


def _power(a: Interval, power: int) -> Interval:
    low, high = a
    if power == 1:
        return a
    if low is not None and low >= 0:
        return low**power, None if high is None else high**power
    if power % 2 == 0:
        if high is not None and high <= 0:
            return _power(_negated(a), power)
        return 0, None if low is None or high is None else max(-low, high) ** power
    return None if low is None else low**power, None if high is None else high**power


def _quotient(a: Interval, b: Interval) -> Interval:
    """floor(a / b), wherever b is not 0."""
    if b == (0, 0):
        return None, None
    if b[1] is not None and b[1] <= 0:
        return _quotient(_negated(a), _negated(b))
    if b[0] is None or b[0] < 0:
        # a divisor of either sign: no quotient is larger than its dividend
        if a[0] is None or a[1] is None:
            return None, None
        reach = max(abs(a[0]), abs(a[1]))
        return -reach, reach
    small, large = max(b[0], 1), b[1]
    low: int | None
    high: int | None
    if a[0] is None:
        low = None
    elif a[0] >= 0:
        low = 0 if large is None else a[0] // large
    else:
        low = a[0] // small
    if a[1] is None:
        high = None
    elif a[1] >= 0:
        high = a[1] // small
    else:
        high = -1 if large is None else a[1] // large
    return low, high


def _tighter(a: Interval, b: Interval) -> Interval:
    lows = [low for low in (a[0], b[0]) if low is not None]
    highs = [high for high in (a[1], b[1]) if high is not None]
    return max(lows, default=None), min(highs, default=None)
